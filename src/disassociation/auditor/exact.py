"""Possible worlds, decided exactly: how many records of a leaf can hold an itemset, and how such records may look.

Records of a leaf can be told apart by nothing. So "q records of the leaf hold S" asks for q *targets* among them, on
which each chunk with a part of S puts a subrecord with that part. What remains must leave no record empty: of a leaf
without a term chunk, c_1 + c_2 + ... subrecords cover that many of its records at best, a target counting once. Where
shared subrecords go is a flow of whole numbers: kinds of subrecords, then (chunk, leaf), then leaves, with these needs
as lower bounds. It says why a refused release is refused, and what an accepted one leaves possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from disassociation.auditor.flow import Arc, circulates
from disassociation.auditor.kernels_clusters import Group
from disassociation.auditor.source import Source
from disassociation.auditor.survey import Survey, leaf_groups

__all__ = ["Grove", "Leaf", "can_hold", "exposed_itemset", "gather", "is_exposed", "world_records"]

Itemset = frozenset[int]
Bag = tuple[tuple[Itemset, int], ...]
Place = tuple[int, int]
"""A chunk: its cluster, and its number there; -1 for the term chunk."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """What is published of a leaf, and of the joint clusters above it."""

    n: int
    chunks: tuple[Bag, ...]
    term_chunk: Itemset
    above: tuple[int, ...]  # joint clusters, the nearest first


@dataclass(frozen=True, slots=True)
class Grove:
    """All that is under one root: what happens elsewhere in the release has no say here."""

    leaves: dict[int, Leaf]
    shared: dict[Place, Bag]  # (joint cluster, chunk)
    sources: dict[int, dict[int, Place]] = field(init=False)  # leaf -> term -> (cluster, chunk), -1: term chunk

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", {number: dict(self._sources(number)) for number in self.leaves})

    def _sources(self, number: int) -> Iterator[tuple[int, Place]]:
        """Where a leaf has its terms from: the nearest place that has them, so the farthest come first."""
        leaf = self.leaves[number]
        for joint in reversed(leaf.above):
            for (owner, chunk), bag in self.shared.items():
                if owner == joint:
                    yield from ((term, (joint, chunk)) for row, _ in bag for term in row)
        yield from ((term, (number, -1)) for term in leaf.term_chunk)
        for chunk, bag in enumerate(leaf.chunks):
            yield from ((term, (number, chunk)) for row, _ in bag for term in row)

    def takes(self, number: int, chunk: Place, row: Itemset) -> bool:
        """Whether a subrecord of a shared chunk may be on a record of a leaf."""
        return all(self.sources[number].get(term) == chunk for term in row)

    def parts(self, number: int, itemset: Itemset) -> dict[Place, Itemset] | None:
        """An itemset by where the leaf has its terms from; None if it cannot have one of them."""
        found: dict[Place, Itemset] = {}
        for term in itemset:
            if term not in self.sources[number]:
                return None
            source = self.sources[number][term]
            found[source] = found.get(source, frozenset()) | {term}
        return found


def gather(source: Source, found: Survey, leaf: int) -> Grove:
    """The part of a release that a leaf is in."""
    root = leaf
    while found.parents[root] >= 0:
        root = int(found.parents[root])
    wanted = {root}
    for cluster in range(root - 1, -1, -1):
        if int(found.parents[cluster]) in wanted:
            wanted.add(cluster)
    joints, leaves = found.joints, {}
    shared: dict[Place, Bag] = {}
    for cluster in sorted(wanted):
        if cluster >= found.leaves:
            i = cluster - found.leaves
            for chunk, bag in _chunks(joints, i).items():
                shared[cluster, chunk] = bag
    for first, group in leaf_groups(source, found):
        for cluster in sorted(wanted):
            if first <= cluster < min(first + len(group.sizes), found.leaves):
                i = cluster - first
                terms = group.terms[group.term_starts[i] : group.term_starts[i + 1]]
                bags = tuple(bag for _, bag in sorted(_chunks(group, i).items()))
                leaves[cluster] = Leaf(
                    int(group.sizes[i]), bags, frozenset(terms.tolist()), tuple(_above(found, cluster))
                )
    return Grove(leaves, shared)


def _above(found: Survey, cluster: int) -> Iterator[int]:
    parent = int(found.parents[cluster])
    while parent >= 0:
        yield parent
        parent = int(found.parents[parent])


def _chunks(group: Group, i: int) -> dict[int, Bag]:
    """The chunks of one cluster of a group."""
    found: dict[int, Counter[Itemset]] = {}
    for row in range(group.row_starts[i], group.row_starts[i + 1]):
        terms = group.bag.items[group.bag.starts[row] : group.bag.starts[row + 1]]
        found.setdefault(int(group.chunks[row]), Counter())[frozenset(terms.tolist())] += int(group.bag.counts[row])
    return {chunk: tuple(bag.items()) for chunk, bag in found.items()}


def total(bag: Bag) -> int:
    """How many subrecords a chunk has."""
    return sum(count for _, count in bag)


Placement = dict[tuple[Place, Itemset, int], int]  # (shared chunk, subrecord, leaf) -> how many


def can_hold(grove: Grove, target: int, itemset: Itemset, q: int, *, spread: bool = False) -> Placement | None:
    """Where shared subrecords go in some world in which q records of a leaf hold an itemset; None if there is none.

    `spread` asks for one in which no leaf has much more of a shared chunk than its fair share.
    """
    parts = grove.parts(target, itemset)
    leaf = grove.leaves[target]
    if parts is None or q > leaf.n or any(total(bag) > one.n for one in grove.leaves.values() for bag in one.chunks):
        return None
    for (owner, number), part in parts.items():
        if owner == target and number >= 0 and sum(n for row, n in leaf.chunks[number] if part <= row) < q:
            return None
    names: dict[object, int] = {}
    arcs: list[Arc] = []
    placed: list[tuple[int, tuple[Place, Itemset, int]]] = []

    def node(name: object) -> int:
        return names.setdefault(name, len(names))

    ground = node("ground")
    for number, one in grove.leaves.items():
        need = one.n - sum(map(total, one.chunks))
        if number == target:
            need += q * (sum(source != (target, -1) for source in parts) - 1)
        arcs.append(Arc(node(number), ground, 0 if one.term_chunk else max(0, need), _MOST))
    for chunk, bag in grove.shared.items():
        under = [number for number, one in grove.leaves.items() if chunk[0] in one.above]
        records = sum(grove.leaves[number].n for number in under)
        for number in under:
            most = grove.leaves[number].n
            if spread:
                most = min(most, -(-total(bag) * most // records) + 1 + (q if number == target else 0))
            arcs.append(Arc(node((chunk, number)), node(number), 0, most))
        if chunk in parts:
            arcs.append(Arc(node((chunk, "with")), node((chunk, target)), q, leaf.n))
        for row, count in bag:
            arcs.append(Arc(ground, node((chunk, row)), count, count))
            for number in under:
                if grove.takes(number, chunk, row):
                    holds = number == target and chunk in parts and parts[chunk] <= row
                    placed.append((len(arcs), (chunk, row, number)))
                    arcs.append(Arc(node((chunk, row)), node((chunk, "with" if holds else number)), 0, count))
    flow = circulates(arcs, len(names))
    return None if flow is None else {what: flow[i] for i, what in placed if flow[i]}


_MOST = (1 << 31) - 1


def exposed_itemset(grove: Grove, leaf: int, k: int, m: int, budget: int = 3_000) -> tuple[int, ...] | None:
    """An itemset of up to m terms that one record of the leaf can hold, but never k; None if none is found."""
    terms = sorted(grove.sources[leaf])
    tried = 0
    for size in range(1, min(m, len(terms)) + 1):
        for itemset in combinations(terms, size):
            tried += 1
            if tried > budget:
                return None
            if is_exposed(grove, leaf, frozenset(itemset), k):
                return itemset
    return None


def is_exposed(grove: Grove, leaf: int, itemset: Itemset, k: int) -> bool:
    """Whether one record of the leaf can hold an itemset, but never k."""
    return can_hold(grove, leaf, itemset, k) is None and can_hold(grove, leaf, itemset, 1) is not None


def world_records(grove: Grove, leaf: int, itemset: Itemset, q: int) -> list[Itemset] | None:
    """The q records of a leaf that hold an itemset in some possible world, with all else they hold there."""
    placement = can_hold(grove, leaf, itemset, q, spread=True) or can_hold(grove, leaf, itemset, q)
    if placement is None:
        return None
    parts = grove.parts(leaf, itemset) or {}
    here = grove.leaves[leaf]
    bags: dict[Place, list[Itemset]] = {
        (leaf, chunk): [row for row, count in sorted(bag, key=_by_terms) for _ in range(count)]
        for chunk, bag in enumerate(here.chunks)
    }
    for (chunk, row, number), count in sorted(placement.items(), key=lambda item: (item[0][0], sorted(item[0][1]))):
        if number == leaf:
            bags.setdefault(chunk, []).extend([row] * count)
    records: list[Itemset] = [frozenset()] * here.n
    for chunk, rows in bags.items():
        if chunk in parts:
            chosen = [row for row in rows if parts[chunk] <= row][:q]
            for i, row in enumerate(chosen):
                records[i] |= row
                rows.remove(row)
    for chunk, rows in sorted(bags.items()):
        # First where nothing is yet, behind the targets; targets that have their part of the chunk take no other.
        free = range(q, here.n) if chunk in parts else range(here.n)
        places = sorted(free, key=lambda i: (bool(records[i]), i < q, i))
        for i, row in zip(places, rows, strict=False):
            records[i] |= row
    for i in range(q):
        records[i] |= parts.get((leaf, -1), frozenset())
    empty_first = sorted(range(here.n), key=lambda i: (bool(records[i]), -i))
    for i, term in enumerate(sorted(here.term_chunk - itemset)):
        records[empty_first[i % here.n]] |= {term}
    return [record or frozenset([min(here.term_chunk)]) for record in records[:q]]


def _by_terms(entry: tuple[Itemset, int]) -> list[int]:
    return sorted(entry[0])
