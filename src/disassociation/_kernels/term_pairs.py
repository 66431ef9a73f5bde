"""Pairs of terms of one term chunk: whether they may be of one record, and what hints at it."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import borrowing, buffer, kernel, view
from disassociation._kernels.raw_records import POSTINGS, intersect
from disassociation._kernels.scene import SCENE, source_of

_TERMS, _PLACES = view(types.int32), view(types.int64)


@borrowing
def fits(scene, items, start, stop, position):
    """Whether a leaf can have every term of a record."""
    for place in range(start, stop):
        if source_of(scene, items[place], position) < 0:
            return False
    return True


@kernel(
    types.Tuple((buffer(types.int64), buffer(types.bool_)))(
        SCENE, _PLACES, _TERMS, POSTINGS, _PLACES, view(types.int32, 2)
    )
)
def join_pairs(scene, offsets, items, postings, positions, pairs):
    """For each pair, of the leaf at a position: records with both, and whether one has nothing that the leaf cannot."""
    supports, together = np.zeros(pairs.shape[0], np.int64), np.zeros(pairs.shape[0], np.bool_)
    longest = 1
    for term in range(postings.offsets.shape[0] - 1):
        longest = max(longest, postings.offsets[term + 1] - postings.offsets[term])
    both = np.empty(longest, np.int32)
    for pair in range(pairs.shape[0]):
        start, stop = postings.offsets[pairs[pair, 0]], postings.offsets[pairs[pair, 0] + 1]
        size = intersect(postings.lists[start:stop], stop - start, postings, pairs[pair, 1], both)
        supports[pair] = size
        for i in range(size):
            if fits(scene, items, offsets[both[i]], offsets[both[i] + 1], positions[pair]):
                together[pair] = True
                break
    return supports, together


@borrowing
def near(postings, first, second, width, leaves):
    """Expected leaves with both terms if the second were in leaves with the first as often as in those around them.

    Around are `width` leaves on each side, where there are that many.
    """
    low, high = postings.offsets[second], postings.offsets[second]
    start, stop = postings.offsets[second], postings.offsets[second + 1]
    expected, both = 0.0, np.int64(0)
    for place in range(postings.offsets[first], postings.offsets[first + 1]):
        leaf = postings.lists[place]
        while low < stop and postings.lists[low] < leaf - width:
            low += 1
        high = max(high, low)
        while high < stop and postings.lists[high] <= leaf + width:
            high += 1
        itself = np.int64(0)
        for other in range(max(low, start), high):
            itself += postings.lists[other] == leaf
        both += itself
        around = min(leaf + width, leaves - 1) - max(leaf - width, 0)
        if around > 0:
            expected += (high - low - itself) / around
    return expected, both


@kernel(
    types.Tuple((buffer(types.int64), buffer(types.float64)))(POSTINGS, types.int64, view(types.int32, 2), types.int64)
)
def count_meetings(postings, leaves, pairs, width):
    """For each pair: term chunks that hold both, and how many would if they met there by accident only.

    `postings` are the leaves whose term chunks hold a term.
    """
    meetings, accidents = np.zeros(pairs.shape[0], np.int64), np.zeros(pairs.shape[0], np.float64)
    for pair in range(pairs.shape[0]):
        first, second = pairs[pair, 0], pairs[pair, 1]
        one, meetings[pair] = near(postings, first, second, width, leaves)
        other, _ = near(postings, second, first, width, leaves)
        accidents[pair] = (one + other) / 2
    return meetings, accidents
