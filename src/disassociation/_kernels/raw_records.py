"""The same attacks on records that were not anonymized: how many hold some terms, and what else these have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view

_ROUNDING = 1e-12


class Postings(NamedTuple):
    """For each term the lists it is in, rising."""

    offsets: NDArray[np.int64]  # (terms + 1,)
    lists: NDArray[np.int32]


class Tally(NamedTuple):
    """How often terms were met."""

    counts: NDArray[np.int64]  # (terms,) 0 between uses
    met: NDArray[np.int32]  # (terms,) those that were


_TERMS, _PLACES = view(types.int32), view(types.int64)
POSTINGS = types.NamedTuple((buffer(types.int64), buffer(types.int32)), Postings)


@kernel(POSTINGS(_PLACES, _TERMS, types.int64))
def posting_lists(offsets, items, terms):
    """The lists of terms (offsets, items) the other way round. Linear."""
    starts = np.zeros(terms + 1, np.int64)
    for place in range(items.shape[0]):
        starts[items[place] + 1] += 1
    for term in range(terms):
        starts[term + 1] += starts[term]
    free = starts[:-1].copy()
    lists = np.empty(items.shape[0], np.int32)
    for i in range(offsets.shape[0] - 1):
        for place in range(offsets[i], offsets[i + 1]):
            lists[free[items[place]]] = i
            free[items[place]] += 1
    return Postings(starts, lists)


@borrowing
def first_from(values, low, high, value):
    """The first place from low to below high where rising values reach a value; `high` if nowhere."""
    step = 1
    while low + step < high and values[low + step] < value:
        low += step
        step *= 2
    high = min(low + step + 1, high)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@borrowing
def intersect(values, size, postings, term, out):
    """Write what the first `size` values and a term's lists have in common; returns how many. Takes the shorter."""
    start, stop = postings.offsets[term], postings.offsets[term + 1]
    common = 0
    if size <= stop - start:
        for i in range(size):
            start = first_from(postings.lists, start, stop, values[i])
            if start == stop:
                break
            if postings.lists[start] == values[i]:
                out[common] = values[i]
                common += 1
    else:
        i = 0
        for place in range(start, stop):
            i = first_from(values, i, size, postings.lists[place])
            if i == size:
                break
            if values[i] == postings.lists[place]:
                out[common] = values[i]
                common += 1
    return common


@helper
def hold_all(postings, known, held, sizes, kept):
    """Records that hold the known terms (padded with -1) into held[0 ...], level by level; returns the last level.

    Levels below `kept` are right already.
    """
    level = kept
    while level < known.shape[0] and known[level] >= 0:
        start, stop = postings.offsets[known[level]], postings.offsets[known[level] + 1]
        if level == 0:
            held[0, : stop - start] = postings.lists[start:stop]
            sizes[0] = stop - start
        else:
            sizes[level] = intersect(held[level - 1], sizes[level - 1], postings, known[level], held[level])
        level += 1
    return level - 1


@kernel(buffer(types.int64, 2)(POSTINGS, types.int64, view(types.int32, 3)))
def count_records(postings, records, known):
    """For each victim and each set of known terms (padded with -1): how many records hold it."""
    counts = np.zeros(known.shape[:2], np.int64)
    held = np.empty((known.shape[2], records), np.int32)
    sizes = np.zeros(known.shape[2], np.int64)
    for victim in range(known.shape[0]):
        for i in range(known.shape[1]):
            kept = 0
            while i > 0 and known[victim, i - 1, kept] >= 0 and known[victim, i, kept] == known[victim, i - 1, kept]:
                kept += 1
            level = hold_all(postings, known[victim, i], held, sizes, kept)
            counts[victim, i] = sizes[level]
    return counts


@borrowing
def count_others(offsets, items, records, size, known, tally, confidence):
    """Count the terms of the first `size` records; returns how many there are, and whether one may be confident.

    Stops as soon as no unknown term can be in enough of the records any more, which mostly a few of them tell.
    """
    many, check = 0, 16
    for i in range(size):
        for place in range(offsets[records[i]], offsets[records[i] + 1]):
            term = items[place]
            if tally.counts[term] == 0:
                tally.met[many] = term
                many += 1
            tally.counts[term] += 1
        if i + 1 == check:
            check += check // 4
            best = np.int64(0)
            for j in range(many):
                is_known = False
                for slot in range(known.shape[0]):
                    is_known |= known[slot] == tally.met[j]
                if not is_known:
                    best = max(best, tally.counts[tally.met[j]])
            if best + size - (i + 1) < confidence * size * (1 - _ROUNDING):
                return many, False
    return many, True


@kernel(
    types.Tuple((buffer(types.int64), buffer(types.int32)))(
        _PLACES, _TERMS, POSTINGS, view(types.int32, 2), types.float64
    )
)
def confident_terms(offsets, items, postings, known, confidence):
    """For each victim, the unknown terms that enough of the records with the known terms hold: offsets, codes."""
    held = np.empty((known.shape[1], offsets.shape[0] - 1), np.int32)
    sizes = np.zeros(known.shape[1], np.int64)
    terms = postings.offsets.shape[0] - 1
    tally = Tally(np.zeros(terms, np.int64), np.empty(terms, np.int32))
    found_offsets = np.zeros(known.shape[0] + 1, np.int64)
    found = np.empty(1024, np.int32)
    size = 0
    for victim in range(known.shape[0]):
        level = hold_all(postings, known[victim], held, sizes, 0)
        many, some = count_others(offsets, items, held[level], sizes[level], known[victim], tally, confidence)
        for term in np.sort(tally.met[:many]):
            enough = some and tally.counts[term] >= confidence * sizes[level] * (1 - _ROUNDING)
            if enough and not (known[victim] == term).any():
                if size == found.shape[0]:
                    found = np.concatenate((found, np.empty_like(found)))
                found[size] = term
                size += 1
            tally.counts[term] = 0
        found_offsets[victim + 1] = size
    return found_offsets, found[:size].copy()
