"""The expected supports of many itemsets of one size at once, leaf by leaf: those of expectation.py, in less time.

Itemsets are in order, so that those with the same first terms stand together. In each leaf they are walked as a tree:
what a leaf does not have is left out with all that begins with it, and the first terms are multiplied only once. There
must be no mixed chunks; what differs from leaf to leaf in them is not worth the trouble, as this program makes none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, inlined, kernel, view
from disassociation._kernels.bits import popcount
from disassociation._kernels.expectation import Itemset, tight_ratio
from disassociation._kernels.ground import GROUND, TERM_CHUNK_ROW, count_part
from disassociation._kernels.law import LAW
from disassociation._kernels.leaf_search import shared_rows
from disassociation._kernels.level_here import mark_subrecords, new_here, pass_shared, take_own
from disassociation._kernels.levels import find_starts, new_level


class Path(NamedTuple):
    """The first terms of an itemset, in the leaf that is looked at; and the itemsets that are found there."""

    firsts: NDArray[np.int64]  # (size,) first row of the chunk
    counts: NDArray[np.int64]  # (size,) subrecords with it and all terms before it that are from the same chunk
    masks: NDArray[np.uint64]  # (size,) the same as bits
    values: NDArray[np.float64]  # (size + 1,) records expected to hold the first 0, 1, 2, ... terms
    found: NDArray[np.int32]  # (itemsets,)
    expected: NDArray[np.float64]  # (itemsets,) of each that is found, records expected to hold it


@borrowing
def count_rows(scene, level, path, number, depth):
    """Subrecords with all terms up to a depth that are from the chunk of the last of them, if there are no bits."""
    first = path.firsts[depth]
    if first >= shared_rows(scene) and level.known[number, depth, 0] == first:
        return level.known[number, depth, 1]
    count = count_part(scene, level.terms[number], path.firsts, depth + 1, first)
    level.known[number, depth, 0], level.known[number, depth, 1] = first, count
    return count


@inlined
def step(scene, level, here, path, number, depth):
    """Add a term to the path; whether any record may hold all of it."""
    term = level.terms[number, depth]
    first, count, value = here.firsts[term], here.counts[term], path.values[depth]
    base, mask, before = here.bases[term], here.masks[term], -1
    path.firsts[depth] = first
    if first == TERM_CHUNK_ROW:
        base, count = scene.sizes[here.ends[term] - 1], 1
    else:
        for slot in range(depth):
            if path.firsts[slot] == first:
                before = slot
        if before >= 0:
            base, mask = path.counts[before], mask & path.masks[before]
            if here.masks[term] == 0:
                count = count_rows(scene, level, path, number, depth)
            else:
                count = popcount(mask)
        path.counts[depth], path.masks[depth] = count, mask
    path.values[depth + 1] = value * count / base
    return count > 0


@borrowing
def walk_leaf(scene, level, here, path, listed, position):
    """Find the itemsets that records of a leaf may hold; returns how many."""
    size, found = level.terms.shape[1], 0
    path.values[0] = scene.sizes[position]
    for i in range(listed):
        number, depth = level.begins[here.listed[i]], 0
        stop = level.skips[number, 0] if number >= 0 else number
        while number < stop:
            while depth < size and here.ends[level.terms[number, depth]] > position:
                if not step(scene, level, here, path, number, depth):
                    break
                depth += 1
            if depth == size:
                path.found[found], path.expected[found] = number, path.values[size]
                found += 1
                number += 1
            else:
                number = np.int64(level.skips[number, depth])
            depth = np.int64(level.common[number]) if number < stop else 0
    return found


@helper
def weigh_tight(ground, law, level, here, path, found, position):
    """If record chunks are not independent: how much likelier, or not, they are to meet."""
    size, none = level.terms.shape[1], np.empty(0, np.int64)
    for i in range(found):
        terms, own = level.terms[path.found[i]], 0
        for slot in range(size):
            path.firsts[slot] = here.firsts[terms[slot]]
            is_new = 0 <= path.firsts[slot] < shared_rows(ground.scene)
            for other in range(slot):
                is_new &= path.firsts[other] != path.firsts[slot]
            own += is_new
        if own > 1:
            itemset = Itemset(terms, none, none, path.firsts, level.known[0])
            path.expected[i] *= tight_ratio(ground, law, itemset, size, position)


@helper
def new_path(size, itemsets):
    """Room for itemsets of a size."""
    return Path(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.uint64),
        np.empty(size + 1, np.float64),
        np.empty(itemsets, np.int32),
        np.empty(itemsets, np.float64),
    )


@helper
def look_at(ground, law, level, starts, here, path, shared, position):
    """Find the itemsets that records of the next leaf may hold, and how many are expected to.

    Returns how many itemsets there are, how many terms are listed, and how many of these are from shared chunks, which
    were `shared` in the leaf before.
    """
    scene = ground.scene
    shared = pass_shared(scene, starts, here, shared, position)
    listed, found = take_own(scene, level.is_asked, here, shared, position), 0
    if listed >= level.terms.shape[1]:
        mark_subrecords(scene, here, position)
        found = walk_leaf(scene, level, here, path, listed, position)
        if law.ratios_from[position] >= 0:
            weigh_tight(ground, law, level, here, path, found, position)
    return found, listed, shared


@kernel(buffer(types.float64)(GROUND, LAW, view(types.int32, 2)))
def expected_level(ground, law, itemsets):
    """Expected records with each of many itemsets of the same size, in rising order, all of whose terms there are."""
    scene, (count, size) = ground.scene, itemsets.shape
    vocabulary, shared = scene.spans.offsets.shape[0] - 1, 0
    expected, level = np.zeros(count, np.float64), new_level(itemsets, vocabulary)
    starts, here, path = find_starts(scene, level.is_asked), new_here(vocabulary), new_path(size, count)
    for position in range(scene.leaf_at.shape[0]):
        found, _, shared = look_at(ground, law, level, starts, here, path, shared, position)
        for i in range(found):
            expected[path.found[i]] += path.expected[i]
    return expected
