"""The SPMF library's transactions: a line of whole numbers a record, names of the numbers in ``@ITEM=`` lines."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa

from disassociation import encode
from disassociation.errors import InputError
from disassociation.formats._bytes import Blocks, Stream, as_text, padded, unix_lines
from disassociation.formats._lines import refuse_terms, write_lines
from disassociation.formats._options import Options
from disassociation.formats._tokens import Tokenizer
from disassociation.formats.fimi import BLANK, only_blanks
from disassociation.records import Transactions

CONVERTED = b"@CONVERTED_FROM_TEXT"
ITEM = b"@ITEM="
_METADATA = (b"@", b"#", b"%")


def read(stream: Stream, options: Options) -> Transactions:
    """Read records, numbers replaced by their names where they have one; a blank line is an empty record."""
    text = as_text(stream, options.encoding)
    tokens = Tokenizer(BLANK, text.name, text.size)
    names: dict[str, str] = {}
    for block in map(unix_lines, Blocks(text, ord("\n"))):
        if any(block.buffer.find(mark, 0, block.length) >= 0 for mark in _METADATA):
            lines = block.content().splitlines(keepends=True)
            names.update(_name(line, text.name) for line in lines if line.startswith(ITEM))
            block = padded(b"".join(line for line in lines if not line.startswith(_METADATA)))
        tokens.feed(only_blanks(block))
    codes, bounds, numbers = tokens.result()
    return encode.transactions(codes, bounds, _renamed(numbers, names, text.name), source=text.name)


def write(data: Transactions, sink: BinaryIO, _options: Options) -> None:
    """Write records of numbers from 1, each with its name."""
    refuse_terms(data, r"[\x{00}\r\n]", "spmf", "that has a line end or a NUL byte in it", "list")
    sink.write(CONVERTED + b"\n")
    names = data.vocabulary.to_pylist()
    sink.write("".join([f"@ITEM={number}={name}\n" for number, name in enumerate(names, 1)]).encode())
    write_lines(sink, data, [str(number) for number in range(1, len(names) + 1)], " ")


def _name(line: bytes, source: str) -> tuple[str, str]:
    number, equals, name = line.rstrip(b"\n").removeprefix(ITEM).partition(b"=")
    if not equals:
        raise InputError(f"{source}: an @ITEM line has no name; write @ITEM=number=name")
    return number.decode(), name.decode()


def _renamed(numbers: pa.StringArray, names: dict[str, str], source: str) -> pa.StringArray:
    plain = numbers.to_pylist()
    if any(number.startswith("-") for number in plain):
        raise InputError(f"{source}: this is an SPMF sequence file (it has -1 or -2); convert it to transactions")
    if not all(number.isascii() and number.isdigit() for number in plain):
        raise InputError(f"{source}: an item is not a whole number; give another --format")
    texts = [names.get(number, number) for number in plain]
    if len(set(texts)) < len(texts):
        raise InputError(f"{source}: two item numbers have the same name; make the @ITEM lines distinct")
    return pa.array(texts, pa.string())
