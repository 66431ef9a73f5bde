"""What format a file is in: by its extension, and by its first bytes where that leaves it open."""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple

from disassociation.errors import InputError
from disassociation.formats import long
from disassociation.formats._options import Options
from disassociation.formats._tables import container_of
from disassociation.formats.spmf import CONVERTED, ITEM

COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
CONTAINERS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}
BY_EXTENSION = dict.fromkeys([*CONTAINERS, ".jsonl", ".ndjson"], "list") | {
    ".json": "json",
    ".spmf": "spmf",
    ".quest": "quest",
    ".fimi": "fimi",
}


class Guess(NamedTuple):
    """A format, or "table" if only the table's columns will tell; and what the file is physically."""

    format: str
    container: str


def extension(name: str) -> str:
    """Return the last suffix of a name, in lower case, one for compression left out."""
    path = PurePath(name)
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    return path.suffix.lower()


def guess(name: str, head: bytes, options: Options) -> Guess:
    """Tell the format of a file by its name and first bytes; raise an error if that is not possible."""
    kind = extension(name)
    container = container_of(head)
    if container != "text":
        return Guess("table", container)
    if kind in CONTAINERS:
        real = "a Parquet" if CONTAINERS[kind] == "parquet" else "an Arrow"
        raise InputError(f"{name}: not {real} file, whatever its name says; give --format or rename it")
    if kind in BY_EXTENSION:
        return Guess(BY_EXTENSION[kind], "text")
    if head.removeprefix(b"\xef\xbb\xbf").startswith((CONVERTED, ITEM)) or b"\n" + ITEM in head:
        return Guess("spmf", "text")
    if options.transaction is not None:
        return Guess("long", "text")
    if kind in (".dat", ".txt"):
        return Guess("fimi" if options.sep is None else "basket", "text")
    if kind in (".csv", ".tsv"):
        return Guess("long" if _is_long(head, options, name) else "basket", "text")
    return Guess(_by_content(name, head, options), "text")


def _is_long(head: bytes, options: Options, name: str) -> bool:
    if options.item is not None:
        return True
    try:
        long.header(head.removeprefix(b"\xef\xbb\xbf"), options, name)
    except InputError:
        return False
    return True


def _by_content(name: str, head: bytes, options: Options) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return "list"
    if start.startswith(b"["):
        return "json" if start[1:].lstrip().startswith((b"[", b"]")) else "list"
    if _is_long(head, options, name):
        return "long"
    signs = {sign for sign in (b",", b";", b"\t", b"|", b'"', b" ") if sign in head}
    if options.sep is not None or signs == {b","}:
        return "basket"
    if signs <= {b" "}:
        return "fimi"
    raise InputError(f"{name}: tokens split by blanks or by something else, both are possible; give --format")
