"""Finding an itemset that is too rare in a chunk: k^m-anonymity, decided by growing itemsets over shrinking bags.

Itemsets grow by terms that stand later in their rows, so each is met once, with exactly the rows that hold it. A term
that is in all rows of its itemset is not followed: whatever it could be added to is met without it, with the same rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, inner, plain, writable


class Bag(NamedTuple):
    """Distinct rows of chunks with their multiplicity; the terms of a row rise."""

    counts: NDArray[np.int64]  # (rows,)
    starts: NDArray[np.int64]  # (rows + 1,) where each row's terms begin
    items: NDArray[np.int32]


class Levels(NamedTuple):
    """For each size of itemset: the terms that can be added to the one grown so far, and their occurrences.

    Counts are 0 between searches.
    """

    whole: NDArray[np.int64]  # (2, rows) all rows of the chunk, and the place before each
    codes: NDArray[np.int32]  # (q,) the code of each term, by its number within the chunk
    terms: NDArray[np.int32]  # (depth, q)
    sizes: NDArray[np.int64]  # (depth,) how many of them there are
    at: NDArray[np.int64]  # (depth,) which of them is being followed
    support: NDArray[np.int64]  # (depth, q) by term: subrecords with it
    rows: NDArray[np.int64]  # (depth, q) by term: distinct rows with it
    begin: NDArray[np.int64]  # (depth, q) by term: where its occurrences begin
    where: NDArray[np.int64]  # (depth, occurrences) the rows of those
    place: NDArray[np.int64]  # (depth, occurrences) and where the term stands


BAG = types.NamedTuple((writable(types.int64), writable(types.int64), writable(types.int32)), Bag)


@inner
def new_levels(bag, chunk_starts, m):
    """Room for the search of any one of some chunks, whose first rows are given, and the end of the last."""
    occurrences, rows, longest = np.int64(0), np.int64(0), np.int64(1)
    for chunk in range(chunk_starts.shape[0] - 1):
        first, last = chunk_starts[chunk], chunk_starts[chunk + 1]
        occurrences = max(occurrences, bag.starts[last] - bag.starts[first])
        rows = max(rows, last - first)
    for row in range(bag.counts.shape[0]):
        longest = max(longest, bag.starts[row + 1] - bag.starts[row])
    depth = min(m, longest)
    kept = max(depth - 1, 1)
    return Levels(
        np.empty((2, rows), np.int64),
        np.empty(occurrences, np.int32),
        np.empty((depth, occurrences), np.int32),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
        np.zeros((depth, occurrences), np.int64),
        np.zeros((depth, occurrences), np.int64),
        np.empty((depth, occurrences), np.int64),
        np.empty((kept, occurrences), np.int64),
        np.empty((kept, occurrences), np.int64),
    )


@plain
def tally(bag, local, levels, level, rows, places):
    """Count, at a level, the terms behind `places` in `rows`."""
    support, found, terms = levels.support[level], levels.rows[level], levels.terms[level]
    size = 0
    for i in range(rows.shape[0]):
        weight = bag.counts[rows[i]]
        for place in range(places[i] + 1, bag.starts[rows[i] + 1]):
            term = local[bag.items[place]]
            if found[term] == 0:
                terms[size] = term
                size += 1
            found[term] += 1
            support[term] += weight
    levels.sizes[level] = size
    levels.at[level] = -1


@plain
def list_occurrences(bag, local, levels, level, rows, places):
    """Note where each of the level's terms occurs."""
    begin = levels.begin[level]
    free = 0
    for i in range(levels.sizes[level]):
        term = levels.terms[level, i]
        begin[term] = free
        free += levels.rows[level, term]
    for i in range(rows.shape[0]):
        for place in range(places[i] + 1, bag.starts[rows[i] + 1]):
            term = local[bag.items[place]]
            levels.where[level, begin[term]] = rows[i]
            levels.place[level, begin[term]] = place
            begin[term] += 1
    for i in range(levels.sizes[level]):
        term = levels.terms[level, i]
        begin[term] -= levels.rows[level, term]


