"""The greatest confidence with which a chunk lets a term be inferred from up to m others (guarantee.md 7.3)."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation.auditor._compile import compiled, plain, writable
from disassociation.auditor.kernels_clusters import GROUP, chunk_starts
from disassociation.auditor.kernels_rare import (
    clear,
    list_occurrences,
    new_levels,
    number_terms,
    tally,
)


@plain
def best_with(bag, rows, support, known, local, counts):
    """The greatest number of the rows' subrecords that hold one term more than those known, over `support`."""
    for i in range(rows.shape[0]):
        for place in range(bag.starts[rows[i]], bag.starts[rows[i] + 1]):
            counts[local[bag.items[place]]] += bag.counts[rows[i]]
    for i in range(known.shape[0]):
        counts[known[i]] = 0
    best = np.int64(0)
    for i in range(rows.shape[0]):
        for place in range(bag.starts[rows[i]], bag.starts[rows[i] + 1]):
            best = max(best, counts[local[bag.items[place]]])
            counts[local[bag.items[place]]] = 0
    return best / support


@plain
def greatest_confidence(bag, first, last, m, local, levels, counts, known):
    """The greatest share, among the subrecords that hold an itemset of up to m terms, of those that hold another."""
    q, longest = number_terms(bag, first, last, local, levels.codes)
    best = 0.0
    if q > 1 and longest > 1:
        best = follow_all(bag, first, last, min(m, longest - 1), local, levels, counts, known)
    for i in range(q):
        local[levels.codes[i]] = -1
    return best


@plain
def follow_all(bag, first, last, depth, local, levels, counts, known):
    """Grow itemsets of up to `depth` terms; stops at certainty."""
    rows, places = levels.whole[0, : last - first], levels.whole[1, : last - first]
    for i in range(last - first):
        rows[i], places[i] = first + i, bag.starts[first + i] - 1
    best = 0.0
    tally(bag, local, levels, 0, rows, places)
    list_occurrences(bag, local, levels, 0, rows, places)
    level = 0
    while level >= 0 and best < 1.0:
        levels.at[level] += 1
        if levels.at[level] >= levels.sizes[level]:
            clear(levels, level)
            level -= 1
            continue
        term = levels.terms[level, levels.at[level]]
        known[level] = term
        start = levels.begin[level, term]
        rows = levels.where[level, start : start + levels.rows[level, term]]
        best = max(best, best_with(bag, rows, levels.support[level, term], known[: level + 1], local, counts))
        if level + 1 < depth:
            places = levels.place[level, start : start + levels.rows[level, term]]
            level += 1
            tally(bag, local, levels, level, rows, places)
            list_occurrences(bag, local, levels, level, rows, places)
    while level >= 0:
        clear(levels, level)
        level -= 1
    return best


@compiled(types.float64(GROUP, types.int64, types.int64, types.float64))
def highest_confidence(group, m, terms, so_far):
    """The greatest confidence within any chunk of a group, or `so_far` if that is more; certainty ends the search."""
    bag = group.bag
    starts = chunk_starts(group)
    levels = new_levels(bag, starts, m + 1)
    local = np.full(terms, -1, np.int32)
    counts = np.zeros(levels.codes.shape[0], np.int64)
    known = np.empty(levels.sizes.shape[0], np.int32)
    for chunk in range(starts.shape[0] - 1):
        if so_far >= 1.0:
            break
        found = greatest_confidence(bag, starts[chunk], starts[chunk + 1], m, local, levels, counts, known)
        so_far = max(so_far, found)
    return so_far


@compiled(types.void(GROUP, types.int64, types.int64, types.float64, writable(types.boolean), writable(types.boolean)))
def above(group, m, terms, limit, across, within):
    """Which clusters let something be inferred with more than a confidence: of everyone in a leaf, within a chunk."""
    bag = group.bag
    starts = chunk_starts(group)
    levels = new_levels(bag, starts, m + 1)
    local = np.full(terms, -1, np.int32)
    counts = np.zeros(max(levels.codes.shape[0], terms), np.int64)
    known = np.empty(levels.sizes.shape[0], np.int32)
    chunk = 0
    for i in range(group.sizes.shape[0]):
        first, last = group.row_starts[i], group.row_starts[i + 1]
        for row in range(first, last):
            for place in range(bag.starts[row], bag.starts[row + 1]):
                counts[bag.items[place]] += bag.counts[row]
        for row in range(first, last):
            for place in range(bag.starts[row], bag.starts[row + 1]):
                across[i] |= counts[bag.items[place]] > limit * group.sizes[i]
                counts[bag.items[place]] = 0
        while chunk < starts.shape[0] - 1 and starts[chunk] < last:
            found = greatest_confidence(bag, starts[chunk], starts[chunk + 1], m, local, levels, counts, known)
            within[i] |= found > limit
            chunk += 1
