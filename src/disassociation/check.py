"""The first check of a finished release: S1, S2 and G0-G3 in their release-only form, before anything is put in place.

Structure (S1) is checked when a release is made or opened. Here, over the published clusters and subrecords only:

* G0: every leaf has at least max(k, l) records. G1: record and shared chunks are k^m-anonymous. G2: every leaf has a
  term chunk, or record chunks that cover it. S2: no term of a shared chunk stays in a term chunk below.
* G3 for shared chunks of several terms, one of which is placed below: condition K, and room in every open leaf; where
  the linear count does not decide, by maximum flow. Chunks without such conflicts need G1 only.

``docs/guarantee.md`` has the conditions and what they prove.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from disassociation.release import Release

__all__ = ["Violation", "find_violations"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a release fails: the condition, and where."""

    condition: str
    cluster: int
    chunk: int | None
    what: str

    def __str__(self) -> str:
        where = f"cluster {self.cluster}" + ("" if self.chunk is None else f", chunk {self.chunk}")
        return f"{self.condition}: {where}: {self.what}"


def find_violations(release: Release) -> list[Violation]:
    """Everything that keeps a release from being accepted; empty if the guarantee holds.

    Near-linear in the published terms, but for chunks with conflicts, which our own releases do not have.
    """
    from disassociation._kernels import conditions as kernels

    forest, k, m = release.forest, release.k, release.m
    terms = len(release.vocabulary)
    minimum = max(k, release.l or 0)
    found = [
        Violation("G0", int(leaf), None, f"fewer than {minimum} records")
        for leaf in np.flatnonzero(forest.sizes[: release.leaves] < minimum)
    ]
    for cluster, chunk in zip(*kernels.rare_chunks(forest, terms, k, m), strict=True):
        what = f"an itemset of at most {m} terms is in fewer than {k} subrecords"
        found.append(Violation("G1" if cluster < release.leaves else "G3", int(cluster), int(chunk), what))
    found += [
        Violation("G2", int(leaf), None, "no term chunk, and too few subrecords to fill its records")
        for leaf in kernels.uncovered_leaves(forest, k, m)
    ]
    kept_clusters, kept_chunks, clusters, chunks = kernels.shared_chunk_conflicts(forest, terms)
    for cluster, chunk in zip(kept_clusters, kept_chunks, strict=True):
        found.append(Violation("S2", int(cluster), int(chunk), "a term of it is still in a term chunk below"))
    for cluster, chunk in zip(clusters, chunks, strict=True):
        fault = _conflict_fault(release, int(cluster), int(chunk))
        if fault:
            found.append(Violation("G3", int(cluster), int(chunk), fault))
    return found


Subrecord = frozenset[int]


def _conflict_fault(release: Release, cluster: int, chunk: int) -> str | None:
    """Why a shared chunk with conflicts is not safe, or None if it is: conditions K and room of G3."""
    bag = _chunk_bag(release, cluster, chunk)
    domain = frozenset().union(*bag)
    forbidden = _forbidden_terms(release, cluster, domain)
    is_open = {leaf: any(not row & terms for row in bag) for leaf, terms in forbidden.items()}
    conflicts = frozenset().union(*(terms for leaf, terms in forbidden.items() if is_open[leaf]))
    if not conflicts:
        return None
    for row in bag:
        for size in range(1, min(release.m, len(row)) + 1):
            for itemset in combinations(sorted(row), size):
                wanted = set(itemset)
                fit = sum(n for other, n in bag.items() if wanted <= other and other & conflicts <= row & conflicts)
                if fit < release.k:
                    return f"with its conflicts, fewer than {release.k} subrecords can stand for an itemset (K)"
    touching = sum(n for row, n in bag.items() if row & conflicts)
    sizes = {leaf: int(release.forest.sizes[leaf]) for leaf in forbidden}
    if not _placeable(bag, forbidden, sizes):
        return "its subrecords fit nowhere, so no possible original exists"
    for leaf in forbidden:
        if is_open[leaf] and touching + release.k > sizes[leaf]:
            if _placeable(bag, forbidden, {**sizes, leaf: sizes[leaf] - release.k}):
                continue
            if not _exact_room(bag, forbidden, sizes, leaf, release.k, release.m):
                return f"leaf {leaf} has no room for {release.k} subrecords that hold an itemset one of them may hold"
    return None


