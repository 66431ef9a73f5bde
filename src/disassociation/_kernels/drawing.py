"""Drawing a possible original: which records the subrecords of shared chunks go to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.chance import CHUNK, begin, below, draw_first
from disassociation._kernels.placement import FOREST, LAYOUT, MIXED


class Given(NamedTuple):
    """The rows of shared chunks that each record has a subrecord of, by place."""

    offsets: NDArray[np.int64]  # (records + 1,)
    rows: NDArray[np.int32]


GIVEN = types.NamedTuple((buffer(types.int64), buffer(types.int32)), Given)


@borrowing
def open_place(layout, chunk, start, upto, i):
    """The i-th place, counted from the first of a cluster, that a chunk may go to.

    `upto[s]` counts the open places before the chunk's s-th closed span.
    """
    low, high = 0, upto.shape[0]
    while low < high:
        middle = (low + high) // 2
        if upto[middle] <= i:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return start + i
    return layout.closed[layout.closed_from[chunk] + low - 1, 2] + i - upto[low - 1]


@helper
def open_before(layout, chunk, start):
    """How many places of a cluster, from its first, are open to the chunk before each span that is closed to it."""
    spans = layout.closed[layout.closed_from[chunk] : layout.closed_to[chunk]]
    upto = np.empty(spans.shape[0], np.int64)
    closed = 0
    for i in range(spans.shape[0]):
        upto[i] = spans[i, 1] - start - closed
        closed += spans[i, 2] - spans[i, 1]
    return upto


@helper
def scatter_chunk(chance, size, records, mark, taken, found):
    """Draw `size` different numbers below `records` into `found`, every sequence alike.

    Few are drawn until they differ, with `taken` to tell; many are drawn from a list of all.
    """
    if 2 * size > records:
        everything = np.arange(records)
        draw_first(chance, everything, size)
        found[:] = everything[:size]
        return
    for i in range(size):
        drawn = below(chance, records)
        while taken[drawn] == mark:
            drawn = below(chance, records)
        taken[drawn] = mark
        found[i] = drawn


@kernel(types.void(FOREST, LAYOUT, types.uint64, view(types.int64), buffer(types.int64)))
def scatter_shared(forest, layout, key, offsets, places):
    """Put the subrecords of shared chunks on places; of chunk c those from offsets[c] on; not of MIXED ones.

    `offsets` counts from the first shared chunk.
    """
    leaves = forest.term_offsets.shape[0] - 1
    chance = np.zeros(1, np.uint64)
    taken = np.full(np.int64(forest.sizes[:leaves].sum()), -1, np.int32)
    for joint in range(leaves, forest.parents.shape[0]):
        for chunk in range(layout.offsets[joint], layout.offsets[joint + 1]):
            if layout.records[chunk] == MIXED:
                continue
            number = chunk - layout.offsets[leaves]
            found = places[offsets[number] : offsets[number + 1]]
            begin(chance, key, CHUNK, chunk)
            scatter_chunk(chance, layout.subrecords[chunk], layout.records[chunk], number, taken, found)
            upto = open_before(layout, chunk, layout.starts[joint])
            for i in range(found.shape[0]):
                found[i] = open_place(layout, chunk, layout.starts[joint], upto, found[i])


@kernel(GIVEN(FOREST, view(types.int64)))
def sort_by_place(forest, places):
    """Turn the places of the subrecords of shared chunks, in order of their rows, into the rows of each place."""
    counts, leaves = forest.rows.counts, forest.term_offsets.shape[0] - 1
    offsets = np.zeros(forest.sizes[:leaves].sum() + 1, np.int64)
    for i in range(places.shape[0]):
        offsets[places[i] + 1] += 1
    for i in range(1, offsets.shape[0]):
        offsets[i] += offsets[i - 1]
    rows = np.empty(places.shape[0], np.int32)
    free = offsets[:-1].copy()
    i = 0
    for row in range(forest.rows.cluster_offsets[leaves], counts.shape[0]):
        for _ in range(counts[row]):
            rows[free[places[i]]] = row
            free[places[i]] += 1
            i += 1
    return Given(offsets, rows)
