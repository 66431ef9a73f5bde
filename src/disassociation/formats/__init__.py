"""Records in every format: told apart, read and written; and taken from what is in memory already."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from os import PathLike, fsdecode
from typing import Any, BinaryIO, TypeAlias

from disassociation.errors import InputError, ParameterError
from disassociation.formats import basket, fimi, json_arrays, listed, long, memory, quest, sniff, spmf
from disassociation.formats._bytes import HEAD, Stream, open_stream
from disassociation.formats._options import Options
from disassociation.formats._output import open_output
from disassociation.formats._tables import container_of, find_layout, open_table
from disassociation.records import Transactions

__all__ = ["FORMATS", "read", "write"]

FORMATS = ("fimi", "basket", "long", "list", "spmf", "quest", "json")
"""The names of the record formats, as ``read``, ``write`` and the command line know them."""

_Reader: TypeAlias = Callable[[Stream, Options], Transactions]
_Writer: TypeAlias = Callable[[Transactions, BinaryIO, Options], None]

_READERS: Mapping[str, _Reader] = {
    "fimi": fimi.read,
    "basket": basket.read,
    "long": long.read,
    "list": listed.read,
    "spmf": spmf.read,
    "quest": quest.read,
    "json": json_arrays.read,
}
_WRITERS: Mapping[str, _Writer] = {
    "fimi": fimi.write,
    "basket": basket.write,
    "long": long.write,
    "list": listed.write,
    "spmf": spmf.write,
    "quest": quest.write,
    "json": json_arrays.write,
}
_WRITTEN_AS = {".dat": "fimi", ".txt": "fimi", ".csv": "basket", ".tsv": "basket"} | sniff.BY_EXTENSION


def read(
    source: Any,
    *,
    format: str = "auto",  # noqa: A002 - the word that users type
    sep: str | None = None,
    encoding: str = "utf-8",
    transaction: str | None = None,
    item: str | None = None,
    labels: Iterable[Hashable] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Transactions:
    """Read records from a file or from memory, as sets of terms.

    Tokens stay exactly what they were. A token twice in a record counts once, and empty records are left out; the
    result says how many of each there were. Whole numbers in memory become their decimal text.

    Args:
        source: a path ("-" is standard input; gzip and Zstandard are recognised); or an iterable of iterables of
            texts or whole numbers; or a table of any library that speaks Arrow (pandas, polars, DuckDB, pyarrow), with
            a column of lists, or with ``transaction`` and ``item``, or with nothing but booleans, a column a term; or
            a SciPy sparse matrix, alone or in a tuple with its labels.
        format: one of ``FORMATS``, or "auto" to tell it by the file's name and first bytes.
        sep: the character between tokens or columns, where it is not the usual one.
        encoding: the encoding of text.
        transaction: the column that says to which record a row belongs.
        item: the column that holds the term, or the list of terms.
        labels: the terms of a sparse matrix, one a column.
        notify: is told, in one line, what "auto" has chosen.

    Examples:
        >>> import disassociation as da
        >>> da.read([["bread", "milk"], ["milk"]])
        <Transactions: 2 records, 2 terms, 3 occurrences>
        >>> list(da.read([[7, 12], [7]]))
        [('12', '7'), ('7',)]
        >>> import pyarrow as pa
        >>> rows = pa.table({"basket": [1, 1, 2], "product": ["bread", "milk", "milk"]})
        >>> list(da.read(rows, transaction="basket", item="product"))
        [('bread', 'milk'), ('milk',)]
    """
    if isinstance(source, Transactions):
        return source
    options = Options(_one_character(sep), encoding, transaction, item)
    _check_format(format, options)
    if not isinstance(source, (str, PathLike)):
        return memory.read(source, options, labels)
    with open_stream(fsdecode(source)) as stream:
        return _read_stream(stream, format, options, notify or (lambda _line: None))


def write(
    data: Transactions,
    target: str | PathLike[str],
    *,
    format: str = "auto",  # noqa: A002 - the word that users type
    sep: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write records to a file, completely or not at all, so that reading it again gives the same.

    Args:
        data: the records.
        target: a path; compressed if it ends in ``.gz`` or ``.zst``. "-" is standard output.
        format: one of ``FORMATS``, or "auto" to tell it by the path's extension. A format that cannot hold one of
            the terms is refused.
        sep: the character between tokens or columns, where it is not to be the usual one.
        overwrite: whether a file that is there may be replaced.

    Examples:
        >>> import disassociation as da, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> da.write(da.read([["bread", "milk"], ["milk"]]), folder.name + "/baskets.csv.gz")
        >>> list(da.read(folder.name + "/baskets.csv.gz"))
        [('bread', 'milk'), ('milk',)]
        >>> folder.cleanup()
    """
    if not isinstance(data, Transactions):
        raise ParameterError(
            f"write: takes the records that read returns, not a {type(data).__name__}; read them first"
        )
    name = fsdecode(target)
    _check_format(format, Options(_one_character(sep)))
    kind = sniff.extension(name)
    if format == "auto":
        if kind not in _WRITTEN_AS:
            raise ParameterError(
                f"{name}: the name does not tell the format; give --format, one of {', '.join(FORMATS)}"
            )
        format = _WRITTEN_AS[kind]  # noqa: A001
    container = sniff.CONTAINERS.get(kind, "text")
    if container != "text" and format != "list":
        raise ParameterError(f"{name}: a {kind[1:]} file is written in format list only; give it another name")
    options = Options(_one_character(sep) or ("\t" if kind == ".tsv" else None), container=container)
    with open_output(name, overwrite=overwrite) as sink:
        _WRITERS[format](data, sink, options)


def _read_stream(stream: Stream, asked: str, options: Options, notify: Callable[[str], None]) -> Transactions:
    head = stream.peek(HEAD)
    if not head:
        raise InputError(f"{stream.name}: the file is empty; give one with records")
    if options.sep is None and sniff.extension(stream.name) == ".tsv":
        options = replace(options, sep="\t")
    found = sniff.guess(stream.name, head, options) if asked == "auto" else sniff.Guess(asked, container_of(head))
    if found.container == "text":
        if asked == "auto":
            notify(f"{stream.name}: read as {found.format}")
        return _READERS[found.format](stream, options)
    if asked not in ("auto", "list", "long"):
        raise InputError(f"{stream.name}: this is a binary table, not text; give --format list or long")
    table = open_table(stream, found.container)
    layout = find_layout(table.schema, options, stream.name, asked)
    if asked == "auto":
        notify(f"{stream.name}: read as {layout.kind}")
    return memory.read_table(table, layout)


def _check_format(name: str, options: Options) -> None:
    if name == "auto":
        return
    if name not in FORMATS:
        raise ParameterError(f"--format {name}: no such format; give one of auto, {', '.join(FORMATS)}")
    if options.sep is not None and name not in ("basket", "long"):
        raise ParameterError(f"--sep: format {name} has no separator to choose; leave it out or give --format basket")
    if options.transaction is not None and name != "long":
        raise ParameterError(f"--transaction-column: format {name} has no columns; leave it out or give --format long")


def _one_character(sep: str | None) -> str | None:
    if sep is not None and (len(sep) != 1 or not sep.isascii() or sep in '\0\n\r"'):
        raise ParameterError("--sep: a separator is one ASCII character, no quote and no line end; try ',' or ';'")
    return sep
