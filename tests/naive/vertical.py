"""Vertical partitioning (paper section 4, VERPART; section 5, Lemma 2; docs/algorithm.md section 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from naive.forest import Bag, Record
from naive.horizontal import code, supports


def project(records: Iterable[Record], domain: Iterable[str]) -> Bag:
    """The bag of the non-empty projections of the records on a domain."""
    kept = frozenset(domain)
    return tuple(record & kept for record in records if record & kept)


def itemset_supports(bag: Iterable[Record], m: int) -> Counter[frozenset[str]]:
    """How many subrecords contain each itemset of 1 to m terms; itemsets in none are not listed."""
    counts: Counter[frozenset[str]] = Counter()
    for subrecord, copies in Counter(bag).items():
        for size in range(1, m + 1):
            for itemset in combinations(sorted(subrecord), size):
                counts[frozenset(itemset)] += copies
    return counts


def is_km_anonymous(bag: Iterable[Record], k: int, m: int) -> bool:
    """Whether every itemset of 1 to m terms that occurs in the bag occurs in at least k of its subrecords."""
    return all(count >= k for count in itemset_supports(bag, m).values())


def divide(bag: Sequence[Record], ordered: Sequence[str], k: int, m: int) -> list[list[str]]:
    """VERPART lines 8 to 15: put terms, in the order given, greedily into k^m-anonymous domains."""
    domains: list[list[str]] = []
    remaining = list(ordered)
    while remaining:
        current: list[str] = []
        for term in remaining:
            if is_km_anonymous(project(bag, [*current, term]), k, m):
                current.append(term)
        domains.append(current)
        remaining = [term for term in remaining if term not in current]
    return domains


def has_enough_subrecords(n: int, chunks: Sequence[Sequence[Record]], k: int, m: int) -> bool:
    """The part of G2 (Lemma 2) that a leaf without a term chunk has to meet."""
    v = len(chunks)
    h = min(m, v)
    return v >= 1 and sum(len(chunk) for chunk in chunks) >= n + k * (h - 1)


def candidates_in_order(
    counts: Counter[str], k: int, sensitive: frozenset[str], groups: Sequence[frozenset[str]]
) -> list[str]:
    """The terms for record chunks: by falling support, ties by code, the terms of a group next to each other."""
    plain = sorted(
        (term for term in counts if counts[term] >= k and term not in sensitive),
        key=lambda term: (-counts[term], code(term)),
    )
    ordered: list[str] = []
    for term in plain:
        group = next((group for group in groups if term in group), frozenset([term]))
        ordered += [mate for mate in plain if mate in group and mate not in ordered]
    return ordered


def partition_leaf(
    records: Sequence[Record], k: int, m: int, sensitive: frozenset[str], groups: Sequence[frozenset[str]]
) -> tuple[list[frozenset[str]], frozenset[str]]:
    """The domains of a leaf's record chunks and its term chunk."""
    counts = supports(records)
    ordered = candidates_in_order(counts, k, sensitive, groups)
    domains = [frozenset(domain) for domain in divide(records, ordered, k, m)]
    term_chunk = frozenset(counts) - frozenset(ordered)
    chunks = [project(records, domain) for domain in domains]
    if not term_chunk - sensitive and not has_enough_subrecords(len(records), chunks, k, m):
        least = min(counts[term] for term in ordered)
        moved = max((term for term in ordered if counts[term] == least), key=code)
        domains = [domain - {moved} for domain in domains if domain != {moved}]
        term_chunk |= {moved}
    return domains, term_chunk
