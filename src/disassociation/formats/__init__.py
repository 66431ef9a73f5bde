"""Reading and writing records in every format, and taking them from memory."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import Any

from disassociation.formats import fimi, memory
from disassociation.formats._bytes import open_stream
from disassociation.records import Transactions

__all__ = ["FORMATS", "read"]

FORMATS = ("fimi", "basket", "long", "list", "spmf", "quest", "json")


def read(
    source: Any,
    *,
    format: str = "auto",  # noqa: A002 - the word users type
    sep: str | None = None,
    encoding: str = "utf-8",
    transaction: str | None = None,
    item: str | None = None,
    labels: Any = None,
    notify: Callable[[str], None] | None = None,
) -> Transactions:
    """Read records from a file or from memory."""
    if isinstance(source, Transactions):
        return source
    if isinstance(source, (str, PathLike)):
        with open_stream(str(fspath(source))) as stream:
            return fimi.read(stream, encoding)
    return memory.read(source)
