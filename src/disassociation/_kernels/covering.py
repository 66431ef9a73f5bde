"""Tight leaves: ways to lay several record chunks over a leaf so that no record is left without a subrecord.

Chunks are laid one after the other; all that matters of those before is how many records are still uncovered. Numbers
of ways are products of binomials, far beyond a double: they are kept as a fraction and a power of two. Nothing but the
four basic operations is used on them, so they are the same on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, inlined, kernel, view

_FAR = 1100  # powers of two: what is smaller by so much adds nothing


class Factorials(NamedTuple):
    """The factorial of each number as fraction * 2 ** power."""

    fractions: NDArray[np.float64]
    powers: NDArray[np.int64]


class Ways(NamedTuple):
    """For each chunk i and number u of records uncovered before it: ways to lay it and those after it, as above."""

    firsts: NDArray[np.int64]  # (chunks + 1,) the least u that can be
    lasts: NDArray[np.int64]  # (chunks + 1,) the greatest u from which all can still be covered
    fractions: NDArray[np.float64]  # (chunks + 1, u - first)
    powers: NDArray[np.int64]


FACTORIALS = types.NamedTuple((view(types.float64), view(types.int64)), Factorials)


@kernel(types.NamedTuple((buffer(types.float64), buffer(types.int64)), Factorials)(types.int64))
def factorials_to(largest):
    """The factorials of 0 to `largest`."""
    found = Factorials(np.ones(largest + 1), np.zeros(largest + 1, np.int64))
    for number in range(1, largest + 1):
        fraction, power = math.frexp(found.fractions[number - 1] * number)
        found.fractions[number] = fraction
        found.powers[number] = found.powers[number - 1] + power
    return found


@inlined
def binomial(factorials, n, k):
    """The number of ways to choose k of n."""
    if k < 0 or k > n:
        return 0.0, 0
    below = factorials.fractions[k] * factorials.fractions[n - k]
    return factorials.fractions[n] / below, factorials.powers[n] - factorials.powers[k] - factorials.powers[n - k]


@borrowing
def add(fraction, power, other, other_power):
    """The sum of two such numbers."""
    if other == 0.0 or (fraction != 0.0 and power - other_power > _FAR):
        return fraction, power
    if fraction == 0.0 or other_power - power > _FAR:
        return other, other_power
    high = max(power, other_power)
    fraction, more = math.frexp(math.ldexp(fraction, power - high) + math.ldexp(other, other_power - high))
    return fraction, high + more


@borrowing
def ways_to_lay(factorials, records, size, uncovered, new):
    """Ways to lay a chunk so that just `new` of its subrecords are on uncovered records."""
    fraction, power = binomial(factorials, uncovered, new)
    other, other_power = binomial(factorials, records - uncovered, size - new)
    return fraction * other, power + other_power


@helper
def count_ways(factorials, records, sizes, is_forced, uncovered):
    """Ways to lay chunks of such sizes, from that many uncovered records on.

    With `is_forced` not empty one of the records, which counts as covered, is taken by each chunk for which it says so.
    """
    chunks = sizes.shape[0]
    forced = is_forced.shape[0] > 0
    firsts, lasts = np.zeros(chunks + 1, np.int64), np.zeros(chunks + 1, np.int64)
    for i in range(chunks - 1, -1, -1):
        lasts[i] = lasts[i + 1] + sizes[i] - (forced and is_forced[i])
    firsts[0] = uncovered
    for i in range(chunks):
        lasts[i] = min(lasts[i], uncovered)
        firsts[i + 1] = max(0, firsts[i] - sizes[i] + (forced and is_forced[i]))
    width = max(1, (lasts - firsts).max() + 1)
    ways = Ways(firsts, lasts, np.zeros((chunks + 1, width)), np.zeros((chunks + 1, width), np.int64))
    ways.fractions[chunks, 0] = 1.0
    for i in range(chunks - 1, -1, -1):
        less = np.int64(forced and is_forced[i])
        for u in range(firsts[i], lasts[i] + 1):
            total, total_power = 0.0, 0
            for left in range(firsts[i + 1], min(u, lasts[i + 1]) + 1):
                after = ways.fractions[i + 1, left - firsts[i + 1]]
                power = ways.powers[i + 1, left - firsts[i + 1]]
                here, more = ways_to_lay(factorials, records - less, sizes[i] - less, u, u - left)
                total, total_power = add(total, total_power, here * after, power + more)
            ways.fractions[i, u - firsts[i]], ways.powers[i, u - firsts[i]] = total, total_power
    return ways


@helper
def chance_to_share(factorials, records, sizes, is_wanted):
    """The chance that a record is on a subrecord of each wanted chunk, all ways to cover every record alike.

    At least one chunk is wanted. This is P(covered by all of H | all covered) for tight leaves.
    """
    none = np.empty(0, np.bool_)
    every = count_ways(factorials, records, sizes, none, records)
    shared = count_ways(factorials, records, sizes, is_wanted, records - 1)
    if every.fractions[0, 0] == 0.0 or shared.lasts[0] < shared.firsts[0]:
        return 0.0
    power = shared.powers[0, 0] - every.powers[0, 0]
    return math.ldexp(shared.fractions[0, 0] / every.fractions[0, 0], max(power, -_FAR))
