"""HORPART, VERPART and REFINE as the paper prints them (section 4), without our repairs: tests say where they break.

What the paper leaves open is filled in as the files of tests/cases have it: ties by the order of terms; tcs counted
anew in every pass, over (virtual) term chunks; the refining terms are the common terms with joint support of at least
k; Lemma 2's check runs at the end of VERPART and never again; shared chunks follow Property 1 ("k-anonymous if a term
conflicts, else k^m-anonymous").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from naive.forest import Forest, Record, terms_of
from naive.horizontal import Part, code, supports
from naive.refine import Joined, Node, Simple, equation_1, rank_terms, virtual_term_chunk
from naive.release import published
from naive.vertical import has_enough_subrecords, is_km_anonymous, partition_leaf, project


class UndefinedError(Exception):
    """HORPART line 3 finds no term in T - ignore."""


def horpart(records: Part, ignore: frozenset[str], max_cluster_size: int) -> list[Part]:
    """Algorithm HORPART, line by line."""
    if len(records) < max_cluster_size:
        return [records]
    counts = supports(records)
    choice = [term for term in counts if term not in ignore]
    if not choice:
        raise UndefinedError
    a = min(choice, key=lambda term: (-counts[term], code(term)))
    d1 = [record for record in records if a in record]
    d2 = [record for record in records if a not in record]
    return horpart(d1, ignore | {a}, max_cluster_size) + horpart(d2, ignore, max_cluster_size)


def verpart(records: Part, k: int, m: int) -> tuple[list[frozenset[str]], frozenset[str]]:
    """Algorithm VERPART and the check of Lemma 2 with h = min(m, v), which accepts a leaf without record chunks."""
    domains, term_chunk = partition_leaf(records, k, m, frozenset(), ())
    chunks = [project(records, domain) for domain in domains]
    assert term_chunk or has_enough_subrecords(len(records), chunks, k, m) or not records
    return domains, term_chunk


def property_1(bag: Sequence[Record], conflicts: frozenset[str], k: int, m: int) -> bool:
    """k-anonymous where a term of the chunk is in T^r, else k^m-anonymous."""
    if terms_of([bag]) & conflicts:
        return all(count >= k for count in Counter(bag).values())
    return is_km_anonymous(bag, k, m)


def conflicting(node: Node, with_shared: bool) -> frozenset[str]:
    """T^r: terms of record and shared chunks (Property 1), or of record chunks only (section 5 on REFINE)."""
    if with_shared:
        return node.placed()
    return frozenset().union(*(leaf.placed() for leaf in node.simple()))


def join(a: Node, b: Node, k: int, m: int, with_shared: bool) -> Joined | None:
    """Join two clusters if Equation 1 says so."""
    leaves = a.simple() + b.simple()
    support = {
        term: sum(term in record for leaf in leaves if term in leaf.term_chunk for record in leaf.records)
        for term in virtual_term_chunk(a) & virtual_term_chunk(b)
    }
    lifted = frozenset(term for term in support if support[term] >= k)
    if not lifted or not equation_1(lifted, support, leaves):
        return None
    bag = [record & leaf.term_chunk for leaf in leaves for record in leaf.records]
    conflicts = conflicting(a, with_shared) | conflicting(b, with_shared)
    remaining = sorted(lifted, key=lambda term: (-support[term], code(term)))
    shared = []
    while remaining:
        current: list[str] = []
        for term in remaining:
            if property_1(project(bag, [*current, term]), conflicts, k, m):
                current.append(term)
        shared.append(project(bag, current))
        remaining = [term for term in remaining if term not in current]
    for leaf in leaves:
        leaf.term_chunk -= lifted
    return Joined([a, b], shared)


def refine_as_printed(leaves: Sequence[Simple], k: int, m: int, with_shared: bool) -> list[Node]:
    """Algorithm REFINE: passes over all clusters, with the order of line 3, until nothing changes."""

    def key(node: Node) -> tuple[list[int], int]:
        return sorted(rank[term] for term in virtual_term_chunk(node)), min(leaf.number for leaf in node.simple())

    nodes: list[Node] = list(leaves)
    changed = True
    while changed:
        rank = rank_terms(virtual_term_chunk(node) for node in nodes)
        ordered = sorted(nodes, key=key)
        nodes, changed, i = [], False, 0
        while i < len(ordered):
            joined = join(ordered[i], ordered[i + 1], k, m, with_shared) if i + 1 < len(ordered) else None
            nodes.append(ordered[i] if joined is None else joined)
            changed = changed or joined is not None
            i += 1 if joined is None else 2
    return nodes


def literal_paper(
    clusters: Iterable[Part], k: int, m: int, with_shared: bool = True
) -> tuple[Forest, dict[str, list[Record]]]:
    """VERPART and REFINE on clusters, for instance those of ``horpart(records, frozenset(), max_cluster_size)``."""
    leaves = []
    for number, part in enumerate(part for part in clusters if part):
        domains, term_chunk = verpart(part, k, m)
        chunks = [project(part, domain) for domain in domains]
        leaves.append(Simple(number, part, chunks, term_chunk, frozenset()))
    nodes = refine_as_printed(leaves, k, m, with_shared)
    return tuple(published(node) for node in nodes), {str(leaf.number): leaf.records for leaf in leaves}
