"""Which records of an original may be in which leaves, and which published numbers they would count for there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from disassociation.auditor._compile import compiled, inner, plain, writable
from disassociation.auditor.kernels_anchors import INDEX, anchored_leaves, first_with_all
from disassociation.auditor.kernels_places import CHUNKS, advance, place_of
from disassociation.auditor.kernels_records import SETS

_I32, _I64 = writable(types.int32), writable(types.int64)
_IN_FRONT = 4


class Numbering(NamedTuple):
    """Where the sums begin that belong to leaves, rows, empty subrecords and entries of term chunks."""

    leaves: int
    rows: int
    empty: int
    entries: int


NUMBERING = types.NamedUniTuple(types.int64, 4, Numbering)


@plain
def find_row(chunks, chunk, terms, size):
    """The row of a chunk that is these terms, or -1; rows are in lexicographic order."""
    bag = chunks.bag
    low, high = chunks.rows[chunk], chunks.rows[chunk + 1]
    while low < high:
        row = (low + high) // 2
        start, length = bag.starts[row], bag.starts[row + 1] - bag.starts[row]
        i = 0
        while i < min(size, length) and bag.items[start + i] == terms[i]:
            i += 1
        if i == size and i == length:
            return row
        if i < length and (i == size or bag.items[start + i] > terms[i]):
            high = row
        else:
            low = row + 1
    return np.int64(-1)


@plain
def note_uses(chunks, numbering, leaf, items, found, desk, uses):
    """The sums that a record in a leaf counts for, into `uses`; how many, or -1 if it is not allowed there.

    `found` are the places of its terms; `desk` is room for as many terms. Sums stand in order of their number only
    where that is easy; each is there once.
    """
    size = np.int64(1)
    uses[0] = numbering.leaves + leaf
    first, last = chunks.of_cluster[leaf], chunks.of_cluster[leaf + 1]
    touched = np.int64(0)
    for i in range(items.shape[0]):
        chunk = found[i]
        if chunk < 0:
            uses[size] = numbering.entries - 1 - chunk
            size += 1
            continue
        length, is_first = 0, True
        for j in range(items.shape[0]):
            if found[j] == chunk:
                if j < i:
                    is_first = False
                    break
                desk[length] = items[j]
                length += 1
        if not is_first:
            continue
        row = find_row(chunks, chunk, desk, length)
        if row < 0:
            return np.int64(-1)
        uses[size] = numbering.rows + row
        size += 1
        touched += first <= chunk < last
    if touched == last - first:
        return size
    for chunk in range(first, last):
        meets = False
        for i in range(items.shape[0]):
            meets |= found[i] == chunk
        if not meets:
            if chunks.empty[chunk] == 0:
                return np.int64(-1)
            uses[size] = numbering.empty + chunk
            size += 1
    return size


@plain
def rarest_first(postings, items, order):
    """Number the terms, the few that fewest leaves have in front: they rule out most leaves."""
    for i in range(items.shape[0]):
        order[i] = i
    for i in range(min(_IN_FRONT, items.shape[0])):
        best = i
        for j in range(i + 1, items.shape[0]):
            a, b = items[order[j]], items[order[best]]
            if postings.starts[a + 1] - postings.starts[a] < postings.starts[b + 1] - postings.starts[b]:
                best = j
        order[i], order[best] = order[best], order[i]


@plain
def leaves_with_all(postings, items, order, at, out, size):
    """Add the leaves that have all terms to the `size` of them in `out`; returns how many there are, and the looks."""
    for i in range(items.shape[0]):
        at[i] = postings.starts[items[i]]
    first = order[0]
    leaf, looks = np.int64(0), np.int64(0)
    while True:
        at[first] = advance(postings, at[first], postings.starts[items[first] + 1], leaf)
        looks += 1
        if at[first] == postings.starts[items[first] + 1]:
            return size, looks
        leaf = np.int64(postings.leaves[at[first]])
        following = first_with_all(postings, items, order, at, leaf)
        if following == leaf:
            out[size] = leaf
            size += 1
            following += 1
        leaf = following


@plain
def note_places(postings, items, order, leaf, found):
    """Write where a leaf has all terms from to `found`; whether it has them all."""
    for i in range(items.shape[0]):
        one = order[i]
        place = place_of(postings, items[one], leaf)
        if place < 0:
            return False
        found[one] = postings.places[place]
    return True


@inner
def grown(array, size):
    """The same array with more room."""
    new = np.empty(size, array.dtype)
    new[: array.shape[0]] = array
    return new


_FOUND = types.Tuple((_I32, _I64, _I32, types.boolean))


@compiled(_FOUND(SETS, INDEX, CHUNKS, NUMBERING, types.int64, types.int64, types.int64))
def find_candidates(sets, index, chunks, numbering, widest, most, patience):
    """Every (set, leaf) that fits: the leaves, where each one's sums begin, the sums, and whether these are all.

    A leaf fits if it has all terms and every chunk has the row that the set would leave there. Sums are those of
    `Numbering`, the first being the set itself. `widest` bounds how many a candidate can have; the search is given up
    at more than `most` sums, or after `patience` looks at leaves.
    """
    leaves, starts = np.empty(1024, np.int32), np.zeros(1025, np.int64)
    sums = np.empty(1024 + 2 * widest, np.int32)
    at, order, found = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int32)
    desk, uses = np.empty(widest, np.int32), np.empty(widest, np.int64)
    tried = np.empty(chunks.of_cluster.shape[0], np.int32)
    size = 0
    for one in range(sets.counts.shape[0]):
        items = sets.items[sets.starts[one] : sets.starts[one + 1]]
        rarest_first(index.postings, items, order)
        number, looks = anchored_leaves(index, items, order, at, tried)
        number, more = leaves_with_all(index.rest, items, order, at, tried, number)
        patience -= looks + more + number
        for i in range(number):
            if patience < 0 or starts[size] > most:
                return leaves[:size].copy(), starts[: size + 1].copy(), sums[: starts[size]].copy(), False
            used = np.int64(-1)
            if note_places(index.postings, items, order, tried[i], found):
                used = note_uses(chunks, numbering, tried[i], items, found, desk, uses)
            if used < 0:
                continue
            if size == leaves.shape[0]:
                leaves, starts = grown(leaves, 2 * size), grown(starts, 2 * size + 1)
            if starts[size] + used + 1 > sums.shape[0]:
                sums = grown(sums, 2 * sums.shape[0])
            leaves[size], sums[starts[size]] = tried[i], one
            for j in range(used):
                sums[starts[size] + 1 + j] = uses[j]
            starts[size + 1] = starts[size] + 1 + used
            size += 1
    return leaves[:size].copy(), starts[: size + 1].copy(), sums[: starts[size]].copy(), True
