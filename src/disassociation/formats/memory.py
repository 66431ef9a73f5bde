"""Records that are in memory already: iterables, tables of any library that speaks Arrow, sparse matrices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import pyarrow as pa

from disassociation.errors import InputError, ParameterError
from disassociation.formats import listed, long, one_hot
from disassociation.formats._collect import Collector
from disassociation.formats._options import Options
from disassociation.formats._tables import Layout, Table, arrow_errors, find_layout
from disassociation.formats.sparse import is_sparse, read_matrix
from disassociation.records import Transactions

_NAME = "data"


def read(source: Any, options: Options, labels: Iterable[Hashable] | None) -> Transactions:
    """Read records from whatever this is."""
    if isinstance(source, tuple) and len(source) == 2 and is_sparse(source[0]):
        source, labels = source
    if is_sparse(source):
        return read_matrix(source, labels)
    if labels is not None:
        raise ParameterError("labels: they go with a sparse matrix only; leave them out")
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        table = _table(source)
        return read_table(table, find_layout(table.schema, options, _NAME))
    return _read_iterable(source)


def read_table(table: Table, layout: Layout) -> Transactions:
    """Read records from the columns of a table that hold them."""
    if layout.kind == "long":
        record, item = layout.columns
        return long.read_columns(table, record, item)
    if layout.kind == "list":
        return listed.read_column(table, layout.columns[0])
    return one_hot.read_columns(table, layout.columns)


def _table(source: Any) -> Table:
    with arrow_errors(_NAME):
        if hasattr(source, "__arrow_c_stream__"):
            try:
                reader = pa.RecordBatchReader.from_stream(source)
                return Table(_NAME, reader.schema, reader)
            except pa.ArrowInvalid:  # not rows of a table but values, such as a series
                column = pa.chunked_array(source)
        else:
            column = pa.chunked_array([pa.array(source)])
        batches = [pa.RecordBatch.from_arrays([chunk], ["values"]) for chunk in column.chunks]
        return Table(_NAME, pa.schema([("values", column.type)]), batches)


def _read_iterable(source: Iterable[Iterable[Hashable]]) -> Transactions:
    records = Collector(_NAME)
    try:
        iterator = iter(source)
    except TypeError:
        raise InputError(
            f"{_NAME}: a {type(source).__name__} is neither a path, a table, a sparse matrix nor an iterable of records"
        ) from None
    for record in iterator:
        records.add(record)
    return records.transactions()
