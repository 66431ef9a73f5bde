"""Numbers whose sums are prescribed: what follows for their bounds, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, plain, writable

_I32, _I64 = writable(types.int32), writable(types.int64)


class Sums(NamedTuple):
    """Each sum of some unknown whole numbers is between `least` and `most`; each unknown is in some sums."""

    least: NDArray[np.int64]  # (sums,)
    most: NDArray[np.int64]  # (sums,)
    starts: NDArray[np.int64]  # (sums + 1,) where each sum's members begin
    members: NDArray[np.int32]  # unknowns
    of_starts: NDArray[np.int64]  # (unknowns + 1,) where the sums of each unknown begin
    of: NDArray[np.int32]


SUMS = types.NamedTuple((_I64, _I64, _I64, _I32, _I64, _I32), Sums)


class Bounds(NamedTuple):
    """What is known so far."""

    low: NDArray[np.int64]  # (unknowns,)
    high: NDArray[np.int64]  # (unknowns,)
    lows: NDArray[np.int64]  # (sums,) of the least values of the members
    highs: NDArray[np.int64]  # (sums,) of the greatest values


class Queue(NamedTuple):
    """Sums to look at again, each once."""

    ring: NDArray[np.int32]  # (sums,)
    waits: NDArray[np.bool_]  # (sums,)
    ends: NDArray[np.int64]  # (2,) next to look at, how many


@compiled(types.Tuple((_I64, _I32))(_I64, _I32, types.int64))
def turned(of_starts, of, sums):
    """The members of each sum, from the sums of each unknown."""
    starts = np.zeros(sums + 1, np.int64)
    for place in range(of.shape[0]):
        starts[of[place] + 1] += 1
    for one in range(sums):
        starts[one + 1] += starts[one]
    ends, members = starts[:-1].copy(), np.empty(of.shape[0], np.int32)
    for unknown in range(of_starts.shape[0] - 1):
        for place in range(of_starts[unknown], of_starts[unknown + 1]):
            members[ends[of[place]]] = unknown
            ends[of[place]] += 1
    return starts, members


@plain
def put(queue, one):
    """Look at a sum again."""
    if not queue.waits[one]:
        queue.waits[one] = True
        size = queue.ring.shape[0]
        queue.ring[(queue.ends[0] + queue.ends[1]) % size] = one
        queue.ends[1] += 1


@plain
def narrow(sums, bounds, queue, unknown, low, high):
    """Raise the least and lower the greatest value of an unknown."""
    up, down = low - bounds.low[unknown], bounds.high[unknown] - high
    bounds.low[unknown], bounds.high[unknown] = low, high
    for place in range(sums.of_starts[unknown], sums.of_starts[unknown + 1]):
        one = sums.of[place]
        bounds.lows[one] += up
        bounds.highs[one] -= down
        put(queue, one)


@plain
def look_at(sums, bounds, queue, one):
    """Conclude what follows from one sum; whether it can still be met."""
    for place in range(sums.starts[one], sums.starts[one + 1]):
        if bounds.lows[one] > sums.most[one] or bounds.highs[one] < sums.least[one]:
            return False
        unknown = sums.members[place]
        low, high = bounds.low[unknown], bounds.high[unknown]
        if low < high:
            new_high = min(high, sums.most[one] - (bounds.lows[one] - low))
            new_low = max(low, sums.least[one] - (bounds.highs[one] - high))
            if new_low > new_high:
                return False
            if new_low > low or new_high < high:
                narrow(sums, bounds, queue, unknown, new_low, new_high)
    return bounds.lows[one] <= sums.most[one] and bounds.highs[one] >= sums.least[one]


@compiled(types.Tuple((types.int64, _I64, _I64))(SUMS, _I64, _I64, types.int64))
def propagate(sums, low, high, steps):
    """Narrow the bounds as far as single sums allow; returns a sum that cannot be met, or -1, and what all can come to.

    Stops after so many looks at a member, which is sound: bounds are then wider than they could be.
    """
    count = sums.least.shape[0]
    bounds = Bounds(low, high, np.zeros(count, np.int64), np.zeros(count, np.int64))
    queue = Queue(np.empty(count, np.int32), np.zeros(count, np.bool_), np.zeros(2, np.int64))
    for one in range(count):
        for place in range(sums.starts[one], sums.starts[one + 1]):
            bounds.lows[one] += low[sums.members[place]]
            bounds.highs[one] += high[sums.members[place]]
        put(queue, one)
    while queue.ends[1] > 0 and steps > 0:
        one = queue.ring[queue.ends[0]]
        queue.ends[0] = (queue.ends[0] + 1) % count
        queue.ends[1] -= 1
        queue.waits[one] = False
        steps -= sums.starts[one + 1] - sums.starts[one] + 1
        if not look_at(sums, bounds, queue, one):
            return np.int64(one), bounds.lows, bounds.highs
    return np.int64(-1), bounds.lows, bounds.highs
