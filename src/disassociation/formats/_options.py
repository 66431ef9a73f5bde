"""What a user may say about a file, handed to the reader or writer of its format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of ``read`` and ``write`` that formats look at; each looks at those it knows."""

    sep: str | None = None
    encoding: str = "utf-8"
    transaction: str | None = None
    item: str | None = None
    container: str = "text"  # or "parquet", or "ipc", for a table
