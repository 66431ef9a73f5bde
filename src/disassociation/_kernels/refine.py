"""Refining one block: joining neighbours whose term chunks share terms that are frequent in both together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.arrays import TERM_CHUNK, Domains, Leaves, Records, Rows
from disassociation._kernels.chunks import trim_rows
from disassociation._kernels.ragged import (
    compare_lists,
    new_sieve,
    order_lists,
    sieve_in,
    sieve_out,
    sort_lists,
    sort_numbers,
)
from disassociation._kernels.rank_lists import close_list, contains, join_lists, new_lists
from disassociation._kernels.room import roomy
from disassociation._kernels.shared_chunks import lifted_records, write_shared_chunks
from disassociation._kernels.weighing import Clusters, Entries, JoinRules, Scratch, weigh


class Keys(NamedTuple):
    """The term chunks of all leaves, by rank: what leaves are put in order by."""

    offsets: NDArray[np.int64]  # (leaves + 1,)
    ranks: NDArray[np.int32]
    places: NDArray[np.int32]  # where the term stands among the leaf's terms in `Domains`


class Source(NamedTuple):
    """Where a block's records are."""

    records: Records
    leaves: Leaves
    block: NDArray[np.int64]  # (b,) leaf numbers


@helper
def block_entries(domains, block, keys, lifted):
    """The term-chunk entries of the block's leaves."""
    total = 0
    for i in range(block.shape[0]):
        total += keys.offsets[block[i] + 1] - keys.offsets[block[i]]
    b = block.shape[0]
    entries = Entries(
        np.zeros(b + 1, np.int64),
        np.empty(total, np.int64),
        np.empty(total, np.int32),
        np.empty(total, np.int32),
        np.empty(total, np.int64),
        np.empty(total, np.int64),
        np.full(total, -1),
        lifted,
    )
    entry = 0
    for i in range(b):
        first = domains.offsets[block[i]]
        for at in range(keys.offsets[block[i]], keys.offsets[block[i] + 1]):
            place = first + keys.places[at]
            entries.ranks[entry] = keys.ranks[at]
            entries.codes[entry] = domains.terms[place]
            entries.supports[entry] = domains.supports[place]
            entries.owners[entry] = i
            entries.places[entry] = place
            entry += 1
        entries.offsets[i + 1] = entry
    return entries


@helper
def block_lists(domains, block, entries, rank, clusters):
    """The leaves' virtual term chunks (data: support, first and last entry) and their placed terms, as rank lists."""
    b = block.shape[0]
    virtual = new_lists(2 * b, 4 * (entries.ranks.shape[0] + b), 3)
    for i in range(b):
        start = virtual.used[0]
        for entry in range(entries.offsets[i], entries.offsets[i + 1]):
            at = virtual.used[0]
            virtual.ranks[at] = entries.ranks[entry]
            virtual.data[at, 0] = entries.supports[entry]
            virtual.data[at, 1] = entry
            virtual.data[at, 2] = entry
            virtual.used[0] += 1
        close_list(virtual, i, start, clusters.smallest[i])
    total = 0
    for i in range(b):
        total += domains.offsets[block[i] + 1] - domains.offsets[block[i]]
    placed = new_lists(2 * b, 4 * (total + b), 0)
    for i in range(b):
        start = placed.used[0]
        for place in range(domains.offsets[block[i]], domains.offsets[block[i] + 1]):
            if domains.chunks[place] != TERM_CHUNK and rank[domains.terms[place]] >= 0:
                placed.ranks[placed.used[0]] = rank[domains.terms[place]]
                placed.used[0] += 1
        sort_numbers(placed.ranks[start : placed.used[0]])
        close_list(placed, i, start, clusters.smallest[i])
    return virtual, placed


@helper
def block_clusters(domains, leaves, block, entries):
    """The block's leaves as its first clusters."""
    b = block.shape[0]
    clusters = Clusters(
        np.full(2 * b, -1),
        np.zeros(2 * b, np.int64),
        np.zeros(2 * b, np.int64),
        np.full(2 * b, -1),
        np.zeros(b, np.int64),
        np.zeros(b, np.bool_),
        np.zeros(3, np.int64),
    )
    for i in range(b):
        clusters.sizes[i] = leaves.offsets[block[i] + 1] - leaves.offsets[block[i]]
        clusters.smallest[i] = block[i]
        clusters.waiting[i] = entries.offsets[i + 1] - entries.offsets[i]
        clusters.leans[i] = domains.leans[block[i]]
    clusters.used[0] = b
    return clusters


