"""Where each leaf can have each term from: the nearest of its own chunks and those of the joint clusters above it."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import borrowing, helper, kernel
from disassociation._kernels.scene import FOREST, SCENE, Entries, Scene, Spans, may_go

_PLENTY = 1 << 40


@helper
def leaf_positions(forest):
    """Clusters with each joint cluster right before all under it; positions of the leaves under each: low to high."""
    clusters, leaves = forest.parents.shape[0], forest.term_offsets.shape[0] - 1
    under, inside = np.ones(clusters, np.int64), np.zeros(clusters, np.int64)
    for cluster in range(clusters):
        inside[cluster] += cluster < leaves
        if forest.parents[cluster] >= 0:
            under[forest.parents[cluster]] += under[cluster]
            inside[forest.parents[cluster]] += inside[cluster]
    walk = np.empty(clusters, np.int64)
    low, high = np.empty(clusters, np.int64), np.empty(clusters, np.int64)
    places, positions = np.zeros(clusters + 1, np.int64), np.zeros(clusters + 1, np.int64)  # next free; last: of roots
    for cluster in range(clusters - 1, -1, -1):
        parent = forest.parents[cluster]  # -1 is the last
        walk[places[parent]] = cluster
        low[cluster], high[cluster] = positions[parent], positions[parent] + inside[cluster]
        places[cluster], positions[cluster] = places[parent] + 1, positions[parent]
        places[parent] += under[cluster]
        positions[parent] += inside[cluster]
    return walk, low, high


@helper
def list_entries(forest, terms):
    """All entries, as if every record of a cluster could have what its chunks hold; and where chunks end."""
    rows = forest.rows
    clusters, leaves = forest.parents.shape[0], forest.term_offsets.shape[0] - 1
    ends = np.zeros(rows.counts.shape[0], np.int64)
    offsets = np.zeros(clusters + 1, np.int64)
    capacity = rows.items.shape[0] + forest.terms.shape[0]
    codes, firsts = np.empty(capacity, np.int32), np.empty(capacity, np.int64)
    counts, bases = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    entry_of = np.full(terms, -1, np.int64)
    size = 0
    for cluster in range(clusters):
        row, stop = rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]
        start = size
        while row < stop:
            first, chunk_start = row, size
            while row < stop and rows.chunks[row] == rows.chunks[first]:
                for place in range(rows.offsets[row], rows.offsets[row + 1]):
                    term = rows.items[place]
                    if entry_of[term] < chunk_start:
                        entry_of[term] = size
                        codes[size], firsts[size], counts[size] = term, first, 0
                        size += 1
                    counts[entry_of[term]] += rows.counts[row]
                row += 1
            ends[first] = row
        if cluster < leaves:
            for place in range(forest.term_offsets[cluster], forest.term_offsets[cluster + 1]):
                codes[size], firsts[size], counts[size] = forest.terms[place], -1, 1
                size += 1
        bases[start:size] = forest.sizes[cluster]
        offsets[cluster + 1] = size
    return Entries(offsets, codes[:size].copy(), firsts[:size].copy(), counts[:size].copy(), bases[:size].copy()), ends


@helper
def by_term(entries, walk, terms):
    """Numbers of the entries of each term in the order of the walk, so larger clusters before those in them."""
    offsets = np.zeros(terms + 1, np.int64)
    for entry in range(entries.terms.shape[0]):
        offsets[entries.terms[entry] + 1] += 1
    for term in range(terms):
        offsets[term + 1] += offsets[term]
    free = offsets[:-1].copy()
    numbers = np.empty(entries.terms.shape[0], np.int32)
    owners = np.empty(entries.terms.shape[0], np.int32)
    for place in range(walk.shape[0]):
        cluster = walk[place]
        for entry in range(entries.offsets[cluster], entries.offsets[cluster + 1]):
            term = entries.terms[entry]
            numbers[free[term]], owners[free[term]] = entry, cluster
            free[term] += 1
    return offsets, numbers, owners


@helper
def find_spans(forest, entries, terms):
    """Where each term is available from each entry; takes from an entry's base the records that have it from nearer.

    Returns offsets, starts, ends and entries of spans; whether an entry's term is had from nearer somewhere; and the
    leaves by position.
    """
    walk, low, high = leaf_positions(forest)
    offsets, numbers, owners = by_term(entries, walk, terms)
    capacity = 2 * entries.terms.shape[0]
    starts, ends = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    sources = np.empty(capacity, np.int32)
    is_hidden = np.zeros(entries.terms.shape[0], np.bool_)
    stack = np.empty(walk.shape[0], np.int64)
    span_offsets = np.zeros(terms + 1, np.int64)
    size = 0
    for term in range(terms):
        depth, at = 0, 0
        for place in range(offsets[term], offsets[term + 1] + 1):
            is_end = place == offsets[term + 1]
            start = walk.shape[0] if is_end else low[owners[place]]
            while depth > 0:
                above = stack[depth - 1]
                stop = min(high[owners[above]], start)
                if at < stop:
                    starts[size], ends[size], sources[size] = at, stop, numbers[above]
                    at = stop
                    size += 1
                if high[owners[above]] > start:
                    is_hidden[numbers[above]] = True
                    entries.bases[numbers[above]] -= forest.sizes[owners[place]]
                    break
                depth -= 1
            if not is_end:
                stack[depth] = place
                depth += 1
                at = start
        span_offsets[term + 1] = size
    leaves = forest.term_offsets.shape[0] - 1
    return span_offsets, starts[:size].copy(), ends[:size].copy(), sources[:size].copy(), is_hidden, walk[walk < leaves]


@helper
def settle_shared(forest, entries, is_hidden):
    """Give all entries of a shared chunk the widest base among them; flags chunks of several terms with conflicts."""
    is_mixed = np.zeros(forest.rows.counts.shape[0], np.bool_)
    entry = entries.offsets[forest.term_offsets.shape[0] - 1]
    while entry < entries.terms.shape[0]:
        stop, base, hidden = entry, np.int64(0), False
        while stop < entries.terms.shape[0] and entries.firsts[stop] == entries.firsts[entry]:
            base = max(base, entries.bases[stop])
            hidden |= is_hidden[stop]
            stop += 1
        entries.bases[entry:stop] = base
        is_mixed[entries.firsts[entry]] = hidden and stop > entry + 1
        entry = stop
    return is_mixed


@helper
def with_figures(offsets, starts, ends, sources, entries, is_mixed):
    """The spans with what the entries say."""
    firsts, counts = np.empty(starts.shape[0], np.int32), np.empty(starts.shape[0], np.int64)
    shares = np.empty(starts.shape[0], np.float64)
    for span in range(starts.shape[0]):
        first = entries.firsts[sources[span]]
        firsts[span], counts[span] = first, entries.counts[sources[span]]
        shares[span] = counts[span] / entries.bases[sources[span]]
        if first >= 0 and is_mixed[first]:
            counts[span] = -1
    return Spans(offsets, starts, ends, sources, firsts, counts, shares)


@borrowing
def most_in_leaf(scene, first, position, is_own):
    """How many subrecords of the chunk that begins with a row a leaf can have at most."""
    total = np.int64(0)
    for row in range(first, scene.ends[first]):
        if is_own or may_go(scene, row, first, position):
            total += scene.rows.counts[row]
        elif not scene.is_mixed[first]:
            break  # where one subrecord is forbidden, all are
    return min(scene.sizes[position], total)


@borrowing
def spare_subrecords(scene, position):
    """How many subrecords a leaf can have at most beyond one for each record."""
    leaf = scene.leaf_at[position]
    spare = -scene.sizes[position]
    cluster = leaf
    while cluster >= 0:
        row, stop = scene.rows.cluster_offsets[cluster], scene.rows.cluster_offsets[cluster + 1]
        while row < stop:
            spare += most_in_leaf(scene, row, position, cluster == leaf)
            row = scene.ends[row]
        cluster = scene.parents[cluster]
    return spare


@kernel(SCENE(FOREST, types.int64))
def lay_out(forest, terms):
    """A release with so many terms, laid out; linear, but for the chunks above leaves that have no term chunk."""
    entries, ends = list_entries(forest, terms)
    offsets, starts, stops, sources, is_hidden, leaf_at = find_spans(forest, entries, terms)
    is_mixed = settle_shared(forest, entries, is_hidden)
    spans = with_figures(offsets, starts, stops, sources, entries, is_mixed)
    spare = np.full(leaf_at.shape[0], _PLENTY, np.int64)
    scene = Scene(forest.rows, ends, is_mixed, forest.parents, leaf_at, forest.sizes[leaf_at], spare, entries, spans)
    for position in range(leaf_at.shape[0]):
        leaf = leaf_at[position]
        if forest.term_offsets[leaf] == forest.term_offsets[leaf + 1]:
            spare[position] = spare_subrecords(scene, position)
    return scene
