"""Running the command line, in this process or in one of its own, and looking at what it leaves in a folder."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from disassociation.cli import main

COMMAND = (sys.executable, "-m", "disassociation.cli")


class Outcome(NamedTuple):
    """What a command answered."""

    code: int
    out: bytes
    err: str


def call(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run a command in this process, which saves the second that starting another takes."""
    streams = [io.TextIOWrapper(io.BytesIO(content), encoding="utf-8") for content in (stdin, b"", b"")]
    before = signal.getsignal(signal.SIGTERM)
    try:
        with mock.patch.multiple("sys", stdin=streams[0], stdout=streams[1], stderr=streams[2]):
            try:
                main([str(argument) for argument in arguments])
            except SystemExit as left:
                code = left.code
    finally:
        signal.signal(signal.SIGTERM, before)
    assert isinstance(code, int)
    for stream in streams[1:]:
        stream.flush()
    out, err = (stream.buffer.getvalue() for stream in streams[1:])
    return Outcome(code, out, err.decode())


def run(*arguments: object, stdin: bytes = b"", **options: Any) -> Outcome:
    """Run a command in a process of its own."""
    done = subprocess.run([*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, check=False, **options)
    return Outcome(done.returncode, done.stdout, done.stderr.decode())


def start(arguments: Sequence[object], **options: Any) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own, everything it prints kept apart from ours."""
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    pipes |= options
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **pipes)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything under a folder, hidden or not: the content of files, None for directories."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
