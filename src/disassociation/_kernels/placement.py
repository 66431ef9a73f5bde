"""Where the subrecords of every chunk may be: records numbered so that those of a cluster follow each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.arrays import Forest, Rows

MIXED = -1
"""In place of a number of records: it differs from subrecord to subrecord of the chunk."""


class Layout(NamedTuple):
    """All chunks, cluster after cluster as published, and the records that they may be on.

    Records have *places* from 0, such that those of a cluster are the places starts[cluster] to starts[cluster] +
    sizes[cluster] - 1, leaf or joint. A term of a shared chunk may be *closed* to some of these, because they have it
    from nearer: from their own leaf or from a joint cluster in between.
    """

    starts: NDArray[np.int64]  # (clusters,) first place of each cluster
    offsets: NDArray[np.int64]  # (clusters + 1,) where each cluster's chunks begin
    firsts: NDArray[np.int64]  # (chunks + 1,) first row of each chunk
    subrecords: NDArray[np.int64]  # (chunks,) with their multiplicity
    records: NDArray[np.int64]  # (chunks,) how many places each of them may be on alike, or MIXED
    closed_from: NDArray[np.int64]  # (chunks,) where the chunk's part of `closed` begins
    closed_to: NDArray[np.int64]  # (chunks,) and ends
    closed: NDArray[np.int64]  # (spans, 3) a term, and the first and one beyond the last place that it is closed to
    is_tight: NDArray[np.bool_]  # (leaves,) no term chunk, and no record chunk that is on every record


_VIEW32, _VIEW64 = view(types.int32), view(types.int64)
_INT64, _FLAGS = buffer(types.int64), buffer(types.bool_)
_ROWS = types.NamedTuple((_VIEW64, _VIEW32, _VIEW32, _VIEW64, _VIEW32), Rows)
FOREST = types.NamedTuple((_VIEW64, _VIEW64, _VIEW64, _VIEW32, _ROWS), Forest)
_LAYOUT_OUT = types.NamedTuple((*(_INT64,) * 7, buffer(types.int64, 2), _FLAGS), Layout)
LAYOUT = types.NamedTuple((*(_VIEW64,) * 7, view(types.int64, 2), view(types.bool_)), Layout)


@helper
def walk_clusters(forest):
    """Clusters with each joint cluster right before all that is under it, and the first place of each."""
    clusters = forest.parents.shape[0]
    under = np.ones(clusters, np.int64)
    for cluster in range(clusters):
        if forest.parents[cluster] >= 0:
            under[forest.parents[cluster]] += under[cluster]
    walk, starts = np.empty(clusters, np.int64), np.empty(clusters, np.int64)
    turns, places = np.zeros(clusters + 1, np.int64), np.zeros(clusters + 1, np.int64)  # next free; the last: of roots
    for cluster in range(clusters - 1, -1, -1):
        parent = forest.parents[cluster]  # -1 is the last
        walk[turns[parent]] = cluster
        starts[cluster] = places[parent]
        turns[cluster], places[cluster] = turns[parent] + 1, places[parent]
        turns[parent] += under[cluster]
        places[parent] += forest.sizes[cluster]
    return walk, starts


@helper
def list_chunks(forest):
    """Where each cluster's chunks begin, their first rows, and how many subrecords they have."""
    rows = forest.rows
    clusters, total = forest.parents.shape[0], rows.counts.shape[0]
    offsets = np.zeros(clusters + 1, np.int64)
    firsts, subrecords = np.empty(total + 1, np.int64), np.zeros(total, np.int64)
    size = 0
    for cluster in range(clusters):
        start = rows.cluster_offsets[cluster]
        for row in range(start, rows.cluster_offsets[cluster + 1]):
            if row == start or rows.chunks[row] != rows.chunks[row - 1]:
                firsts[size] = row
                size += 1
            subrecords[size - 1] += rows.counts[row]
        offsets[cluster + 1] = size
    firsts[size] = total
    return offsets, firsts[: size + 1].copy(), subrecords[:size].copy()


@helper
def shared_terms(forest, terms):
    """Which terms are in some shared chunk, and how often these terms are anywhere."""
    rows = forest.rows
    leaves = forest.term_offsets.shape[0] - 1
    is_shared = np.zeros(terms, np.bool_)
    first = rows.offsets[rows.cluster_offsets[leaves]]
    for place in range(first, rows.items.shape[0]):
        is_shared[rows.items[place]] = True
    often = rows.items.shape[0] - first
    for place in range(first):
        often += is_shared[rows.items[place]]
    for place in range(forest.terms.shape[0]):
        often += is_shared[forest.terms[place]]
    return is_shared, often


