"""Frequent itemsets, by counting every set of terms of every record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from itertools import combinations

Itemset = tuple[str, ...]
"""Its terms in UTF-8 byte order."""


def byte_order(terms: Iterable[str]) -> Itemset:
    """Terms in canonical order."""
    return tuple(sorted(terms, key=str.encode))


def supports(records: Iterable[Set[str]], longest: int | None = None) -> Counter[Itemset]:
    """In how many records each itemset is that is in any."""
    counts: Counter[Itemset] = Counter()
    for record in records:
        most = len(record) if longest is None else min(longest, len(record))
        for size in range(1, most + 1):
            counts.update(combinations(byte_order(record), size))
    return counts


def frequent(
    counts: Mapping[Itemset, float], *, least: float = 0.0, top: int | None = None
) -> list[tuple[Itemset, float]]:
    """The itemsets from a support on, or the first of them: by falling support, then size, then terms."""
    kept = [(itemset, count) for itemset, count in counts.items() if count >= least and count > 0]
    kept.sort(key=lambda pair: (-pair[1], len(pair[0]), [term.encode() for term in pair[0]]))
    return kept[:top]
