"""Expected supports by empirical Bayes, from the rows of a release's two tables, in plain Python (docs/estimates.md).

Only for releases that are plain: no leaf without a term chunk needs several record chunks to cover it, and no shared
chunk of several terms has one that a leaf below has from nearer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import exp, expm1, inf, log, prod, sqrt
from typing import Any

BLOCKS = (4096, 256, 32, 8)
STRENGTHS = (2.0, 2.0, 8.0, 16.0)
AGAIN = 0.01
NEIGHBOURS, ALIKE = 16, 1.065
GRID = [0.0, *(0.05 * 6000 ** (i / 31) for i in range(32))]
EDGES = [0.05 * 6000 ** (i / 11) for i in range(12)]
ROUNDS = 60
LEAST = 1e-3

Source = tuple[int, int]  # cluster and chunk; chunk -1 for the term chunk
Row = dict[str, Any]
Pairs = dict[tuple[str, str], float]


def mean_count(rate: float, size: int, mean: float, most: int) -> float:
    """Records of a leaf with a term that one of them has: each other one as likely as of leaves like it, and a bit."""
    return float(min(1 + (size - 1) * (1 - (1 - rate) ** (1 / mean) + AGAIN), most))


def share_of_both(one: float, other: float, lift: float) -> float:
    """Plackett's copula: the share of both that gives their two-by-two table this odds ratio."""
    if abs(lift - 1) < 1e-5:  # to second order, as the quotient below would lose digits
        return one * other * (1 + (lift - 1) * (1 - one) * (1 - other))
    total = 1 + (lift - 1) * (one + other)
    return (total - sqrt(max(total * total - 4 * lift * (lift - 1) * one * other, 0.0))) / (2 * (lift - 1))


