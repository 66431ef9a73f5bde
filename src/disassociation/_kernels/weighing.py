"""What joining two clusters would lift from their term chunks, and whether their size and Equation 1 allow it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing

_END = -1


class Entries(NamedTuple):
    """Term-chunk entries of a block: one for each leaf and (non-sensitive) term of its term chunk."""

    offsets: NDArray[np.int64]  # (b + 1,) where each leaf's entries begin; ranks rise within a leaf
    ranks: NDArray[np.int64]
    codes: NDArray[np.int32]
    supports: NDArray[np.int32]
    owners: NDArray[np.int64]  # the leaf, 0 to b - 1
    places: NDArray[np.int64]  # where the entry stands in `Domains`
    after: NDArray[np.int64]  # the next entry of the same term in the same cluster, -1 for none
    lifted: NDArray[np.bool_]  # (terms of all leaves, by place) the term has left its leaf's term chunk


class Clusters(NamedTuple):
    """The clusters of a block: its b leaves, then its joint clusters in the order they are made."""

    parents: NDArray[np.int64]  # (2 b,) -1 for none
    sizes: NDArray[np.int64]  # (2 b,) records
    smallest: NDArray[np.int64]  # (2 b,) smallest leaf number under the cluster
    failed: NDArray[np.int64]  # (2 b,) the right neighbour the cluster is known not to join, -1 for none
    waiting: NDArray[np.int64]  # (b,) terms still in each leaf's term chunk
    leans: NDArray[np.bool_]  # (b,) G2 needs a term in the leaf's term chunk
    used: NDArray[np.int64]  # (3,) clusters; rows and items written


class JoinRules(NamedTuple):
    """What a join has to respect."""

    k: int
    m: int
    joint_limit: int  # the most records of a joint cluster


class Scratch(NamedTuple):
    """Arrays that every join finds clean and leaves clean; made once for many blocks."""

    supports: NDArray[np.int64]  # (terms,) by rank: joint support of the terms being weighed; 0
    wanted: NDArray[np.bool_]  # (terms,) by code; False
    slots: NDArray[np.int32]  # (terms,) by code; -1
    shares: NDArray[np.int64]  # (block size,) terms that would leave each leaf's term chunk; 0
    touched: NDArray[np.int64]  # (block size,) leaves that would lose terms; anything
    found: NDArray[np.int64]  # (terms, 4) rank, joint support, first entry in either cluster; anything


@borrowing
def common_terms(virtual, a, b, k, found):
    """Write the terms both virtual term chunks hold, with joint support of at least k, to `found`; returns how many."""
    i, j = virtual.starts[a], virtual.starts[b]
    i_end, j_end = virtual.ends[a] - 1, virtual.ends[b] - 1
    size = 0
    while i < i_end and j < j_end:
        first, second = virtual.ranks[i], virtual.ranks[j]
        if first == second:
            support = virtual.data[i, 0] + virtual.data[j, 0]
            if support >= k:
                found[size, 0] = first
                found[size, 1] = support
                found[size, 2] = virtual.data[i, 1]
                found[size, 3] = virtual.data[j, 1]
                size += 1
        i += first <= second
        j += second <= first
    return size


@borrowing
def count_shares(terms, entries, shares, touched):
    """Count in `shares` how many of the terms each leaf has; returns how many leaves were `touched`."""
    size = 0
    for i in range(terms.shape[0]):
        for side in range(2, 4):
            entry = terms[i, side]
            while entry != _END:
                leaf = entries.owners[entry]
                if shares[leaf] == 0:
                    touched[size] = leaf
                    size += 1
                shares[leaf] += 1
                entry = entries.after[entry]
    return size


@borrowing
def spare_leaning(terms, size, entries, clusters, shares, touched, supports):
    """G2: drop from `terms[:size]` those that leaning leaves cannot lose; returns how many stay."""
    spared = 0
    for i in range(touched.shape[0]):
        leaf = touched[i]
        if not clusters.leans[leaf] or shares[leaf] < clusters.waiting[leaf]:
            continue
        least = -1
        for entry in range(entries.offsets[leaf], entries.offsets[leaf + 1]):
            if entries.lifted[entries.places[entry]]:
                continue
            # A support already negated marks a term that another leaf has spared; its size still counts here.
            support = abs(supports[entries.ranks[entry]])
            if (
                least < 0
                or support < abs(supports[entries.ranks[least]])
                or (support == abs(supports[entries.ranks[least]]) and entries.codes[entry] > entries.codes[least])
            ):
                least = entry
        rank = entries.ranks[least]
        supports[rank] = -abs(supports[rank])
        spared += 1
    if spared == 0:
        return size
    kept = 0
    for i in range(size):
        if supports[terms[i, 0]] > 0:
            for field in range(4):
                terms[kept, field] = terms[i, field]
            kept += 1
        else:
            supports[terms[i, 0]] = 0
    return kept


@borrowing
def weigh(virtual, entries, clusters, scratch, a, b, rules):
    """Write the refining terms of a join to `scratch.found` and the leaves they touch to `scratch.touched`.

    Returns how many of each; no terms if the joint cluster would be too large or Equation 1 says no.
    """
    joint_size = clusters.sizes[a] + clusters.sizes[b]
    if joint_size > rules.joint_limit:
        return 0, 0
    terms, shares, touched, supports = scratch.found, scratch.shares, scratch.touched, scratch.supports
    size = common_terms(virtual, a, b, rules.k, terms)
    if size == 0:
        return 0, 0
    for i in range(size):
        supports[terms[i, 0]] = terms[i, 1]
    leaves = count_shares(terms[:size], entries, shares, touched)
    kept = spare_leaning(terms, size, entries, clusters, shares, touched[:leaves], supports)
    for i in range(kept):
        supports[terms[i, 0]] = 0
    if kept < size:
        for i in range(leaves):
            shares[touched[i]] = 0
        leaves = count_shares(terms[:kept], entries, shares, touched)
    total, lifted, holders = 0, 0, 0
    for i in range(kept):
        total += terms[i, 1]
    for i in range(leaves):
        lifted += shares[touched[i]]
        holders += clusters.sizes[touched[i]]
        shares[touched[i]] = 0
    if total * holders < lifted * joint_size:
        return 0, 0
    return kept, leaves
