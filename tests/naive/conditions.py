"""The conditions S1, S2, G0 to G3 in their release-only form (docs/guarantee.md), decided on the release alone.

Each function yields the violations of one condition, as "name cluster: what".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from naive.forest import Bag, Forest, Joint, Leaf, joints, leaves, paths, terms_of
from naive.vertical import has_enough_subrecords, is_km_anonymous

Itemset = frozenset[str]


def violations(
    forest: Forest,
    k: int,
    m: int,
    sensitive: Itemset = frozenset(),
    l: int | None = None,  # noqa: E741 - the paper's letter
) -> list[str]:
    """Every violated condition; an empty list means the guarantee is proved."""
    return [
        *s1(forest),
        *s2(forest),
        *g0(forest, k if l is None else max(k, l)),
        *g1(forest, k, m),
        *g2(forest, k, m, sensitive),
        *g3(forest, k, m),
        *secrecy(forest, sensitive),
    ]


def s1(forest: Forest) -> Iterator[str]:
    """Disjoint domains inside every node, no chunk larger than its cluster, no empty subrecord or chunk."""
    nodes: list[tuple[Leaf | Joint, tuple[Bag, ...], int, Itemset]] = [
        (leaf, leaf.record_chunks, leaf.n, leaf.term_chunk) for leaf in leaves(forest)
    ]
    nodes += [
        (joint, joint.shared_chunks, sum(leaf.n for leaf in leaves(joint.children)), frozenset())
        for joint in joints(forest)
    ]
    for node, chunks, n, term_chunk in nodes:
        domains = [*(terms_of([chunk]) for chunk in chunks), term_chunk]
        if any(a & b for a, b in combinations(domains, 2)):
            yield f"S1 {node.name}: domains overlap"
        if any(len(chunk) > n for chunk in chunks):
            yield f"S1 {node.name}: a chunk has more subrecords than there are records"
        if any(not chunk or not all(chunk) for chunk in chunks):
            yield f"S1 {node.name}: an empty chunk or subrecord"


def s2(forest: Forest) -> Iterator[str]:
    """No term of a shared chunk stays in the term chunk of a leaf below it."""
    for joint in joints(forest):
        lifted = terms_of(joint.shared_chunks)
        for leaf in leaves(joint.children):
            if leaf.term_chunk & lifted:
                yield f"S2 {leaf.name}: keeps a term of a shared chunk above it"


def g0(forest: Forest, minimum: int) -> Iterator[str]:
    """Every leaf has at least max(k, l) records."""
    for leaf in leaves(forest):
        if leaf.n < minimum:
            yield f"G0 {leaf.name}: {leaf.n} records"


def g1(forest: Forest, k: int, m: int) -> Iterator[str]:
    """Every record chunk is k^m-anonymous."""
    for leaf in leaves(forest):
        for chunk in leaf.record_chunks:
            if not is_km_anonymous(chunk, k, m):
                yield f"G1 {leaf.name}: a record chunk is not k^m-anonymous"


def g2(forest: Forest, k: int, m: int, sensitive: Itemset = frozenset()) -> Iterator[str]:
    """Every leaf has a non-sensitive term in its term chunk, or enough subrecords."""
    for leaf in leaves(forest):
        if not leaf.term_chunk - sensitive and not has_enough_subrecords(leaf.n, leaf.record_chunks, k, m):
            yield f"G2 {leaf.name}: no term chunk and too few subrecords"


def secrecy(forest: Forest, sensitive: Itemset) -> Iterator[str]:
    """Sensitive terms are in term chunks only."""
    for leaf in leaves(forest):
        if terms_of(leaf.record_chunks) & sensitive:
            yield f"L {leaf.name}: a sensitive term in a record chunk"
    for joint in joints(forest):
        if terms_of(joint.shared_chunks) & sensitive:
            yield f"L {joint.name}: a sensitive term in a shared chunk"


@dataclass(frozen=True)
class Site:
    """A leaf as a shared chunk sees it: how much room it has and which terms it does not take."""

    n: int
    forbidden: Itemset

    def takes(self, subrecord: Itemset) -> bool:
        """Whether a subrecord may be put on a record of this leaf."""
        return not subrecord & self.forbidden


def sites(joint: Joint) -> list[Site]:
    """The leaves under a joint cluster, with what its subrecords must not carry there."""
    return [
        Site(
            leaf.n,
            terms_of(leaf.record_chunks) | leaf.term_chunk | terms_of(c for j in between for c in j.shared_chunks),
        )
        for leaf, between in paths(joint.children)
    ]


def itemsets(chunk: Bag, m: int) -> set[Itemset]:
    """All itemsets of 1 to m terms in the subrecords of a chunk."""
    return {
        frozenset(itemset)
        for subrecord in set(chunk)
        for size in range(1, m + 1)
        for itemset in combinations(sorted(subrecord), size)
    }


def placeable(chunk: Bag, where: Sequence[Site]) -> bool:
    """Whether every subrecord can have a record of its own: a matching, by augmenting paths."""
    kinds = sorted(Counter(chunk).items(), key=lambda item: sorted(item[0]))
    on: list[Counter[int]] = [Counter() for _ in where]  # site -> how many subrecords of each kind

    def augment(kind: int, seen: set[int]) -> bool:
        for number, site in enumerate(where):
            if number in seen or not site.takes(kinds[kind][0]):
                continue
            seen.add(number)
            if on[number].total() < site.n:
                on[number][kind] += 1
                return True
            for other in [kind_there for kind_there, count in on[number].items() if count > 0]:
                if augment(other, seen):
                    on[number][other] -= 1
                    on[number][kind] += 1
                    return True
        return False

    return all(augment(kind, set()) for kind, (_, count) in enumerate(kinds) for _ in range(count))


def condition_k(chunk: Bag, x: Itemset, k: int, m: int) -> bool:
    """K: for every subrecord s and itemset S' of it, k subrecords contain S' and no conflict that s has not."""
    for subrecord in set(chunk):
        for itemset in itemsets((subrecord,), m):
            fitting = sum(itemset <= other and other & x <= subrecord & x for other in chunk)
            if fitting < k:
                return False
    return True


def has_room(chunk: Bag, where: Sequence[Site], number: int, k: int) -> bool:
    """Whether the chunk can be placed with k records of one leaf left free."""
    narrowed = [Site(max(0, site.n - k) if i == number else site.n, site.forbidden) for i, site in enumerate(where)]
    return where[number].n >= k and placeable(chunk, narrowed)


@dataclass(frozen=True)
class Reserved(Site):
    """Records of a leaf that are kept for subrecords with a given itemset."""

    itemset: Itemset

    def takes(self, subrecord: Itemset) -> bool:
        """Whether a subrecord is one of those the place is kept for."""
        return self.itemset <= subrecord and not subrecord & self.forbidden


def can_hold(chunk: Bag, where: Sequence[Site], number: int, itemset: Itemset, q: int) -> bool:
    """The exact test: whether the chunk can be placed with q subrecords that contain the itemset in one leaf.

    A matching that covers every subrecord and one that fills the q reserved records together give one that does both
    (Mendelsohn and Dulmage), so the two are tested apart.
    """
    site = where[number]
    if site.n < q or sum(itemset <= subrecord and site.takes(subrecord) for subrecord in chunk) < q:
        return False
    rest = [Site(other.n - q, other.forbidden) if i == number else other for i, other in enumerate(where)]
    return placeable(chunk, [*rest, Reserved(q, site.forbidden, itemset)])


def g3_linear(chunk: Bag, where: Sequence[Site], k: int, m: int) -> bool:
    """K and, where there are conflicts, room for k more in every open leaf."""
    is_open = [any(site.takes(subrecord) for subrecord in set(chunk)) for site in where]
    domain = terms_of([chunk])
    x = domain & frozenset().union(*(site.forbidden for site, opened in zip(where, is_open, strict=True) if opened))
    if not condition_k(chunk, x, k, m):
        return False
    return not x or all(has_room(chunk, where, number, k) for number, opened in enumerate(is_open) if opened)


def g3_exact(chunk: Bag, where: Sequence[Site], k: int, m: int) -> bool:
    """For every leaf and itemset: if one subrecord with it can be there, k can."""
    return all(
        can_hold(chunk, where, number, itemset, k) or not can_hold(chunk, where, number, itemset, 1)
        for number in range(len(where))
        for itemset in itemsets(chunk, m)
    )


def g3(forest: Forest, k: int, m: int) -> Iterator[str]:
    """Every shared chunk can be placed, and whatever it can put in a leaf it can put there k times."""
    for joint in joints(forest):
        where = sites(joint)
        for chunk in joint.shared_chunks:
            if not placeable(chunk, where):
                yield f"G3 {joint.name}: a shared chunk that no world can place"
            elif not g3_linear(chunk, where, k, m) and not g3_exact(chunk, where, k, m):
                yield f"G3 {joint.name}: no room for k subrecords"