@plain
def rarest(levels, level, k):
    """A term of the level that is there, but fewer than k times; -1 if there is none."""
    for i in range(levels.sizes[level]):
        if levels.support[level, levels.terms[level, i]] < k:
            return levels.terms[level, i]
    return -1


@plain
def clear(levels, level):
    """Forget the counts of a level."""
    for i in range(levels.sizes[level]):
        levels.support[level, levels.terms[level, i]] = 0
        levels.rows[level, levels.terms[level, i]] = 0


@plain
def number_terms(bag, first, last, local, codes):
    """Number the terms of some rows in `local`, -1 before; their codes go to `codes`; returns (terms, longest row)."""
    q, longest = 0, 0
    for row in range(first, last):
        longest = max(longest, bag.starts[row + 1] - bag.starts[row])
        for place in range(bag.starts[row], bag.starts[row + 1]):
            if local[bag.items[place]] < 0:
                local[bag.items[place]] = q
                codes[q] = bag.items[place]
                q += 1
    return q, longest


@plain
def rare_itemset(bag, first, last, k, m, local, levels, found):
    """Write an itemset of 1 to m terms that fewer than k subrecords of rows first to last hold to `found`.

    Returns (its size, how many hold it); size 0 if there is none. `local` (terms,) is scratch of -1.
    """
    q, longest = number_terms(bag, first, last, local, levels.codes)
    size, count = np.int64(0), np.int64(0)
    if q > 0:
        size, count = search(bag, first, last, k, min(m, longest), local, levels, found)
    for i in range(q):
        local[levels.codes[i]] = -1
    return size, count


@plain
def search(bag, first, last, k, depth, local, levels, found):
    """The search of `rare_itemset`, its terms numbered."""
    rows, places = levels.whole[0, : last - first], levels.whole[1, : last - first]
    for i in range(last - first):
        rows[i], places[i] = first + i, bag.starts[first + i] - 1
    level = 0
    tally(bag, local, levels, 0, rows, places)
    while True:
        term = rarest(levels, level, k)
        if term >= 0:
            count = levels.support[level, term]
            for i in range(level):
                found[i] = levels.codes[levels.terms[i, levels.at[i]]]
            found[level] = levels.codes[term]
            for i in range(level + 1):
                clear(levels, i)
            return np.int64(level + 1), count
        if level + 1 < depth:
            list_occurrences(bag, local, levels, level, rows, places)
        else:
            clear(levels, level)
            level -= 1
        level, term = next_to_follow(levels, level, last - first)
        if level < 0:
            return np.int64(0), np.int64(0)
        start = levels.begin[level, term]
        rows = levels.where[level, start : start + levels.rows[level, term]]
        places = levels.place[level, start : start + levels.rows[level, term]]
        level += 1
        tally(bag, local, levels, level, rows, places)


@plain
def next_to_follow(levels, level, whole):
    """The next (level, term) to follow: not one that stands in all rows of its itemset. Level -1 at the end."""
    while level >= 0:
        levels.at[level] += 1
        if levels.at[level] >= levels.sizes[level]:
            clear(levels, level)
            level -= 1
            continue
        term = levels.terms[level, levels.at[level]]
        followed = whole
        if level > 0:
            followed = levels.rows[level - 1, levels.terms[level - 1, levels.at[level - 1]]]
        if levels.rows[level, term] < followed:
            return level, term
    return level, np.int32(-1)


_RARE = types.Tuple((types.int64, types.int64, writable(types.int32)))


@compiled(_RARE(BAG, types.int64, types.int64, types.int64))
def first_rare_itemset(bag, k, m, terms):
    """An itemset of 1 to m terms that is in fewer than k of a bag's subrecords: (its size, how many, the itemset)."""
    levels = new_levels(bag, np.array([0, bag.counts.shape[0]]), m)
    found = np.empty(levels.sizes.shape[0], np.int32)
    local = np.full(terms, -1, np.int32)
    size, count = rare_itemset(bag, 0, bag.counts.shape[0], k, m, local, levels, found)
    return size, count, found[:size].copy()
