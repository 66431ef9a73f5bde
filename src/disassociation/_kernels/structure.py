"""Checking that arrays read from somewhere are a well-formed forest, before anything relies on it."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, helper, kernel
from disassociation._kernels.arrays import Forest, Rows
from disassociation._kernels.ragged import compare_lists

_MOST_RECORDS = 1 << 40

# What first_fault returns; FAULTS in release_reader.py says it in words.
(
    FINE,
    PARENT,
    SIZE,
    TERM_ORDER,
    ROW_EMPTY,
    ROW_ORDER,
    ROW_COUNT,
    CHUNK_NUMBER,
    CHUNK_SIZE,
    OVERLAP,
    CHILDLESS,
    UNUSED,
) = range(12)


@helper
def parents_fault(forest, leaves):
    """Parents are joint clusters with greater numbers: no cycle; sizes add up; a joint has two children or more."""
    clusters = forest.parents.shape[0]
    below = np.zeros(clusters, np.int64)
    children = np.zeros(clusters, np.int64)
    for cluster in range(clusters):
        parent = forest.parents[cluster]
        if parent != -1 and (parent <= cluster or parent >= clusters or parent < leaves):
            return PARENT, cluster
        if cluster < leaves:
            below[cluster] = forest.sizes[cluster]
        elif children[cluster] < 2:
            return CHILDLESS, cluster
        if not 1 <= forest.sizes[cluster] <= _MOST_RECORDS or forest.sizes[cluster] != below[cluster]:
            return SIZE, cluster
        if parent >= 0:
            below[parent] += forest.sizes[cluster]
            children[parent] += 1
    return FINE, 0


@helper
def chunk_fault(rows, first, last, seen, mark):
    """Rows of one chunk: terms rise, rows rise, counts are positive, no term is in an earlier chunk of the cluster.

    `seen[term]` holds the last `mark` (one for each chunk) the term was met with; a cluster's start at `mark[0]`.
    """
    total = 0
    for row in range(first, last):
        start, end = rows.offsets[row], rows.offsets[row + 1]
        if start == end:
            return ROW_EMPTY, 0
        if rows.counts[row] < 1:
            return ROW_COUNT, 0
        total += rows.counts[row]
        for place in range(start, end):
            code = rows.items[place]
            if place > start and code <= rows.items[place - 1]:
                return TERM_ORDER, 0
            if seen[code] >= mark[0] and seen[code] < mark[1]:
                return OVERLAP, 0
            seen[code] = mark[1]
        if row > first and compare_lists(rows.items, rows.offsets[row - 1], start, start, end) >= 0:
            return ROW_ORDER, 0
    return FINE, total


@helper
def cluster_fault(forest, cluster, leaves, seen, mark):
    """A cluster's chunks, in order of their smallest terms, and its term chunk are disjoint and fit its size."""
    rows = forest.rows
    row, stop = rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]
    if cluster >= leaves and row == stop:
        return CHUNK_NUMBER
    mark[0] = mark[1] + 1
    smallest = -1
    chunk = 0
    while row < stop:
        if rows.chunks[row] != chunk:
            return CHUNK_NUMBER
        last = row
        while last < stop and rows.chunks[last] == chunk:
            last += 1
        mark[1] += 1
        fault, total = chunk_fault(rows, row, last, seen, mark)
        if fault != FINE:
            return fault
        if total > forest.sizes[cluster]:
            return CHUNK_SIZE
        if rows.items[rows.offsets[row]] <= smallest:
            return CHUNK_NUMBER
        smallest = rows.items[rows.offsets[row]]
        row = last
        chunk += 1
    mark[1] += 1
    if cluster < leaves:
        start, end = forest.term_offsets[cluster], forest.term_offsets[cluster + 1]
        for place in range(start, end):
            if place > start and forest.terms[place] <= forest.terms[place - 1]:
                return TERM_ORDER
            if seen[forest.terms[place]] >= mark[0]:
                return OVERLAP
            seen[forest.terms[place]] = mark[1]
        if start == end and chunk == 0:
            return ROW_EMPTY
    return FINE


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
_ROWS = types.NamedTuple((_INT64, _INT32, _INT32, _INT64, _INT32), Rows)
_FOREST = types.NamedTuple((_INT64, _INT64, _INT64, _INT32, _ROWS), Forest)


@kernel(types.UniTuple(types.int64, 2)(_FOREST, types.int64))
def first_fault(forest, terms):
    """The first way in which a forest is malformed, and the cluster; FINE if in none. Linear."""
    leaves = forest.term_offsets.shape[0] - 1
    fault, cluster = parents_fault(forest, leaves)
    if fault != FINE:
        return fault, cluster
    seen = np.full(terms, -1, np.int64)
    mark = np.full(2, -1, np.int64)
    for cluster in range(forest.parents.shape[0]):
        fault = cluster_fault(forest, cluster, leaves, seen, mark)
        if fault != FINE:
            return fault, cluster
    for term in range(terms):
        if seen[term] < 0:
            return UNUSED, 0
    return FINE, 0
