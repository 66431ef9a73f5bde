"""Where the leaf that is looked at has terms from, leaf after leaf (see level_expectation.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, helper

_BITS = 64  # records of a leaf whose subrecords are counted as bits: less than so many


class Here(NamedTuple):
    """Where the leaf that is looked at has each term from, by term; and which terms it has."""

    ends: NDArray[np.int64]  # one beyond the last position that has it from there: what is passed is not there
    firsts: NDArray[np.int64]  # first row of the chunk
    counts: NDArray[np.int64]  # subrecords with the term
    bases: NDArray[np.int64]  # records these may be on
    masks: NDArray[np.uint64]  # the same subrecords as bits, if the chunk is the leaf's own and has bits enough, else 0
    entries: NDArray[np.int64]
    listed: NDArray[np.int32]  # terms, those from shared chunks first


@helper
def new_here(vocabulary):
    """Nothing is there yet."""
    return Here(
        np.zeros(vocabulary, np.int64),
        np.zeros(vocabulary, np.int64),
        np.zeros(vocabulary, np.int64),
        np.ones(vocabulary, np.int64),
        np.zeros(vocabulary, np.uint64),
        np.zeros(vocabulary, np.int64),
        np.empty(vocabulary, np.int32),
    )


@borrowing
def pass_shared(scene, starts, here, shared, position):
    """Let go of the shared terms that end at a position, take up those that begin; returns how many there are."""
    kept = 0
    for i in range(shared):
        if here.ends[here.listed[i]] > position:
            here.listed[kept] = here.listed[i]
            kept += 1
    at = starts.heads[position]
    while at >= 0:
        term, span = starts.terms[at], starts.spans[at]
        here.ends[term], here.firsts[term] = scene.spans.ends[span], scene.spans.firsts[span]
        here.counts[term], here.bases[term] = scene.spans.counts[span], scene.entries.bases[scene.spans.entries[span]]
        here.masks[term], here.entries[term], here.listed[kept] = 0, scene.spans.entries[span], term
        kept += 1
        at = starts.nexts[at]
    return kept


@borrowing
def take_own(scene, is_asked, here, size, position):
    """Add the terms that a leaf has from its own chunks; returns how many there are."""
    entries, leaf = scene.entries, scene.leaf_at[position]
    for entry in range(entries.offsets[leaf], entries.offsets[leaf + 1]):
        term = entries.terms[entry]
        if is_asked[term]:
            here.ends[term], here.firsts[term] = position + 1, entries.firsts[entry]
            here.counts[term], here.bases[term] = entries.counts[entry], entries.bases[entry]
            here.masks[term], here.entries[term], here.listed[size] = 0, entry, term
            size += 1
    return size


@borrowing
def mark_subrecords(scene, here, position):
    """Note for each term of a leaf's record chunks which subrecords of its chunk have it, if there are bits enough."""
    if scene.sizes[position] >= _BITS:
        return
    rows, leaf, number = scene.rows, scene.leaf_at[position], np.uint64(0)
    stop = rows.cluster_offsets[leaf]
    for row in range(rows.cluster_offsets[leaf], rows.cluster_offsets[leaf + 1]):
        if row == stop:
            number, stop = np.uint64(0), scene.ends[row]
        count = np.uint64(rows.counts[row])
        bits = ((np.uint64(1) << count) - np.uint64(1)) << number
        number += count
        for place in range(rows.offsets[row], rows.offsets[row + 1]):
            here.masks[rows.items[place]] |= bits
