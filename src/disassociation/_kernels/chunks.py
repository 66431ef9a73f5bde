"""Dividing terms among chunks and projecting records on them; for record chunks and shared chunks alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, helper
from disassociation._kernels.arrays import TERM_CHUNK, Rows
from disassociation._kernels.bits import admits
from disassociation._kernels.ragged import compare_lists, sort_lists


class Projection(NamedTuple):
    """Room for the projections of the records of any one cluster."""

    marks: NDArray[np.int64]  # (5, chunks + 1) where each chunk's rows begin; the rest is scratch
    starts: NDArray[np.int64]  # where each row's items begin
    ends: NDArray[np.int64]
    members: NDArray[np.int64]  # the rows of one chunk
    merged: NDArray[np.int64]  # scratch for sorting them
    items: NDArray[np.int32]


@helper
def new_projection(occurrences, chunks):
    """Room for records with so many terms in all, in so many chunks at most."""
    return Projection(
        np.empty((5, chunks + 1), np.int64),
        np.empty(occurrences, np.int64),
        np.empty(occurrences, np.int64),
        np.empty(occurrences, np.int64),
        np.empty(occurrences, np.int64),
        np.empty(occurrences, np.int32),
    )


class Held(NamedTuple):
    """The occurrences of candidates, record after record: which record, and which candidate."""

    records: NDArray[np.int32]
    slots: NDArray[np.int32]


@helper
def new_held(occurrences):
    """Room for so many, and one more: an occurrence is written before it is known whether it counts."""
    return Held(np.empty(occurrences + 1, np.int32), np.empty(occurrences + 1, np.int32))


@borrowing
def number_candidates(candidates, slots):
    """Number the candidates in `slots` (terms,)."""
    for i in range(candidates.shape[0]):
        slots[candidates[i]] = i


@borrowing
def find_held(offsets, items, slots, held):
    """Write the occurrences whose code has a candidate number in `slots` (terms,), -1 for none; returns how many."""
    size = 0
    for record in range(offsets.shape[0] - 1):
        for place in range(offsets[record], offsets[record + 1]):
            # Without a branch, which would be mispredicted half the time.
            slot = slots[items[place]]
            held.records[size] = record
            held.slots[size] = slot
            size += slot >= 0
    return size


@borrowing
def fill_masks(held, size, masks):
    """Set in `masks`, all zero, the records of each candidate."""
    for i in range(size):
        record = held.records[i]
        masks[held.slots[i], record >> 6] |= np.uint64(1) << np.uint64(record & 63)


@borrowing
def divide(masks, k, m, search, number, chunk):
    """The paper's greedy loop: `number` the chunk of each candidate, in order; returns how many chunks there are.

    `chunk` (candidates,) is scratch.
    """
    size = masks.shape[0]
    for term in range(size):
        number[term] = TERM_CHUNK
    placed, chunks = 0, 0
    while placed < size:
        members = 0
        for term in range(size):
            if number[term] < 0 and admits(masks, chunk, members, term, k, m, search):
                chunk[members] = term
                members += 1
                number[term] = chunks
        placed += members
        chunks += 1
    return chunks


@borrowing
def project(held, size, candidates, number, chunks, out):
    """Fill `out` with the records' non-empty projections on chunks; rows of chunk c begin at out.marks[0, c].

    `number` is the chunk of each candidate, TERM_CHUNK for none.
    """
    marks = out.marks
    for mark in range(5):
        for chunk in range(chunks + 1):
            marks[mark, chunk] = 0
    for i in range(size):
        chunk = number[held.slots[i]]
        if chunk >= 0:
            marks[1, chunk + 1] += 1
            marks[0, chunk + 1] += marks[2, chunk] != held.records[i] + 1
            marks[2, chunk] = held.records[i] + 1
    for chunk in range(chunks):
        marks[0, chunk + 1] += marks[0, chunk]
        marks[1, chunk + 1] += marks[1, chunk]
        marks[2, chunk] = 0
        marks[3, chunk] = marks[0, chunk] - 1
        marks[4, chunk] = marks[1, chunk]
    for i in range(size):
        chunk = number[held.slots[i]]
        if chunk >= 0:
            if marks[2, chunk] != held.records[i] + 1:
                marks[2, chunk] = held.records[i] + 1
                marks[3, chunk] += 1
                out.starts[marks[3, chunk]] = marks[4, chunk]
            out.items[marks[4, chunk]] = candidates[held.slots[i]]
            marks[4, chunk] += 1
            out.ends[marks[3, chunk]] = marks[4, chunk]


@borrowing
def write_chunk(projection, chunk, number, out, at):
    """Append the distinct rows of one chunk, in order, with counts, as chunk `number`; `at` = (rows, items) so far."""
    first, last = projection.marks[0, chunk], projection.marks[0, chunk + 1]
    members = projection.members[: last - first]
    for i in range(last - first):
        members[i] = first + i
    items, starts, ends = projection.items, projection.starts, projection.ends
    sort_lists(items, starts, ends, members, projection.merged)
    row, item = at
    for i in range(members.shape[0]):
        start, end = starts[members[i]], ends[members[i]]
        if i > 0 and compare_lists(items, starts[members[i - 1]], ends[members[i - 1]], start, end) == 0:
            out.counts[row - 1] += 1
            continue
        for place in range(start, end):
            out.items[item] = items[place]
            item += 1
        out.chunks[row] = number
        out.counts[row] = 1
        row += 1
        out.offsets[row] = item
    return row, item


@helper
def trim_rows(rows, size, items):
    """The same without the room that was not needed, which was never touched and so costs nothing."""
    return Rows(
        rows.cluster_offsets,
        rows.chunks[:size],
        rows.counts[:size],
        rows.offsets[: size + 1],
        rows.items[:items],
    )
