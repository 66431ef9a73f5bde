"""One JSON array of arrays."""

from __future__ import annotations

import json
from typing import BinaryIO

from disassociation.errors import InputError
from disassociation.formats._bytes import Stream, as_text
from disassociation.formats._collect import Collector
from disassociation.formats._options import Options
from disassociation.formats.listed import parse_json
from disassociation.records import Transactions


def read(stream: Stream, options: Options) -> Transactions:
    """Read an array a record."""
    text = as_text(stream, options.encoding)
    value = parse_json(text.readall() or b"", text.name)
    if not isinstance(value, list):
        raise InputError(f"{text.name}: not an array of arrays; make it one, or give --format list for a value a line")
    records = Collector(text.name)
    for number, record in enumerate(value, 1):
        if not isinstance(record, list):
            raise InputError(f"{text.name}: record {number}: not an array; make the file an array of arrays")
        records.add(record)
    return records.transactions()


def write(data: Transactions, sink: BinaryIO, _options: Options) -> None:
    """Write an array of arrays, one a line."""
    between = "[\n"
    for record in data:
        sink.write((between + json.dumps(record, ensure_ascii=False)).encode())
        between = ",\n"
    sink.write(b"\n]\n")
