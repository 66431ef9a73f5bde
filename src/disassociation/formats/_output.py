"""Where written bytes go: a file that is there completely or not at all, or standard output; compressed by name."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import BinaryIO, cast

import pyarrow as pa

from disassociation.errors import ParameterError
from disassociation.formats.sniff import COMPRESSED


@contextlib.contextmanager
def open_output(target: str, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Open a path for writing, or standard output for "-"; a path appears only when all is written and flushed."""
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    if path.is_dir():
        raise ParameterError(f"{target}: this is a directory; give a file")
    if path.exists() and not overwrite:
        raise ParameterError(f"{target}: exists already; choose another name or allow overwriting it")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with _create(temporary, target) as file, _compressed(file, target) as sink:
            yield sink
        with temporary.open("rb+") as written:  # again, because compression closes what is beneath it
            os.fsync(written.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_directory(path.parent)


def _create(temporary: Path, target: str) -> BinaryIO:
    try:
        return temporary.open("xb")
    except OSError as error:
        raise ParameterError(f"{target}: cannot be written ({error.strerror}); check the path") from None


@contextlib.contextmanager
def _compressed(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    codec = COMPRESSED.get(PurePath(name).suffix.lower())
    if codec is None:
        yield file
        return
    with pa.CompressedOutputStream(pa.PythonFile(file, "w"), codec) as sink:
        yield cast(BinaryIO, sink)


def _flush_directory(folder: Path) -> None:
    # So that the new name survives a crash as well; not every system lets a directory be opened.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