@helper
def lift(terms, entries, clusters):
    """Take the terms out of the term chunks under the new joint cluster."""
    for i in range(terms.shape[0]):
        for side in range(2, 4):
            entry = terms[i, side]
            while entry >= 0:
                entries.lifted[entries.places[entry]] = True
                clusters.waiting[entries.owners[entry]] -= 1
                entry = entries.after[entry]


@helper
def chunk_terms(terms, entries, placed, a, b):
    """Codes and supports of terms: those without conflict, by falling joint support, ties by code; and the others."""
    order = np.empty((terms.shape[0], 2), np.int64)
    lone = np.empty((terms.shape[0], 2), np.int64)
    free_size, lone_size = 0, 0
    for i in range(terms.shape[0]):
        code, support = entries.codes[terms[i, 2]], terms[i, 1]
        if contains(placed, a, terms[i, 0]) or contains(placed, b, terms[i, 0]):
            lone[lone_size, 0], lone[lone_size, 1] = code, support
            lone_size += 1
            continue
        j = free_size
        while j > 0 and (order[j - 1, 1] < support or (order[j - 1, 1] == support and order[j - 1, 0] > code)):
            order[j] = order[j - 1]
            j -= 1
        order[j, 0], order[j, 1] = code, support
        free_size += 1
    if free_size == 1:
        lone[lone_size] = order[0]
        lone_size, free_size = lone_size + 1, 0
    return order[:free_size], lone[:lone_size]


@helper
def build_chunks(terms, touched, source, entries, placed, a, b, scratch, rules, clusters, rows):
    """Write the shared chunks of the cluster joined from a and b."""
    free, lone = chunk_terms(terms, entries, placed, a, b)
    for i in range(free.shape[0]):
        scratch.wanted[free[i, 0]] = True
    relevant = touched[: touched.shape[0] if free.shape[0] else 0]
    gathered = lifted_records(source.records, source.leaves, source.block, relevant, entries, scratch.wanted)
    for i in range(free.shape[0]):
        scratch.wanted[free[i, 0]] = False
    at = (clusters.used[1], clusters.used[2])
    clusters.used[1], clusters.used[2] = write_shared_chunks(gathered, free, lone, scratch.slots, rules, rows, at)


@helper
def join(a, b, terms, touched, virtual, placed, entries, clusters, source, scratch, rules, rows):
    """Replace clusters a and b by their joint cluster; returns the lists, which may have moved."""
    joint = clusters.used[0]
    clusters.used[0] += 1
    clusters.parents[a], clusters.parents[b] = joint, joint
    clusters.sizes[joint] = clusters.sizes[a] + clusters.sizes[b]
    clusters.smallest[joint] = min(clusters.smallest[a], clusters.smallest[b])
    build_chunks(terms, touched, source, entries, placed, a, b, scratch, rules, clusters, rows)
    rows.cluster_offsets[joint - source.block.shape[0] + 1] = clusters.used[1]
    lift(terms, entries, clusters)
    return join_lists(virtual, placed, terms, entries, a, b, joint, clusters.smallest[joint])


@helper
def one_pass(order, virtual, placed, entries, clusters, source, scratch, rules, rows):
    """Scan neighbours once and join what may be joined; returns the clusters that stay, and the lists."""
    stay = np.empty_like(order)
    size = 0
    i = 0
    n = order.shape[0]
    while i < n:
        a = order[i]
        if i + 1 < n and clusters.failed[a] != order[i + 1]:
            b = order[i + 1]
            terms, leaves = weigh(virtual, entries, clusters, scratch, a, b, rules)
            if terms > 0:
                virtual, placed = join(
                    a,
                    b,
                    scratch.found[:terms],
                    scratch.touched[:leaves],
                    virtual,
                    placed,
                    entries,
                    clusters,
                    source,
                    scratch,
                    rules,
                    rows,
                )
                i += 2
                continue
            clusters.failed[a] = b
        stay[size] = a
        size += 1
        i += 1
    return stay[:size], virtual, placed


@helper
def next_order(stay, first, clusters, virtual):
    """Merge the clusters that stayed, still in order, with the new ones that have terms left."""
    fresh = np.empty(clusters.used[0] - first, np.int64)
    size = 0
    for cluster in range(first, clusters.used[0]):
        if virtual.ends[cluster] - virtual.starts[cluster] > 1:
            fresh[size] = cluster
            size += 1
    fresh = fresh[:size]
    sort_lists(virtual.ranks, virtual.starts, virtual.ends, fresh, np.empty(size, np.int64))
    order = np.empty(stay.shape[0] + size, np.int64)
    i, j = 0, 0
    for place in range(order.shape[0]):
        if j >= size or (
            i < stay.shape[0]
            and compare_lists(
                virtual.ranks,
                virtual.starts[stay[i]],
                virtual.ends[stay[i]],
                virtual.starts[fresh[j]],
                virtual.ends[fresh[j]],
            )
            < 0
        ):
            order[place] = stay[i]
            i += 1
        else:
            order[place] = fresh[j]
            j += 1
    return order


