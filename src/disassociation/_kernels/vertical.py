"""Vertical partitioning of leaves: which terms share a record chunk, which stay in the term chunk, and the subrecords."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.arrays import TERM_CHUNK, Domains, Leaves, Records, Rows
from disassociation._kernels.bits import admits, popcount
from disassociation._kernels.ragged import compare_lists, sort_lists

class Scratch(NamedTuple):
    """Arrays over all terms, clean between leaves."""

    counts: NDArray[np.int32]  # 0
    chunk_of: NDArray[np.int32]  # TERM_CHUNK


@helper
def leaf_terms(records, ids, scratch, terms):  # type: ignore[no-untyped-def]
    """Write the distinct terms of a leaf to `terms`, rising; their counts are in `scratch.counts`."""
    size = 0
    for i in range(ids.shape[0]):
        for place in range(records.offsets[ids[i]], records.offsets[ids[i] + 1]):
            code = records.items[place]
            if scratch.counts[code] == 0:
                terms[size] = code
                size += 1
            scratch.counts[code] += 1
    terms[:size] = np.sort(terms[:size])
    return size


@helper
def pick_candidates(terms, counts, is_sensitive, group, k):  # type: ignore[no-untyped-def]
    """Terms that may be in record chunks, by falling support, ties by code, groups kept together."""
    chosen = np.empty(terms.shape[0], np.int32)
    size = 0
    for i in range(terms.shape[0]):
        code = terms[i]
        if counts[code] < k or (is_sensitive.shape[0] > 0 and is_sensitive[code]):
            continue
        j = size
        while j > 0 and counts[chosen[j - 1]] < counts[code]:
            chosen[j] = chosen[j - 1]
            j -= 1
        chosen[j] = code
        size += 1
    chosen = chosen[:size]
    if group.shape[0] == 0:
        return chosen
    together = np.empty_like(chosen)
    taken = np.zeros(size, np.bool_)
    place = 0
    for i in range(size):
        if taken[i]:
            continue
        for j in range(i, size):
            if j == i or (not taken[j] and group[chosen[i]] >= 0 and group[chosen[i]] == group[chosen[j]]):
                together[place] = chosen[j]
                taken[j] = True
                place += 1
    return together


@helper
def divide(masks, k, m):  # type: ignore[no-untyped-def]
    """The paper's greedy loop: number the chunk of each candidate, in order; returns the numbers and how many chunks."""
    size, words = masks.shape
    number = np.full(size, TERM_CHUNK, np.int32)
    chunk = np.empty(size, np.int32)
    path = np.empty(m, np.int64)
    sets = np.empty((m if m > 2 else 1, words), np.uint64)
    placed, chunks = 0, 0
    while placed < size:
        members = 0
        for term in range(size):
            if number[term] < 0 and admits(masks, chunk, members, term, k, m, path, sets):
                chunk[members] = term
                members += 1
                number[term] = chunks
        placed += members
        chunks += 1
    return number, chunks


@helper
def covers_enough(masks, number, chunks, n, k, m):  # type: ignore[no-untyped-def]
    """G2 for an empty term chunk: v >= 1 record chunks with sum |C_i| >= n + k (h - 1), h = min(m, v)."""
    if chunks == 0:
        return False
    total = 0
    for chunk in range(chunks):
        for word in range(masks.shape[1]):
            union = np.uint64(0)
            for term in range(masks.shape[0]):
                if number[term] == chunk:
                    union |= masks[term, word]
            total += popcount(union)
    return total >= n + k * (min(m, chunks) - 1)


