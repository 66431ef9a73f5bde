"""One record a line, tokens split by a separator, quoted where they need to be: CSV without columns."""

from __future__ import annotations

import csv
import io
from typing import BinaryIO

from disassociation import encode
from disassociation.errors import InputError
from disassociation.formats._bytes import Blocks, Stream, as_text, unix_lines
from disassociation.formats._collect import Collector
from disassociation.formats._lines import refuse_terms, write_lines
from disassociation.formats._options import Options
from disassociation.formats._quotes import StrictQuotes
from disassociation.formats._tokens import Tokenizer
from disassociation.records import Transactions


def read(stream: Stream, options: Options) -> Transactions:
    """Read records; an empty field is nothing, and a line without anything else an empty record."""
    sep = options.sep or ","
    text = as_text(stream, options.encoding)
    tokens = Tokenizer(ord(sep), text.name, text.size)
    blocks = Blocks(text, ord(sep))
    for block in blocks:
        if block.buffer.find(b'"', 0, block.length) >= 0:
            return _read_quoted(blocks.unread(), tokens, sep)
        tokens.feed(unix_lines(block))
    return encode.transactions(*tokens.result(), source=text.name)


def _read_quoted(stream: Stream, before: Tokenizer, sep: str) -> Transactions:
    """From the first quote on, split by Python's own parser: slower, but quoting is rare and it knows all of it."""
    records = Collector(stream.name)
    records.start_from(*before.result())
    checked = io.TextIOWrapper(io.BufferedReader(StrictQuotes(stream, sep, before.lines)), "utf-8", newline="")
    rows = csv.reader(checked, delimiter=sep, strict=True)
    try:
        for row in rows:
            records.add(field for field in row if field)
    except csv.Error:
        line = before.lines + rows.line_num
        raise InputError(
            f"{stream.name}:{line}: a field of more than {csv.field_size_limit():,} characters; check the quotes"
        ) from None
    return records.transactions()


def write(data: Transactions, sink: BinaryIO, options: Options) -> None:
    """Write records, quoting the terms that need it."""
    sep = options.sep or ","
    refuse_terms(data, r"^$|\x{00}", "basket", "that is empty or has a NUL byte in it", "list")
    write_lines(sink, data, [quoted(name, sep) for name in data.vocabulary.to_pylist()], sep)


def quoted(name: str, sep: str) -> str:
    """Return a field that reads back as ``name``."""
    if name.startswith("\ufeff") or any(special in name for special in (sep, '"', "\n", "\r")):
        return '"' + name.replace('"', '""') + '"'
    return name
