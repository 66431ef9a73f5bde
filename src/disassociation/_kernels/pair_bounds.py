"""Bounds of all pairs of some terms at once: leaf by leaf, and pair by pair only where a joint cluster shares one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.bounds import Asked, bounds_in_tree
from disassociation._kernels.cells import new_cells
from disassociation._kernels.ground import GROUND
from disassociation._kernels.leaf_search import shared_rows, span_beyond


class Tree(NamedTuple):
    """Which of the terms are under an outermost joint cluster, and which of these are shared there."""

    cursors: NDArray[np.int64]  # (terms,) the first span of each term there
    met: NDArray[np.int64]  # (terms,) those that are there
    is_shared: NDArray[np.bool_]  # (terms,) by rank; nothing is shared outside joint clusters
    size: NDArray[np.int64]  # (1,) how many are there


@borrowing
def add_pair(pairs, one, other, least, most):
    """Count what is known of a pair."""
    low, high = min(one, other), max(one, other)
    pairs[0, low, high] += least
    pairs[1, low, high] += most


@borrowing
def add_rows(ground, leaf, rank, is_shared, pairs):
    """Pairs that are together in a leaf's record chunks."""
    rows = ground.scene.rows
    for row in range(rows.cluster_offsets[leaf], rows.cluster_offsets[leaf + 1]):
        for place in range(rows.offsets[row], rows.offsets[row + 1]):
            one = rank[rows.items[place]]
            if one < 0 or is_shared[one]:
                continue
            for later in range(place + 1, rows.offsets[row + 1]):
                other = rank[rows.items[later]]
                if other >= 0 and not is_shared[other]:
                    add_pair(pairs, one, other, rows.counts[row], rows.counts[row])


@borrowing
def add_leaf(ground, position, rank, is_shared, own, pairs):
    """Pairs of a leaf's own terms, unless one of them is also shared around it."""
    scene, entries = ground.scene, ground.scene.entries
    leaf, records = scene.leaf_at[position], scene.sizes[position]
    add_rows(ground, leaf, rank, is_shared, pairs)
    size = 0
    for entry in range(entries.offsets[leaf], entries.offsets[leaf + 1]):
        one = rank[entries.terms[entry]]
        if one < 0 or is_shared[one]:
            continue
        first, least = entries.firsts[entry], entries.counts[entry]
        most = least if first >= 0 else records
        for i in range(size):
            if first < 0 or own[i, 1] != first:
                add_pair(pairs, one, own[i, 0], max(0, own[i, 2] + least - records), min(own[i, 3], most))
        own[size, 0], own[size, 1], own[size, 2], own[size, 3] = one, first, least, most
        size += 1


@borrowing
def enter_tree(ground, codes, root, tree):
    """Find the terms under an outermost joint cluster."""
    spans = ground.scene.spans
    tree.size[0] = 0
    for one in range(codes.shape[0]):
        stop = spans.offsets[codes[one] + 1]
        span = span_beyond(spans, tree.cursors[one], stop, ground.low[root])
        tree.cursors[one] = span
        if span < stop and spans.starts[span] < ground.high[root]:
            tree.met[tree.size[0]] = one
            tree.size[0] += 1
        while span < stop and spans.starts[span] < ground.high[root]:
            tree.is_shared[one] |= spans.firsts[span] >= shared_rows(ground.scene)
            span += 1


@helper
def add_tree(ground, codes, root, tree, asked, cells, pairs):
    """Pairs one of whose terms is shared under an outermost joint cluster."""
    spans = ground.scene.spans
    for i in range(tree.size[0]):
        for j in range(i):
            one, other = tree.met[j], tree.met[i]
            if tree.is_shared[one] or tree.is_shared[other]:
                asked.terms[0], asked.terms[1] = codes[one], codes[other]
                asked.cursors[0], asked.cursors[1] = tree.cursors[one], tree.cursors[other]
                asked.stops[0], asked.stops[1] = spans.offsets[codes[one] + 1], spans.offsets[codes[other] + 1]
                least, most = bounds_in_tree(ground, asked, cells, 2, root)
                add_pair(pairs, one, other, least, most)


@kernel(buffer(types.int64, 3)(GROUND, view(types.int32), types.int64))
def bound_pairs(ground, codes, terms):
    """Least and most records with each pair of some terms, whose codes rise, of `terms`; on the diagonal with each."""
    size, leaves = codes.shape[0], ground.roots.shape[0]
    rank = np.full(terms, -1, np.int32)
    pairs = np.zeros((2, size, size), np.int64)
    tree = Tree(np.empty(size, np.int64), np.empty(size, np.int64), np.zeros(size, np.bool_), np.zeros(1, np.int64))
    for one in range(size):
        rank[codes[one]], tree.cursors[one] = one, ground.scene.spans.offsets[codes[one]]
        pairs[0, one, one], pairs[1, one, one] = ground.least[codes[one]], ground.most[codes[one]]
    asked = Asked(
        np.empty(2, np.int32),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
    )
    cells, own = new_cells(ground, 2), np.empty((size, 4), np.int64)
    for position in range(leaves):
        root = ground.roots[position]
        if root >= leaves and position == ground.low[root]:
            enter_tree(ground, codes, root, tree)
            add_tree(ground, codes, root, tree, asked, cells, pairs)
        add_leaf(ground, position, rank, tree.is_shared, own, pairs)
        if position + 1 == ground.high[root]:
            tree.is_shared[:] = False
    for one in range(size):
        for other in range(one):
            pairs[:, one, other] = pairs[:, other, one]
    return pairs
