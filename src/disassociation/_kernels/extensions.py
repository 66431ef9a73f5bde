"""Which terms extend an itemset often enough, counted record by record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing
from disassociation._kernels.best_sets import key_of
from disassociation._kernels.bits import prefetch_list
from disassociation._kernels.ragged import sort_numbers

RANK, SUPPORT, BEGIN, COUNT = range(4)
FIRST, STOP, AT, USED = range(4)
_ONE = np.int64(1) << 32  # a record of weight 1; the low half of a tally counts records whatever they weigh
_RECORDS = _ONE - 1


class Search(NamedTuple):
    """What the search has in hand; the largest parts may be replaced by larger ones."""

    tally: NDArray[np.int64]  # (ranks,) weight and number of records that hold each term beside the itemset
    touched: NDArray[np.int32]  # (ranks,) terms met with a root
    cursor: NDArray[np.int64]  # (ranks,) where the next record of an extension goes; -1 if it is none
    path: NDArray[np.int32]  # (ranks,) the itemset
    levels: NDArray[np.int64]  # (ranks, 4) extensions of each level: FIRST, STOP and AT; USED places
    stack: NDArray[np.int64]  # (room, 4) extensions: RANK, SUPPORT, and the BEGIN and COUNT of their places


class Cut(NamedTuple):
    """A root's records without the terms that cannot extend it."""

    offsets: NDArray[np.int64]  # (room,)
    items: NDArray[np.int32]  # (room,) ranks, rising within a record
    tallies: NDArray[np.int64]  # (room,) weight of each record, and 1, as added to a tally
    places: NDArray[np.int32]  # (room,) records of each extension


@borrowing
def weigh(ranked, record):
    """What a record adds to a tally."""
    if ranked.weights.shape[0] == 0:
        return _ONE + 1
    return ranked.weights[record] * _ONE + 1


@borrowing
def related(spans, one, other):
    """Whether one term is an ancestor of the other; spans are empty if there is no hierarchy."""
    if spans.shape[0] == 0:
        return False
    return spans[one, 0] <= spans[other, 0] < spans[one, 1] or spans[other, 0] <= spans[one, 0] < spans[other, 1]


@borrowing
def count_with(ranked, root, search):
    """Count the terms before a root in its records; returns how many there are."""
    tally, touched = search.tally, search.touched
    records = ranked.postings[ranked.posting_offsets[root] : ranked.posting_offsets[root + 1]]
    met = 0
    for i in range(records.shape[0]):
        prefetch_list(ranked.offsets, ranked.items, records, i)
        one = weigh(ranked, records[i])
        for place in range(ranked.offsets[records[i]], ranked.offsets[records[i] + 1]):
            rank = ranked.items[place]
            if rank >= root:
                break
            if tally[rank] == 0:
                touched[met] = rank
                met += 1
            tally[rank] += one
    return met


@borrowing
def first_extensions(search, met, root, spans, limit):
    """Put the terms that extend a root on the stack, by rank; returns how many, and how many places they take."""
    tally, touched, stack = search.tally, search.touched, search.stack
    kept, places = 0, 0
    for i in range(met):
        rank = touched[i]
        if key_of(tally[rank] >> 32, 2) >= limit and not related(spans, root, rank):
            touched[kept] = rank
            kept += 1
        else:
            tally[rank] = 0
    sort_numbers(touched[:kept])
    for i in range(kept):
        rank = touched[i]
        stack[i, RANK], stack[i, SUPPORT] = rank, tally[rank] >> 32
        stack[i, BEGIN], stack[i, COUNT] = places, tally[rank] & _RECORDS
        search.cursor[rank] = places
        places += stack[i, COUNT]
        tally[rank] = 0
    return kept, places


@borrowing
def cut_records(ranked, root, search, kept, work):
    """Fill in a root's records, and each extension's; what was the cursor of an extension is none again."""
    cursor = search.cursor
    records = ranked.postings[ranked.posting_offsets[root] : ranked.posting_offsets[root + 1]]
    size, written = 0, 0
    for i in range(records.shape[0]):
        prefetch_list(ranked.offsets, ranked.items, records, i)
        begin = written
        for place in range(ranked.offsets[records[i]], ranked.offsets[records[i] + 1]):
            rank = ranked.items[place]
            if rank >= root:
                break
            if cursor[rank] >= 0:
                work.items[written] = rank
                written += 1
                work.places[cursor[rank]] = size
                cursor[rank] += 1
        if written > begin:
            work.offsets[size], work.offsets[size + 1] = begin, written
            work.tallies[size] = weigh(ranked, records[i])
            size += 1
    for i in range(kept):  # what the search leaves behind
        cursor[search.stack[i, RANK]] = -1


@borrowing
def count_below(search, work, first, at):
    """Count the extensions before one of them in the records that hold it."""
    tally, stack, items = search.tally, search.stack, work.items
    for i in range(first, at):
        tally[stack[i, RANK]] = 0
    itself = stack[at, RANK]
    for i in range(stack[at, BEGIN], stack[at, BEGIN] + stack[at, COUNT]):
        record = work.places[i]
        for place in range(work.offsets[record], work.offsets[record + 1]):
            rank = items[place]
            if rank >= itself:
                break
            tally[rank] += work.tallies[record]


@borrowing
def next_extensions(search, level, limit, spans, size):
    """Put those that stay extensions on the stack; returns how many, and how many places they take up to."""
    tally, stack, at = search.tally, search.stack, level[AT]
    top, used = level[STOP], level[USED]
    for i in range(level[FIRST], at):
        rank = stack[i, RANK]
        support = tally[rank] >> 32
        if key_of(support, size) >= limit and not related(spans, stack[at, RANK], rank):
            stack[top, RANK], stack[top, SUPPORT] = rank, support
            stack[top, BEGIN], stack[top, COUNT] = used, tally[rank] & _RECORDS
            used += stack[top, COUNT]
            top += 1
    return top - level[STOP], used


@borrowing
def hand_down(search, work, level, kept):
    """Write down the records of each new extension."""
    stack, cursor, top = search.stack, search.cursor, level[STOP]
    for i in range(top, top + kept):
        cursor[stack[i, RANK]] = stack[i, BEGIN]
    at = level[AT]
    itself = stack[at, RANK]
    for i in range(stack[at, BEGIN], stack[at, BEGIN] + stack[at, COUNT]):
        record = work.places[i]
        for place in range(work.offsets[record], work.offsets[record + 1]):
            rank = work.items[place]
            if rank >= itself:
                break
            if cursor[rank] >= 0:
                work.places[cursor[rank]] = record
                cursor[rank] += 1
    for i in range(top, top + kept):
        cursor[stack[i, RANK]] = -1
