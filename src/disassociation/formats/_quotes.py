"""Quoting in comma-separated text, checked by RFC 4180 before a lenient parser can change what was meant."""

from __future__ import annotations

import numpy as np

from disassociation.errors import InputError
from disassociation.formats._bytes import Stream

QUOTE = 0x22


class StrictQuotes(Stream):
    """A text passed on as it is, or refused: a quote opens at a field's beginning and closes at its end only.

    In between two quotes stand for one. The parsers would take ``"a"b`` for ``ab`` and swallow lines after a quote
    that is never closed.
    """

    def __init__(self, inner: Stream, sep: str, lines_before: int = 0) -> None:
        super().__init__(inner, inner.name)
        self._lines = lines_before
        self._open = False
        self._opened = 0  # the line of the last quote that opened
        self._before = 0x0A  # the byte before the next chunk
        self._edge = np.zeros(256, np.bool_)  # what may stand outside next to a field's quotes
        self._edge[[ord(sep), 0x0A, 0x0D, QUOTE]] = True

    def _fill(self, view: memoryview) -> int:
        got = super()._fill(view)
        if got == 0 and self._open:
            self._refuse(self._opened, "a quote that is never closed")
        if got:
            chunk = np.frombuffer(view[:got], np.uint8)
            if self._before == QUOTE or (chunk == QUOTE).any():
                self._check(chunk)
            self._before = int(chunk[-1])
            self._lines += int(np.count_nonzero(chunk == 0x0A))
        return got

    def _check(self, chunk: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
        # Every quote toggles between inside and outside, a doubled one twice.
        around = np.concatenate([np.array([self._before], np.uint8), chunk])
        quotes = np.flatnonzero(around[1:] == QUOTE) + 1
        opens = (np.arange(len(quotes)) % 2 == 0) ^ self._open
        bad_open = quotes[opens][~self._edge[around[quotes[opens] - 1]]]
        closes = quotes[~opens]
        if self._before == QUOTE and not self._open:
            closes = np.concatenate([[0], closes])
        closes = closes[closes + 1 < len(around)]
        bad_close = closes[~self._edge[around[closes + 1]]]
        bad = np.concatenate([bad_open, bad_close])
        if len(bad):
            line = self._line(chunk, int(bad.min()))
            self._refuse(line, "a quote inside a field that is not quoted, or text behind a closing quote")
        if opens.any():
            self._opened = self._line(chunk, int(quotes[opens][-1]))
        self._open ^= bool(len(quotes) % 2)

    def _line(self, chunk: np.ndarray[tuple[int], np.dtype[np.uint8]], place: int) -> int:
        return self._lines + 1 + int(np.count_nonzero(chunk[: max(place - 1, 0)] == 0x0A))

    def _refuse(self, line: int, problem: str) -> None:
        raise InputError(f"{self.name}:{line}: unbalanced quotes ({problem}); double quotes that are text")
