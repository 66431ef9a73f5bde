"""Counting for the check of a finished release: k^m-anonymity of chunks, G2, and where shared chunks meet conflicts."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.arrays import Forest, Rows

_INT64 = buffer(types.int64)
_CODES, _PLACES = view(types.int32), view(types.int64)
_ROWS = types.NamedTuple((_PLACES, _CODES, _CODES, _PLACES, _CODES), Rows)
_FOREST = types.NamedTuple((_PLACES, _PLACES, _PLACES, _CODES, _ROWS), Forest)


@helper
def rarest_itemset(rows, first, last, k, m, local):
    """Whether some itemset of 1 to m terms of a chunk (rows first to last) is in fewer than k of its subrecords.

    Itemsets are grown term by term over the rows that still hold them; adding a term that keeps all rows is skipped, as
    every extension of it is met again without it, in fewer terms. `local` (terms,) is scratch of -1.
    """
    terms = np.empty(rows.offsets[last] - rows.offsets[first], np.int32)
    q = 0
    for place in range(rows.offsets[first], rows.offsets[last]):
        if local[rows.items[place]] < 0:
            local[rows.items[place]] = q
            terms[q] = rows.items[place]
            q += 1
    n = last - first
    holds = np.zeros((q, n), np.bool_)
    for row in range(first, last):
        for place in range(rows.offsets[row], rows.offsets[row + 1]):
            holds[local[rows.items[place]], row - first] = True
    for i in range(q):
        local[terms[i]] = -1
    path = np.full(m + 1, -1, np.int64)
    left = np.empty((m + 1, n), np.int64)
    size = np.zeros(m + 1, np.int64)
    left[0] = np.arange(n)
    size[0] = n
    depth = 0
    while depth >= 0:
        path[depth] += 1
        term = path[depth]
        if term >= q:
            depth -= 1
            continue
        kept, count = 0, 0
        for i in range(size[depth]):
            row = left[depth, i]
            if holds[term, row]:
                left[depth + 1, kept] = row
                kept += 1
                count += rows.counts[first + row]
        if kept == 0 or (kept == size[depth] and depth > 0):
            continue
        if count < k:
            return True
        if depth + 1 < m:
            size[depth + 1] = kept
            path[depth + 1] = term
            depth += 1
    return False


@kernel(types.Tuple((_INT64, _INT64))(_FOREST, types.int64, types.int64, types.int64))
def rare_chunks(forest, terms, k, m):
    """Clusters and chunk numbers of all chunks that are not k^m-anonymous."""
    rows = forest.rows
    local = np.full(terms, -1, np.int32)
    clusters = np.empty(rows.counts.shape[0], np.int64)
    chunks = np.empty(rows.counts.shape[0], np.int64)
    found = 0
    for cluster in range(forest.parents.shape[0]):
        row, stop = rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]
        while row < stop:
            last = row
            while last < stop and rows.chunks[last] == rows.chunks[row]:
                last += 1
            if rarest_itemset(rows, row, last, k, m, local):
                clusters[found], chunks[found] = cluster, rows.chunks[row]
                found += 1
            row = last
    return clusters[:found].copy(), chunks[:found].copy()


@kernel(_INT64(_FOREST, types.int64, types.int64))
def uncovered_leaves(forest, k, m):
    """Leaves without term chunk whose record chunks do not cover them: not (v >= 1, sum |C_i| >= n + k (h - 1))."""
    rows = forest.rows
    leaves = forest.term_offsets.shape[0] - 1
    result = np.empty(leaves, np.int64)
    found = 0
    for leaf in range(leaves):
        if forest.term_offsets[leaf] < forest.term_offsets[leaf + 1]:
            continue
        total, chunks = 0, 0
        for row in range(rows.cluster_offsets[leaf], rows.cluster_offsets[leaf + 1]):
            total += rows.counts[row]
            chunks = rows.chunks[row] + 1
        if chunks == 0 or total < forest.sizes[leaf] + k * (min(m, chunks) - 1):
            result[found] = leaf
            found += 1
    return result[:found].copy()


@helper
def walk_intervals(forest):
    """Number clusters so that all under a cluster stands right behind it: (number, one beyond the last under it)."""
    clusters = forest.parents.shape[0]
    below = np.ones(clusters, np.int64)
    for cluster in range(clusters):
        if forest.parents[cluster] >= 0:
            below[forest.parents[cluster]] += below[cluster]
    number = np.zeros(clusters, np.int64)
    free = np.zeros(clusters, np.int64)
    start = 0
    for cluster in range(clusters - 1, -1, -1):
        parent = forest.parents[cluster]
        if parent < 0:
            number[cluster] = start
            start += below[cluster]
        else:
            number[cluster] = free[parent]
            free[parent] += below[cluster]
        free[cluster] = number[cluster] + 1
    return number, number + below


@helper
def term_places(forest, order, number, terms, in_term_chunk):
    """For each term, the walk numbers of the clusters that have it in a chunk (or in a term chunk), rising."""
    rows = forest.rows
    leaves = forest.term_offsets.shape[0] - 1
    size = forest.terms.shape[0] if in_term_chunk else rows.items.shape[0]
    offsets = np.zeros(terms + 1, np.int64)
    for place in range(size):
        offsets[(forest.terms[place] if in_term_chunk else rows.items[place]) + 1] += 1
    for term in range(terms):
        offsets[term + 1] += offsets[term]
    ends = offsets[:-1].copy()
    places = np.empty(size, np.int64)
    for i in range(order.shape[0]):
        cluster = order[i]
        if in_term_chunk:
            if cluster < leaves:
                for place in range(forest.term_offsets[cluster], forest.term_offsets[cluster + 1]):
                    places[ends[forest.terms[place]]] = number[cluster]
                    ends[forest.terms[place]] += 1
            continue
        first, last = rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]
        for place in range(rows.offsets[first], rows.offsets[last]):
            term = rows.items[place]
            if ends[term] == offsets[term] or places[ends[term] - 1] != number[cluster]:
                places[ends[term]] = number[cluster]
                ends[term] += 1
    return offsets[:-1].copy(), ends, places


@helper
def any_within(places, start, end, low, high):
    """Whether places[start:end], rising, has a number from low to below high."""
    while start < end:
        middle = (start + end) // 2
        if places[middle] < low:
            start = middle + 1
        else:
            end = middle
    return start < places.shape[0] and low <= places[start] < high


@kernel(types.Tuple((_INT64, _INT64, _INT64, _INT64))(_FOREST, types.int64))
def shared_chunk_conflicts(forest, terms):
    """Shared chunks with a term left in a term chunk below (S2), and those of several terms that meet a conflict below.

    Returns (clusters, chunks) of the former, then of the latter. A chunk of one term has no conflict that matters:
    where the term may not go, nothing of the chunk may.
    """
    rows = forest.rows
    leaves = forest.term_offsets.shape[0] - 1
    number, beyond = walk_intervals(forest)
    order = np.argsort(number, kind="mergesort")
    starts, ends, places = term_places(forest, order, number, terms, False)
    loose_starts, loose_ends, loose = term_places(forest, order, number, terms, True)
    out = np.empty((4, rows.counts.shape[0]), np.int64)
    left_behind, conflicts = 0, 0
    for cluster in range(leaves, forest.parents.shape[0]):
        row, stop = rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]
        while row < stop:
            chunk = rows.chunks[row]
            alone = rows.items[rows.offsets[row]]
            several, stays, meets = False, False, False
            while row < stop and rows.chunks[row] == chunk:
                for place in range(rows.offsets[row], rows.offsets[row + 1]):
                    term = rows.items[place]
                    several |= term != alone
                    low, high = number[cluster] + 1, beyond[cluster]
                    stays |= any_within(loose[: loose_ends[term]], loose_starts[term], loose_ends[term], low, high)
                    # The end of the search is the term's own, so a neighbour's places are never taken for its.
                    meets |= starts[term] < ends[term] and any_within(
                        places[: ends[term]], starts[term], ends[term], low, high
                    )
                row += 1
            if stays:
                out[0, left_behind], out[1, left_behind] = cluster, chunk
                left_behind += 1
            if several and meets:
                out[2, conflicts], out[3, conflicts] = cluster, chunk
                conflicts += 1
    return (
        out[0, :left_behind].copy(),
        out[1, :left_behind].copy(),
        out[2, :conflicts].copy(),
        out[3, :conflicts].copy(),
    )