_INT32, _INT64, _FLAGS = buffer(types.int32), buffer(types.int64), buffer(types.boolean)
_RECORDS = types.NamedTuple((view(types.int64), view(types.int32), _FLAGS), Records)
_LEAVES = types.NamedTuple((_INT32, _INT64), Leaves)
_DOMAINS = types.NamedTuple((_INT64, _INT32, _INT32, _INT32, _FLAGS), Domains)
_ROWS = types.NamedTuple((_INT64, _INT32, _INT32, _INT64, _INT32), Rows)
_KEYS = types.NamedTuple((_INT64, _INT32, _INT32), Keys)
_SCRATCH = types.NamedTuple((_INT64, _FLAGS, _INT32, _INT64, _INT64, buffer(types.int64, 2)), Scratch)
_JOIN_RULES = types.NamedUniTuple(types.int64, 3, JoinRules)
_RESULT = types.Tuple((_INT64, _INT64, _ROWS))


@kernel(_RESULT(_INT64, _KEYS, _RECORDS, _LEAVES, _DOMAINS, _INT32, _JOIN_RULES, _SCRATCH, _FLAGS))
def refine_block(block, keys, records, leaves, domains, rank, rules, scratch, lifted):
    """Refine the leaves `block`, given in order of their keys, until nothing joins.

    Returns the parent of each cluster (leaves as in `block`, then joint clusters), each cluster's size, and the joint
    clusters' rows; marks in `lifted` the places of `domains` whose terms left their term chunks.
    """
    entries = block_entries(domains, block, keys, lifted)
    clusters = block_clusters(domains, leaves, block, entries)
    virtual, placed = block_lists(domains, block, entries, rank, clusters)
    capacity = 0
    for entry in range(entries.supports.shape[0]):
        capacity += entries.supports[entry]
    b = block.shape[0]
    rows = Rows(
        np.zeros(b + 1, np.int64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.zeros(capacity + 1, np.int64),
        np.empty(capacity, np.int32),
    )
    source = Source(records, leaves, block)
    order = np.arange(b)
    while True:
        first = clusters.used[0]
        stay, virtual, placed = one_pass(order, virtual, placed, entries, clusters, source, scratch, rules, rows)
        if clusters.used[0] == first:
            break
        order = next_order(stay, first, clusters, virtual)
    used = clusters.used[0]
    kept = trim_rows(rows, clusters.used[1], clusters.used[2])
    kept = Rows(kept.cluster_offsets[: used - b + 1].copy(), kept.chunks, kept.counts, kept.offsets, kept.items)
    return clusters.parents[:used].copy(), clusters.sizes[:used].copy(), kept


@borrowing
def sort_keys(domains, leaf, rank, is_sensitive, sieve, place_of, keys, at):
    """Write a leaf's non-sensitive term-chunk terms by rank, from place `at` of the keys; returns their number.

    `place_of` (terms,) is scratch.
    """
    first = domains.offsets[leaf]
    for place in range(first, domains.offsets[leaf + 1]):
        code = domains.terms[place]
        if domains.chunks[place] == TERM_CHUNK and not (is_sensitive.shape[0] > 0 and is_sensitive[code]):
            place_of[rank[code]] = place - first
            sieve_in(sieve, rank[code])
    size = sieve_out(sieve, keys.ranks[at:])
    for i in range(size):
        keys.places[at + i] = place_of[keys.ranks[at + i]]
    return size


@kernel(types.Tuple((_INT64, _KEYS))(_DOMAINS, _INT32, _FLAGS))
def leaf_order(domains, rank, is_sensitive):
    """The leaves that have a term chunk, in order of their keys (ties by leaf number), and the keys of all leaves."""
    n = domains.leans.shape[0]
    total = 0
    for place in range(domains.chunks.shape[0]):
        total += domains.chunks[place] == TERM_CHUNK
    keys = Keys(np.zeros(n + 1, np.int64), roomy(total, np.int32), roomy(total, np.int32))
    sieve = new_sieve(rank.shape[0])
    place_of = np.empty(rank.shape[0], np.int32)
    order = np.empty(n, np.int64)
    size = 0
    for leaf in range(n):
        start = keys.offsets[leaf]
        length = sort_keys(domains, leaf, rank, is_sensitive, sieve, place_of, keys, start)
        keys.offsets[leaf + 1] = start + length
        if length > 0:
            order[size] = leaf
            size += 1
    return order_lists(keys.ranks, keys.offsets[:-1], keys.offsets[1:], order[:size]), keys
