"""The smallest rare term set of one record after the other: a depth-first search with a bit for each other record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.bits import shared_count
from disassociation._kernels.ranks import RANKED

_MOST_WORDS = 1 << 22  # 32 MB a thread; a record that needs more at once is not decided
_PER_SET = 4  # what it costs to come to a set, in words looked at

_INT32, _INT64 = buffer(types.int32), buffer(types.int64)


class Others(NamedTuple):
    """What other records have in common with the one searched."""

    ends: NDArray[np.int64]  # (records,) where each record's places end in `places`
    counts: NDArray[np.int32]  # (records,) how many places; 0 between uses
    places: NDArray[np.int32]  # places in the record searched, rising for each other record


class Search(NamedTuple):
    """What to look for, and what came of it."""

    path: NDArray[np.int64]  # (most terms,) places chosen: the first in the record, the rest behind the first
    best: NDArray[np.int64]  # (most terms,) those of the set found
    state: NDArray[np.int64]  # below, size found or 0, words left


BELOW, FOUND, LEFT = 0, 1, 2


@helper
def new_search(largest):
    """Scratch for sets of up to `largest` terms."""
    return Search(np.empty(largest + 1, np.int64), np.empty(largest + 1, np.int64), np.zeros(3, np.int64))


@borrowing
def common_size(ranked, record):
    """How many terms all records together have in common with this one."""
    size = 0
    for place in range(ranked.offsets[record], ranked.offsets[record + 1]):
        code = ranked.items[place]
        size += ranked.rank_offsets[code + 1] - ranked.rank_offsets[code]
    return size


@borrowing
def find_common(ranked, record, others):
    """Note which places of a record the others share."""
    start, end = ranked.offsets[record], ranked.offsets[record + 1]
    for place in range(start, end):
        code = ranked.items[place]
        for i in range(ranked.rank_offsets[code], ranked.rank_offsets[code + 1]):
            others.counts[ranked.postings[i]] += 1
    used = 0
    for place in range(start, end):
        code = ranked.items[place]
        for i in range(ranked.rank_offsets[code], ranked.rank_offsets[code + 1]):
            other = ranked.postings[i]
            if others.counts[other] > 0:
                others.ends[other] = used
                used += others.counts[other]
                others.counts[other] = 0
            others.places[others.ends[other]] = place - start
            others.ends[other] += 1


@borrowing
def fill_bits(ranked, record, first, others, masks):
    """Row j: which of the records that hold the record's term `first` hold its j-th term behind that; returns work."""
    code = ranked.items[ranked.offsets[record] + first]
    low = ranked.rank_offsets[code]
    size = ranked.rank_offsets[code + 1] - low
    work = size
    for i in range(size):
        at = others.ends[ranked.postings[low + i]] - 1
        while others.places[at] > first:
            masks[others.places[at] - first - 1, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
            at -= 1
            work += 1
    return work


@borrowing
def keep(search, size, support):
    """Note a set found: only one that is rarer is of interest from now on."""
    search.state[BELOW] = support
    search.state[FOUND] = size
    for depth in range(size):
        search.best[depth] = search.path[depth]


@borrowing
def descend(masks, sets, supports, size, thorough, search):
    """All sets of up to `size` terms that begin as `search.path` does; whether there is nothing more to look for.

    A term that all records with the terms so far hold is skipped: without it, the same supports are met in fewer terms.
    """
    path, state, words = search.path, search.state, masks.shape[1]
    depth = 1
    path[1] = -1
    while depth >= 1 and state[LEFT] >= 0:
        path[depth] += 1
        other = path[depth]
        if other >= masks.shape[0]:
            depth -= 1
            continue
        count = shared_count(masks, other, sets, depth - 1, words)
        state[LEFT] -= words + _PER_SET
        if count == supports[depth - 1]:
            continue
        if count < state[BELOW]:
            keep(search, depth + 1, count)
            if count == 1 or not thorough:
                return True
        elif depth + 1 < size:
            for word in range(words):
                sets[depth, word] = sets[depth - 1, word] & masks[other, word]
            supports[depth] = count
            path[depth + 1] = other
            depth += 1
    return False


@helper
def look(ranked, record, known, size, thorough, others, search):
    """Search one record for a set of `known` + 1 to `size` terms and support below BELOW; the rarest if `thorough`."""
    start, length = ranked.offsets[record], ranked.offsets[record + 1] - ranked.offsets[record]
    state = search.state
    for first in range(length - known):
        code = ranked.items[start + first]
        support = ranked.rank_offsets[code + 1] - ranked.rank_offsets[code]
        search.path[0] = first
        if support < state[BELOW]:
            keep(search, 1, support)
            if support == 1 or not thorough:
                return
            continue
        behind, words = length - 1 - first, (support + 63) // 64
        if size == 1 or behind == 0:
            continue
        if behind * words > min(state[LEFT], _MOST_WORDS):
            state[LEFT] = -1
            return
        masks = np.zeros((behind, words), np.uint64)
        state[LEFT] -= behind * words + fill_bits(ranked, record, first, others, masks)
        sets = np.empty((size, words), np.uint64)
        sets[0] = np.uint64(0xFFFFFFFFFFFFFFFF)
        supports = np.empty(size, np.int64)
        supports[0] = support
        if descend(masks, sets, supports, size, thorough, search) or state[LEFT] < 0:
            return


@helper
def new_others(records, room):
    """Scratch for one record after the other."""
    return Others(np.empty(records, np.int64), np.zeros(records, np.int32), np.empty(room, np.int32))


@helper
def largest_common(ranked, chosen, budget):
    """Room for what the records chosen have in common with others, those left out for which that alone is too much."""
    room = 0
    for i in range(chosen.shape[0]):
        size = common_size(ranked, chosen[i])
        if size <= budget:
            room = max(room, size)
    return room


@kernel(types.void(RANKED, view(types.int32), types.int64, types.int64, types.int64, _INT32, _INT32))
def search_records(ranked, chosen, largest, below, budget, found, clean):
    """The size of a smallest set of up to `largest` terms with support below `below` in each record chosen.

    No set of up to `clean` terms is rare: that many are known to begin with, and more in the end. `found` is 0 if
    nothing is found. Sizes between the two would have taken more than their part of the budget, given in words.
    """
    search = new_search(largest)
    others = new_others(ranked.offsets.shape[0] - 1, largest_common(ranked, chosen, budget))
    for i in range(chosen.shape[0]):
        record = chosen[i]
        found[i] = 0
        common = common_size(ranked, record)
        if common > budget:
            continue
        find_common(ranked, record, others)
        known = clean[i]
        for size in range(known + 1, min(largest, ranked.offsets[record + 1] - ranked.offsets[record]) + 1):
            part = (budget - common) // (largest - known)
            search.state[BELOW], search.state[FOUND], search.state[LEFT] = below, 0, part
            look(ranked, record, clean[i], size, False, others, search)
            if search.state[FOUND] > 0:
                found[i] = search.state[FOUND]
                break
            if search.state[LEFT] >= 0:
                clean[i] = size
        if found[i] == 0 and clean[i] >= ranked.offsets[record + 1] - ranked.offsets[record]:
            clean[i] = largest


@kernel(types.void(RANKED, view(types.int32), view(types.int32), _INT32, types.int64, buffer(types.int32, 2)))
def find_rarest(ranked, chosen, sizes, supports, budget, sets):
    """A rarest set of sizes[i] terms of each record chosen: its ranks, and its support in place of what was known.

    Given is a support that some set of that size has. If the budget does not do for all sets, the one found is the
    rarest met; what is left of a row of `sets` is not written to.
    """
    search = new_search(sets.shape[1])
    others = new_others(ranked.offsets.shape[0] - 1, largest_common(ranked, chosen, budget))
    for i in range(chosen.shape[0]):
        record = chosen[i]
        common = common_size(ranked, record)
        if common > budget:
            continue
        if sizes[i] > 1:
            find_common(ranked, record, others)
        search.state[BELOW], search.state[FOUND], search.state[LEFT] = supports[i] + 1, 0, budget - common
        look(ranked, record, 0, sizes[i], True, others, search)
        if search.state[FOUND] > 0:
            supports[i] = search.state[BELOW]
        start = ranked.offsets[record]
        for depth in range(search.state[FOUND]):
            behind = search.best[0] + 1 if depth > 0 else 0
            sets[i, depth] = ranked.items[start + behind + search.best[depth]]
