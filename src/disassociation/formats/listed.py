"""A column of lists, a row a record: Parquet, Arrow IPC, or a JSON value a line."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from disassociation import encode
from disassociation._kernels.tokens import Codes
from disassociation._types import Offsets
from disassociation.errors import InputError
from disassociation.formats._bytes import Blocks, Stream, as_text
from disassociation.formats._collect import Collector
from disassociation.formats._numbering import Numbering, without_hidden_nulls
from disassociation.formats._options import Options
from disassociation.formats._tables import Table
from disassociation.records import Transactions

_ROWS = 1 << 16  # records written together


def read(stream: Stream, options: Options) -> Transactions:
    """Read a JSON array a line, or an object a line of which one member is an array; blank lines are nothing."""
    text = as_text(stream, options.encoding)
    records = Collector(text.name)
    line = 0
    for block in Blocks(text, ord("\n")):
        for content in block.content().split(b"\n")[:-1]:
            line += 1
            if content.strip():
                records.add(_record(content, options.item, f"{text.name}:{line}"))
    return records.transactions()


def read_column(table: Table, column: str) -> Transactions:
    """Read the records of a table; no list is an empty record."""
    terms = Numbering(table.name)
    codes: list[Codes] = []
    sizes: list[Offsets] = [np.zeros(1, np.int64)]
    for batch in table.batches((column,)):
        lists = batch.column(0)
        values = without_hidden_nulls(pc.list_flatten(lists))
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        if values.null_count:
            place = values.is_null().index(True).as_py()
            record = sum(map(len, sizes)) + int(np.searchsorted(np.cumsum(lengths), place, side="right"))
            raise InputError(f"{table.name}: record {record}: a missing value in the list; leave it out")
        codes.append(terms.of(values))
        sizes.append(lengths)
    bounds = np.concatenate(sizes).cumsum()
    all_codes = np.concatenate(codes) if codes else np.empty(0, np.uint32)
    codes.clear()
    used, names = encode.only_used(all_codes, terms.names())
    return encode.transactions(used, bounds, names, source=table.name)


def write(data: Transactions, sink: BinaryIO, options: Options) -> None:
    """Write one column ``items``: Parquet, Arrow IPC, or JSON arrays line by line."""
    batches = (_batch(data, first) for first in range(0, len(data), _ROWS))
    schema = pa.schema({"items": pa.list_(pa.string())})
    if options.container == "parquet":
        with pq.ParquetWriter(sink, schema, compression="zstd") as parquet:
            for batch in batches:
                parquet.write_batch(batch)
    elif options.container == "ipc":
        with pa.ipc.new_file(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
    else:
        for record in data:
            sink.write((json.dumps(record, ensure_ascii=False) + "\n").encode())


def parse_json(content: bytes, where: str) -> Any:
    """Parse strict JSON; an error tells the place and nothing of what is there."""
    try:
        return json.loads(content, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno} column {error.colno}"
    except RecursionError:
        place = "too many brackets"
    except ValueError:
        place = "a number that JSON does not have"
    raise InputError(f"{where}: not valid JSON ({place}); repair it, or give --format")


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _record(content: bytes, member: str | None, where: str) -> Iterable[Hashable]:
    value = parse_json(content, where)
    if isinstance(value, dict):
        lists = [name for name, held in value.items() if isinstance(held, list)] if member is None else [member]
        if len(lists) != 1:
            raise InputError(f"{where}: an object with {len(lists)} arrays; name one as the item column")
        value = value.get(lists[0])
    if not isinstance(value, list):
        raise InputError(f"{where}: neither an array nor an object that holds one; make it an array of terms")
    return value


def _batch(data: Transactions, first: int) -> pa.RecordBatch:
    offsets = data.offsets[first : first + _ROWS + 1]
    values = data.vocabulary.take(pa.array(data.items[offsets[0] : offsets[-1]]))
    lists = pa.ListArray.from_arrays(pa.array((offsets - offsets[0]).astype(np.int32)), values)
    return pa.RecordBatch.from_arrays([lists], ["items"])