class Estimate:
    """What is learned from a release."""

    def __init__(self, clusters: Sequence[Row], subrecords: Sequence[Row], k: int) -> None:
        self.sizes = [row["size"] for row in clusters]
        self.leaves = [row["cluster"] for row in clusters if row["terms"] is not None]
        self.records = max(sum(self.sizes[leaf] for leaf in self.leaves) / len(self.leaves), 2.0)
        self.bags: dict[Source, list[tuple[frozenset[str], int]]] = defaultdict(list)
        for row in subrecords:
            self.bags[row["cluster"], row["chunk"]].append((frozenset(row["terms"]), row["count"]))
        self.sources = [self.sources_of(clusters, leaf) for leaf in self.leaves]
        self.bases: Counter[Source] = Counter()
        for leaf in self.leaves:
            for source in set(self.sources[leaf].values()):
                self.bases[source] += self.sizes[leaf]
        self.terms = sorted(set().union(*self.sources), key=str.encode)
        self.hidden: dict[tuple[int, str], float] = {}
        for term in self.terms:
            self.guess_counts(term, k - 1)
        self.weights = self.spread()

    def sources_of(self, clusters: Sequence[Row], leaf: int) -> dict[str, Source]:
        """Where a leaf has each term from: the nearest."""
        found = dict.fromkeys(clusters[leaf]["terms"], (leaf, -1))
        cluster: int | None = leaf
        while cluster is not None:
            for (owner, chunk), bag in self.bags.items():
                if owner == cluster:
                    for term in sorted(frozenset().union(*(row for row, _ in bag))):
                        found.setdefault(term, (owner, chunk))
            cluster = clusters[cluster]["parent"]
        return found

    def guess_counts(self, term: str, most: int) -> None:
        """Expected records of each leaf with the term in its term chunk."""
        open_in = {leaf: self.sources[leaf].get(term, (leaf, -1))[1] == -1 for leaf in self.leaves}
        is_in = {leaf: term in self.sources[leaf] and open_in[leaf] for leaf in self.leaves}
        present = sum(is_in.values())
        mean = sum(self.sizes[leaf] for leaf in self.leaves) / len(self.leaves)
        for leaf in self.leaves:
            if not is_in[leaf]:
                continue
            rate = present / (sum(open_in.values()) + 1)
            for block, strength in zip(BLOCKS, STRENGTHS, strict=True):
                around = [other for other in self.leaves if other // block == leaf // block]
                missing = block - len(around)  # of the last block, which may be shorter
                others = sum(is_in[other] for other in around) - 1
                trials = sum(open_in[other] for other in around) + missing - 1
                rate = (others + strength * rate) / (trials + strength)
            size = self.sizes[leaf]
            self.hidden[leaf, term] = mean_count(rate, size, mean, min(most, size)) if most > 1 else 1.0

    def count(self, leaf: int, part: Iterable[str]) -> float:
        """Expected records of a leaf that hold terms it has from one source."""
        wanted = frozenset(part)
        source = self.sources[leaf][min(wanted)]
        if source[1] < 0:
            (term,) = wanted
            return self.hidden[leaf, term]
        held = sum(count for row, count in self.bags[source] if wanted <= row)
        return float(held * self.sizes[leaf] / self.bases[source])

    def presence(self, leaf: int, term: str) -> float:
        """The chance that the leaf holds the term, outside its record chunks."""
        source = self.sources[leaf].get(term)
        if source is None or (source[0] == leaf and source[1] >= 0):
            return 0.0
        return 1.0 if source[1] < 0 else -expm1(-self.count(leaf, [term]))

    def meetings(self, one: str, other: str) -> tuple[float, float]:
        """Leaves with both terms, and how many there would be by different records."""
        first = [self.presence(leaf, one) for leaf in self.leaves]
        second = [self.presence(leaf, other) for leaf in self.leaves]
        met = sum(x * y for x, y in zip(first, second, strict=True))
        chance = 0.0
        for low in range(0, len(self.leaves), NEIGHBOURS):
            block = self.leaves[low : low + NEIGHBOURS]
            if len(block) > 1:
                inside = sum(self.sizes[leaf] * (self.sizes[leaf] - 1) for leaf in block)
                across = sum(self.sizes[a] * self.sizes[b] for a in block for b in block if a != b)
                chance += inside / across * sum(first[a] * second[b] for a in block for b in block if a != b)
        return met, chance * ALIKE

    def shares(self, met: float, chance: float, weights: Sequence[float]) -> list[float]:
        """How likely each lift of the grid is for a pair."""
        means = [max(chance, LEAST) * (1 + lift / (self.records - 1)) for lift in GRID]
        logs = [met * log(mean) - mean + log(weight) for mean, weight in zip(means, weights, strict=True)]
        each = [exp(value - max(logs)) for value in logs]
        return [value / sum(each) for value in each]

    def spread(self) -> list[list[float]]:
        """The prior of each bin, by expectation maximization."""
        even = [1 / len(GRID)] * len(GRID)
        bins: list[list[list[float]]] = [[] for _ in range(len(EDGES) + 1)]
        for one, other in combinations(self.terms, 2):
            met, chance = self.meetings(one, other)
            bins[sum(edge < chance for edge in EDGES)].append(self.shares(met, chance, even))
        found = []
        for likely in bins:
            weights = even
            for _ in range(ROUNDS if likely else 0):
                sums = [1e-3] * len(GRID)
                for each in likely:
                    total = sum(x * y for x, y in zip(each, weights, strict=True))
                    sums = [before + x * weight / total for before, x, weight in zip(sums, each, weights, strict=True)]
                weights = [value / sum(sums) for value in sums]
            found.append(weights)
        return found

    def lift(self, one: str, other: str) -> float:
        """How much likelier than by chance two terms are on one record."""
        met, chance = self.meetings(one, other)
        weights = self.weights[sum(edge < max(chance, LEAST) for edge in EDGES)]
        each = self.shares(met, chance, weights)
        same = sum(x * lift / (lift + self.records - 1) for x, lift in zip(each, GRID, strict=True))
        return float(same * (self.records - 1) / (1 - same))

    def both(self, leaf: int, one: str, other: str, lift: float) -> float | None:
        """The share of a leaf's records with both terms, None if both are of its record chunks or of one chunk."""
        first, second = self.sources[leaf][one], self.sources[leaf][other]
        n = self.sizes[leaf]
        if first[1] < 0 and second[1] < 0:
            counts = [self.hidden[leaf, one], self.hidden[leaf, other]]
            tries = counts[0] * counts[1] / (1 + AGAIN * (n - 1)) ** 2
            return float(min(*counts, n, tries * lift / (lift + n - 1)) / n)
        if first == second or (first[0] == leaf == second[0] and min(first[1], second[1]) >= 0):
            return None
        return share_of_both(min(self.count(leaf, [one]) / n, 1), min(self.count(leaf, [other]) / n, 1), sqrt(lift))

    def in_leaf(self, leaf: int, itemset: Sequence[str], lifts: Pairs) -> float:
        """Expected records of a leaf with all terms: the parts' shares, and the gains along a maximum spanning tree."""
        n, sources = self.sizes[leaf], self.sources[leaf]
        expected, most = float(n), float(n)
        for source in {sources[term] for term in itemset}:
            part = [term for term in itemset if sources[term] == source]
            for piece in [[term] for term in part] if source[1] < 0 else [part]:
                expected *= self.count(leaf, piece) / n
        gains = {}
        for one, other in combinations(itemset, 2):
            both = self.both(leaf, one, other, lifts[one, other])
            if both is None:
                gains[one, other] = inf if sources[one] == sources[other] else 1.0
            else:
                most = min(most, both * n)
                alone = [min(self.count(leaf, [term]) / n, 1) for term in (one, other)]
                gains[one, other] = both / alone[0] / alone[1]
        return min(expected * self.raised(leaf, itemset, lifts, gains), most)

    def raised(self, leaf: int, itemset: Sequence[str], lifts: Pairs, gains: Pairs) -> float:
        """What to multiply independence by: hidden terms joined by their lifts, then the others by their gains."""
        n, factor = self.sizes[leaf], 1.0
        hidden = [term for term in itemset if self.sources[leaf][term][1] < 0]
        joined = hidden[:1] or list(itemset[:1])
        while rest := [term for term in hidden if term not in joined]:
            found = {term: {other: lifts[min(term, other), max(term, other)] for other in joined} for term in rest}
            term = max(rest, key=lambda term: max(found[term].values()))  # the first of them
            other, lift = max(found[term].items(), key=lambda item: item[1])
            together = prod(max(each, 1.0) for each in found[term].values())
            factor *= gains[min(term, other), max(term, other)]
            factor *= together / (together + n - 1) / (max(lift, 1.0) / (max(lift, 1.0) + n - 1))
            joined.append(term)
        while rest := [term for term in itemset if term not in joined]:
            best = {term: max(gains[min(term, other), max(term, other)] for other in joined) for term in rest}
            term = max(rest, key=lambda term: best[term])
            factor *= best[term] if best[term] < inf else 1.0
            joined.append(term)
        return factor

    def filled(self, leaf: int, term: str) -> float:
        """Records of a leaf expected to get a term of its term chunk only as they are empty otherwise."""
        sources = self.sources[leaf]
        if sources[term][1] >= 0:
            return 0.0
        empty = float(self.sizes[leaf])
        for source in set(sources.values()):
            if source[1] >= 0:
                empty *= 1 - sum(count for _, count in self.bags[source]) / self.bases[source]
        hidden = [other for other in sources if sources[other][1] < 0]
        for other in hidden:
            empty *= 1 - min(self.hidden[leaf, other] / self.sizes[leaf], 1)
        return empty / len(hidden)

    def expected(self, itemset: Iterable[str]) -> float:
        """Expected records with all terms of an itemset, before it is held to the bounds."""
        terms = sorted(itemset, key=str.encode)
        holders = [leaf for leaf in self.leaves if all(term in self.sources[leaf] for term in terms)]
        if len(terms) == 1:
            return sum(self.count(leaf, terms) + self.filled(leaf, terms[0]) for leaf in holders)
        lifts = {pair: self.lift(*pair) for pair in combinations(terms, 2)}
        return sum(self.in_leaf(leaf, terms, lifts) for leaf in holders)
