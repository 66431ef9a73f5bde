"""The records of an original: each a set once, equal ones counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, plain, read_only, writable

_I32, _I64 = writable(types.int32), writable(types.int64)


class Sets(NamedTuple):
    """Distinct records."""

    starts: NDArray[np.int64]  # (sets + 1,)
    items: NDArray[np.int32]  # codes, rising for each
    counts: NDArray[np.int64]  # (sets,) how many records are this set


SETS = types.NamedTuple((_I64, _I32, _I64), Sets)


@compiled(types.Tuple((_I64, _I32))(read_only(types.int64), _I32))
def as_sets(starts, items):
    """Sort the terms of each record and drop repeated ones; records without a term are dropped."""
    new_starts = np.zeros(starts.shape[0], np.int64)
    records, size = 0, np.int64(0)
    for record in range(starts.shape[0] - 1):
        first, last = starts[record], starts[record + 1]
        for place in range(first + 1, last):
            if items[place] <= items[place - 1]:
                items[first:last].sort()
                break
        before = size
        for place in range(first, last):
            if size == before or items[place] != items[size - 1]:
                items[size] = items[place]
                size += 1
        if size > before:
            records += 1
            new_starts[records] = size
    return new_starts[: records + 1].copy(), items[:size].copy()


@compiled(writable(types.uint64)(_I64, _I32))
def hashes_of(starts, items):
    """A hash of each record, only to bring equal ones together."""
    found = np.empty(starts.shape[0] - 1, np.uint64)
    for record in range(found.shape[0]):
        value = np.uint64(0)
        for place in range(starts[record], starts[record + 1]):
            value = (value ^ np.uint64(items[place] + 1)) * np.uint64(0x9E3779B97F4A7C15)
            value ^= value >> np.uint64(32)
        found[record] = value
    return found


@plain
def are_equal(starts, items, a, b):
    """Whether two records are the same set."""
    size = starts[a + 1] - starts[a]
    if starts[b + 1] - starts[b] != size:
        return False
    for i in range(size):
        if items[starts[a] + i] != items[starts[b] + i]:
            return False
    return True


@compiled(SETS(_I64, _I32, read_only(types.int64)))
def distinct_sets(starts, items, order):
    """Count equal records that are neighbours in the given order."""
    records = order.shape[0]
    new_starts, counts = np.zeros(records + 1, np.int64), np.zeros(records, np.int64)
    new_items = np.empty(items.shape[0], np.int32)
    sets, size = 0, np.int64(0)
    for i in range(records):
        if i > 0 and are_equal(starts, items, order[i - 1], order[i]):
            counts[sets - 1] += 1
            continue
        for place in range(starts[order[i]], starts[order[i] + 1]):
            new_items[size] = items[place]
            size += 1
        counts[sets] = 1
        sets += 1
        new_starts[sets] = size
    return Sets(new_starts[: sets + 1].copy(), new_items[:size].copy(), counts[:sets].copy())
