"""Which other terms a person may have, given the terms that somebody knows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, kernel, view
from disassociation._kernels.leaf_search import narrow, new_search, same_chunk
from disassociation._kernels.scene import SCENE, may_go, row_holds, source_of


class Marked(NamedTuple):
    """A set of terms."""

    is_in: NDArray[np.bool_]  # (terms,) False between uses
    members: NDArray[np.int32]  # (terms,)
    size: NDArray[np.int64]  # (1,)


@borrowing
def mark(marked, term):
    """Add a term."""
    if not marked.is_in[term]:
        marked.is_in[term] = True
        marked.members[marked.size[0]] = term
        marked.size[0] += 1


@borrowing
def mark_rows(scene, search, depth, i, first, marked):
    """The terms of those subrecords of a chunk that hold what is known to be from it, and may be in the leaf."""
    position, mixed = search.positions[depth, i], scene.is_mixed[first]
    bits = same_chunk(search, depth, i, first)
    for row in range(first, scene.ends[first]):
        if row_holds(scene.rows, row, search.terms, bits) and (not mixed or may_go(scene, row, first, position)):
            for place in range(scene.rows.offsets[row], scene.rows.offsets[row + 1]):
                mark(marked, scene.rows.items[place])


@borrowing
def mark_leaf(scene, search, depth, i, marked):
    """All terms that a record of a leaf may have beside the known ones."""
    position, entries = search.positions[depth, i], scene.entries
    cluster = scene.leaf_at[position]
    while cluster >= 0:
        before = np.int64(-1)
        for entry in range(entries.offsets[cluster], entries.offsets[cluster + 1]):
            first = entries.firsts[entry]
            if first >= 0 and (scene.is_mixed[first] or same_chunk(search, depth, i, first)):
                if first != before:  # entries of a chunk are next to each other
                    mark_rows(scene, search, depth, i, first, marked)
                before = first
            elif not marked.is_in[entries.terms[entry]]:
                # A leaf has a term from nearer than a chunk of its own from nowhere.
                if cluster == scene.leaf_at[position] or source_of(scene, entries.terms[entry], position) == entry:
                    mark(marked, entries.terms[entry])
        cluster = scene.parents[cluster]


@kernel(types.Tuple((buffer(types.int64), buffer(types.int32)))(SCENE, view(types.int32, 2), types.int64))
def possible_terms(scene, known, terms):
    """For each victim, the unknown terms of records that may be hers, rising: offsets, codes."""
    search = new_search(scene, known.shape[1])
    marked = Marked(np.zeros(terms, np.bool_), np.empty(terms, np.int32), np.zeros(1, np.int64))
    offsets = np.zeros(known.shape[0] + 1, np.int64)
    found = np.empty(1024, np.int32)
    size, depth = 0, 0
    for victim in range(known.shape[0]):
        depth = narrow(scene, search, depth, known[victim])
        for i in range(search.sizes[depth - 1]):
            mark_leaf(scene, search, depth - 1, i, marked)
        for term in np.sort(marked.members[: marked.size[0]]):
            if not (known[victim] == term).any():
                if size == found.shape[0]:
                    found = np.concatenate((found, np.empty_like(found)))
                found[size] = term
                size += 1
            marked.is_in[term] = False
        marked.size[0] = 0
        offsets[victim + 1] = size
    return offsets, found[:size].copy()
