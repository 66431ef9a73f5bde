"""How much a Parquet file unpacks to, found without unpacking it and without believing what its footer says.

A page of a few bytes can stand for 2^31 values, the footer can give any number for them, and pyarrow takes the whole
process down when asked for some damaged footers. So the footer and the header of every page are walked here first:
they are Thrift structs in the compact protocol, of which a handful of numbers matter.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["unpacked_size", "unpacks_too_far"]

_MAGIC = b"PAR1"
_WINDOWS = (1 << 12, 1 << 22)
"""Bytes within which a page header, and within which the footer of thousands of millions of rows, has its end."""

_DEPTH_LIMIT = 8
_DICTIONARY_PAGE = 2
_HEADERS = {0: 5, _DICTIONARY_PAGE: 7, 3: 8}
"""Type of a page to number of the field with its number of values; Arrow skips pages of other types."""

# Kinds of values in Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _INT16, _INT32, _INT64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

Struct = dict[int, tuple[int, Any]]
"""Field number to kind and value; texts are only skipped."""


_HARMLESS = 1 << 28
_WORST_EXPANSION = 500
"""A Parquet file that unpacks to more than 256 MiB and to more than this many times its size is taken for an attack.
Our own files of nothing but equal records unpack to 40 times their size."""


def unpacks_too_far(path: Path) -> bool:
    """Whether a file is made to fill memory; ValueError if it is not well formed."""
    return unpacked_size(path) > max(_HARMLESS, _WORST_EXPANSION * path.stat().st_size)


def unpacked_size(path: Path) -> int:
    """Bytes as encoded, and eight a value, because equal values cost nothing encoded; ValueError if not well formed."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 8))
        tail = file.read(8)
        start = end - 8 - int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or start < 4:
            raise ValueError("no Parquet footer")
        try:
            footer, _ = _struct_at(file, start)
            return sum(
                _chunk_size(file, _field(column, 3, _STRUCT))
                for group in _structs(footer, 4)
                for column in _structs(group, 1)
            )
        except KeyError as error:
            raise ValueError("a footer or page header that lacks a field") from error


def _struct_at(file: BinaryIO, at: int) -> tuple[Struct, int]:
    """The struct that begins at a place of the file, and where it ends."""
    for most in _WINDOWS:
        file.seek(at)
        with contextlib.suppress(IndexError):
            struct, length = _read_struct(file.read(most), 0, 0)
            return struct, at + length
    raise ValueError("a footer or page header without end")


def _chunk_size(file: BinaryIO, column: Struct) -> int:
    """The pages of one column of one row group that Arrow will read, which is as many as hold all values."""
    values = _natural(column, 5, _INT64)
    at = _natural(column, 9, _INT64)
    if 11 in column:
        at = min(at, _natural(column, 11, _INT64) or at)
    stop = at + _natural(column, 7, _INT64)
    size = seen = 0
    while seen < values and at < stop:
        page, at = _struct_at(file, at)
        kind = _natural(page, 1, _INT32)
        if kind in _HEADERS:
            here = _natural(_field(page, _HEADERS[kind], _STRUCT), 1, _INT32)
            size += 8 * here
            seen += here if kind != _DICTIONARY_PAGE else 0
        size += _natural(page, 2, _INT32)
        at += _natural(page, 3, _INT32)
    if seen != values:
        raise ValueError("pages that hold other than the footer says")
    return size


def _field(struct: Struct, number: int, kind: int) -> Any:
    """A field that must be there, and of that kind."""
    found, value = struct[number]
    if found != kind:
        raise ValueError("a field of another kind")
    return value


def _natural(struct: Struct, number: int, kind: int) -> int:
    value: int = _field(struct, number, kind)
    if value < 0:
        raise ValueError("a negative size")
    return value


def _structs(struct: Struct, number: int) -> list[Struct]:
    elements: list[Struct] = _field(struct, number, _LIST)
    if not all(isinstance(element, dict) for element in elements):
        raise ValueError("a list of other things than structs")
    return elements


def _read_struct(data: bytes, at: int, depth: int) -> tuple[Struct, int]:
    """The struct that begins at a place, and where it ends."""
    if depth > _DEPTH_LIMIT:
        raise ValueError("structs nested too deep")
    struct: Struct = {}
    number = 0
    while head := data[at]:
        step, kind = head >> 4, head & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _read_integer(data, at, 16)
        if number in struct or number > 1 << 15:
            raise ValueError("a field given twice, or none of Parquet's")
        value, at = _read_value(data, at, kind, depth)
        struct[number] = (kind, value)
    return struct, at + 1


def _read_value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return None, at
    if kind in (_INT16, _INT32, _INT64):
        return _read_integer(data, at, {_INT16: 16, _INT32: 32, _INT64: 64}[kind])
    if kind in (_BYTE, _DOUBLE):
        return None, at + (1 if kind == _BYTE else 8)
    if kind == _BINARY:
        length, at = _read_varint(data, at)
        return None, at + length
    if kind in (_LIST, _SET):
        return _read_list(data, at, depth + 1)
    if kind == _STRUCT:
        return _read_struct(data, at, depth + 1)
    raise ValueError("a kind of value that Parquet has not")


def _read_list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    if depth > _DEPTH_LIMIT:
        raise ValueError("lists nested too deep")
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = _read_varint(data, at)
    elements = []
    for _ in range(count):
        value, at = (None, at + 1) if kind in (_TRUE, _FALSE) else _read_value(data, at, kind, depth)
        if at > len(data):
            raise ValueError("a list that ends early")
        elements.append(value)
    return elements, at


def _read_integer(data: bytes, at: int, bits: int) -> tuple[int, int]:
    """A signed number, zigzag encoded."""
    value, at = _read_varint(data, at)
    if value >> bits:
        raise ValueError("a number too large for its kind")
    return (value >> 1) ^ -(value & 1), at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of too many bytes")
