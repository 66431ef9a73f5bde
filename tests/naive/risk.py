"""Which records a few known terms pin down, by counting every set of terms of every record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from itertools import combinations
from typing import NamedTuple


class Smallest(NamedTuple):
    """A record's smallest rare sets: how many terms, the least support among them, and the sets that have it."""

    size: int
    support: int
    sets: frozenset[frozenset[str]]


def supports(records: Sequence[Set[str]], size: int) -> Counter[frozenset[str]]:
    """In how many records each set of so many terms is, of those that are in any."""
    return Counter(frozenset(found) for record in records for found in combinations(sorted(record), size))


def smallest_rare(records: Sequence[Set[str]], k: int, m: int) -> list[Smallest | None]:
    """For each record its smallest sets of at most m terms that are in fewer than k records, or None."""
    answers: list[Smallest | None] = [None] * len(records)
    for size in range(1, m + 1):
        counts = supports(records, size)
        for number, record in enumerate(records):
            if answers[number] is None:
                own = {found: counts[found] for found in map(frozenset, combinations(sorted(record), size))}
                least = min(own.values(), default=k)
                if least < k:
                    rarest = frozenset(found for found, count in own.items() if count == least)
                    answers[number] = Smallest(size, least, rarest)
    return answers


def rare_count(records: Sequence[Set[str]], k: int, size: int) -> int:
    """How many sets of so many terms are in some record, but in fewer than k."""
    return sum(count < k for count in supports(records, size).values())
