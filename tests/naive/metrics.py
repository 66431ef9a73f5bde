"""The measures of docs/metrics.md, from the definitions: supports by looking through all records for every set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations, pairwise
from statistics import mean, stdev

from naive.itemsets import Itemset, byte_order, frequent, supports

WINDOWS = ((0, 20), (100, 120), (200, 220), (300, 320), (400, 420))

Bag = Sequence[Set[str]]
Paths = Mapping[str, Sequence[str]]
"""The way up from each leaf of a hierarchy, itself first, the root last."""


def best(counts: Mapping[Itemset, float], top: int) -> set[Itemset]:
    """The most frequent itemsets."""
    return {itemset for itemset, _ in frequent(counts, top=top)}


def average(worlds: Sequence[Bag]) -> dict[Itemset, float]:
    """Supports of all itemsets, averaged over several bags."""
    total: Counter[Itemset] = Counter()
    for world in worlds:
        total.update(supports(world))
    return {itemset: count / len(worlds) for itemset, count in total.items()}


def deviation(original: Mapping[Itemset, float], published: Mapping[Itemset, float], top: int) -> float:
    """The measure tKd."""
    ours = best(original, top)
    return 1 - len(ours & best(published, top)) / len(ours)


def windows(records: Bag) -> list[list[str]]:
    """The terms of each window."""
    counts = Counter(term for record in records for term in record)
    ranked = sorted(counts, key=lambda term: (-counts[term], term.encode()))
    return [ranked[first:stop] for first, stop in WINDOWS]


def pair_support(records: Bag, pair: Iterable[str]) -> int:
    """How many records hold both."""
    return sum(record >= set(pair) for record in records)


def errors(records: Bag, published: Mapping[Itemset, float]) -> list[float | None]:
    """The relative error of each window, for published supports of pairs; those not given are 0."""
    found: list[float | None] = []
    for terms in windows(records):
        each = []
        for pair in combinations(terms, 2):
            one, other = pair_support(records, pair), published.get(byte_order(pair), 0)
            if one or other:
                each.append(abs(one - other) / ((one + other) / 2))
        found.append(mean(each) if each else None)
    return found


def lost(records: Bag, chunks: Bag, k: int) -> float:
    """The measure tlost."""
    counts = Counter(term for record in records for term in record)
    often = [term for term, count in counts.items() if count > k]
    kept = {term for row in chunks for term in row}
    return sum(term not in kept for term in often) / len(often) if often else 0.0


def retention(records: Bag, chunks: Bag, k: int) -> float:
    """Pair retention."""
    counts = {pair: count for pair, count in supports(records, 2).items() if len(pair) == 2 and count >= k}
    inside = sum(pair_support(chunks, pair) for pair in counts)
    return inside / sum(counts.values()) if counts else 1.0


def extended(records: Bag, paths: Paths) -> list[set[str]]:
    """Records with all ancestors of their terms but the root."""
    return [{node for term in record for node in [term, *paths[term][1:-1]]} for record in records]


def multilevel(records: Bag, paths: Paths) -> dict[Itemset, float]:
    """Supports of itemsets of terms and ancestors, none with a node and its ancestor."""
    above = {(below, node) for path in paths.values() for place, below in enumerate(path) for node in path[place + 1 :]}
    found = supports(extended(records, paths)).items()
    return {s: count for s, count in found if not any((a, b) in above for a in s for b in s)}


def spread(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean and sample standard deviation."""
    return mean(values), stdev(values) if len(values) > 1 else None


def runs(worlds: Sequence[Bag], size: int) -> list[Sequence[Bag]]:
    """Consecutive worlds, so many at a time."""
    bounds = range(0, len(worlds) + 1, size)
    return [worlds[start:stop] for start, stop in pairwise(bounds)]
