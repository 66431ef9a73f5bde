"""Putting clusters in the canonical order of a release, which depends on nothing but what is published."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, inlined, kernel
from disassociation._kernels.arrays import Forest, Rows
from disassociation._kernels.ragged import compare_lists, order_lists, sort_numbers
from disassociation._kernels.room import roomy

_HELD_BY_MOST = (3, 5)  # a term in at least 3/5 of a leaf's records leads the leaf's key


class Keys(NamedTuple):
    """For each leaf a list of numbers that says all that is published of it, the telling part first."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    values: NDArray[np.int32]


@helper
def published_ranks(forest, terms):
    """Rank of each term by falling certain support (rows' counts, and one for each term chunk), ties by code."""
    support = np.zeros(terms, np.int64)
    rows = forest.rows
    for row in range(rows.counts.shape[0]):
        for place in range(rows.offsets[row], rows.offsets[row + 1]):
            support[rows.items[place]] += rows.counts[row]
    for place in range(forest.terms.shape[0]):
        support[forest.terms[place]] += 1
    order = np.argsort(-support, kind="mergesort")
    rank = np.empty(terms, np.int32)
    for i in range(terms):
        rank[order[i]] = i
    return rank


@borrowing
def write_chunk_terms(forest, leaf, rank, counts, seen, packed, values, at):
    """Write the ranks of a leaf's record-chunk terms: those most records hold by rank, others by falling count."""
    rows = forest.rows
    size = 0
    for row in range(rows.cluster_offsets[leaf], rows.cluster_offsets[leaf + 1]):
        for place in range(rows.offsets[row], rows.offsets[row + 1]):
            code = rows.items[place]
            if counts[code] == 0:
                seen[size] = code
                size += 1
            counts[code] += rows.counts[row]
    keys = packed[:size]
    for i in range(size):
        count = counts[seen[i]]
        common = _HELD_BY_MOST[1] * count >= _HELD_BY_MOST[0] * forest.sizes[leaf]
        # Common terms: 0, rank. The others: falling count (as 2^31 - count), rank.
        keys[i] = (np.int64(0) if common else (np.int64(1) << 31) - count) << 31 | rank[seen[i]]
        counts[seen[i]] = 0
    sort_numbers(keys)
    for i in range(size):
        values[at + i] = keys[i] & ((1 << 31) - 1)
    return at + size


@helper
def leaf_keys(forest, terms):
    """The keys of all leaves."""
    rows = forest.rows
    leaves = forest.term_offsets.shape[0] - 1
    last = rows.cluster_offsets[leaves]
    capacity = forest.terms.shape[0] + 2 * rows.offsets[last] + 3 * last + 3 * leaves
    keys = Keys(np.empty(leaves, np.int64), np.empty(leaves, np.int64), roomy(capacity, np.int32))
    rank = published_ranks(forest, terms)
    counts = np.zeros(terms, np.int64)
    seen = np.empty(terms, np.int32)
    packed = np.empty(terms, np.int64)
    at = 0
    for leaf in range(leaves):
        keys.starts[leaf] = at
        at = write_chunk_terms(forest, leaf, rank, counts, seen, packed, keys.values, at)
        keys.values[at] = -1
        first = at + 1
        at = first
        for place in range(forest.term_offsets[leaf], forest.term_offsets[leaf + 1]):
            keys.values[at] = rank[forest.terms[place]]
            at += 1
        sort_numbers(keys.values[first:at])
        keys.values[at] = -1
        keys.values[at + 1] = forest.sizes[leaf]
        at += 2
        for row in range(rows.cluster_offsets[leaf], rows.cluster_offsets[leaf + 1]):
            keys.values[at] = rows.chunks[row]
            keys.values[at + 1] = rows.offsets[row + 1] - rows.offsets[row]
            at += 2
            for place in range(rows.offsets[row], rows.offsets[row + 1]):
                keys.values[at] = rows.items[place]
                at += 1
            keys.values[at] = rows.counts[row]
            at += 1
        keys.ends[leaf] = at
    return keys


