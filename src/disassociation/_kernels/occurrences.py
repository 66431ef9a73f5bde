"""Putting occurrences in order: by term within a record, and by record where they come one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.tokens import Codes, load_word
from disassociation._types import Bytes, Ids, Offsets, Words

NO_RECORD = np.uint32(0xFFFFFFFF)


@helper
def _lists_by_term(codes: Any, order: Any, count: Any) -> None:
    # Where each code's list begins, the lists following each other in canonical order.
    count[:] = 0
    for at in range(len(codes)):
        count[codes[at]] += np.uint32(1)
    begin = np.uint32(0)
    for rank in range(len(order)):
        size = count[order[rank]]
        count[order[rank]] = begin
        begin += size


@helper
def _sort_batch(codes: Any, start: int, ends: Any, order: Any, count: Any, place: Any, fill: Any) -> None:
    # Transpose the records to one list of records per term, then back in the order of the terms: linear, and without
    # a branch that depends on data (2.8 ns an occurrence at mean length 10; insertion sort 6.3, and quadratic).
    # On return `fill` holds where each record's distinct terms end, counted from `start`.
    piece = codes[start : ends[-1]]
    _lists_by_term(piece, order, count)
    begin = start
    for record in range(len(ends)):
        fill[record] = begin - start
        for at in range(begin, ends[record]):
            code = codes[at]
            place[count[code]] = record
            count[code] += np.uint32(1)
        begin = ends[record]
    first = np.uint32(0)
    for rank in range(len(order)):
        last = count[order[rank]]
        previous = NO_RECORD
        for at in range(first, last):
            record = place[np.uint32(at)]
            slot = fill[record]
            piece[slot] = rank
            fill[record] = slot + np.uint32(record != previous)
            previous = record
        first = last


@kernel(
    types.void(
        buffer(types.uint32), buffer(types.int64), view(types.uint32), buffer(types.uint32), buffer(types.uint32),
        buffer(types.int64),
    )
)  # fmt: skip
def settle(codes: Codes, bounds: Offsets, order: Codes, place: Codes, fill: Codes, kept: Ids) -> None:
    """Replace codes by ranks, sort each record, drop repeats and empty records, all in place.

    ``order`` is the codes in canonical order, ``place`` has room for the longest record at least, and ``fill`` for one
    record. ``kept`` becomes the numbers of occurrences and of records that are left, at the front of their arrays.
    """
    count = np.empty(len(order), np.uint32)
    first = occurrences = records = start = 0
    while first < len(bounds) - 1:
        last = first
        while last + 1 < len(bounds) and bounds[last + 1] - start <= len(place) and last - first < len(fill):
            last += 1
        end = bounds[last]
        _sort_batch(codes, start, bounds[first + 1 : last + 1], order, count, place, fill)
        begin = start
        for record in range(last - first):
            following = bounds[first + 1 + record]
            stop = start + fill[record]
            if occurrences == begin:
                occurrences = stop
            else:
                for at in range(begin, stop):
                    codes[occurrences] = codes[at]
                    occurrences += 1
            if stop > begin:
                records += 1
                bounds[records] = occurrences
            begin = following
        first, start = last, end
    kept[0], kept[1] = occurrences, records


@kernel(types.void(view(types.uint32), view(types.uint32), buffer(types.int64), buffer(types.uint32)))
def gather(rows: Codes, codes: Codes, bounds: Offsets, gathered: Codes) -> None:
    """Bring the codes of each row together: ``bounds[r]`` is where row r's begin, and becomes where they end."""
    for at in range(len(rows)):
        row = rows[at]
        gathered[bounds[row]] = codes[at]
        bounds[row] += 1


@kernel(types.void(view(types.uint8), view(types.int32), buffer(types.uint64)))
def leading_bytes(text: Bytes, offsets: Any, heads: Words) -> None:
    """Write each text's first eight bytes as a number that compares as they do; ``text`` has eight bytes to spare."""
    for place in range(len(heads)):
        length = offsets[place + 1] - offsets[place]
        word = load_word(text, offsets[place])
        head = np.uint64(0)
        for byte in range(8):
            if byte < length:
                head |= ((word >> np.uint64(8 * byte)) & np.uint64(255)) << np.uint64(56 - 8 * byte)
        heads[place] = head
