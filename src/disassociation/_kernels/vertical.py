"""Vertical partitioning of leaves: which terms share a record chunk, which stay in the term chunk; subrecords."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.arrays import TERM_CHUNK, Domains, Leaves, Records, Rows
from disassociation._kernels.bits import gather_lists, new_search, popcount, prefetch
from disassociation._kernels.chunks import (
    divide,
    fill_masks,
    find_held,
    new_held,
    new_projection,
    number_candidates,
    project,
    trim_rows,
    write_chunk,
)
from disassociation._kernels.ragged import new_sieve, sieve_in, sieve_out
from disassociation._kernels.room import roomy


class Desk(NamedTuple):
    """Where one leaf after the other is worked on."""

    offsets: NDArray[np.int64]  # (longest leaf + 1,) the leaf's records, copied together
    items: NDArray[np.int32]
    counts: NDArray[np.int32]  # (terms,) 0 between leaves
    slots: NDArray[np.int32]  # (terms,) number of each candidate, -1 for the other terms and between leaves
    candidates: NDArray[np.int32]  # (most terms of a leaf,) terms that may be in record chunks
    number: NDArray[np.int32]  # the chunk of each candidate
    spare: NDArray[np.int32]


@borrowing
def leaf_terms(items, counts, sieve, terms):
    """Write the distinct codes of `items` to `terms`, rising, with how often each occurs in `counts`."""
    for place in range(items.shape[0]):
        code = items[place]
        counts[code] += 1
        sieve_in(sieve, code)
    return sieve_out(sieve, terms)


@borrowing
def pick_candidates(terms, desk, is_sensitive, group, k):
    """Write terms that may be in record chunks to `desk.candidates`: falling support, ties by code, groups together."""
    chosen, counts = desk.candidates, desk.counts
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
    if group.shape[0] > 0:
        bring_together(chosen, size, group, desk.spare)
    return size


@borrowing
def bring_together(chosen, size, group, spare):
    """Move each group's terms right behind the first of them."""
    for i in range(size):
        spare[i] = chosen[i]
    place = 0
    for i in range(size):
        if spare[i] < 0:
            continue
        own = group[spare[i]]
        for j in range(i, size):
            if spare[j] >= 0 and (j == i or (own >= 0 and group[spare[j]] == own)):
                chosen[place] = spare[j]
                spare[j] = -1
                place += 1


@borrowing
def covers_enough(masks, number, chunks, n, k, m):
    """G2 for an empty term chunk: v >= 1 record chunks with sum |C_i| >= n + k (h - 1), h = min(m, v)."""
    total, v = 0, 0
    for chunk in range(chunks):
        size = 0
        for word in range(masks.shape[1]):
            union = np.uint64(0)
            for term in range(masks.shape[0]):
                if number[term] == chunk:
                    union |= masks[term, word]
            size += popcount(union)
        total += size
        v += size > 0
    return v > 0 and total >= n + k * (min(m, v) - 1)


@borrowing
def repair(candidates, number, counts):
    """Move the least frequent candidate (ties: greatest code) to the term chunk."""
    least = 0
    for i in range(1, candidates.shape[0]):
        a, b = candidates[i], candidates[least]
        if counts[a] < counts[b] or (counts[a] == counts[b] and a > b):
            least = i
    number[least] = TERM_CHUNK


@borrowing
def has_filler(terms, desk, is_sensitive):
    """Whether the term chunk holds a term that is not sensitive."""
    for i in range(terms.shape[0]):
        slot = desk.slots[terms[i]]
        in_term_chunk = slot < 0 or desk.number[slot] == TERM_CHUNK
        if in_term_chunk and not (is_sensitive.shape[0] > 0 and is_sensitive[terms[i]]):
            return True
    return False


@borrowing
def assign_chunks(desk, n, size, terms, masks, is_sensitive, k_m, search):
    """Fill `desk.number` for a leaf's candidates, chunks numbered by smallest term; returns (chunks, leans)."""
    k, m = k_m
    candidates, number = desk.candidates[:size], desk.number[:size]
    chunks = divide(masks, k, m, search, number, desk.spare)
    leans = not covers_enough(masks, number, chunks, n, k, m)
    if leans and not has_filler(terms, desk, is_sensitive):
        repair(candidates, number, desk.counts)
        # Whether the leaf leans is a fact about its chunks as published, so it is found again after the move.
        leans = not covers_enough(masks, number, chunks, n, k, m)
    canonical = desk.spare
    for chunk in range(chunks):
        canonical[chunk] = -1
    used = 0
    for i in range(terms.shape[0]):
        slot = desk.slots[terms[i]]
        if slot >= 0 and number[slot] >= 0:
            if canonical[number[slot]] < 0:
                canonical[number[slot]] = used
                used += 1
            number[slot] = canonical[number[slot]]
    return used, leans


