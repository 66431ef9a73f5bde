"""The output of IBM's Quest generator: each line a customer, a transaction, a count, and so many whole numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import BinaryIO

import pyarrow.compute as pc

from disassociation import encode
from disassociation.errors import InputError
from disassociation.formats._bytes import Blocks, Stream, as_text, padded, unix_lines
from disassociation.formats._lines import refuse_terms
from disassociation.formats._options import Options
from disassociation.formats._tokens import Tokenizer
from disassociation.formats.fimi import BLANK
from disassociation.records import Transactions

NOT_WHOLE = r"[^0-9]|^$"
_BEFORE_ITEMS = 3


def read(stream: Stream, options: Options) -> Transactions:
    """Read records, each line's count checked against its items; blank lines are nothing."""
    text = as_text(stream, options.encoding)
    tokens = Tokenizer(BLANK, text.name, text.size)
    number = 0
    for block in Blocks(text, ord("\n")):
        records = []
        for line in unix_lines(block).content().split(b"\n")[:-1]:
            number += 1
            fields = line.split()
            if fields:
                _check_count(fields, f"{text.name}:{number}")
                records.append(b" ".join(fields[_BEFORE_ITEMS:]) + b"\n")
        tokens.feed(padded(b"".join(records)))
    codes, bounds, names = tokens.result()
    if pc.any(pc.match_substring_regex(names, NOT_WHOLE)).as_py():
        raise InputError(f"{text.name}: an item is not a whole number; give another --format")
    return encode.transactions(codes, bounds, names, source=text.name)


def write(data: Transactions, sink: BinaryIO, _options: Options) -> None:
    """Write records, customers and transactions numbered from 1."""
    refuse_terms(data, NOT_WHOLE, "quest", "that is not a whole number", "spmf")
    names = data.vocabulary.to_pylist()
    offsets = data.offsets.tolist()
    for number, (start, stop) in enumerate(pairwise(offsets), 1):
        items = " ".join([names[code] for code in data.items[start:stop].tolist()])
        sink.write(f"{number} {number} {stop - start} {items}\n".encode())


def _check_count(fields: list[bytes], where: str) -> None:
    if len(fields) < _BEFORE_ITEMS or not all(map(bytes.isdigit, fields[:_BEFORE_ITEMS])):
        raise InputError(f"{where}: the line does not begin with three whole numbers; give another --format")
    if fields[2].lstrip(b"0") != (b"%d" % (len(fields) - _BEFORE_ITEMS)).lstrip(b"0"):
        raise InputError(f"{where}: not as many items as the line says; repair the line, or give another --format")