def _chunk_bag(release: Release, cluster: int, chunk: int) -> Counter[Subrecord]:
    rows = release.forest.rows
    bag: Counter[Subrecord] = Counter()
    for row in range(rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]):
        if rows.chunks[row] == chunk:
            bag[frozenset(rows.items[rows.offsets[row] : rows.offsets[row + 1]].tolist())] += int(rows.counts[row])
    return bag


def _forbidden_terms(release: Release, joint: int, domain: Subrecord) -> dict[int, Subrecord]:
    """For every leaf under a joint cluster, the terms of `domain` it has elsewhere: none of them may go there."""
    forest, rows = release.forest, release.forest.rows
    children: dict[int, list[int]] = {}
    for cluster, parent in enumerate(forest.parents.tolist()):
        children.setdefault(parent, []).append(cluster)
    result: dict[int, Subrecord] = {}
    waiting = [(child, frozenset[int]()) for child in children.get(joint, [])]
    while waiting:
        cluster, above = waiting.pop()
        first, last = rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]
        own = set(rows.items[rows.offsets[first] : rows.offsets[last]].tolist())
        if cluster < release.leaves:
            own.update(forest.terms[forest.term_offsets[cluster] : forest.term_offsets[cluster + 1]].tolist())
            result[cluster] = above | (own & domain)
        else:
            waiting += [(child, above | (own & domain)) for child in children[cluster]]
    return result


def _placeable(
    bag: dict[Subrecord, int],
    forbidden: dict[int, Subrecord],
    capacity: dict[int, int],
    reserved: tuple[int, int, Subrecord] | None = None,
) -> bool:
    """Whether all subrecords find a record in a leaf that may take them: a maximum flow from subrecords to leaves.

    With ``reserved = (leaf, slots, itemset)``, that many of the leaf's records must get a subrecord with the itemset.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    rows = sorted(bag, key=sorted)
    leaves = sorted(forbidden)
    slots = {leaf: capacity[leaf] for leaf in leaves}
    extra = 0
    if reserved is not None:
        leaf, extra, itemset = reserved
        slots[leaf] -= extra
    source, sink, special = 0, 1 + len(rows) + len(leaves) + 1, 1 + len(rows) + len(leaves)
    size = sink + 1
    graph = np.zeros((size, size), np.int32)
    for i, row in enumerate(rows):
        graph[source, 1 + i] = bag[row]
        for j, leaf in enumerate(leaves):
            if not row & forbidden[leaf]:
                graph[1 + i, 1 + len(rows) + j] = bag[row]
        if reserved is not None and itemset <= row and not row & forbidden[reserved[0]]:
            graph[1 + i, special] = bag[row]
    for j, leaf in enumerate(leaves):
        graph[1 + len(rows) + j, sink] = max(slots[leaf], 0)
    if min(slots.values()) < 0:
        return False
    total = sum(bag.values())
    if reserved is None:
        return int(maximum_flow(csr_array(graph), source, sink).flow_value) == total
    # The reserved slots must be filled: first let only them reach the sink, then add the rest of the capacity.
    graph[special, sink] = extra
    rest = graph[1 + len(rows) : special, sink].copy()
    graph[1 + len(rows) : special, sink] = 0
    if int(maximum_flow(csr_array(graph), source, sink).flow_value) < extra:
        return False
    # Augmenting never takes flow back from an edge into the sink, so a maximum flow keeps the reserved slots full.
    graph[1 + len(rows) : special, sink] = rest
    return int(maximum_flow(csr_array(graph), source, sink).flow_value) == total


def _exact_room(
    bag: dict[Subrecord, int], forbidden: dict[int, Subrecord], sizes: dict[int, int], leaf: int, k: int, m: int
) -> bool:
    """For every itemset: if one subrecord with it can be in the leaf, k can."""
    itemsets = {
        frozenset(itemset)
        for row in bag
        if not row & forbidden[leaf]
        for size in range(1, min(m, len(row)) + 1)
        for itemset in combinations(sorted(row), size)
    }
    return all(
        _placeable(bag, forbidden, sizes, (leaf, k, itemset))
        for itemset in sorted(itemsets, key=sorted)
        if _placeable(bag, forbidden, sizes, (leaf, 1, itemset))
    )
