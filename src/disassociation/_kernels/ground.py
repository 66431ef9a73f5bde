"""A release laid out, with what is asked of many leaves at once: joint clusters as ranges of positions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.availability import leaf_positions
from disassociation._kernels.leaf_search import span_beyond
from disassociation._kernels.scene import FOREST, SCENE, Scene

TERM_CHUNK_ROW = -1
"""In place of the first row of a chunk: the term is from the leaf's term chunk."""

ELSEWHERE = -2
"""In place of the first row of a chunk: the term is from none that is looked at."""


class Ground(NamedTuple):
    """Where leaves, joint clusters and their chunks are; positions as in the scene."""

    scene: Scene
    sizes: NDArray[np.int64]  # (clusters,) records
    low: NDArray[np.int64]  # (clusters,) first position of a leaf under the cluster
    high: NDArray[np.int64]  # (clusters,) one beyond the last
    roots: NDArray[np.int64]  # (leaves,) by position: the outermost cluster around the leaf, itself if it is in none
    before: NDArray[np.int64]  # (leaves + 1,) records of the leaves at smaller positions
    owners: NDArray[np.int64]  # (rows,) for the first row of a chunk: its cluster
    totals: NDArray[np.int64]  # (rows,) for the first row of a chunk: its subrecords
    least: NDArray[np.int64]  # (terms,) records that hold the term at least
    most: NDArray[np.int64]  # (terms,) and at most
    height: np.int64  # most joint clusters around one leaf


_INT64 = buffer(types.int64)
GROUND = types.NamedTuple(
    (SCENE, view(types.int64), _INT64, _INT64, _INT64, _INT64, _INT64, _INT64, _INT64, _INT64, types.int64), Ground
)


@helper
def bound_terms(scene):
    """Least and most records with each term: all subrecords that can be placed, one or all records for a term chunk."""
    spans, entries = scene.spans, scene.entries
    terms = spans.offsets.shape[0] - 1
    least, most = np.zeros(terms, np.int64), np.zeros(terms, np.int64)
    is_met = np.zeros(entries.terms.shape[0], np.bool_)
    for term in range(terms):
        for span in range(spans.offsets[term], spans.offsets[term + 1]):
            if spans.firsts[span] < 0:
                least[term] += 1
                most[term] += scene.sizes[spans.starts[span]]
            elif not is_met[spans.entries[span]]:
                is_met[spans.entries[span]] = True
                least[term] += entries.counts[spans.entries[span]]
                most[term] += entries.counts[spans.entries[span]]
    return least, most


@kernel(GROUND(FOREST, SCENE))
def survey(forest, scene):
    """What the scene leaves out; linear."""
    clusters, leaves = forest.parents.shape[0], scene.leaf_at.shape[0]
    _, low, high = leaf_positions(forest)
    top, depth = np.empty(clusters, np.int64), np.zeros(clusters, np.int64)
    height = 0
    for cluster in range(clusters - 1, -1, -1):
        parent = forest.parents[cluster]
        top[cluster] = cluster if parent < 0 else top[parent]
        depth[cluster] = 0 if parent < 0 else depth[parent] + 1
        height = max(height, depth[cluster])
    before = np.zeros(leaves + 1, np.int64)
    for position in range(leaves):
        before[position + 1] = before[position] + scene.sizes[position]
    rows = forest.rows
    owners, totals = np.zeros(rows.counts.shape[0], np.int64), np.zeros(rows.counts.shape[0], np.int64)
    for cluster in range(clusters):
        first = rows.cluster_offsets[cluster]
        while first < rows.cluster_offsets[cluster + 1]:
            owners[first] = cluster
            for row in range(first, scene.ends[first]):
                totals[first] += rows.counts[row]
            first = scene.ends[first]
    least, most = bound_terms(scene)
    return Ground(scene, forest.sizes, low, high, top[scene.leaf_at], before, owners, totals, least, most, height)


@borrowing
def meet(spans, at, stops, size, position):
    """Move each term's span on to the first position, from the given one, that all terms have one at; -1: no such."""
    agreed, slot = 0, 0
    while agreed < size:
        at[slot] = span_beyond(spans, at[slot], stops[slot], position)
        if at[slot] == stops[slot]:
            return -1
        agreed += 1
        if spans.starts[at[slot]] > position:
            position = spans.starts[at[slot]]
            agreed = 1
        slot = slot + 1 if slot + 1 < size else 0
    return position


@borrowing
def holds_part(rows, row, terms, firsts, size, first):
    """Whether a subrecord holds those of the terms, rising, that are from the chunk that begins with `first`."""
    place, stop = rows.offsets[row], rows.offsets[row + 1]
    for slot in range(size):
        if firsts[slot] == first:
            while place < stop and rows.items[place] < terms[slot]:
                place += 1
            if place == stop or rows.items[place] != terms[slot]:
                return False
    return True


@borrowing
def count_part(scene, terms, firsts, size, first):
    """Subrecords of a chunk that hold all terms that are from it."""
    count = np.int64(0)
    for row in range(first, scene.ends[first]):
        if holds_part(scene.rows, row, terms, firsts, size, first):
            count += scene.rows.counts[row]
    return count


@borrowing
def part_size(firsts, size, slot):
    """How many terms are from the same chunk as that of a slot; 0 if an earlier slot's is from it as well."""
    found = 0
    for other in range(size):
        if firsts[other] == firsts[slot]:
            if other < slot:
                return 0
            found += 1
    return found
