"""Frequent itemsets by depth-first search over terms of falling support, counting extensions record by record.

Each itemset is met once, from its rarest term: that term's records are cut to the more frequent terms that go with it
often enough, then searched for larger sets. A term's occurrences are handed down as record numbers (Uno, Asai, Uchida
and Arimura, LCM: "occurrence deliver"), so a step costs what the records of one itemset hold.
"""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import helper, kernel, view
from disassociation._kernels.best_sets import FOUND, LIMIT, add, grown, key_of, nothing_found, wanted, with_room
from disassociation._kernels.extensions import (
    AT,
    FIRST,
    RANK,
    STOP,
    SUPPORT,
    USED,
    Cut,
    Search,
    count_below,
    count_with,
    cut_records,
    first_extensions,
    hand_down,
    next_extensions,
)  # fmt: skip
from disassociation._kernels.ranked import RANKED


@helper
def report(found, search, first, kept, size):
    """Write down the itemset of the path with each of the extensions."""
    found = with_room(found, kept, kept * (size + 1))
    for i in range(first, first + kept):
        key = key_of(search.stack[i, SUPPORT], size + 1)
        if key >= found.state[LIMIT]:
            add(found, search.path, size, search.stack[i, RANK], key)
    return found


@helper
def stacked(search, room):
    """Make sure that the stack has so much room."""
    if search.stack.shape[0] >= room:
        return search
    stack = np.empty((2 * room, 4), np.int64)
    stack[: search.stack.shape[0]] = search.stack
    return Search(search.tally, search.touched, search.cursor, search.path, search.levels, stack)


@helper
def placed(work, room):
    """Make sure that so many places fit in."""
    if work.places.shape[0] >= room:
        return work
    return Cut(work.offsets, work.items, work.tallies, grown(work.places, work.places.shape[0], 2 * room))


@helper
def descend(found, search, work, spans, longest):
    """Everything larger than a pair that has the root as its rarest term; level 0 is on the stack."""
    depth, levels = 0, search.levels
    while depth >= 0:
        level = levels[depth]
        level[AT] += 1
        if level[AT] >= level[STOP]:
            depth -= 1
            continue
        size = depth + 3
        search = stacked(search, level[STOP] + level[AT] - level[FIRST])
        if key_of(search.stack[level[AT], SUPPORT], size) < found.state[LIMIT]:
            continue
        search.path[depth + 1] = search.stack[level[AT], RANK]
        count_below(search, work, level[FIRST], level[AT])
        kept, used = next_extensions(search, level, found.state[LIMIT], spans, size)
        if kept == 0:
            continue
        found = report(found, search, level[STOP], kept, size - 1)
        if kept > 1 and size < longest:
            work = placed(work, used)
            hand_down(search, work, level, kept)
            depth += 1
            below = levels[depth]
            below[FIRST], below[STOP], below[AT], below[USED] = level[STOP], level[STOP] + kept, level[STOP], used
    return found, search, work


@helper
def start_search(ranks):
    """Nothing in hand."""
    return Search(
        np.zeros(ranks, np.int64),
        np.empty(ranks, np.int32),
        np.full(ranks, -1, np.int64),
        np.empty(ranks + 1, np.int32),
        np.empty((ranks + 1, 4), np.int64),
        np.empty((1024, 4), np.int64),
    )


@helper
def made_for(work, records, places):
    """Room for a root's records of so many places in all."""
    if work.places.shape[0] >= places and work.offsets.shape[0] > records and work.items.shape[0] >= places:
        return work
    room, size = 2 * places, 2 * records + 2
    return Cut(np.empty(size, np.int64), np.empty(room, np.int32), np.empty(size, np.int64), np.empty(room, np.int32))


@kernel(FOUND(RANKED, view(types.int64), view(types.int32, 2), types.int64, types.int64, types.int64))
def mine(ranked, supports, spans, least, top, longest):
    """The itemsets of up to `longest` terms with supports from `least`, or the `top` best of them and ties.

    Terms are ranks by falling support; `spans` are their places in a walk of a hierarchy, of which no itemset may hold
    a term and its ancestor.
    """
    ranks = supports.shape[0]
    found, search = nothing_found(least, top), start_search(ranks)
    work = Cut(np.empty(1, np.int64), np.empty(1, np.int32), np.empty(1, np.int64), np.empty(1, np.int32))
    search = stacked(search, ranks)
    for rank in range(ranks):
        search.stack[rank, RANK], search.stack[rank, SUPPORT] = rank, supports[rank]
    found = report(found, search, 0, ranks, 0)
    for root in range(1, ranks):
        if longest < 2 or key_of(supports[root], 2) < found.state[LIMIT]:
            break
        met = count_with(ranked, root, search)
        kept, places = first_extensions(search, met, root, spans, found.state[LIMIT])
        search.path[0] = root
        found = report(found, search, 0, kept, 1)
        if kept > 1 and longest > 2:
            work = made_for(work, ranked.posting_offsets[root + 1] - ranked.posting_offsets[root], places)
            cut_records(ranked, root, search, kept, work)
            level = search.levels[0]
            level[FIRST], level[STOP], level[AT], level[USED] = 0, kept, 0, places
            found, search, work = descend(found, search, work, spans, longest)
        for i in range(kept):
            search.tally[search.stack[i, RANK]], search.cursor[search.stack[i, RANK]] = 0, -1
    return wanted(found)
