"""Blocks of text to numbered tokens: feeds the kernels and enlarges what they fill."""

from __future__ import annotations

import secrets
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from disassociation._kernels import tokens as kernels
from disassociation._types import Bytes, Offsets
from disassociation.errors import InputError
from disassociation.formats._bytes import Block

Kind = TypeVar("Kind", bound=np.generic)

_SPARSE = 1 << 18  # words in a table from which on it may be half full
_MOST_TEXT = 2**31 - 1  # bytes that the offsets of an Arrow string array can address


class Tokenizer:
    """Collects records, one a line, whose tokens stand between separators; empty tokens are nothing."""

    def __init__(self, separator: int, source: str, size: int = 0) -> None:
        """Give the ``size`` of the whole text, if it is known, to save room and time."""
        self._separator = np.uint64(separator)
        self._size, self._fed = size, 0
        self._source = source
        self._marks, self._keys = np.empty(0, np.uint32), np.empty(0, np.uint64)
        multiplier = np.array([secrets.randbits(64) | 1], np.uint64)
        self._table = kernels.Table(
            np.zeros(1 << 16, np.uint64), np.empty(1 << 17, np.uint8), np.zeros((1 << 13) + 1, np.int64), multiplier
        )
        self._output = kernels.Output(np.empty(1 << 16, np.uint32), np.zeros(1 << 14, np.int64))
        self._state = np.zeros(4, np.int64)

    @property
    def lines(self) -> int:
        """How many lines are complete."""
        return int(self._state[kernels.RECORDS])

    def feed(self, block: Block) -> None:
        """Add a block whose lines end in line feeds, and which ends behind a separator or a line feed itself."""
        with np.errstate(over="ignore"):  # hashing overflows on purpose; compiled code does not mind anyway
            self._number(np.frombuffer(block.buffer, np.uint8), block.length)

    def _number(self, block: Bytes, length: int) -> None:
        if len(self._marks) < length:
            self._marks, self._keys = np.empty(length, np.uint32), np.empty(length, np.uint64)
        words = block[: -(-length // 64) * 64].view(np.uint64)
        marks = self._marks[: kernels.find_ends(words, self._separator, self._marks)]
        keys = self._keys[: len(marks)]
        long = kernels.make_keys(block, marks, self._table.multiplier[0], keys)
        self._make_room(len(marks))
        state, again = self._state, self._state.copy()
        state[kernels.MARK] = again[kernels.MARK] = 0
        while full := kernels.number_short(block, marks, keys, self._table, self._output, state):
            self._enlarge(full)
        if long:
            again[kernels.TERMS] = state[kernels.TERMS]
            while full := kernels.number_long(block, marks, keys, self._table, self._output, again):
                self._enlarge(full)
            state[kernels.TERMS] = again[kernels.TERMS]
        self._fed += length
        if self._table.ends[state[kernels.TERMS]] > _MOST_TEXT:
            raise InputError(f"{self._source}: the distinct terms exceed 2 GiB; check the format and the separator")

    def result(self) -> tuple[kernels.Codes, Offsets, pa.StringArray]:
        """All codes so far, where each record begins among them, and the terms the codes number."""
        terms, occurrences = int(self._state[kernels.TERMS]), int(self._state[kernels.OCCURRENCES])
        ends = self._table.ends[: terms + 1]
        text = self._table.text[: int(ends[-1])]
        names = pa.StringArray.from_buffers(terms, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(text))
        return self._output.codes[:occurrences], self._output.bounds[: self.lines + 1], names

    def _make_room(self, more: int) -> None:
        """Let the output take so many more tokens and records."""
        codes, bounds = self._output
        occurrences, records = int(self._state[kernels.OCCURRENCES]), int(self._state[kernels.RECORDS])
        # Untouched memory is not used memory, but touching new memory is slow: better once than again and again.
        expected = 1.02 * self._size / self._fed if self._fed else 0
        if occurrences + more > len(codes):
            codes = _longer(codes, more + max(2 * len(codes), int(expected * occurrences)))
        if records + more + 2 > len(bounds):
            bounds = _longer(bounds, more + 2 + max(2 * len(bounds), int(expected * records)))
        self._output = kernels.Output(codes, bounds)

    def _enlarge(self, full: int) -> None:
        """Make the table take more terms, or their text."""
        if full == kernels.TABLE_FULL:
            larger = 4 if len(self._table.slots) < _SPARSE else 2
            slots = np.zeros(larger * len(self._table.slots), np.uint64)
            kernels.move_slots(self._table.slots, slots, self._table.multiplier[0])
            # Collisions mispredict branches: a quarter full at most, half full once it is too large for the cache.
            most = len(slots) // (8 if len(slots) < _SPARSE else 4)
            self._table = self._table._replace(slots=slots, ends=_longer(self._table.ends, most + 1))
        else:
            text = self._table.text
            more = max(len(text), len(self._marks))
            self._table = self._table._replace(text=_longer(text, len(text) + more))


def _longer(array: NDArray[Kind], size: int) -> NDArray[Kind]:
    longer = np.empty(size, array.dtype)
    longer[: len(array)] = array
    return longer
