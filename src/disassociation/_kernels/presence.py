"""Which leaves may hold which of some terms, leaf after leaf, and how often two terms meet in one by chance.

Leaves are in the order they are published in, in which neighbours are similar: how often a term of one leaf meets a
term of another leaf of the same block says how often two terms would meet in a leaf without ever sharing a record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, kernel, view
from disassociation._kernels.leaf_search import shared_rows
from disassociation._kernels.scene import SCENE


class Holdings(NamedTuple):
    """For each leaf, by its number, which of some terms its records can have, from where, how often, how surely."""

    offsets: NDArray[np.int64]  # (leaves + 1,)
    ranks: NDArray[np.int32]  # places of the terms among those asked for, rising within a leaf
    firsts: NDArray[np.int32]  # first row of the chunk, -1 for the term chunk
    counts: NDArray[np.float64]  # expected records of the leaf that hold the term
    presence: NDArray[np.float64]  # that the leaf holds it: 1 for a term chunk, less for shared, 0 for record chunks


HOLDINGS = types.NamedTuple(
    (
        buffer(types.int64),
        buffer(types.int32),
        buffer(types.int32),
        buffer(types.float64),
        buffer(types.float64),
    ),
    Holdings,
)


@kernel(HOLDINGS(SCENE, view(types.float64), view(types.int32)))
def gather_holdings(scene, counts, codes):
    """What leaves can have of some terms, in any order; `counts` are expected ones by entry. Linear."""
    spans, leaves = scene.spans, scene.leaf_at.shape[0]
    offsets = np.zeros(leaves + 1, np.int64)
    for code in codes:
        for span in range(spans.offsets[code], spans.offsets[code + 1]):
            for position in range(spans.starts[span], spans.ends[span]):
                offsets[scene.leaf_at[position] + 1] += 1
    for leaf in range(leaves):
        offsets[leaf + 1] += offsets[leaf]
    size, free = offsets[-1], offsets[:-1].copy()
    ranks, firsts = np.empty(size, np.int32), np.empty(size, np.int32)
    expected, presence = np.empty(size, np.float64), np.zeros(size, np.float64)
    for rank in range(codes.shape[0]):
        for span in range(spans.offsets[codes[rank]], spans.offsets[codes[rank] + 1]):
            entry, first = spans.entries[span], spans.firsts[span]
            is_shared = first >= shared_rows(scene)
            for position in range(spans.starts[span], spans.ends[span]):
                at = free[scene.leaf_at[position]]
                free[scene.leaf_at[position]] += 1
                ranks[at], firsts[at], expected[at] = rank, first, counts[entry]
                if first < 0:
                    presence[at] = 1.0
                elif is_shared:
                    expected[at] *= scene.sizes[position] / scene.entries.bases[entry]
                    presence[at] = -np.expm1(-expected[at])
    return Holdings(offsets, ranks, firsts, expected, presence)


@borrowing
def weight_of_block(sizes, low, high):
    """Pairs of records of one leaf for each pair of records of two leaves, of those from `low` up to before `high`."""
    records, squares = 0.0, 0.0
    for leaf in range(low, high):
        records += sizes[leaf]
        squares += np.float64(sizes[leaf]) * sizes[leaf]
    return (squares - records) / (records * records - squares) if high - low > 1 else 0.0


@kernel(types.void(HOLDINGS, view(types.int64), types.int64, buffer(types.float64, 2), buffer(types.float64, 2)))
def meet_in_leaves(holdings, sizes, block, met, chance):
    """Add up, for one < other, leaves that hold both terms, and how many would by different records.

    Two terms, of different leaves of a block of leaves, are met for each pair of records of these two leaves; in one
    leaf, there are only so many pairs of different records.
    """
    leaves, terms = holdings.offsets.shape[0] - 1, met.shape[0]
    sums, shares, touched = np.zeros(terms, np.float64), np.empty(terms, np.float64), np.empty(terms, np.int64)
    for low in range(0, leaves, block):
        high = min(low + block, leaves)
        weight, found = weight_of_block(sizes, low, high), 0
        for leaf in range(low, high):
            start, stop = holdings.offsets[leaf], holdings.offsets[leaf + 1]
            for i in range(start, stop):
                here, one = holdings.presence[i], holdings.ranks[i]
                if here > 0:
                    if sums[one] == 0:
                        touched[found] = one
                        found += 1
                    sums[one] += here
                    for j in range(i + 1, stop):
                        both = here * holdings.presence[j]
                        met[one, holdings.ranks[j]] += both
                        chance[one, holdings.ranks[j]] -= weight * both
        touched[:found].sort()
        for i in range(found):
            shares[i] = sums[touched[i]]
            sums[touched[i]] = 0.0
        for i in range(found):
            share, row = weight * shares[i], chance[touched[i]]
            for j in range(i + 1, found):
                row[touched[j]] += share * shares[j]
