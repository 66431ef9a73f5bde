"""Tables by Arrow, from a file or from memory: opening them, and which of their columns hold the records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from disassociation.errors import InputError
from disassociation.formats._bytes import Stream
from disassociation.formats._options import Options

RECORD_NAMES = {
    "transaction",
    "trans",
    "tid",
    "basket",
    "order",
    "invoice",
    "record",
    "rid",
    "user",
    "customer",
    "client",
    "patient",
    "session",
    "cart",
    "visit",
    "receipt",
}
ITEM_NAMES = {
    "item",
    "product",
    "term",
    "code",
    "article",
    "sku",
    "stock",
    "good",
    "diagnosis",
    "page",
    "url",
    "word",
    "tag",
    "genre",
    "token",
}
_SUFFIX = re.compile(r"(id|no|number|nr|name|code)$")


class Layout(NamedTuple):
    """How a table holds records."""

    kind: str  # "list", "long" or "one-hot"
    columns: tuple[str, ...]  # the list column; the record's and the item's; or all


class Table(NamedTuple):
    """A schema and where its rows come from, in portions."""

    name: str
    schema: pa.Schema
    rows: Any  # a pyarrow ParquetFile, or an iterable of record batches

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield portions of the rows, with these columns only."""
        with arrow_errors(self.name):
            if isinstance(self.rows, pq.ParquetFile):
                for group in range(self.rows.num_row_groups):  # Arrow cannot join lists of dictionaries of several
                    yield from self.rows.iter_batches(row_groups=[group], columns=list(columns))
            else:
                for batch in self.rows:
                    yield batch.select(list(columns))


class arrow_errors:  # noqa: N801 - reads as a statement
    """Turn what Arrow raises, which may quote the data, into an error that does not."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, (pa.ArrowException, UnicodeDecodeError)) or type(error) is OSError:
            raise InputError(
                f"{self._name}: Arrow cannot read this table (damaged, or a column of mixed types); make it again"
            ) from None


def open_table(stream: Stream, container: str) -> Table:
    """Open what the first bytes said is a Parquet file ("parquet") or Arrow IPC ("ipc")."""
    content = stream.read()
    file = pa.BufferReader(content)
    with arrow_errors(stream.name):
        if container == "parquet":
            schema = pq.ParquetFile(file).schema
            columns = [schema.column(i) for i in range(len(schema))]
            # Text that comes as a dictionary is decoded once a value, not once a row; within lists Arrow cannot.
            flat = [column for column in columns if column.max_repetition_level == 0]
            dictionaries = [column.path for column in flat if column.physical_type == "BYTE_ARRAY"]
            parquet = pq.ParquetFile(file, read_dictionary=dictionaries)
            return Table(stream.name, parquet.schema_arrow, parquet)
        if content.startswith(b"ARROW1"):
            opened = pa.ipc.open_file(file)
            return Table(stream.name, opened.schema, (opened.get_batch(i) for i in range(opened.num_record_batches)))
        reader = pa.ipc.open_stream(file)
        return Table(stream.name, reader.schema, reader)


def container_of(head: bytes) -> str:
    """What holds the data, by the first bytes: "parquet", "ipc" (Arrow, Feather) or "text"."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "ipc"
    return "text"


def find_layout(schema: pa.Schema, options: Options, source: str, wanted: str = "auto") -> Layout:
    """Decide which columns hold the records: those that were named, else the only possible ones."""
    names = [name for name in schema.names if name not in _index_columns(schema)]
    lists = [name for name in names if is_list(schema.field(schema.get_all_field_indices(name)[0]).type)]
    for name in (options.transaction, options.item):
        if name is not None:
            require_column(schema.names, name, source)
    if options.transaction is not None:
        if options.item is None:
            raise InputError(f"{source}: a record column was named but no item column; name both")
        return Layout("long", (options.transaction, options.item))
    if options.item is not None:
        if options.item not in lists:
            raise InputError(f"{source}: column {options.item} holds no lists; name the record column as well")
        return Layout("list", (options.item,))
    if wanted in ("auto", "list") and len(lists) == 1:
        require_column(schema.names, lists[0], source)
        return Layout("list", (lists[0],))
    if lists and wanted != "long":
        raise InputError(f"{source}: {len(lists)} columns hold lists; name one as the item column")
    if wanted == "list":
        raise InputError(f"{source}: no column holds lists; name a record and an item column, or give --format long")
    if wanted == "auto" and names and all(pa.types.is_boolean(schema.field(i).type) for i in _places(schema, names)):
        return Layout("one-hot", tuple(names))
    return Layout("long", recognise(names, source))


def recognise(names: Sequence[str], source: str) -> tuple[str, str]:
    """Find the record column and the item column by their usual names; there must be exactly one of each."""
    records = [name for name in names if _stem(name) in RECORD_NAMES]
    items = [name for name in names if _stem(name) in ITEM_NAMES]
    if len(records) != 1 or len(items) != 1:
        raise InputError(
            f"{source}: which column holds the record and which the item is not clear; "
            "name them with --transaction-column and --item-column"
        )
    return records[0], items[0]


def require_column(names: Sequence[str], wanted: str, source: str) -> None:
    """Raise an error unless exactly one column has this name."""
    if names.count(wanted) != 1:
        how = "no" if wanted not in names else "more than one"
        raise InputError(f"{source}: {how} column is called {wanted!r}; check --transaction-column and --item-column")


def is_list(kind: pa.DataType) -> bool:
    """Whether the values of a column are lists."""
    types = pa.types
    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(test(kind) for test in tests)


def _stem(name: str) -> str:
    word = re.sub(r"[^a-z]", "", name.lower())
    return word if word in RECORD_NAMES | ITEM_NAMES else _SUFFIX.sub("", word).removesuffix("s")


def _places(schema: pa.Schema, names: Sequence[str]) -> list[int]:
    return [schema.get_all_field_indices(name)[0] for name in names]


def _index_columns(schema: pa.Schema) -> set[str]:
    # pandas hands its row labels over as one more column, and says so in the metadata.
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except ValueError:
        return set()
    return {name for name in described if isinstance(name, str)}