@borrowing
def record_domains(desk, terms, at, domains):
    """Note where the terms of a leaf went, and clear the desk of them."""
    for i in range(terms.shape[0]):
        code = terms[i]
        slot = desk.slots[code]
        domains.chunks[at + i] = desk.number[slot] if slot >= 0 else TERM_CHUNK
        domains.supports[at + i] = desk.counts[code]
        desk.slots[code] = -1
        desk.counts[code] = 0


@helper
def new_desk(records, leaves, terms):
    """A desk for the largest of some leaves, and how many occurrences they have in all."""
    total, most, longest = 0, 0, 0
    for leaf in range(leaves.offsets.shape[0] - 1):
        size = 0
        for i in range(leaves.offsets[leaf], leaves.offsets[leaf + 1]):
            prefetch(records.offsets, leaves.order[min(i + 16, leaves.order.shape[0] - 1)])
            size += records.offsets[leaves.order[i] + 1] - records.offsets[leaves.order[i]]
        total += size
        most = max(most, size)
        longest = max(longest, leaves.offsets[leaf + 1] - leaves.offsets[leaf])
    distinct = min(most, terms)
    desk = Desk(
        np.empty(longest + 1, np.int64),
        np.empty(most, np.int32),
        np.zeros(terms, np.int32),
        np.full(terms, -1, np.int32),
        np.empty(distinct, np.int32),
        np.empty(distinct, np.int32),
        np.empty(distinct, np.int32),
    )
    return desk, total


@helper
def new_results(leaves, occurrences):
    """Room for the domains and rows of leaves; what is not needed is never touched and so costs nothing."""
    domains = Domains(
        np.zeros(leaves + 1, np.int64),
        roomy(occurrences + 1, np.int32),  # one more: a term is written before it is known to be new
        roomy(occurrences, np.int32),
        roomy(occurrences, np.int32),
        np.ones(leaves, np.bool_),
    )
    rows = Rows(
        np.zeros(leaves + 1, np.int64),
        roomy(occurrences, np.int32),
        roomy(occurrences, np.int32),
        roomy(occurrences + 1, np.int64),
        roomy(occurrences, np.int32),
    )
    rows.offsets[0] = 0
    return domains, rows


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
_RECORDS = types.NamedTuple((view(types.int64), view(types.int32), buffer(types.boolean)), Records)
_LEAVES = types.NamedTuple((_INT32, _INT64), Leaves)
_DOMAINS = types.NamedTuple((_INT64, _INT32, _INT32, _INT32, buffer(types.boolean)), Domains)
_ROWS = types.NamedTuple((_INT64, _INT32, _INT32, _INT64, _INT32), Rows)


@kernel(types.Tuple((_DOMAINS, _ROWS))(_RECORDS, _LEAVES, _INT32, types.UniTuple(types.int64, 2), types.int64))
def partition_leaves(records, leaves, group, k_m, terms):
    """Partition some leaves (their records anywhere); linear in their occurrences but for the k^m tests."""
    leaf_count = leaves.offsets.shape[0] - 1
    desk, occurrences = new_desk(records, leaves, terms)
    domains, rows = new_results(leaf_count, occurrences)
    projection = new_projection(desk.items.shape[0], desk.candidates.shape[0])
    held = new_held(desk.items.shape[0])
    sieve = new_sieve(terms)
    search = new_search(k_m[1], (desk.offsets.shape[0] + 62) // 64)
    row, item, used = 0, 0, 0
    for leaf in range(leaf_count):
        start = leaves.offsets[leaf]
        n = leaves.offsets[leaf + 1] - start
        length = gather_lists(records, leaves.order[start:], n, desk.offsets, desk.items)
        offsets, items = desk.offsets[: n + 1], desk.items[:length]
        size = leaf_terms(items, desk.counts, sieve, domains.terms[used:])
        own = domains.terms[used : used + size]
        candidates = pick_candidates(own, desk, records.is_sensitive, group, k_m[0])
        if candidates > 0:
            masks = np.zeros((candidates, (n + 63) // 64), np.uint64)
            number_candidates(desk.candidates[:candidates], desk.slots)
            held_size = find_held(offsets, items, desk.slots, held)
            fill_masks(held, held_size, masks)
            chunks, domains.leans[leaf] = assign_chunks(
                desk, n, candidates, own, masks, records.is_sensitive, k_m, search
            )
            project(held, held_size, desk.candidates, desk.number, chunks, projection)
            for chunk in range(chunks):
                row, item = write_chunk(projection, chunk, chunk, rows, (row, item))
        record_domains(desk, own, used, domains)
        used += size
        domains.offsets[leaf + 1] = used
        rows.cluster_offsets[leaf + 1] = row
    kept = Domains(domains.offsets, domains.terms[:used], domains.chunks[:used], domains.supports[:used], domains.leans)
    return kept, trim_rows(rows, row, item)
