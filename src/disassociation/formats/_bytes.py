"""Where bytes come from: a path or standard input, decompressed, recoded to UTF-8, checked, cut into blocks."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from disassociation._kernels.tokens import PADDING
from disassociation.errors import InputError, ParameterError

HEAD = 1 << 16
"""How much of the beginning is looked at to tell what a file is."""

BLOCK = 1 << 18
"""Bytes handed to a parser at a time; a block and its positions stay in the second-level cache."""

_LINE_FEED, _RETURN = 10, 13
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class Stream(io.RawIOBase):
    """Bytes under a name for messages, the first of which can be looked at before they are read.

    ``inner`` is anything with ``readinto`` and ``close``.
    """

    def __init__(self, inner: Any, name: str) -> None:
        self._inner = inner
        self._ahead = b""
        self.name = name
        self.size = 0  # how many bytes there are, where that is known
        self.owns_inner = True

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed and self.owns_inner:
            self._inner.close()
        super().close()

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer as far as there is something to read."""
        view = memoryview(buffer).cast("B")
        filled = min(len(self._ahead), len(view))
        view[:filled] = self._ahead[:filled]
        self._ahead = self._ahead[filled:]
        while filled < len(view):
            got = self._fill(view[filled:])
            if got == 0:
                break
            filled += got
        return filled

    def peek(self, size: int) -> bytes:
        """Up to ``size`` of the bytes that come next, without consuming them."""
        if len(self._ahead) < size:
            more = bytearray(size - len(self._ahead))
            filled = 0
            while filled < len(more):
                got = self._fill(memoryview(more)[filled:])
                if got == 0:
                    break
                filled += got
            self._ahead += bytes(more[:filled])
        return self._ahead[:size]

    def put_back(self, ahead: bytes) -> None:
        """Let ``ahead`` come next, as if it had not been read."""
        self._ahead = ahead + self._ahead

    def _fill(self, view: memoryview) -> int:
        return self._inner.readinto(view) or 0


class _Decompressed(Stream):
    def _fill(self, view: memoryview) -> int:
        try:
            return super()._fill(view)
        except OSError:
            raise InputError(
                f"{self.name}: the compressed data are damaged or cut short; make or fetch the file again"
            ) from None


class _Recoded(Stream):
    """UTF-8 made from text in another encoding."""

    def __init__(self, inner: Stream, encoding: str) -> None:
        super().__init__(inner, inner.name)
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._lines = 0

    def _fill(self, view: memoryview) -> int:
        while not self._ready:
            raw = bytearray(HEAD)
            got = self._inner.readinto(raw) or 0
            self._ready = self._recode(bytes(raw[:got]))
            if got == 0 and not self._ready:
                return 0
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _recode(self, raw: bytes) -> bytes:
        try:
            ready = self._decoder.decode(raw, final=not raw).encode()
        except UnicodeError as error:
            good = error.object[: error.start] if isinstance(error, UnicodeDecodeError) else b""
            line = self._lines + 1 + good.decode(self._encoding, "ignore").count("\n")
            raise InputError(
                f"{self.name}:{line}: not valid {self._encoding}; name the file's encoding with --encoding"
            ) from None
        self._lines += ready.count(b"\n")
        return ready


class Text(Stream):
    """Valid UTF-8 without NUL bytes; anything else is refused with the number of its line."""

    def __init__(self, inner: Stream) -> None:
        super().__init__(inner, inner.name)
        self.size = inner.size
        self._lines = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._split = False  # whether the last chunk ended inside a character

    def _fill(self, view: memoryview) -> int:
        got = super()._fill(view)
        if got == 0:
            self._check_utf8(b"")
            return 0
        chunk = np.frombuffer(view[:got], np.uint8)
        if self._split or chunk.max() >= 0x80:
            self._check_utf8(bytes(view[:got]))
        if chunk.min() == 0:
            line = self._lines + 1 + int(np.count_nonzero(chunk[: int(chunk.argmin())] == _LINE_FEED))
            raise InputError(f"{self.name}:{line}: a NUL byte; this is not text, or --encoding is needed")
        self._lines += int(np.count_nonzero(chunk == _LINE_FEED))
        return got

    def _check_utf8(self, chunk: bytes) -> None:
        try:
            self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            line = self._lines + 1 + error.object[: error.start].count(b"\n")
            raise InputError(f"{self.name}:{line}: not valid UTF-8; name the file's encoding with --encoding") from None
        self._split = bool(self._decoder.getstate()[0])


