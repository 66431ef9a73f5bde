"""The order of leaves that their published content prescribes (release-format.md section 5)."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation.auditor._compile import compiled, plain, writable
from disassociation.auditor.kernels_clusters import GROUP


@plain
def sort_few(values):
    """Sort in place: by insertion, and longer lists by heap."""
    n = values.shape[0]
    if n <= 64:
        for i in range(1, n):
            value, j = values[i], i
            while j > 0 and values[j - 1] > value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
        return
    for start in range(n // 2 - 1, -1, -1):
        sift(values, start, n)
    for end in range(n - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        sift(values, 0, end)


@plain
def sift(values, start, end):
    """Let a value sink in a heap until none below it is greater."""
    value, place = values[start], start
    while 2 * place + 1 < end:
        child = 2 * place + 1
        if child + 1 < end and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[place] = values[child]
        place = child
    values[place] = value


@plain
def write_key(group, i, rank, counts, key):
    """Write the key of a leaf; returns its length. `counts` (terms,) is scratch of zeros."""
    bag, n = group.bag, group.sizes[i]
    first, last = group.row_starts[i], group.row_starts[i + 1]
    size = 0
    for row in range(first, last):
        for place in range(bag.starts[row], bag.starts[row + 1]):
            counts[bag.items[place]] += bag.counts[row]
    for row in range(first, last):
        for place in range(bag.starts[row], bag.starts[row + 1]):
            term = bag.items[place]
            if counts[term] > 0:
                # Terms of three fifths of the records first, by rank; then the others by falling count, then rank.
                lead = 0 if 5 * counts[term] >= 3 * n else (np.int64(1) << 31) - counts[term]
                key[size] = lead << 31 | rank[term]
                counts[term] = 0
                size += 1
    sort_few(key[:size])
    for at in range(size):
        key[at] &= (np.int64(1) << 31) - 1
    key[size] = -1
    start = size + 1
    size = start
    for place in range(group.term_starts[i], group.term_starts[i + 1]):
        key[size] = rank[group.terms[place]]
        size += 1
    sort_few(key[start:size])
    key[size], key[size + 1] = -1, n
    size += 2
    for row in range(first, last):
        key[size], key[size + 1] = group.chunks[row], bag.starts[row + 1] - bag.starts[row]
        size += 2
        for place in range(bag.starts[row], bag.starts[row + 1]):
            key[size] = bag.items[place]
            size += 1
        key[size] = bag.counts[row]
        size += 1
    return size


@plain
def compare(a, b):
    """-1, 0 or 1: lexicographic order, a prefix before its extension."""
    for at in range(min(a.shape[0], b.shape[0])):
        if a[at] != b[at]:
            return -1 if a[at] < b[at] else 1
    return 0 if a.shape[0] == b.shape[0] else (-1 if a.shape[0] < b.shape[0] else 1)


_STEPS = types.Tuple((writable(types.int64), writable(types.int64)))


@compiled(_STEPS(GROUP, writable(types.int64), writable(types.int64)))
def compare_neighbours(group, rank, before):
    """For each leaf: 1 if its key is greater than that of the leaf before, 0 if equal, -1 if less; and the last key.

    `before` is the key of the leaf that precedes the first, or empty.
    """
    leaves = group.sizes.shape[0]
    steps = np.empty(leaves, np.int64)
    counts = np.zeros(rank.shape[0], np.int64)
    longest = before.shape[0]
    bag = group.bag
    for i in range(leaves):
        first, last = group.row_starts[i], group.row_starts[i + 1]
        occurrences = bag.starts[last] - bag.starts[first]
        longest = max(
            longest, 2 * occurrences + 3 * (last - first) + group.term_starts[i + 1] - group.term_starts[i] + 3
        )
    here, there = np.empty(longest, np.int64), np.empty(longest, np.int64)
    there[: before.shape[0]] = before
    length = before.shape[0]
    for i in range(leaves):
        size = write_key(group, i, rank, counts, here)
        steps[i] = compare(here[:size], there[:length])
        here, there, length = there, here, size
    return steps, there[:length].copy()


@plain
def scramble(value):
    """One step of SplitMix64."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled(writable(types.uint64)(GROUP, writable(types.int64), writable(types.int64)))
def hash_forest(joints, parents, kinds):
    """A hash of each cluster's content and all that is below it; `kinds` number the leaves, equal ones alike."""
    leaves = kinds.shape[0]
    hashes = np.zeros(parents.shape[0], np.uint64)
    bag = joints.bag
    for cluster in range(parents.shape[0]):
        if cluster < leaves:
            value = np.uint64(kinds[cluster])
        else:
            value = hashes[cluster]
            for row in range(joints.row_starts[cluster - leaves], joints.row_starts[cluster - leaves + 1]):
                value = scramble(value ^ np.uint64(joints.chunks[row]))
                for place in range(bag.starts[row], bag.starts[row + 1]):
                    value = scramble(value ^ np.uint64(bag.items[place]))
                value = scramble(value ^ np.uint64(bag.counts[row]))
        hashes[cluster] = value
        if parents[cluster] >= 0:
            hashes[parents[cluster]] += scramble(value)
    return hashes


@compiled(writable(types.int64)(writable(types.int64), writable(types.int64), writable(types.int64)))
def walk(order, parents, below):
    """Where each cluster comes in a walk that takes roots and siblings as `order` does; `below` counts leaves."""
    clusters = parents.shape[0]
    start, taken = np.zeros(clusters, np.int64), np.zeros(clusters + 1, np.int64)
    for i in range(clusters):
        cluster = order[i]
        start[cluster] = taken[parents[cluster]]
        taken[parents[cluster]] += below[cluster]
    for cluster in range(clusters - 1, -1, -1):
        if parents[cluster] >= 0:
            start[cluster] += start[parents[cluster]]
    return start


@compiled(types.UniTuple(writable(types.int64), 2)(writable(types.int64), types.int64))
def heights_and_first_leaves(parents, leaves):
    """Of each cluster: how many levels are below it, and the first leaf that is."""
    clusters = parents.shape[0]
    heights, first = np.zeros(clusters, np.int64), np.full(clusters, leaves, np.int64)
    for cluster in range(clusters):
        if cluster < leaves:
            first[cluster] = cluster
        parent = parents[cluster]
        if parent >= 0:
            heights[parent] = max(heights[parent], heights[cluster] + 1)
            first[parent] = min(first[parent], first[cluster])
    return heights, first
