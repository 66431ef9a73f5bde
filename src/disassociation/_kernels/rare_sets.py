"""Which records hold a term set of a given size that few records hold: all sets of all records, level by level.

Terms are numbered by rarity, so that a depth-first walk over the sets meets the rare ones first, and of a record only
what follows the last term chosen is looked at. A set of the last size is never made: the terms behind its prefix are
counted over the prefix's records, in an array that stays in the first-level cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel
from disassociation._kernels.bits import prefetch
from disassociation._kernels.ranks import RANKED

_AHEAD = 12  # turns; 6 and 24 measure the same, none makes pairs take twice as long

_INT32 = buffer(types.int32)
_PAIR = types.UniTuple(types.int64, 2)


class Desk(NamedTuple):
    """The records of one term, copied together, and what is chosen of them; row d is for prefixes of d + 1 terms."""

    starts: NDArray[np.int64]  # (most records of a term,) where each record begins in `items`
    items: NDArray[np.int32]  # (room,) the ranks behind the first term, falling, and the first term itself
    least: NDArray[np.int32]  # (most records of a term,) as outside
    counts: NDArray[np.int32]  # (terms,) 0 between uses
    touched: NDArray[np.int32]  # (terms,) the ranks counted
    kids: NDArray[np.int32]  # (depths, terms) ranks that continue the prefix above
    edges: NDArray[np.int64]  # (depths, terms + 1) where the records of each begin in `members`
    members: NDArray[np.int32]  # (depths, room) places in `starts`
    sizes: NDArray[np.int64]  # (depths,) how many kids
    turns: NDArray[np.int64]  # (depths,) the next to be visited


@helper
def new_desk(terms, size, records, room):
    """Scratch for sets of `size` terms, the first of which is in at most so many records."""
    deep = size - 1
    return Desk(
        np.empty(records, np.int64),
        np.empty(room, np.int32),
        np.empty(records, np.int32),
        np.zeros(terms, np.int32),
        np.empty(terms, np.int32),
        np.empty((deep, terms), np.int32),
        np.empty((deep, terms + 1), np.int64),
        np.empty((deep, room), np.int32),
        np.zeros(deep, np.int64),
        np.zeros(deep, np.int64),
    )


@borrowing
def gather(ranked, first, least, desk):
    """Copy what the records of a term hold from there on, so that what follows happens in the cache."""
    low = ranked.rank_offsets[first]
    records = ranked.rank_offsets[first + 1] - low
    used = 0
    for i in range(records):
        if i + 2 * _AHEAD < records:
            prefetch(ranked.offsets, ranked.postings[low + i + 2 * _AHEAD] + 1)
        if i + _AHEAD < records:
            prefetch(ranked.items, ranked.offsets[ranked.postings[low + i + _AHEAD] + 1] - 1)
        record = ranked.postings[low + i]
        desk.starts[i] = used
        desk.least[i] = least[record]
        desk.members[0, i] = i
        place = ranked.offsets[record + 1] - 1
        while ranked.items[place] > first:
            desk.items[used] = ranked.items[place]
            used += 1
            place -= 1
        desk.items[used] = first
        used += 1


@borrowing
def count_behind(members, last, desk):
    """Count the ranks behind `last` in the records `members`, which all hold it; returns how many there are."""
    items, counts, touched = desk.items, desk.counts, desk.touched
    size = 0
    for i in range(members.shape[0]):
        place = desk.starts[members[i]]
        while items[place] > last:
            code = items[place]
            if counts[code] == 0:
                touched[size] = code
                size += 1
            counts[code] += 1
            place += 1
    return size


@borrowing
def mark_last(members, last, k, desk):
    """Lower `least` to the supports of the sets that one more term makes; returns work done and sets below k."""
    counts, touched, least = desk.counts, desk.touched, desk.least
    size = count_behind(members, last, desk)
    lowest, rare, work = np.int32(k), 0, 0
    for j in range(size):
        count = counts[touched[j]]
        work += count
        rare += count < k
        lowest = min(lowest, count)
    if lowest < k:
        for i in range(members.shape[0]):
            record = members[i]
            if least[record] <= lowest:
                continue
            place = desk.starts[record]
            while desk.items[place] > last:
                least[record] = min(least[record], counts[desk.items[place]])
                place += 1
    for j in range(size):
        counts[touched[j]] = 0
    return work, rare


@borrowing
def expand(members, last, depth, desk):
    """List, for each rank that continues a prefix, the records that hold it too; returns the work done.

    Left out are sets of one record, which is known to be unique, and sets as frequent as the prefix: what they could
    still lead to has a support that fewer terms have as well.
    """
    counts, touched, edges = desk.counts, desk.touched, desk.edges
    size = count_behind(members, last, desk)
    place, kids, work = 0, 0, 0
    for j in range(size):
        code = touched[j]
        count = counts[code]
        work += count
        if count == 1 or count == members.shape[0]:
            counts[code] = -1
            continue
        desk.kids[depth, kids] = code
        edges[depth, kids] = place
        counts[code] = place
        place += count
        kids += 1
    edges[depth, kids] = place
    for i in range(members.shape[0]):
        at = desk.starts[members[i]]
        while desk.items[at] > last:
            code = desk.items[at]
            if counts[code] >= 0:
                desk.members[depth, counts[code]] = members[i]
                counts[code] += 1
            at += 1
    for j in range(size):
        counts[touched[j]] = 0
    desk.sizes[depth] = kids
    desk.turns[depth] = 0
    return work


@borrowing
def has_open(members, least):
    """Whether more can be learned about any of these records."""
    for i in range(members.shape[0]):
        if least[members[i]] > 1:
            return True
    return False


@borrowing
def walk(first, records, size, k, most, desk):
    """All sets of `size` >= 3 terms whose rarest is `first`; returns the work done, more than `most` if it gave up."""
    work = expand(desk.members[0, :records], first, 1, desk)
    depth = 1
    while depth >= 1 and work <= most:
        turn = desk.turns[depth]
        if turn == desk.sizes[depth]:
            depth -= 1
            continue
        desk.turns[depth] = turn + 1
        members = desk.members[depth, desk.edges[depth, turn] : desk.edges[depth, turn + 1]]
        if not has_open(members, desk.least):
            continue
        last = desk.kids[depth, turn]
        if depth + 2 == size:
            work += mark_last(members, last, k, desk)[0]
        else:
            depth += 1
            work += expand(members, last, depth, desk)
    return work


@kernel(_PAIR(RANKED, _PAIR, types.int64, types.int64, _INT32, _PAIR, types.int64, types.boolean))
def mark_rare_sets(ranked, span, size, k, least, room, most, count_all):
    """Lower `least` of each record to the support of its rarest set of `size` >= 2 terms, the rarest of them in `span`.

    A record with `least` <= 1 is of no interest, the others are given what counts as rare for them, at most k. Looked
    at are sets whose prefixes are in a record of interest and in no single record; all pairs if `count_all`. `room`:
    the most records of a term, and the most occurrences in them from the term on. Returns the work done, more than
    `most` if it gave up, and the number of pairs below k.
    """
    desk = new_desk(ranked.rank_offsets.shape[0] - 1, size, room[0], room[1])
    work, rare = 0, 0
    for first in range(span[0], span[1]):
        records = ranked.postings[ranked.rank_offsets[first] : ranked.rank_offsets[first + 1]]
        if not count_all and (records.shape[0] == 1 or not has_open(records, least)):
            continue
        gather(ranked, first, least, desk)
        if size == 2:
            done, below = mark_last(desk.members[0, : records.shape[0]], first, k, desk)
            work += done
            rare += below
        else:
            work += walk(first, records.shape[0], size, k, most - work, desk)
        for i in range(records.shape[0]):
            least[records[i]] = desk.least[i]
        if work > most:
            break
    return work, rare
