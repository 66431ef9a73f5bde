"""Vertical partitioning of leaves: which terms share a record chunk, which stay in the term chunk, and the subrecords."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.arrays import TERM_CHUNK, Domains, Leaves, Records, Rows
from disassociation._kernels.bits import admits, gather_lists, new_search, popcount, prefetch
from disassociation._kernels.ragged import compare_lists, sort_lists, sort_numbers

class Scratch(NamedTuple):
    """Arrays over all terms, clean between leaves."""

    counts: NDArray[np.int32]  # 0
    chunk_of: NDArray[np.int32]  # TERM_CHUNK


@helper
def leaf_terms(items, counts, terms):  # type: ignore[no-untyped-def]
    """Write the distinct codes of `items` to `terms`, rising, with how often each occurs in `counts`."""
    size = 0
    for place in range(items.shape[0]):
        # Without a branch, which would be mispredicted half the time.
        code = items[place]
        terms[size] = code
        size += counts[code] == 0
        counts[code] += 1
    sort_numbers(terms[:size])
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
def divide(masks, k, m, search):  # type: ignore[no-untyped-def]
    """The paper's greedy loop: number the chunk of each candidate, in order; returns the numbers and how many chunks."""
    size = masks.shape[0]
    number = np.full(size, TERM_CHUNK, np.int32)
    chunk = np.empty(size, np.int32)
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
def candidate_masks(offsets, items, candidates, chunk_of):  # type: ignore[no-untyped-def]
    """The records of each candidate as bit sets; numbers the candidates in `chunk_of`."""
    n = offsets.shape[0] - 1
    masks = np.zeros((candidates.shape[0], (n + 63) // 64), np.uint64)
    for i in range(candidates.shape[0]):
        chunk_of[candidates[i]] = i
    for record in range(n):
        for place in range(offsets[record], offsets[record + 1]):
            slot = chunk_of[items[place]]
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
def assign_chunks(offsets, items, terms, scratch, is_sensitive, group, k_m, search):  # type: ignore[no-untyped-def]
    """Fill `scratch.chunk_of` for the terms of a leaf, chunks numbered by smallest term; returns (chunks, leans)."""
    counts, chunk_of = scratch.counts, scratch.chunk_of
    k, m = k_m
    n = offsets.shape[0] - 1
    candidates = pick_candidates(terms, counts, is_sensitive, group, k)
    if candidates.shape[0] == 0:
        return 0, True
    masks = candidate_masks(offsets, items, candidates, chunk_of)
    number, chunks = divide(masks, k, m, search)
    leans = not covers_enough(masks, number, chunks, n, k, m)
    for i in range(candidates.shape[0]):
        chunk_of[candidates[i]] = number[i]
    if leans and not has_filler(terms, chunk_of, is_sensitive):
        repair(candidates, number, counts)
        # Whether the leaf leans is a fact about its chunks as published, so it is found again after the move.
        remaining, left = renumber(number, chunks)
        leans = not covers_enough(masks, remaining, left, n, k, m)
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


class Projection(NamedTuple):
    """Room for the projections of the records of any one cluster."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    members: NDArray[np.int64]
    items: NDArray[np.int32]


@helper
def new_projection(occurrences):  # type: ignore[no-untyped-def]
    """Room for records with so many terms in all."""
    return Projection(
        np.empty(occurrences, np.int64),
        np.empty(occurrences, np.int64),
        np.empty(occurrences, np.int64),
        np.empty(occurrences, np.int32),
    )


@helper
def project(offsets, items, chunk_of, chunks, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the non-empty projections of records on chunks; returns where each chunk's rows begin."""
    marks = np.zeros((5, chunks + 1), np.int64)
    row_offsets, item_offsets, last, row, written = marks[0], marks[1], marks[2], marks[3], marks[4]
    n = offsets.shape[0] - 1
    for record in range(n):
        for place in range(offsets[record], offsets[record + 1]):
            chunk = chunk_of[items[place]]
            if chunk >= 0:
                item_offsets[chunk + 1] += 1
                row_offsets[chunk + 1] += last[chunk] != record + 1
                last[chunk] = record + 1
    for chunk in range(chunks):
        row_offsets[chunk + 1] += row_offsets[chunk]
        item_offsets[chunk + 1] += item_offsets[chunk]
        last[chunk] = 0
        row[chunk] = row_offsets[chunk] - 1
        written[chunk] = item_offsets[chunk]
    for record in range(n):
        for place in range(offsets[record], offsets[record + 1]):
            chunk = chunk_of[items[place]]
            if chunk >= 0:
                if last[chunk] != record + 1:
                    last[chunk] = record + 1
                    row[chunk] += 1
                    out.starts[row[chunk]] = written[chunk]
                out.items[written[chunk]] = items[place]
                written[chunk] += 1
                out.ends[row[chunk]] = written[chunk]
    return row_offsets


@helper
def write_chunk(projection, first, last, chunk, out, at):  # type: ignore[no-untyped-def]
    """Append the distinct rows of one chunk, in order, with counts; `at` = (rows, items) written so far."""
    members = projection.members[: last - first]
    for i in range(last - first):
        members[i] = first + i
    sort_lists(projection.items, projection.starts, projection.ends, members)
    return write_distinct(projection.items, projection.starts, projection.ends, members, chunk, out, at)


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
    """The same without the room that was not needed, which was never touched and so costs nothing."""
    return Domains(
        domains.offsets,
        domains.terms[:terms],
        domains.chunks[:terms],
        domains.supports[:terms],
        domains.leans,
    )


@helper
def trim_rows(rows, size, items):  # type: ignore[no-untyped-def]
    """The same without the room that was not needed, which was never touched and so costs nothing."""
    return Rows(
        rows.cluster_offsets,
        rows.chunks[:size],
        rows.counts[:size],
        rows.offsets[: size + 1],
        rows.items[:items],
    )


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
_RECORDS = types.NamedTuple((view(types.int64), view(types.int32), buffer(types.boolean)), Records)
_LEAVES = types.NamedTuple((_INT32, _INT64), Leaves)
_DOMAINS = types.NamedTuple((_INT64, _INT32, _INT32, _INT32, buffer(types.boolean)), Domains)
_ROWS = types.NamedTuple((_INT64, _INT32, _INT32, _INT64, _INT32), Rows)


@helper
def leaf_lists(records, leaves):  # type: ignore[no-untyped-def]
    """Scratch that holds the records of any one leaf, and how many occurrences all leaves have."""
    total, most, longest = 0, 0, 0
    for leaf in range(leaves.offsets.shape[0] - 1):
        size = 0
        for i in range(leaves.offsets[leaf], leaves.offsets[leaf + 1]):
            if i + 16 < leaves.order.shape[0]:
                prefetch(records.offsets, leaves.order[i + 16])
            size += records.offsets[leaves.order[i] + 1] - records.offsets[leaves.order[i]]
        total += size
        most = max(most, size)
        longest = max(longest, leaves.offsets[leaf + 1] - leaves.offsets[leaf])
    return (np.empty(longest + 1, np.int64), np.empty(most, np.int32)), total


@kernel(types.Tuple((_DOMAINS, _ROWS))(_RECORDS, _LEAVES, _INT32, types.UniTuple(types.int64, 2), types.int64))
def partition_leaves(records, leaves, group, k_m, terms):  # type: ignore[no-untyped-def]
    """Partition some leaves (their records anywhere); linear in their occurrences but for the k^m tests."""
    n = leaves.offsets.shape[0] - 1
    lists, capacity = leaf_lists(records, leaves)
    domains = Domains(
        np.empty(n + 1, np.int64),
        np.empty(capacity + 1, np.int32),
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
    projection = new_projection(lists[1].shape[0])
    search = new_search(k_m[1], (lists[0].shape[0] + 63) // 64)
    domains.offsets[0], rows.cluster_offsets[0], rows.offsets[0] = 0, 0, 0
    written = (0, 0)
    used = 0
    for leaf in range(n):
        start, stop = leaves.offsets[leaf], leaves.offsets[leaf + 1]
        offsets, items = gather_lists(records, leaves.order[start:], stop - start, lists)
        size = leaf_terms(items, scratch.counts, domains.terms[used:])
        own = domains.terms[used : used + size]
        chunks, domains.leans[leaf] = assign_chunks(
            offsets, items, own, scratch, records.is_sensitive, group, k_m, search
        )
        if chunks > 0:
            row_offsets = project(offsets, items, scratch.chunk_of, chunks, projection)
            for chunk in range(chunks):
                written = write_chunk(projection, row_offsets[chunk], row_offsets[chunk + 1], chunk, rows, written)
        for i in range(size):
            domains.chunks[used + i] = scratch.chunk_of[own[i]]
            domains.supports[used + i] = scratch.counts[own[i]]
            scratch.chunk_of[own[i]] = TERM_CHUNK
            scratch.counts[own[i]] = 0
        used += size
        domains.offsets[leaf + 1] = used
        rows.cluster_offsets[leaf + 1] = written[0]
    return trim_domains(domains, used), trim_rows(rows, written[0], written[1])