def open_stream(path: str) -> Stream:
    """Open a path, or standard input for "-", and decompress what is recognised as gzip or Zstandard."""
    if path == "-":
        raw = Stream(io.BytesIO(b"") if sys.stdin is None else sys.stdin.buffer, "stdin")
        raw.owns_inner = False
    else:
        file = _open_file(path)
        raw = Stream(file, path)
        raw.size = os.fstat(file.fileno()).st_size
    head = raw.peek(4)
    for magic, codec in _MAGIC.items():
        if head.startswith(magic):
            return _Decompressed(pa.CompressedInputStream(raw, codec), raw.name)
    return raw


def _open_file(path: str) -> io.FileIO:
    try:
        return io.FileIO(path)
    except FileNotFoundError:
        problem = "no such file; check the path"
    except IsADirectoryError:
        problem = "this is a directory; give a file"
    except PermissionError:
        problem = "no permission to read it; change the file's mode or owner"
    except (OSError, ValueError) as error:
        problem = f"cannot be opened ({getattr(error, 'strerror', None) or 'not a usable path'}); check the path"
    raise InputError(f"{path}: {problem}")


def as_text(stream: Stream, encoding: str) -> Text:
    """Read a stream as text in an encoding, a byte order mark left out."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):
        raise ParameterError(f"--encoding {encoding}: no such text encoding; try utf-8, latin-1 or utf-16") from None
    if name not in ("utf-8", "utf-8-sig", "ascii"):
        stream = _Recoded(stream, name)
    head = stream.peek(3)
    if head == codecs.BOM_UTF8:
        stream.readinto(bytearray(3))
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{stream.name}: this is UTF-16 text; read it with --encoding utf-16")
    return Text(stream)


class Block(NamedTuple):
    """Some text, at least PADDING zero bytes behind it."""

    buffer: bytearray
    length: int

    def content(self) -> bytes:
        """Return a copy of the text."""
        return bytes(memoryview(self.buffer)[: self.length])


class Blocks:
    """A text cut behind line feeds, or behind separators in lines that are longer than a block.

    The last line gets its line feed if the text does not have it. Every block is in the same buffer, so it lasts until
    the next is asked for.
    """

    def __init__(self, text: Stream, separator: int, size: int | None = None) -> None:
        self._text = text
        self._separator = separator
        self._buffer = bytearray((size or BLOCK) + PADDING)
        self._cut = 0
        self._rest = b""

    def __iter__(self) -> Iterator[Block]:
        filled = 0
        last = _LINE_FEED
        while True:
            buffer, room = self._buffer, len(self._buffer) - PADDING
            filled += self._text.readinto(memoryview(buffer)[filled:room]) or 0
            if filled == 0 and last == _LINE_FEED:
                return
            if filled < room:
                if filled == 0 or buffer[filled - 1] != _LINE_FEED:
                    buffer[filled] = _LINE_FEED
                    filled += 1
                self._cut = filled
            else:
                feed = buffer.rfind(_LINE_FEED, 0, filled)
                self._cut = 1 + (feed if feed >= 0 else buffer.rfind(self._separator, 0, filled))
            if self._cut:
                self._rest = bytes(buffer[self._cut : filled])
                buffer[self._cut : self._cut + PADDING] = bytes(PADDING)
                last = buffer[self._cut - 1]
                yield Block(buffer, self._cut)
                filled = len(self._rest)
                buffer[:filled] = self._rest
            else:
                self._buffer = bytearray(2 * room + PADDING)
                self._buffer[:filled] = buffer[:filled]

    def unread(self) -> Stream:
        """The text from the beginning of the current block on."""
        stream = Stream(self._text, self._text.name)
        stream.put_back(bytes(self._buffer[: self._cut]) + self._rest)
        return stream


def unix_lines(block: Block) -> Block:
    """Turn each CR LF, and each CR alone, of a block into a line feed."""
    if block.buffer.find(b"\r", 0, block.length) < 0:
        return block
    return padded(block.content().replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def padded(content: bytes) -> Block:
    """Make a block of some bytes."""
    return Block(bytearray(content + bytes(PADDING)), len(content))
