"""Sorted lists of ranks, one for each cluster of a block, in one append-only arena that is compacted when full.

Every list ends in a sentinel that no rank equals: the cluster's smallest leaf number, shifted below all ranks. So lists
compare lexicographically, a prefix before its extension, ties by smallest leaf, with no two equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import helper

_BELOW_ALL_RANKS = -(1 << 40)


class Lists(NamedTuple):
    """The lists of all clusters; a cluster that was joined away has an empty stretch."""

    starts: NDArray[np.int64]  # (clusters,)
    ends: NDArray[np.int64]  # (clusters,) one beyond the sentinel
    ranks: NDArray[np.int64]  # arena
    data: NDArray[np.int64]  # (arena, width) what goes with each rank
    used: NDArray[np.int64]  # (1,)


@helper
def new_lists(clusters, capacity, width):
    """Room for lists with `capacity` members in all."""
    return Lists(
        np.zeros(clusters, np.int64),
        np.zeros(clusters, np.int64),
        np.empty(capacity, np.int64),
        np.empty((capacity, width), np.int64),
        np.zeros(1, np.int64),
    )


@helper
def close_list(lists, cluster, start, smallest_leaf):
    """End the list that begins at `start` with the sentinel."""
    lists.ranks[lists.used[0]] = _BELOW_ALL_RANKS + smallest_leaf
    lists.used[0] += 1
    lists.starts[cluster] = start
    lists.ends[cluster] = lists.used[0]


@helper
def drop_list(lists, cluster):
    """Forget a list; its room is won back by the next compaction."""
    lists.starts[cluster] = 0
    lists.ends[cluster] = 0


@helper
def length(lists, cluster):
    """Members of a list, the sentinel left out."""
    return max(lists.ends[cluster] - lists.starts[cluster] - 1, 0)


@helper
def with_room(lists, needed):
    """The same lists with room for `needed` more: themselves, or moved to an arena that is at most half full."""
    if lists.used[0] + needed <= lists.ranks.shape[0]:
        return lists
    live = 0
    for cluster in range(lists.starts.shape[0]):
        live += lists.ends[cluster] - lists.starts[cluster]
    moved = new_lists(lists.starts.shape[0], 2 * (live + needed), lists.data.shape[1])
    for cluster in range(lists.starts.shape[0]):
        start, end = lists.starts[cluster], lists.ends[cluster]
        at = moved.used[0]
        moved.ranks[at : at + end - start] = lists.ranks[start:end]
        moved.data[at : at + end - start] = lists.data[start:end]
        moved.starts[cluster] = at
        moved.ends[cluster] = at + end - start
        moved.used[0] = at + end - start
    return moved


@helper
def contains(lists, cluster, rank):
    """Whether a list holds a rank, by bisection."""
    low, high = lists.starts[cluster], lists.ends[cluster] - 1
    while low < high:
        middle = (low + high) // 2
        if lists.ranks[middle] < rank:
            low = middle + 1
        else:
            high = middle
    return low < lists.ends[cluster] - 1 and lists.ranks[low] == rank


@helper
def join_lists(virtual, placed, terms, entries, a, b, joint, smallest):
    """Make the joint cluster's virtual term chunk (both sides' less `terms`) and list of placed terms (and `terms`)."""
    virtual = with_room(virtual, length(virtual, a) + length(virtual, b) + 1)
    start = virtual.used[0]
    i, j, t = virtual.starts[a], virtual.starts[b], 0
    i_end, j_end = virtual.ends[a] - 1, virtual.ends[b] - 1
    while i < i_end or j < j_end:
        left = i < i_end and (j >= j_end or virtual.ranks[i] <= virtual.ranks[j])
        right = j < j_end and (i >= i_end or virtual.ranks[j] <= virtual.ranks[i])
        source = i if left else j
        rank = virtual.ranks[source]
        if t < terms.shape[0] and terms[t, 0] == rank:
            t += 1
        else:
            at = virtual.used[0]
            virtual.ranks[at] = rank
            virtual.data[at] = virtual.data[source]
            if left and right:
                virtual.data[at, 0] += virtual.data[j, 0]
                entries.after[virtual.data[i, 2]] = virtual.data[j, 1]
                virtual.data[at, 2] = virtual.data[j, 2]
            virtual.used[0] += 1
        i += left
        j += right
    close_list(virtual, joint, start, smallest)
    placed = with_room(placed, length(placed, a) + length(placed, b) + terms.shape[0] + 1)
    start = placed.used[0]
    i, j, t = placed.starts[a], placed.starts[b], 0
    i_end, j_end = max(placed.ends[a] - 1, i), max(placed.ends[b] - 1, j)
    far = np.int64(1) << 60
    while i < i_end or j < j_end or t < terms.shape[0]:
        first = placed.ranks[i] if i < i_end else far
        second = placed.ranks[j] if j < j_end else far
        third = terms[t, 0] if t < terms.shape[0] else far
        rank = min(first, second, third)
        placed.ranks[placed.used[0]] = rank
        placed.used[0] += 1
        i += first == rank
        j += second == rank
        t += third == rank
    close_list(placed, joint, start, smallest)
    for cluster in (a, b):
        drop_list(virtual, cluster)
        drop_list(placed, cluster)
    return virtual, placed
