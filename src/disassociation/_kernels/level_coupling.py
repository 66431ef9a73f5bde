"""The expected supports of many itemsets of one size at once, leaf by leaf: those of coupling.py, in less time.

What two terms have to do with each other in a leaf is found once for all itemsets with both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, embedded, helper, kernel, view
from disassociation._kernels.ground import GROUND
from disassociation._kernels.joining import join_hidden, join_others, new_web, share_of_both, share_of_hidden
from disassociation._kernels.law import LAW
from disassociation._kernels.leaf_search import shared_rows
from disassociation._kernels.level_expectation import look_at, new_path
from disassociation._kernels.level_here import new_here
from disassociation._kernels.levels import find_starts, new_level


class Bonds(NamedTuple):
    """What is between two terms, by the number of the pair, in the leaf where it was last asked for."""

    numbers: NDArray[np.int32]  # (itemsets, pairs of an itemset) the first term with each other one, the second, ...
    lifts: NDArray[np.float64]  # (pairs,)
    roots: NDArray[np.float64]  # (pairs,) of the lifts
    positions: NDArray[np.int64]  # (pairs,) of that leaf
    gains: NDArray[np.float64]  # (pairs,) how much likelier than by chance they are to meet; inf: counted already
    most: NDArray[np.float64]  # (pairs,) records expected to hold both, if it is not published
    shares: NDArray[np.float64]  # (terms,) of the leaf that is looked at, records expected to hold the term
    again: np.float64


@borrowing
def bind(bonds, here, one, other, pair, records, shared_from, position):
    """Find what is between two terms in a leaf."""
    first, second = here.firsts[one], here.firsts[other]
    share, share_of_other, both = bonds.shares[one], bonds.shares[other], np.inf
    bonds.positions[pair], bonds.most[pair] = position, np.inf
    if first >= 0 and first == second:
        bonds.gains[pair] = np.inf
        return
    if first >= 0 and second >= 0 and max(first, second) < shared_from:
        bonds.gains[pair] = 1.0
        return
    if first < 0 and second < 0:
        both = share_of_hidden(share, share_of_other, bonds.lifts[pair], records, bonds.again)
    else:
        both = share_of_both(share, share_of_other, bonds.roots[pair])
    bonds.most[pair], bonds.gains[pair] = both * records, both / (share * share_of_other)


@embedded
def coupled_in_leaf(level, here, bonds, web, number, records, shared_from, position):
    """What to multiply the independent expectation of an itemset by, and the most that may come of it."""
    size = level.terms.shape[1]
    factor, most, at = 1.0, records, 0
    for i in range(size):
        one = level.terms[number, i]
        web.is_hidden[i] = here.firsts[one] < 0
        if web.is_hidden[i]:
            factor *= bonds.shares[one] * records
        for j in range(i + 1, size):
            pair = bonds.numbers[number, at]
            if bonds.positions[pair] != position:
                bind(bonds, here, one, level.terms[number, j], pair, records, shared_from, position)
            most = min(most, bonds.most[pair])
            web.gains[i, j] = web.gains[j, i] = bonds.gains[pair]
            web.lifts[i, j] = web.lifts[j, i] = bonds.lifts[pair]
            at += 1
    return factor * join_hidden(web, size, records) * join_others(web, size), most


@borrowing
def add_leaf(scene, counts, level, here, path, bonds, web, found, listed, position, expected):
    """Add what is expected of the itemsets that are found in a leaf, and what independence expects."""
    records, shared_from = np.float64(scene.sizes[position]), shared_rows(scene)
    for i in range(listed):
        entry = here.entries[here.listed[i]]
        bonds.shares[here.listed[i]] = min(counts[entry] / scene.entries.bases[entry], 1.0)
    for i in range(found):
        number = path.found[i]
        factor, most = coupled_in_leaf(level, here, bonds, web, number, records, shared_from, position)
        expected[0, number] += min(path.expected[i] * factor, most)
        expected[1, number] += path.expected[i]


@helper
def new_bonds(numbers, lifts, again, vocabulary):
    """Room for pairs of these lifts."""
    pairs = lifts.shape[0]
    return Bonds(
        numbers,
        lifts,
        np.sqrt(lifts),
        np.full(pairs, -1, np.int64),
        np.empty(pairs, np.float64),
        np.empty(pairs, np.float64),
        np.empty(vocabulary, np.float64),
        again,
    )


@kernel(
    buffer(types.float64, 2)(
        GROUND, LAW, view(types.float64), view(types.int32, 2), view(types.int32, 2), view(types.float64), types.float64
    )
)
def couple_level(ground, law, counts, itemsets, numbers, lifts, again):
    """Expected records with each of many itemsets of the same size, in rising order, all of whose terms there are.

    And, in a second row, what independence expects. `numbers` are those of the itemset's pairs, in order, and `lifts`
    are by these numbers.
    """
    scene, (count, size) = ground.scene, itemsets.shape
    vocabulary, shared = scene.spans.offsets.shape[0] - 1, 0
    expected, level = np.zeros((2, count), np.float64), new_level(itemsets, vocabulary)
    starts, here, path = find_starts(scene, level.is_asked), new_here(vocabulary), new_path(size, count)
    bonds, web = new_bonds(numbers, lifts, again, vocabulary), new_web(size)
    for position in range(scene.leaf_at.shape[0]):
        found, listed, shared = look_at(ground, law, level, starts, here, path, shared, position)
        if found:
            add_leaf(scene, counts, level, here, path, bonds, web, found, listed, position, expected)
    return expected
