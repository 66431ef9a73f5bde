"""How often the terms of chosen pairs meet: as in presence.py, but pair by pair, for pairs of many different terms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, kernel, view
from disassociation._kernels.presence import HOLDINGS, weight_of_block


class Postings(NamedTuple):
    """For each of some terms, by place, the leaves that may hold it outside record chunks."""

    offsets: NDArray[np.int64]  # (terms + 1,)
    leaves: NDArray[np.int32]  # rising for each term
    presence: NDArray[np.float64]  # that the leaf holds it
    weights: NDArray[np.float64]  # (blocks,) of a meeting of two leaves of the block


_POSTINGS = types.NamedTuple(
    (buffer(types.int64), buffer(types.int32), buffer(types.float64), buffer(types.float64)), Postings
)


@kernel(_POSTINGS(HOLDINGS, view(types.int64), types.int64, types.int64))
def list_postings(holdings, sizes, block, terms):
    """Turn holdings around. Linear."""
    leaves = holdings.offsets.shape[0] - 1
    offsets = np.zeros(terms + 1, np.int64)
    for at in range(holdings.ranks.shape[0]):
        offsets[holdings.ranks[at] + 1] += holdings.presence[at] > 0
    for term in range(terms):
        offsets[term + 1] += offsets[term]
    free = offsets[:-1].copy()
    owners, presence = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.float64)
    for leaf in range(leaves):
        for at in range(holdings.offsets[leaf], holdings.offsets[leaf + 1]):
            if holdings.presence[at] > 0:
                place = free[holdings.ranks[at]]
                free[holdings.ranks[at]] += 1
                owners[place], presence[place] = leaf, holdings.presence[at]
    weights = np.empty((leaves + block - 1) // block, np.float64)
    for number in range(weights.shape[0]):
        weights[number] = weight_of_block(sizes, number * block, min((number + 1) * block, leaves))
    return Postings(offsets, owners, presence, weights)


@borrowing
def meet_once(postings, block, one, other):
    """Leaves that hold two terms, and how many would by different records."""
    met, chance = 0.0, 0.0
    i, j = postings.offsets[one], postings.offsets[other]
    stop_i, stop_j = postings.offsets[one + 1], postings.offsets[other + 1]
    while i < stop_i and j < stop_j:
        number = max(postings.leaves[i], postings.leaves[j]) // block
        low, high = number * block, (number + 1) * block
        while i < stop_i and postings.leaves[i] < low:
            i += 1
        while j < stop_j and postings.leaves[j] < low:
            j += 1
        first, last = j, j
        sum_of_other = 0.0
        while last < stop_j and postings.leaves[last] < high:
            sum_of_other += postings.presence[last]
            last += 1
        while i < stop_i and postings.leaves[i] < high:
            here, leaf = postings.presence[i], postings.leaves[i]
            elsewhere = sum_of_other
            for at in range(first, last):
                if postings.leaves[at] == leaf:
                    met += here * postings.presence[at]
                    elsewhere -= postings.presence[at]
            chance += postings.weights[number] * here * elsewhere
            i += 1
        j = last
    return met, chance


@kernel(types.void(_POSTINGS, types.int64, view(types.int64, 2), buffer(types.float64), buffer(types.float64)))
def meet_pairs(postings, block, pairs, met, chance):
    """Fill in, for each pair of places, the leaves that hold both terms, and how many would by different records."""
    for pair in range(pairs.shape[0]):
        met[pair], chance[pair] = meet_once(postings, block, pairs[pair, 0], pairs[pair, 1])
