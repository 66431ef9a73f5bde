"""Refining (paper section 4, REFINE and Equation 1; section 5, Property 1; docs/algorithm.md section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from naive.forest import Bag, Record, terms_of
from naive.horizontal import code, supports
from naive.vertical import divide, has_enough_subrecords, project

BLOCK = 1024


@dataclass
class Simple:
    """A leaf at work: its number, its original records, its record chunks and what is left of its term chunk."""

    number: int
    records: list[Record]
    record_chunks: list[Bag]
    term_chunk: frozenset[str]
    sensitive: frozenset[str]  # the part of the term chunk that takes no part in refining

    def simple(self) -> list[Simple]:
        """The leaves under this cluster: itself."""
        return [self]

    def placed(self) -> frozenset[str]:
        """The terms of its record chunks."""
        return terms_of(self.record_chunks)


@dataclass
class Joined:
    """A joint cluster at work."""

    children: list[Simple | Joined]
    shared_chunks: list[Bag] = field(default_factory=list)

    def simple(self) -> list[Simple]:
        """The leaves under this cluster."""
        return [leaf for child in self.children for leaf in child.simple()]

    def placed(self) -> frozenset[str]:
        """The terms of record and shared chunks at or under this cluster."""
        return terms_of(self.shared_chunks).union(*(child.placed() for child in self.children))


Node = Simple | Joined


def virtual_term_chunk(node: Node) -> frozenset[str]:
    """The union of the term chunks of the leaves under a cluster."""
    return frozenset().union(*(leaf.term_chunk for leaf in node.simple()))


def rank_terms(term_chunks: Iterable[frozenset[str]]) -> dict[str, int]:
    """Ranks by falling tcs (in how many term chunks a term is), ties by code."""
    tcs = supports(term_chunks)
    return {term: rank for rank, term in enumerate(sorted(tcs, key=lambda term: (-tcs[term], code(term))))}


def refine_leaves(leaves: Sequence[Simple], k: int, m: int, joint_limit: int | None) -> list[Node]:
    """All of REFINE: the roots of the forest made from the leaves."""
    rank = rank_terms(leaf.term_chunk for leaf in leaves)

    def key(node: Node) -> tuple[list[int], int]:
        ranks = sorted(rank[term] for term in virtual_term_chunk(node))
        return ranks, min(leaf.number for leaf in node.simple())

    roots: list[Node] = [leaf for leaf in leaves if not leaf.term_chunk]
    others: list[Node] = sorted((leaf for leaf in leaves if leaf.term_chunk), key=key)
    while others:
        block, others = others[:BLOCK], others[BLOCK:]
        changed = True
        while changed:
            roots += [node for node in block if not virtual_term_chunk(node)]
            block = sorted((node for node in block if virtual_term_chunk(node)), key=key)
            block, changed = one_pass(block, k, m, joint_limit)
        roots += block
    return roots


def one_pass(ordered: list[Node], k: int, m: int, joint_limit: int | None) -> tuple[list[Node], bool]:
    """Lines 2 to 4 of REFINE: join neighbours where that may be done."""
    result: list[Node] = []
    changed = False
    i = 0
    while i < len(ordered):
        joined = join(ordered[i], ordered[i + 1], k, m, joint_limit) if i + 1 < len(ordered) else None
        if joined is None:
            result.append(ordered[i])
            i += 1
        else:
            result.append(joined)
            changed = True
            i += 2
    return result, changed


def leans(leaf: Simple, k: int, m: int) -> bool:
    """Whether a leaf would break G2 were its term chunk empty."""
    return not has_enough_subrecords(len(leaf.records), leaf.record_chunks, k, m)


def refining_terms(a: Node, b: Node, k: int, m: int) -> tuple[frozenset[str], dict[str, int]]:
    """Steps 1 and 2 of a join: the terms to lift, and joint supports."""
    leaves = a.simple() + b.simple()
    support = {
        term: sum(term in record for leaf in leaves if term in leaf.term_chunk for record in leaf.records)
        for term in virtual_term_chunk(a) & virtual_term_chunk(b)
    }
    frequent = frozenset(term for term in support if support[term] >= k)
    marked: set[str] = set()
    for leaf in leaves:
        if leaf.term_chunk and leaf.term_chunk <= frequent and leans(leaf, k, m):
            least = min(support[term] for term in leaf.term_chunk)
            marked.add(max((term for term in leaf.term_chunk if support[term] == least), key=code))
    return frequent - marked, support


def equation_1(lifted: frozenset[str], support: dict[str, int], leaves: Sequence[Simple]) -> bool:
    """Equation 1 in integers."""
    u = [len(lifted & leaf.term_chunk) for leaf in leaves]
    sizes = [len(leaf.records) for leaf in leaves]
    total = sum(support[term] for term in lifted)
    return total * sum(n for n, count in zip(sizes, u, strict=True) if count > 0) >= sum(u) * sum(sizes)


def join(a: Node, b: Node, k: int, m: int, joint_limit: int | None) -> Joined | None:
    """Join two clusters, or do nothing and return None."""
    leaves = a.simple() + b.simple()
    if joint_limit is not None and sum(len(leaf.records) for leaf in leaves) > joint_limit:
        return None
    lifted, support = refining_terms(a, b, k, m)
    if not lifted or not equation_1(lifted, support, leaves):
        return None
    bag = [record & leaf.term_chunk for leaf in leaves for record in leaf.records]
    placed = a.placed() | b.placed()
    ordered = sorted(lifted, key=lambda term: (-support[term], code(term)))
    domains = [[term] for term in ordered if term in placed]
    domains += divide(bag, [term for term in ordered if term not in placed], k, m)
    for leaf in leaves:
        leaf.term_chunk -= lifted
    return Joined([a, b], [project(bag, domain) for domain in domains])
