"""Where a leaf has, elsewhere, a term of a shared chunk above it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, plain, writable
from disassociation.auditor.kernels_clusters import GROUP

IN_CHUNK, IN_TERM_CHUNK = range(2)


class SharedTerms(NamedTuple):
    """The terms of each joint cluster's shared chunks."""

    starts: NDArray[np.int64]  # (joints + 1,)
    terms: NDArray[np.int32]  # codes, rising within a joint cluster
    chunks: NDArray[np.int32]  # the chunk of each


SHARED_TERMS = types.NamedTuple((writable(types.int64), writable(types.int32), writable(types.int32)), SharedTerms)


@plain
def find(shared, joint, term):
    """The place of a term among a joint cluster's, or -1."""
    low, high = shared.starts[joint], shared.starts[joint + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if shared.terms[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low if low < end and shared.terms[low] == term else np.int64(-1)


@plain
def note_above(shared, parents, leaves, leaf, term, kind, out, size):
    """Note every joint cluster above the leaf that shares the term; counts only if `out` has no room."""
    joint = parents[leaf]
    while joint >= 0:
        place = find(shared, joint - leaves, term)
        if place >= 0:
            if size < out.shape[0]:
                out[size, 0], out[size, 1], out[size, 2] = joint, shared.chunks[place], leaf
                out[size, 3], out[size, 4] = term, kind
            size += 1
        joint = parents[joint]
    return size


@plain
def pass_over(group, first, parents, leaves, shared, seen, out):
    """Note all conflicts of a group of leaves; returns how many there are, even if `out` has no room for all.

    `seen` (terms,) says of each term which leaf was the last to have it, and in what.
    """
    size = np.int64(0)
    bag = group.bag
    for i in range(group.sizes.shape[0]):
        leaf = first + i
        if parents[leaf] < 0:
            continue
        for place in range(bag.starts[group.row_starts[i]], bag.starts[group.row_starts[i + 1]]):
            seen[bag.items[place]] = 2 * leaf + IN_CHUNK
        for place in range(group.term_starts[i], group.term_starts[i + 1]):
            seen[group.terms[place]] = 2 * leaf + IN_TERM_CHUNK
        joint = parents[leaf]
        while joint >= 0:
            # A joint cluster shares few terms; to look for them in the leaf is less work than the other way round.
            for place in range(shared.starts[joint - leaves], shared.starts[joint - leaves + 1]):
                term = shared.terms[place]
                if seen[term] >> 1 == leaf:
                    if size < out.shape[0]:
                        out[size, 0], out[size, 1], out[size, 2] = joint, shared.chunks[place], leaf
                        out[size, 3], out[size, 4] = term, seen[term] & 1
                    size += 1
            joint = parents[joint]
    return size


@compiled(types.Array(types.int64, 2, "C")(GROUP, types.int64, writable(types.int64), SHARED_TERMS, types.int64))
def find_conflicts(group, first, parents, shared, terms):
    """Conflicts of a group of leaves, numbered from `first`: (joint cluster, chunk, leaf, term, kind) each."""
    leaves = parents.shape[0] - (shared.starts.shape[0] - 1)
    seen = np.full(terms, -2, np.int64)
    out = np.empty((4 * group.sizes.shape[0], 5), np.int64)
    size = pass_over(group, first, parents, leaves, shared, seen, out)
    if size > out.shape[0]:
        out = np.empty((size, 5), np.int64)
        pass_over(group, first, parents, leaves, shared, seen, out)
    return out[:size].copy()


@compiled(types.Array(types.int64, 2, "C")(writable(types.int64), SHARED_TERMS))
def find_nested(parents, shared):
    """Terms that a joint cluster shares with one above it: (that above, its chunk, the joint cluster, term, kind)."""
    joints = shared.starts.shape[0] - 1
    leaves = parents.shape[0] - joints
    out = np.empty((0, 5), np.int64)
    for turn in range(2):
        size = np.int64(0)
        for joint in range(joints):
            for place in range(shared.starts[joint], shared.starts[joint + 1]):
                term = shared.terms[place]
                size = note_above(shared, parents, leaves, leaves + joint, term, IN_CHUNK, out, size)
        if turn == 0:
            out = np.empty((size, 5), np.int64)
    return out


_SPANS = types.UniTuple(writable(types.int64), 2)


@compiled(_SPANS(writable(types.int64), types.int64))
def leaf_spans(parents, leaves):
    """Leaves in an order in which those under any cluster are neighbours: (place of each leaf, (first, last) flat).

    The leaves under cluster c take the places spans[2 c] to spans[2 c + 1] - 1.
    """
    clusters = parents.shape[0]
    below = np.zeros(clusters, np.int64)
    for cluster in range(clusters):
        below[cluster] += cluster < leaves
        if parents[cluster] >= 0:
            below[parents[cluster]] += below[cluster]
    spans = np.zeros(2 * clusters, np.int64)
    free = np.zeros(clusters, np.int64)
    start = np.int64(0)
    for cluster in range(clusters - 1, -1, -1):
        parent = parents[cluster]
        if parent < 0:
            spans[2 * cluster] = start
            start += below[cluster]
        else:
            spans[2 * cluster] = free[parent]
            free[parent] += below[cluster]
        spans[2 * cluster + 1] = spans[2 * cluster] + below[cluster]
        free[cluster] = spans[2 * cluster]
    places = np.empty(leaves, np.int64)
    for leaf in range(leaves):
        places[leaf] = spans[2 * leaf]
    return places, spans