@helper
def candidate_masks(records, ids, candidates, chunk_of):  # type: ignore[no-untyped-def]
    """The records of each candidate as bit sets."""
    masks = np.zeros((candidates.shape[0], (ids.shape[0] + 63) // 64), np.uint64)
    for i in range(candidates.shape[0]):
        chunk_of[candidates[i]] = i
    for record in range(ids.shape[0]):
        for place in range(records.offsets[ids[record]], records.offsets[ids[record] + 1]):
            slot = chunk_of[records.items[place]]
            if slot >= 0:
                masks[slot, record >> 6] |= np.uint64(1) << np.uint64(record & 63)
    return masks


@helper
def repair(candidates, number, counts):  # type: ignore[no-untyped-def]
    """Move the least frequent candidate (ties: greatest code) to the term chunk."""
    least = 0
    for i in range(1, candidates.shape[0]):
        if (counts[candidates[i]], -candidates[i]) < (counts[candidates[least]], -candidates[least]):
            least = i
    number[least] = TERM_CHUNK


@helper
def has_filler(terms, chunk_of, is_sensitive):  # type: ignore[no-untyped-def]
    """Whether the term chunk holds a term that is not sensitive."""
    for i in range(terms.shape[0]):
        if chunk_of[terms[i]] == TERM_CHUNK and not (is_sensitive.shape[0] > 0 and is_sensitive[terms[i]]):
            return True
    return False


@helper
def assign_chunks(records, ids, terms, scratch, group, k, m):  # type: ignore[no-untyped-def]
    """Fill `scratch.chunk_of` for the terms of a leaf, chunks numbered by smallest term; returns (chunks, leans)."""
    counts, chunk_of = scratch.counts, scratch.chunk_of
    candidates = pick_candidates(terms, counts, records.is_sensitive, group, k)
    masks = candidate_masks(records, ids, candidates, chunk_of)
    number, chunks = divide(masks, k, m)
    leans = not covers_enough(masks, number, chunks, ids.shape[0], k, m)
    for i in range(candidates.shape[0]):
        chunk_of[candidates[i]] = number[i]
    if leans and not has_filler(terms, chunk_of, records.is_sensitive):
        repair(candidates, number, counts)
        # Whether the leaf leans is a fact about its chunks as published, so it is found again after the move.
        remaining, left = renumber(number, chunks)
        leans = not covers_enough(masks, remaining, left, ids.shape[0], k, m)
        for i in range(candidates.shape[0]):
            chunk_of[candidates[i]] = number[i]
    canonical = np.full(max(chunks, 1), -1, np.int32)
    used = 0
    for i in range(terms.shape[0]):
        old = chunk_of[terms[i]]
        if old >= 0:
            if canonical[old] < 0:
                canonical[old] = used
                used += 1
            chunk_of[terms[i]] = canonical[old]
    return used, leans


@helper
def renumber(number, chunks):  # type: ignore[no-untyped-def]
    """Chunk numbers without the gap an emptied chunk leaves."""
    used = np.full(chunks, -1, np.int32)
    left = 0
    result = number.copy()
    for i in range(number.shape[0]):
        if number[i] >= 0:
            if used[number[i]] < 0:
                used[number[i]] = left
                left += 1
            result[i] = used[number[i]]
    return result, left


@helper
def project(records, ids, chunk_of, chunks):  # type: ignore[no-untyped-def]
    """The non-empty projections of a leaf's records on its chunks: (row offsets by chunk, row starts, row ends, items)."""
    row_offsets = np.zeros(chunks + 1, np.int64)
    item_offsets = np.zeros(chunks + 1, np.int64)
    last = np.full(chunks, -1, np.int64)
    for record in range(ids.shape[0]):
        for place in range(records.offsets[ids[record]], records.offsets[ids[record] + 1]):
            chunk = chunk_of[records.items[place]]
            if chunk >= 0:
                item_offsets[chunk + 1] += 1
                if last[chunk] != record:
                    last[chunk] = record
                    row_offsets[chunk + 1] += 1
    for chunk in range(chunks):
        row_offsets[chunk + 1] += row_offsets[chunk]
        item_offsets[chunk + 1] += item_offsets[chunk]
        last[chunk] = -1
    rows = row_offsets[:-1] - 1
    written = item_offsets[:-1].copy()
    starts = np.empty(row_offsets[chunks], np.int64)
    ends = np.empty(row_offsets[chunks], np.int64)
    items = np.empty(item_offsets[chunks], np.int32)
    for record in range(ids.shape[0]):
        for place in range(records.offsets[ids[record]], records.offsets[ids[record] + 1]):
            chunk = chunk_of[records.items[place]]
            if chunk >= 0:
                if last[chunk] != record:
                    last[chunk] = record
                    rows[chunk] += 1
                    starts[rows[chunk]] = written[chunk]
                items[written[chunk]] = records.items[place]
                written[chunk] += 1
                ends[rows[chunk]] = written[chunk]
    return row_offsets, starts, ends, items


@helper
def write_distinct(items, starts, ends, rows, chunk, out, at):  # type: ignore[no-untyped-def]
    """Append the distinct lists among `rows`, in order, with counts; `at` = (rows, items) written so far."""
    row, item = at
    for i in range(rows.shape[0]):
        start, end = starts[rows[i]], ends[rows[i]]
        if i > 0 and compare_lists(items, starts[rows[i - 1]], ends[rows[i - 1]], start, end) == 0:
            out.counts[row - 1] += 1
            continue
        for place in range(start, end):
            out.items[item] = items[place]
            item += 1
        out.chunks[row] = chunk
        out.counts[row] = 1
        row += 1
        out.offsets[row] = item
    return row, item


@helper
def trim_domains(domains, terms):  # type: ignore[no-untyped-def]
    """The same without the room that was not needed."""
    return Domains(
        domains.offsets,
        domains.terms[:terms].copy(),
        domains.chunks[:terms].copy(),
        domains.supports[:terms].copy(),
        domains.leans,
    )


@helper
def trim_rows(rows, size, items):  # type: ignore[no-untyped-def]
    """The same without the room that was not needed."""
    return Rows(
        rows.cluster_offsets,
        rows.chunks[:size].copy(),
        rows.counts[:size].copy(),
        rows.offsets[: size + 1].copy(),
        rows.items[:items].copy(),
    )


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
_RECORDS = types.NamedTuple((view(types.int64), view(types.int32), buffer(types.boolean)), Records)
_LEAVES = types.NamedTuple((_INT32, _INT64), Leaves)
_DOMAINS = types.NamedTuple((_INT64, _INT32, _INT32, _INT32, buffer(types.boolean)), Domains)
_ROWS = types.NamedTuple((_INT64, _INT32, _INT32, _INT64, _INT32), Rows)


@kernel(types.Tuple((_DOMAINS, _ROWS))(_RECORDS, _LEAVES, _INT32, types.UniTuple(types.int64, 2), types.int64))
def partition_leaves(records, leaves, group, k_m, terms):  # type: ignore[no-untyped-def]
    """Partition some leaves (their records anywhere); linear in their occurrences but for the k^m tests."""
    k, m = k_m
    n = leaves.offsets.shape[0] - 1
    capacity = 0
    for i in range(leaves.offsets[0], leaves.offsets[n]):
        capacity += records.offsets[leaves.order[i] + 1] - records.offsets[leaves.order[i]]
    domains = Domains(
        np.empty(n + 1, np.int64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(n, np.bool_),
    )
    rows = Rows(
        np.empty(n + 1, np.int64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity + 1, np.int64),
        np.empty(capacity, np.int32),
    )
    scratch = Scratch(np.zeros(terms, np.int32), np.full(terms, TERM_CHUNK, np.int32))
    domains.offsets[0], rows.cluster_offsets[0], rows.offsets[0] = 0, 0, 0
    written = (0, 0)
    used = 0
    for leaf in range(n):
        ids = leaves.order[leaves.offsets[leaf] : leaves.offsets[leaf + 1]]
        size = leaf_terms(records, ids, scratch, domains.terms[used:])
        own = domains.terms[used : used + size]
        chunks, domains.leans[leaf] = assign_chunks(records, ids, own, scratch, group, k, m)
        row_offsets, starts, ends, items = project(records, ids, scratch.chunk_of, chunks)
        for chunk in range(chunks):
            members = np.arange(row_offsets[chunk], row_offsets[chunk + 1])
            sort_lists(items, starts, ends, members)
            written = write_distinct(items, starts, ends, members, chunk, rows, written)
        for i in range(size):
            domains.chunks[used + i] = scratch.chunk_of[own[i]]
            domains.supports[used + i] = scratch.counts[own[i]]
            scratch.chunk_of[own[i]] = TERM_CHUNK
            scratch.counts[own[i]] = 0
        used += size
        domains.offsets[leaf + 1] = used
        rows.cluster_offsets[leaf + 1] = written[0]
    return trim_domains(domains, used), trim_rows(rows, written[0], written[1])
