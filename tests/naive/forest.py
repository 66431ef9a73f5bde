"""A published release as a forest of plain dataclasses (paper section 3), and the files of tests/cases as forests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Record = frozenset[str]
Bag = tuple[Record, ...]


@dataclass(frozen=True)
class Leaf:
    """A simple cluster: its size, its record chunks, its term chunk. The name is never compared."""

    n: int
    record_chunks: tuple[Bag, ...]
    term_chunk: frozenset[str]
    name: str = field(default="", compare=False)


@dataclass(frozen=True)
class Joint:
    """A joint cluster: its children, leaves or joint, and its shared chunks."""

    children: tuple[Cluster, ...]
    shared_chunks: tuple[Bag, ...]
    name: str = field(default="", compare=False)


Cluster = Leaf | Joint
Forest = tuple[Cluster, ...]


def terms_of(bags: Iterable[Iterable[Record]]) -> frozenset[str]:
    """The union of the domains of some chunks."""
    return frozenset(term for bag in bags for subrecord in bag for term in subrecord)


def leaves(forest: Forest) -> list[Leaf]:
    """The leaves, depth first; elsewhere "leaf 3" means position 3 of this list."""
    found: list[Leaf] = []
    for cluster in forest:
        found += [cluster] if isinstance(cluster, Leaf) else leaves(cluster.children)
    return found


def paths(forest: Forest) -> list[tuple[Leaf, tuple[Joint, ...]]]:
    """For each leaf, in the order of ``leaves``, the joint clusters above it, nearest first."""
    found: list[tuple[Leaf, tuple[Joint, ...]]] = []
    for cluster in forest:
        if isinstance(cluster, Leaf):
            found.append((cluster, ()))
        else:
            found += [(leaf, (*above, cluster)) for leaf, above in paths(cluster.children)]
    return found


def joints(forest: Forest) -> Iterator[Joint]:
    """Every joint cluster, children before their parent."""
    for cluster in forest:
        if isinstance(cluster, Joint):
            yield from joints(cluster.children)
            yield cluster


def canonical_bag(bag: Iterable[Record]) -> tuple[tuple[str, ...], ...]:
    """A bag of sets as a sorted tuple of sorted tuples."""
    return tuple(sorted(tuple(sorted(subrecord)) for subrecord in bag))


def tree_of(cluster: Cluster) -> tuple[Any, ...]:
    """One cluster as nested tuples that do not depend on any order."""
    if isinstance(cluster, Leaf):
        return (
            "leaf",
            cluster.n,
            tuple(sorted(canonical_bag(bag) for bag in cluster.record_chunks)),
            tuple(sorted(cluster.term_chunk)),
        )
    return (
        "joint",
        tuple(sorted(canonical_bag(bag) for bag in cluster.shared_chunks)),
        tuple(sorted(tree_of(child) for child in cluster.children)),
    )


def canonical(forest: Forest) -> tuple[tuple[Any, ...], ...]:
    """A release as nested tuples: equal exactly if the same thing was published."""
    return tuple(sorted(tree_of(cluster) for cluster in forest))


def true_world(forest: Forest, bookkeeping: dict[str, list[Record]]) -> tuple[Bag, ...]:
    """The original records of every leaf, in the order of ``leaves``."""
    return tuple(tuple(bookkeeping[leaf.name]) for leaf in leaves(forest))


@dataclass(frozen=True)
class Case:
    """One file of tests/cases: data or clusters where it has them, a release where it has one, and the facts."""

    name: str
    k: int
    m: int
    max_cluster_size: int | None
    dataset: list[Record] | None
    clusters: list[list[Record]] | None
    release: Forest | None
    facts: dict[str, Any]

    @property
    def records(self) -> list[Record] | None:
        """The data set, or the given clusters put together."""
        if self.dataset is None and self.clusters is not None:
            return [record for cluster in self.clusters for record in cluster]
        return self.dataset


def _bag(rows: list[list[str]]) -> Bag:
    return tuple(frozenset(row) for row in rows)


def _cluster(node: dict[str, Any]) -> Cluster:
    if "leaf" in node:
        chunks = tuple(_bag(rows) for rows in node["record_chunks"])
        return Leaf(node["n"], chunks, frozenset(node["term_chunk"]), node["leaf"])
    shared = tuple(_bag(rows) for rows in node["shared_chunks"])
    return Joint(tuple(_cluster(child) for child in node["children"]), shared, node["joint"])


def read_case(path: Path) -> Case:
    """Read a file of tests/cases."""
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    dataset = facts.get("dataset")
    clusters = facts.get("clusters")
    release = facts.get("release")
    return Case(
        facts["case"],
        facts["k"],
        facts["m"],
        facts.get("max_cluster_size"),
        None if dataset is None else list(_bag(dataset)),
        None if clusters is None else [list(_bag(rows)) for rows in clusters],
        None if release is None else tuple(_cluster(node) for node in release),
        facts,
    )