class Held(NamedTuple):
    """For each term, a stack of the clusters met so far that hold it and are under none that does."""

    tops: NDArray[np.int64]  # (terms,) -1 for an empty stack
    clusters: NDArray[np.int64]
    below: NDArray[np.int64]


@helper
def hold_leaf(forest, leaf, is_shared, held, size):
    """Note which shared terms a leaf has itself; a term has one place in it, but perhaps several rows."""
    rows = forest.rows
    for place in range(rows.offsets[rows.cluster_offsets[leaf]], rows.offsets[rows.cluster_offsets[leaf + 1]]):
        term = rows.items[place]
        if is_shared[term] and (held.tops[term] < 0 or held.clusters[held.tops[term]] != leaf):
            held.clusters[size], held.below[size], held.tops[term] = leaf, held.tops[term], size
            size += 1
    for place in range(forest.term_offsets[leaf], forest.term_offsets[leaf + 1]):
        term = forest.terms[place]
        if is_shared[term]:
            held.clusters[size], held.below[size], held.tops[term] = leaf, held.tops[term], size
            size += 1
    return size


@helper
def close_chunk(forest, layout, chunk, joint, held, at):
    """What of a joint cluster's chunk is had from nearer, written to layout.closed; how many records may take it."""
    rows = forest.rows
    size, spans = at
    stop = layout.starts[joint] + forest.sizes[joint]
    layout.closed_from[chunk] = spans
    terms = 0
    open_records = forest.sizes[joint]
    for place in range(rows.offsets[layout.firsts[chunk]], rows.offsets[layout.firsts[chunk + 1]]):
        term = rows.items[place]
        top = held.tops[term]
        if top >= 0 and held.clusters[top] == joint:
            continue
        terms += 1
        while top >= 0 and layout.starts[held.clusters[top]] < stop:
            start = layout.starts[held.clusters[top]]
            end = start + forest.sizes[held.clusters[top]]
            layout.closed[spans, 0], layout.closed[spans, 1], layout.closed[spans, 2] = term, start, end
            open_records -= end - start
            spans += 1
            top = held.below[top]
        held.clusters[size], held.below[size], held.tops[term] = joint, top, size
        size += 1
    layout.closed_to[chunk] = spans
    layout.records[chunk] = MIXED if terms > 1 and spans > layout.closed_from[chunk] else open_records
    return size, spans


@helper
def find_tight(forest, offsets, subrecords):
    """Leaves whose records are filled by several of their record chunks together or not at all."""
    leaves = forest.term_offsets.shape[0] - 1
    is_tight = np.zeros(leaves, np.bool_)
    for leaf in range(leaves):
        if forest.term_offsets[leaf] == forest.term_offsets[leaf + 1]:
            is_tight[leaf] = True
            for chunk in range(offsets[leaf], offsets[leaf + 1]):
                if subrecords[chunk] == forest.sizes[leaf]:
                    is_tight[leaf] = False
    return is_tight


@kernel(types.Tuple((_LAYOUT_OUT, types.int64))(FOREST, types.int64))
def lay_out(forest, terms):
    """Number all records, find for every chunk which of them may take its subrecords; how much is used of `closed`.

    Linear. Clusters are met in the reverse of a walk: all under a joint cluster right before it, places falling. So
    what of a term lies under it is on top of the term's stack, in order of rising places.
    """
    clusters, leaves = forest.parents.shape[0], forest.term_offsets.shape[0] - 1
    walk, starts = walk_clusters(forest)
    offsets, firsts, subrecords = list_chunks(forest)
    chunks = subrecords.shape[0]
    is_shared, capacity = shared_terms(forest, terms)
    held = Held(np.full(terms, -1, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int64))
    layout = Layout(
        starts,
        offsets,
        firsts,
        subrecords,
        np.empty(chunks, np.int64),
        np.zeros(chunks, np.int64),
        np.zeros(chunks, np.int64),
        np.empty((capacity, 3), np.int64),
        find_tight(forest, offsets, subrecords),
    )
    size, spans = 0, 0
    for turn in range(clusters - 1, -1, -1):
        cluster = walk[turn]
        if cluster < leaves:
            layout.records[offsets[cluster] : offsets[cluster + 1]] = forest.sizes[cluster]
            if forest.parents[cluster] >= 0 and capacity > 0:
                size = hold_leaf(forest, cluster, is_shared, held, size)
        else:
            for chunk in range(offsets[cluster], offsets[cluster + 1]):
                size, spans = close_chunk(forest, layout, chunk, cluster, held, (size, spans))
    return layout, spans
