"""Leaves by a term that all their records hold: a record without it is in none of them, and need not be tried there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, plain, writable
from disassociation.auditor.kernels_places import CONTENT, POSTINGS, Postings, advance

_I32, _I64 = writable(types.int32), writable(types.int64)
_NEVER = 1 << 62


class Anchors(NamedTuple):
    """For each term some of the leaves whose records all hold it; each leaf is listed for one term at most."""

    starts: NDArray[np.int64]  # (terms + 1,)
    leaves: NDArray[np.int32]  # rising for each term
    masks: NDArray[np.uint64]  # a bit (see `bit_of`) for each term that all of the leaf's records hold


class Index(NamedTuple):
    """Where leaves have terms from, and which leaves to try a record in."""

    postings: Postings
    anchors: Anchors
    rest: Postings  # of the leaves that have no anchor


ANCHORS = types.NamedTuple((_I64, _I32, writable(types.uint64)), Anchors)
INDEX = types.NamedTuple((POSTINGS, ANCHORS, POSTINGS), Index)


@plain
def bit_of(term):
    """One of 64 bits; several terms have the same."""
    return np.uint64(1) << np.uint64(term & 63)


@plain
def choose_anchors(content, records, counts, anchors, masks):
    """For each leaf the term of all its records that fewest records of the original hold, or -1, and all such terms."""
    bag, chunks = content.chunks.bag, content.chunks
    for leaf in range(content.entry_starts.shape[0] - 1):
        first, last = chunks.rows[chunks.of_cluster[leaf]], chunks.rows[chunks.of_cluster[leaf + 1]]
        for row in range(first, last):
            for place in range(bag.starts[row], bag.starts[row + 1]):
                counts[bag.items[place]] += bag.counts[row]
        anchors[leaf], masks[leaf] = -1, 0
        for place in range(bag.starts[first], bag.starts[last]):
            term = bag.items[place]
            if counts[term] == content.sizes[leaf]:
                masks[leaf] |= bit_of(term)
                if anchors[leaf] < 0 or records[term] < records[anchors[leaf]]:
                    anchors[leaf] = term
            counts[term] = 0


@compiled(INDEX(CONTENT, POSTINGS, _I64))
def index_leaves(content, postings, records):
    """Anchor the leaves; `records` (terms,) are how many different records of the original hold each term."""
    leaves, terms = content.entry_starts.shape[0] - 1, records.shape[0]
    anchor, mask = np.empty(leaves, np.int32), np.empty(leaves, np.uint64)
    choose_anchors(content, records, np.zeros(terms, np.int64), anchor, mask)
    starts = np.zeros(terms + 1, np.int64)
    for leaf in range(leaves):
        if anchor[leaf] >= 0:
            starts[anchor[leaf] + 1] += 1
    for term in range(terms):
        starts[term + 1] += starts[term]
    listed, masks = np.empty(starts[terms], np.int32), np.empty(starts[terms], np.uint64)
    ends = starts[:-1].copy()
    for leaf in range(leaves):
        if anchor[leaf] >= 0:
            listed[ends[anchor[leaf]]], masks[ends[anchor[leaf]]] = leaf, mask[leaf]
            ends[anchor[leaf]] += 1
    rest_starts = np.zeros(terms + 1, np.int64)
    for term in range(terms):
        rest_starts[term + 1] = rest_starts[term]
        for place in range(postings.starts[term], postings.starts[term + 1]):
            rest_starts[term + 1] += anchor[postings.leaves[place]] < 0
    rest = Postings(rest_starts, np.empty(rest_starts[terms], np.int32), np.empty(rest_starts[terms], np.int32))
    size = 0
    for place in range(postings.leaves.shape[0]):
        if anchor[postings.leaves[place]] < 0:
            rest.leaves[size], rest.places[size] = postings.leaves[place], postings.places[place]
            size += 1
    return Index(postings, Anchors(starts, listed, masks), rest)


@plain
def anchored_leaves(index, items, order, at, out):
    """Write the leaves with an anchor among some terms that have all of them to `out`; returns how many, and the looks.

    A leaf that holds another term in all its records is left out for it, nearly always. `order` (terms of the record,)
    puts those first that few leaves have; `at` is room for a place of each.
    """
    anchors, postings = index.anchors, index.postings
    size, looks, lacks = 0, np.int64(0), ~np.uint64(0)
    for i in range(items.shape[0]):
        lacks &= ~bit_of(items[i])
    for i in range(items.shape[0]):
        start, end = anchors.starts[items[i]], anchors.starts[items[i] + 1]
        if start == end:
            continue
        for j in range(items.shape[0]):
            at[j] = postings.starts[items[j]]
        looks += end - start
        following = np.int64(0)
        for place in range(start, end):
            leaf = np.int64(anchors.leaves[place])
            if leaf >= following and anchors.masks[place] & lacks == 0:
                following = first_with_all(postings, items, order, at, leaf)
                looks += 1
                if following == leaf:
                    out[size] = leaf
                    size += 1
    return size, looks


@plain
def first_with_all(postings, items, order, at, leaf):
    """The leaf, if it has all terms; or else a later one such that none before has. `at` moves on to it."""
    for i in range(items.shape[0]):
        one = order[i]
        end = postings.starts[items[one] + 1]
        at[one] = advance(postings, at[one], end, leaf)
        if at[one] == end:
            return _NEVER
        if postings.leaves[at[one]] > leaf:
            return np.int64(postings.leaves[at[one]])
    return leaf
