"""What a release reaches, given which records are in which leaf: plain numbers, none of them a condition."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation.auditor.conflicts import chunks_of_several_terms, conflicts_by_leaf
from disassociation.auditor.grouping import Grouping, Possible
from disassociation.auditor.kernels_conflicts import find_conflicts
from disassociation.auditor.kernels_reached import Kept, Placed, measure_leaves
from disassociation.auditor.shared import Itemset, SharedChunk
from disassociation.auditor.source import Source
from disassociation.auditor.survey import Survey, leaf_groups

__all__ = ["NOTHING", "Measured", "measured_leaves", "what_is_reached"]

NOTHING: dict[str, object] = dict.fromkeys(
    [
        "forced_records",  # records that are in the same cluster however the original can be divided
        "confidence",  # the greatest share of a cluster's records that hold one term, wherever it is published
        "term_chunk_share",  # the same of terms of the cluster's term chunk, of which the release tells nothing
        "covered_share",  # the share of clusters of which all records hold some term
        "l",  # the least n / count of a sensitive term in a cluster; null without sensitive terms
        "filled_clusters",  # clusters that meet G2 by what their records really touch
        "shared_chunks",
        "conflicting_chunks",  # shared chunks with a term that some open leaf has from elsewhere
        "roomy_chunks",  # shared chunks without such a term, or that meet guarantee.md 4.7
    ]
)
"""What is reached if nothing is known."""
_MOST_COMPARISONS = 1_000_000


class Measured(NamedTuple):
    """The leaves with their records known: how many records hold a term, at most of any such term."""

    forced: int
    placed: Placed
    in_term_chunk: NDArray[np.int64]  # (leaves,) of terms of the term chunk
    sensitive: NDArray[np.int64]  # (leaves,) of sensitive terms
    any_term: NDArray[np.int64]  # (leaves,)
    filled: NDArray[np.int64]  # (leaves,) 1 where G2 holds


def measured_leaves(source: Source, possible: Possible, grouping: Grouping, secret: NDArray[np.bool_]) -> Measured:
    """Count in every leaf."""
    content = possible.content
    order = np.argsort(grouping.leaves, kind="stable")
    starts = np.searchsorted(grouping.leaves[order], np.arange(content.leaves + 1)).astype(np.int64)
    placed = Placed(starts, grouping.sets[order], grouping.amounts[order])
    kept = Kept(content.entry_starts, content.entries, secret)
    sizes = content.sizes[: content.leaves]
    counts = measure_leaves(placed, possible.sets, content.chunks, kept, sizes, source.k, source.m)
    return Measured(grouping.forced, placed, *counts.T)


def what_is_reached(source: Source, found: Survey, possible: Possible, measured: Measured) -> dict[str, object]:
    """The members of `NOTHING`, of the grouping that was found."""
    content = possible.content
    sizes = content.sizes[: content.leaves]
    holding = measured.sensitive > 0
    conflicting, cramped = _rooms(source, found, possible, measured.placed)
    shared = len(content.chunks.rows) - 1 - int(content.chunks.of_cluster[content.leaves])
    return {
        "forced_records": measured.forced,
        "confidence": float((measured.any_term / sizes).max()),
        "term_chunk_share": float((measured.in_term_chunk / sizes).max()),
        "covered_share": float((measured.any_term == sizes).mean()),
        "l": float((sizes[holding] / measured.sensitive[holding]).min()) if holding.any() else None,
        "filled_clusters": int(measured.filled.sum()),
        "shared_chunks": shared,
        "conflicting_chunks": conflicting,
        "roomy_chunks": shared - cramped,
    }


def _rooms(source: Source, found: Survey, possible: Possible, placed: Placed) -> tuple[int, int]:
    """How many shared chunks have conflicts, and how many of these are not shown to meet guarantee.md 4.7."""
    if not len(found.joints.sizes):
        return 0, 0
    content, shared = possible.content, possible.content.shared
    direct = [
        find_conflicts(group, first, found.parents, shared, len(found.lexicon.terms))
        for first, group in leaf_groups(source, found)
    ]
    conflicts = conflicts_by_leaf(found, shared, np.concatenate(direct))
    conflicting, cramped = 0, 0
    for joint, number, chunk in chunks_of_several_terms(found, conflicts):
        x = _conflicts_of(chunk)
        if x:
            conflicting += 1
            own = _contributions(int(content.chunks.of_cluster[joint]) + number, chunk, possible, placed)
            sizes = content.sizes[list(own)].tolist()
            cramped += not all(
                _has_room(bag, n, x, source.k, source.m) for bag, n in zip(own.values(), sizes, strict=True)
            )
    return conflicting, cramped


def _conflicts_of(chunk: SharedChunk) -> Itemset:
    """The terms that are forbidden at some open leaf."""
    kinds = range(len(chunk.room))
    opened = [kind for kind in kinds if any(chunk.takes(kind, row) for row, _ in chunk.rows)]
    return frozenset[int]().union(*(chunk.refused[kind] for kind in opened))


def _contributions(place: int, chunk: SharedChunk, possible: Possible, placed: Placed) -> dict[int, Counter[Itemset]]:
    """What each leaf gave to a shared chunk, which is at a place among all chunks: subrecords, how many of each."""
    postings, sets = possible.postings, possible.sets
    given: dict[int, set[int]] = {}
    for term in sorted(frozenset[int]().union(*(row for row, _ in chunk.rows))):
        here = slice(int(postings.starts[term]), int(postings.starts[term + 1]))
        for leaf in postings.leaves[here][postings.places[here] == place].tolist():
            given.setdefault(leaf, set()).add(term)
    found: dict[int, Counter[Itemset]] = {}
    for leaf, terms in sorted(given.items()):
        bag: Counter[Itemset] = Counter()
        for i in range(int(placed.starts[leaf]), int(placed.starts[leaf + 1])):
            one = int(placed.sets[i])
            subrecord = terms.intersection(sets.items[sets.starts[one] : sets.starts[one + 1]].tolist())
            if subrecord:
                bag[frozenset(subrecord)] += int(placed.amounts[i])
        found[leaf] = bag
    return found


def _has_room(bag: Counter[Itemset], n: int, x: Itemset, k: int, m: int) -> bool:
    """guarantee.md 4.7 for one leaf; no where that is too much to compare."""
    touching = {row: count for row, count in bag.items() if row & x}
    if sum(touching.values()) + k <= n:
        return True
    if len(bag) * sum(comb(len(row), size) for row in bag for size in range(1, m + 1)) > _MOST_COMPARISONS:
        return False
    for row in bag:
        for size in range(1, m + 1):
            for itemset in map(frozenset, combinations(sorted(row), size)):
                own = sum(count for other, count in bag.items() if itemset <= other)
                others = sum(count for other, count in touching.items() if not itemset <= other)
                if own < k and others + k > n:
                    return False
    return True