@inlined
def mix(value):
    """Scramble 64 bits (the finalizer of SplitMix64)."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@helper
def content_hashes(forest, kind):
    """A hash of everything published at and below each cluster; `kind[leaf]` is equal for equal leaves only."""
    rows = forest.rows
    leaves = kind.shape[0]
    hashes = np.zeros(forest.parents.shape[0], np.uint64)
    for cluster in range(forest.parents.shape[0]):
        if cluster < leaves:
            hashes[cluster] = np.uint64(kind[cluster])
        else:
            # So far the sum over the children: their order is of no account.
            for row in range(rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]):
                hashes[cluster] = mix(hashes[cluster] ^ np.uint64(rows.chunks[row]))
                for place in range(rows.offsets[row], rows.offsets[row + 1]):
                    hashes[cluster] = mix(hashes[cluster] ^ np.uint64(rows.items[place]))
                hashes[cluster] = mix(hashes[cluster] ^ np.uint64(rows.counts[row]))
        if forest.parents[cluster] >= 0:
            hashes[forest.parents[cluster]] += mix(hashes[cluster])
    return hashes


@helper
def walk_places(forest, hashes, leaves):
    """The place of each leaf in a walk of the forest that takes roots and children in order of their hashes."""
    clusters = forest.parents.shape[0]
    below = np.zeros(clusters, np.int64)
    for cluster in range(clusters):
        below[cluster] += cluster < leaves
        if forest.parents[cluster] >= 0:
            below[forest.parents[cluster]] += below[cluster]
    order = np.argsort(hashes, kind="mergesort")
    place = np.empty(clusters, np.int64)
    taken = np.zeros(clusters, np.int64)
    start = 0
    for i in range(clusters):
        cluster = order[i]
        if forest.parents[cluster] < 0:
            place[cluster] = start
            start += below[cluster]
    # Children, sibling by sibling in hash order; offsets within the parent first, made absolute from the top down.
    offset = np.zeros(clusters, np.int64)
    for i in range(clusters):
        cluster = order[i]
        parent = forest.parents[cluster]
        if parent >= 0:
            offset[cluster] = taken[parent]
            taken[parent] += below[cluster]
    for cluster in range(clusters - 1, -1, -1):
        if forest.parents[cluster] >= 0:
            place[cluster] = place[forest.parents[cluster]] + offset[cluster]
    return place


@helper
def cluster_order(forest, terms):
    """Clusters in canonical order: leaves by key, equal ones by walk; then joint clusters by height and first leaf."""
    leaves = forest.term_offsets.shape[0] - 1
    clusters = forest.parents.shape[0]
    keys = leaf_keys(forest, terms)
    order = order_lists(keys.values, keys.starts, keys.ends, np.arange(leaves))
    kind = np.zeros(leaves, np.int64)
    ties = False
    for i in range(1, leaves):
        a, b = order[i - 1], order[i]
        same = compare_lists(keys.values, keys.starts[a], keys.ends[a], keys.starts[b], keys.ends[b]) == 0
        kind[b] = kind[a] + (0 if same else 1)
        ties |= same
    if ties and clusters > leaves:
        place = walk_places(forest, content_hashes(forest, kind), leaves)
        low = 0
        for high in range(1, leaves + 1):
            if high == leaves or kind[order[high]] != kind[order[low]]:
                run = order[low:high]
                order[low:high] = run[np.argsort(place[run], kind="mergesort")]
                low = high
    first = np.full(clusters, np.int64(1) << 60, np.int64)
    height = np.zeros(clusters, np.int64)
    for i in range(leaves):
        first[order[i]] = i
    for cluster in range(clusters):
        parent = forest.parents[cluster]
        if parent >= 0:
            first[parent] = min(first[parent], first[cluster])
            height[parent] = max(height[parent], height[cluster] + 1)
    joint_keys = height[leaves:] * leaves + first[leaves:]
    return np.concatenate((order, leaves + np.argsort(joint_keys, kind="mergesort")))


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
_ROWS = types.NamedTuple((_INT64, _INT32, _INT32, _INT64, _INT32), Rows)
_FOREST = types.NamedTuple((_INT64, _INT64, _INT64, _INT32, _ROWS), Forest)


@kernel(_FOREST(_FOREST, types.int64))
def canonical_forest(forest, terms):
    """The same forest with its clusters in canonical order."""
    order = cluster_order(forest, terms)
    clusters = order.shape[0]
    leaves = forest.term_offsets.shape[0] - 1
    old = forest.rows
    number = np.empty(clusters, np.int64)
    for i in range(clusters):
        number[order[i]] = i
    parents = np.empty(clusters, np.int64)
    term_offsets = np.zeros(leaves + 1, np.int64)
    terms_out = roomy(forest.terms.shape[0], np.int32)
    rows = Rows(
        np.zeros(clusters + 1, np.int64),
        roomy(old.counts.shape[0], np.int32),
        roomy(old.counts.shape[0], np.int32),
        roomy(old.counts.shape[0] + 1, np.int64),
        roomy(old.items.shape[0], np.int32),
    )
    rows.offsets[0] = 0
    row, item, term = 0, 0, 0
    for i in range(clusters):
        cluster = order[i]
        parents[i] = number[forest.parents[cluster]] if forest.parents[cluster] >= 0 else -1
        if i < leaves:
            for place in range(forest.term_offsets[cluster], forest.term_offsets[cluster + 1]):
                terms_out[term] = forest.terms[place]
                term += 1
            term_offsets[i + 1] = term
        for source in range(old.cluster_offsets[cluster], old.cluster_offsets[cluster + 1]):
            rows.chunks[row], rows.counts[row] = old.chunks[source], old.counts[source]
            for place in range(old.offsets[source], old.offsets[source + 1]):
                rows.items[item] = old.items[place]
                item += 1
            row += 1
            rows.offsets[row] = item
        rows.cluster_offsets[i + 1] = row
    return Forest(parents, forest.sizes[order], term_offsets, terms_out, rows)
