"""A release laid out: for each term, where it is available, and of what the records there can have it.

Leaves stand in *positions* such that those under a joint cluster are consecutive. So a term is available in spans of
positions, and a set of terms where spans of all of them overlap, without a list of leaves for every shared chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, view
from disassociation._kernels.arrays import Forest, Rows


class Entries(NamedTuple):
    """Each term of each chunk, cluster after cluster, a leaf's term chunk last."""

    offsets: NDArray[np.int64]  # (clusters + 1,) where each cluster's entries begin
    terms: NDArray[np.int32]
    firsts: NDArray[np.int64]  # first row of the chunk, -1 for a term chunk
    counts: NDArray[np.int64]  # subrecords that hold the term, 1 for a term chunk
    bases: NDArray[np.int64]  # records these may be on: the leaf's, or all that a shared chunk is open to


class Spans(NamedTuple):
    """For each term, rising, disjoint spans of positions, and the entry that leaves there can have it from.

    What is asked of every leaf is copied from the entries: read in order, it takes a fifth of the time.
    """

    offsets: NDArray[np.int64]  # (terms + 1,) where each term's spans begin
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    entries: NDArray[np.int32]
    firsts: NDArray[np.int32]  # first row of the chunk, -1 for a term chunk
    counts: NDArray[np.int64]  # subrecords that hold the term; -1 if it differs from leaf to leaf (is_mixed)
    shares: NDArray[np.float64]  # of the records they may be on


class Scene(NamedTuple):
    """All that is published, laid out for asking which leaves can hold a set of terms."""

    rows: Rows
    ends: NDArray[np.int64]  # (rows,) for the first row of a chunk: one beyond the last
    is_mixed: NDArray[np.bool_]  # (rows,) for the first row of a chunk of several terms: one is had elsewhere below
    parents: NDArray[np.int64]  # (clusters,)
    leaf_at: NDArray[np.int64]  # (leaves,) leaf number by position
    sizes: NDArray[np.int64]  # (leaves,) records by position
    spare: NDArray[np.int64]  # (leaves,) by position: most subrecords beyond one a record; plenty with a term chunk
    entries: Entries
    spans: Spans


_VIEW32, _VIEW64 = view(types.int32), view(types.int64)
_INT32, _INT64, _FLAGS = buffer(types.int32), buffer(types.int64), buffer(types.bool_)
_ROWS = types.NamedTuple((_VIEW64, _VIEW32, _VIEW32, _VIEW64, _VIEW32), Rows)
FOREST = types.NamedTuple((_VIEW64, _VIEW64, _VIEW64, _VIEW32, _ROWS), Forest)
_ENTRIES = types.NamedTuple((_INT64, _INT32, _INT64, _INT64, _INT64), Entries)
_SPANS = types.NamedTuple((_INT64, _INT32, _INT32, _INT32, _INT32, _INT64, buffer(types.float64)), Spans)
SCENE = types.NamedTuple((_ROWS, _INT64, _FLAGS, _VIEW64, _INT64, _INT64, _INT64, _ENTRIES, _SPANS), Scene)


@borrowing
def source_of(scene, term, position):
    """The entry that a leaf can have a term from, -1 for none."""
    spans = scene.spans
    low, stop = spans.offsets[term], spans.offsets[term + 1]
    high = stop
    while low < high:
        middle = (low + high) // 2
        if spans.ends[middle] <= position:
            low = middle + 1
        else:
            high = middle
    return spans.entries[low] if low < stop and spans.starts[low] <= position else -1


@borrowing
def may_go(scene, row, first, position):
    """Whether a subrecord of a shared chunk is not forbidden in a leaf."""
    for place in range(scene.rows.offsets[row], scene.rows.offsets[row + 1]):
        source = source_of(scene, scene.rows.items[place], position)
        if source < 0 or scene.entries.firsts[source] != first:
            return False
    return True


@borrowing
def row_holds(rows, row, terms, bits):
    """Whether a subrecord holds all terms whose bits are set."""
    slot = 0
    while bits:
        if bits & 1:
            found = False
            for place in range(rows.offsets[row], rows.offsets[row + 1]):
                found |= rows.items[place] == terms[slot]
            if not found:
                return False
        bits >>= 1
        slot += 1
    return True
