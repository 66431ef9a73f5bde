"""Splitting bytes into tokens and numbering the tokens: one pass to find where they end, one to look them up.

A token of up to eight bytes is its own key, packed into one word (tokens hold no NUL byte, so a key is never zero and
two tokens never share one); a longer token's key is a hash whose lowest byte is zero, which no short key has, and its
text is compared on every match. Keys go to slots by a multiplication with a number drawn at random for each reading,
so that nobody can prepare a file whose tokens all collide; a second multiplication made lookups a quarter slower and
collisions no rarer. The numbers that terms get here are provisional and leave no trace in the result.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._types import Bytes, Ids, Offsets, Words

Codes: TypeAlias = NDArray[np.uint32]
"""Term numbers by first appearance, before they become ranks."""

DONE, TABLE_FULL, TEXT_FULL = range(3)
PADDING = 64
"""Bytes that must be readable behind the end of a block, and that ``find_ends`` may look at."""

# Places in the state array: what has been consumed of this block, what has been produced of the whole file.
MARK, OCCURRENCES, RECORDS, TERMS = range(4)

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_LOW = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_SEVEN = np.uint64(0x7F7F7F7F7F7F7F7F)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_GATHER = np.uint64(0x0102040810204080)
_SHORT = np.uint64(255)  # the byte of a key that only a short token's key has something in
_NEWLINE = np.uint8(10)


class Table(NamedTuple):
    """Open addressing with linear probing; grown by the caller, who keeps it at most half full."""

    slots: Words  # (2 * capacity,) key and code side by side, one cache line a lookup; key 0 is an empty slot
    text: Bytes  # the distinct tokens, one behind the other
    ends: Offsets  # (capacity / 2 + 1,) where each token's text ends, from 0
    multiplier: Words  # (1,) odd, random


class Output(NamedTuple):
    """What the file becomes; grown by the caller."""

    codes: Codes  # one entry per token
    bounds: Offsets  # bounds[r] to bounds[r + 1] are record r's codes


TABLE = types.NamedTuple((buffer(types.uint64), buffer(types.uint8), buffer(types.int64), buffer(types.uint64)), Table)
OUTPUT = types.NamedTuple((buffer(types.uint32), buffer(types.int64)), Output)


@helper
def _trailing_zeros(word: Any) -> Any:
    # LLVM knows this spelling and makes one instruction of it.
    word = (word & (~word + _ONE)) - _ONE
    word = word - ((word >> _ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> _TWO) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * _LOW) >> np.uint64(56)


@helper
def load_word(data: Any, position: Any) -> Any:
    """Eight bytes from any position, the first lowest; one load, as an unsigned index needs no wrap-around."""
    at = np.uint64(position)
    word = np.uint64(data[at])
    for byte in range(1, 8):
        word |= np.uint64(data[at + np.uint64(byte)]) << np.uint64(8 * byte)
    return word


@helper
def _shift(slots: Any) -> Any:
    # What leaves as many top bits of a word as the table has slots: 64 - log2(len(slots) / 2).
    return np.uint64(65) - _trailing_zeros(np.uint64(len(slots)))


@helper
def _slot(key: Any, multiplier: Any, shift: Any) -> Any:
    # Where to look first, as an index of `slots`.
    return ((key * multiplier) >> shift) << _ONE


@helper
def _what_is_full(terms: int, most_terms: int, text: int, most_text: int) -> int:
    if terms + 1 == most_terms:
        return TABLE_FULL
    return TEXT_FULL if text > most_text else DONE


@kernel(types.int64(view(types.uint64), types.uint64, buffer(types.uint32)))
def find_ends(words: Words, separator: np.uint64, marks: Codes) -> int:
    """Write the position of every separator and line feed into ``marks``; return how many.

    ``words`` is the block as 64-bit words, a multiple of eight of them, zeros behind its end. Eight words become one
    64-bit map of the bytes wanted; walking its bits takes 1.5 ns a token, testing byte by byte 2.4.
    """
    found = 0
    wanted = separator * _LOW
    feeds = np.uint64(_NEWLINE) * _LOW
    for first in range(0, len(words), 8):
        bits = np.uint64(0)
        for lane in range(8):
            word = words[first + lane]
            other, line = word ^ wanted, word ^ feeds
            # The top bit of each byte is clear exactly where the byte is zero, that is where it was a wanted one.
            zeros = ~((((other & _SEVEN) + _SEVEN) | other) & (((line & _SEVEN) + _SEVEN) | line)) & _HIGH
            bits |= (((zeros >> np.uint64(7)) * _GATHER) >> np.uint64(56)) << np.uint64(8 * lane)
        while bits:
            marks[found] = np.uint32(first * 8) + np.uint32(_trailing_zeros(bits))
            found += 1
            bits &= bits - _ONE
    return found


@kernel(types.int64(view(types.uint8), view(types.uint32), types.uint64, buffer(types.uint64)))
def make_keys(block: Bytes, marks: Codes, multiplier: np.uint64, keys: Words) -> int:
    """Write the key of the token before each mark, zero if there is none; return how many are long."""
    long = 0
    start = np.int64(0)
    for mark in range(len(marks)):
        end = np.int64(marks[mark])
        length = end - start
        key = np.uint64(0)
        if length > 8:
            long += 1
            key = np.uint64(length)
            for at in range(start, end, 8):
                word = load_word(block, at)
                if end - at < 8:
                    word &= _ALL >> np.uint64(64 - 8 * (end - at))
                key = (key ^ word) * multiplier
                key ^= key >> np.uint64(29)
            key = (key << np.uint64(8)) | np.uint64(256)
        elif length > 0:
            key = load_word(block, start) & (_ALL >> np.uint64(64 - 8 * length))
        keys[mark] = key
        start = end + 1
    return long


@kernel(types.int64(view(types.uint8), view(types.uint32), view(types.uint64), TABLE, OUTPUT, buffer(types.int64)))
def number_short(block: Bytes, marks: Codes, keys: Words, table: Table, output: Output, state: Ids) -> int:
    """Write each token's term number and each record's end; long tokens only get their place.

    Stops and says so when the table is full; called again after it was enlarged, it goes on where it stopped. The
    output has room for the block. Nothing branches on where lines end, which would cost 2 ns a token.
    """
    # Arrays are taken out of their tuples once, and no helper loops over one: counting references costs 50 ns a token.
    slots, text, ends, multiplier = table.slots, table.text, table.ends, table.multiplier[0]
    codes, bounds, shift, wrap = output.codes, output.bounds, _shift(table.slots), np.uint64(len(table.slots) - 1)
    occurrences, records, terms, status = state[OCCURRENCES], state[RECORDS], state[TERMS], DONE
    mark = state[MARK]
    while mark < len(marks):
        key = keys[mark]
        if key & _SHORT:
            at = _slot(key, multiplier, shift)
            while slots[at] != key and slots[at] != 0:
                at = (at + _TWO) & wrap
            if slots[at] == 0:
                status = _what_is_full(terms, len(ends), ends[terms] + 8, len(text))
                if status != DONE:
                    break
                slots[at], slots[at + _ONE] = key, np.uint64(terms)
                terms += 1
                ends[terms] = ends[terms - 1]
                while key:
                    text[ends[terms]] = key & _SHORT
                    ends[terms] += 1
                    key >>= np.uint64(8)
            codes[occurrences] = slots[at + _ONE]
        occurrences += keys[mark] != 0
        bounds[records + 1] = occurrences
        records += block[marks[mark]] == _NEWLINE
        mark += 1
    state[MARK], state[OCCURRENCES], state[RECORDS], state[TERMS] = mark, occurrences, records, terms
    return status


@kernel(types.int64(view(types.uint8), view(types.uint32), view(types.uint64), TABLE, OUTPUT, buffer(types.int64)))
def number_long(block: Bytes, marks: Codes, keys: Words, table: Table, output: Output, state: Ids) -> int:
    """Write the term numbers that ``number_short`` left out; stops and goes on in the same way."""
    slots, text, ends, multiplier = table.slots, table.text, table.ends, table.multiplier[0]
    codes, shift, wrap = output.codes, _shift(table.slots), np.uint64(len(table.slots) - 1)
    occurrences, terms, status = state[OCCURRENCES], state[TERMS], DONE
    mark = state[MARK]
    while mark < len(marks):
        key = keys[mark]
        if key & _SHORT == 0 and key != 0:
            start = np.int64(marks[mark - 1]) + 1 if mark else np.int64(0)
            length = np.int64(marks[mark]) - start
            at = _slot(key, multiplier, shift)
            last = length - 8
            while slots[at] != 0:
                begin, same = ends[slots[at + _ONE]], 0
                if slots[at] == key and ends[slots[at + _ONE] + _ONE] == begin + length:
                    while same < last and load_word(text, begin + same) == load_word(block, start + same):
                        same += 8
                    if same >= last and load_word(text, begin + last) == load_word(block, start + last):
                        break
                at = (at + _TWO) & wrap
            if slots[at] == 0:
                status = _what_is_full(terms, len(ends), ends[terms] + length, len(text))
                if status != DONE:
                    break
                slots[at], slots[at + _ONE] = key, np.uint64(terms)
                for offset in range(length):
                    text[ends[terms] + offset] = block[start + offset]
                ends[terms + 1] = ends[terms] + length
                terms += 1
            codes[occurrences] = slots[at + _ONE]
        occurrences += key != 0
        mark += 1
    state[MARK], state[OCCURRENCES], state[TERMS] = mark, occurrences, terms
    return status


@kernel(types.void(view(types.uint64), buffer(types.uint64), types.uint64))
def move_slots(old: Words, new: Words, multiplier: np.uint64) -> None:
    """Put every entry of a table's slots into the larger, empty ``new``."""
    shift = _shift(new)
    for entry in range(0, len(old), 2):
        if old[entry] != 0:
            at = _slot(old[entry], multiplier, shift)
            while new[at] != 0:
                at = (at + _TWO) & np.uint64(len(new) - 1)
            new[at], new[at + _ONE] = old[entry], old[entry + 1]
