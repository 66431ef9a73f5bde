"""A row an occurrence: a column that names the record and one that names the item, in CSV or any table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv

from disassociation import encode
from disassociation._kernels.tokens import Codes
from disassociation.errors import InputError
from disassociation.formats._bytes import HEAD, Stream, as_text
from disassociation.formats._lines import refuse_terms
from disassociation.formats._numbering import Numbering, without_hidden_nulls
from disassociation.formats._options import Options
from disassociation.formats._quotes import StrictQuotes
from disassociation.formats._tables import Table, recognise, require_column
from disassociation.formats.basket import quoted
from disassociation.formats.one_hot import by_row
from disassociation.records import Transactions

_SEPARATORS = (",", "\t", ";", "|")
_BLOCK = 1 << 22  # no row can be longer


def read(stream: Stream, options: Options) -> Transactions:
    """Read a CSV file with a header; a record's rows may be anywhere, a row without item only names a record."""
    text = as_text(stream, options.encoding)
    sep, columns = header(text.peek(HEAD), options, text.name)
    return read_columns(Table(text.name, None, _csv_batches(text, sep, columns)), *columns, first_row=2)


def header(head: bytes, options: Options, source: str) -> tuple[str, tuple[str, str]]:
    """Find the separator and the two columns in the first line of a text."""
    line = head.decode("utf-8", "replace").lstrip("\r\n").splitlines()[:1]
    rows = {sep: next(csv.reader(line, delimiter=sep), []) for sep in (options.sep or _SEPARATORS)}
    problem = None
    for sep, names in rows.items():
        try:
            return sep, _two_columns(names, options, source)
        except InputError as error:
            # The most telling of the problems is that of the separator that is there.
            problem = error if problem is None or len(names) > 1 else problem
    raise problem or InputError(f"{source}: there is no header; give a file with one")


def read_columns(table: Table, record: str, item: str, first_row: int = 1) -> Transactions:
    """Read the records of a table; ``first_row`` is the number of its first row in messages."""
    records, items = Numbering(table.name, whole=False), Numbering(table.name)
    rows: list[Codes] = []
    codes: list[Codes] = []
    for batch in table.batches((record, item) if record != item else (record,)):
        identifiers, values = map(without_hidden_nulls, (batch.column(0), batch.column(batch.num_columns - 1)))
        missing = identifiers.is_null(nan_is_null=True)
        if missing.true_count:
            row = first_row + missing.index(True).as_py()
            raise InputError(f"{table.name}: row {row}: the record column is empty; fill it or leave the row out")
        rows.append(records.of(identifiers)[values.is_valid().to_numpy(zero_copy_only=False)])
        codes.append(items.of(values))
        first_row += batch.num_rows
    all_rows = np.concatenate(rows) if rows else np.empty(0, np.uint32)
    rows.clear()
    all_codes = np.concatenate(codes) if codes else np.empty(0, np.uint32)
    codes.clear()
    gathered, bounds = by_row(all_rows, all_codes, len(records))
    used, names = encode.only_used(gathered, items.names())
    return encode.transactions(used, bounds, names, source=table.name)


def write(data: Transactions, sink: BinaryIO, options: Options) -> None:
    """Write a CSV with the columns transaction, numbered from 1, and item."""
    sep = options.sep or ","
    refuse_terms(data, r"^$|\x{00}", "long", "that is empty or has a NUL byte in it", "list")
    names = [quoted(name, sep) for name in data.vocabulary.to_pylist()]
    sink.write(f"transaction{sep}item\n".encode())
    offsets = data.offsets.tolist()
    for number, (start, stop) in enumerate(pairwise(offsets), 1):
        sink.write("".join([f"{number}{sep}{names[code]}\n" for code in data.items[start:stop].tolist()]).encode())


def _two_columns(names: Sequence[str], options: Options, source: str) -> tuple[str, str]:
    if options.transaction is None and options.item is None:
        record, item = recognise(names, source)
    elif options.transaction is None or options.item is None:
        raise InputError(f"{source}: only one column is named; name both, --transaction-column and --item-column")
    else:
        record, item = options.transaction, options.item
    require_column(names, record, source)
    require_column(names, item, source)
    return record, item


def _csv_batches(text: Stream, sep: str, columns: tuple[str, str]) -> Iterator[pa.RecordBatch]:
    bad_rows: list[int | None] = []

    def refuse_row(row: Any) -> str:
        bad_rows.append(row.number)
        return "error"

    dictionary = pa.dictionary(pa.int32(), pa.string())
    parse = pa.csv.ParseOptions(delimiter=sep, newlines_in_values=True, invalid_row_handler=refuse_row)
    # Only an empty field is missing; "NA" and its like are terms.
    convert = pa.csv.ConvertOptions(
        include_columns=list(dict.fromkeys(columns)),
        column_types=dict.fromkeys(columns, dictionary),
        null_values=[""],
        strings_can_be_null=True,
    )
    read_options = pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK)
    try:
        yield from pa.csv.open_csv(StrictQuotes(text, sep), read_options, parse, convert)
    except pa.ArrowInvalid as error:
        if bad_rows:
            raise InputError(
                f"{text.name}: row {bad_rows[0]}: not as many fields as the header has; repair the row, or give --sep"
            ) from None
        if "Empty CSV" in str(error):  # a header whose line does not even end
            return
        if "straddling" in str(error):
            raise InputError(f"{text.name}: a row is longer than {_BLOCK >> 20} MiB; check the quotes") from None
        raise
