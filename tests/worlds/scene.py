"""A release as places: which terms a leaf takes from where (the definition of a possible world)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from naive.forest import Bag, Forest, Leaf, Record, paths, terms_of


@dataclass(frozen=True)
class Shared:
    """A shared chunk: its kinds of subrecords with counts, and per leaf under it the terms forbidden there."""

    kinds: tuple[tuple[Record, int], ...]
    forbidden: dict[int, frozenset[str]]  # leaf position -> terms

    def may_go(self, kind: Record, leaf: int) -> bool:
        """Whether such a subrecord may be on a record of the leaf."""
        return leaf in self.forbidden and not kind & self.forbidden[leaf]


@dataclass(frozen=True)
class Scene:
    """The leaves, by position, and all shared chunks."""

    leaves: tuple[Leaf, ...]
    shared: tuple[Shared, ...]
    sources: tuple[
        dict[str, tuple[str, int]], ...
    ]  # per leaf: term -> ("record", chunk), ("term", 0), ("shared", chunk)

    def parts(self, leaf: int, itemset: Record) -> dict[tuple[str, int], Record] | None:
        """The itemset, divided by where the leaf can have each term from; None if it cannot have one of them."""
        divided: dict[tuple[str, int], Record] = {}
        for term in itemset:
            if term not in self.sources[leaf]:
                return None
            source = self.sources[leaf][term]
            divided[source] = divided.get(source, frozenset()) | {term}
        return divided


def set_up(forest: Forest) -> Scene:
    """What is forbidden where: a leaf takes each term from the nearest place that has it, and from no other."""
    rows = paths(forest)
    number: dict[tuple[int, int], int] = {}  # (identity of the joint cluster, chunk within it) -> shared chunk
    bags: list[Bag] = []
    forbidden: list[dict[int, frozenset[str]]] = []
    sources: list[dict[str, tuple[str, int]]] = []
    for position, (leaf, above) in enumerate(rows):
        source = dict.fromkeys(leaf.term_chunk, ("term", 0))
        for i, chunk in enumerate(leaf.record_chunks):
            source |= dict.fromkeys(terms_of([chunk]), ("record", i))
        for joint in above:
            taken = frozenset(source)
            for i, chunk in enumerate(joint.shared_chunks):
                if (id(joint), i) not in number:
                    number[id(joint), i] = len(bags)
                    bags.append(chunk)
                    forbidden.append({})
                this = number[id(joint), i]
                forbidden[this][position] = taken
                source |= dict.fromkeys(terms_of([chunk]) - taken, ("shared", this))
        sources.append(source)
    shared = tuple(
        Shared(tuple(sorted(Counter(bag).items(), key=lambda item: sorted(item[0]))), where)
        for bag, where in zip(bags, forbidden, strict=True)
    )
    return Scene(tuple(leaf for leaf, _ in rows), shared, tuple(sources))
