"""The smallest rare term set of every record: size by size over all records, then record by record on a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from disassociation._parallel import even_shares, run_shares
from disassociation._types import Ids, Terms
from disassociation.generators._assemble import seeded
from disassociation.records import Transactions

if TYPE_CHECKING:
    from disassociation._kernels.ranks import Ranked

__all__ = ["Sample", "Smallest", "Task", "search_everything", "search_sample"]

MOST_WORK = 1 << 30
"""Items looked at in search of sets of all records: some 20 seconds on one thread."""

MOST_SAMPLE_WORK = 1 << 28
"""The same for those sets that a sample of the records holds."""

MOST_ROOM = 1 << 28
"""Entries in a thread's lists of records at most, four bytes each; most are never touched."""

WORD_BUDGET = 1 << 25
"""Words of 64 records looked at in search of the sets of one record: some 30 milliseconds."""

_ROUNDS = 8
_SHARES = 8  # of a round; even_shares cuts so many for each

_KIND = np.int32


@dataclass(frozen=True, slots=True)
class Task:
    """The records, and what is asked of them."""

    ranked: Ranked
    ranks: Terms  # (terms,) the code of each rank
    following: Ids  # (terms,) items behind each rank, over all its records
    k: int
    m: int
    threads: int
    tell: Callable[[str], None]

    @classmethod
    def of(cls, data: Transactions, k: int, m: int, threads: int, tell: Callable[[str], None]) -> Task:
        """Number the terms by rarity; more terms than the longest record has make no difference."""
        from disassociation._kernels.ranks import rank_records

        supports = data.supports
        ranks = np.argsort(supports, kind="stable").astype(_KIND)
        rank = np.empty_like(ranks)
        rank[ranks] = np.arange(len(ranks), dtype=_KIND)
        rank_offsets = np.append(0, np.cumsum(supports[ranks])).astype(np.int64)
        ranked, following = rank_records(data.offsets, data.items, rank, rank_offsets)
        longest = int(np.diff(data.offsets).max(initial=1))
        return cls(ranked, ranks, following, min(k, len(data) + 1), min(m, longest), threads, tell)

    @property
    def supports(self) -> Ids:
        """How many records hold each rank."""
        return np.diff(self.ranked.rank_offsets)

    @property
    def records(self) -> int:
        """How many there are."""
        return len(self.ranked.offsets) - 1


@dataclass(slots=True)
class Smallest:
    """Of every record, its smallest rare sets, after all sets of up to ``exact`` terms have been looked at.

    Some of the sets of one term more may have been looked at as well, and what they showed is here too.
    """

    pinned: Terms  # (records,) terms of the smallest set with support < k, 0 if none is known
    support: Terms  # (records,) the least support met among those, k if none is known
    unique: Terms  # (records,) terms of the smallest set with support 1, 0 if none is known
    rare_sets: list[int] = field(default_factory=list)  # with support < k, by size less one
    exact: int = 0

    def goals(self, k: int) -> Terms:
        """Below which support a set of one term more would be news, for each record."""
        return np.where(self.unique > 0, 0, np.where(self.pinned > 0, 2, k)).astype(_KIND)

    def copy(self) -> Smallest:
        """The same, to go on from."""
        return Smallest(self.pinned.copy(), self.support.copy(), self.unique.copy(), self.rare_sets.copy(), self.exact)

    def settle(self, size: int, least: Terms) -> None:
        """Take in the least supports that the sets of a size have, where they are news."""
        new = (self.pinned == 0) & (least < self.support)
        self.pinned[new] = size
        self.support[new] = least[new]
        self.unique[(self.unique == 0) & (least == 1)] = size


def search_everything(task: Task, largest: int) -> Smallest:
    """Look at all sets of one term, of two and so on up to ``largest``, as long as the work is affordable."""
    supports = task.supports
    nobody = np.zeros(task.records, _KIND)
    smallest = Smallest(nobody, np.full(task.records, task.k, _KIND), nobody.copy())
    rarest = task.ranked.items[task.ranked.offsets[:-1]]
    smallest.settle(1, np.minimum(supports[rarest], task.k).astype(_KIND))
    smallest.rare_sets.append(int((supports < task.k).sum()))
    smallest.exact = 1
    _search_levels(task, smallest, min(largest, task.m), MOST_WORK)
    return smallest


def _search_levels(task: Task, smallest: Smallest, largest: int, most: int, among: Terms | None = None) -> None:
    """Go on to sets of more terms, up to ``largest``, as long as the work is affordable; only for some records."""
    for size in range(smallest.exact + 1, largest + 1):
        goals = smallest.goals(task.k)
        if among is not None:
            others = np.ones(task.records, np.bool_)
            others[among] = False
            goals[others] = 0
        count_all = size == 2 and among is None and int(task.following.sum()) <= most
        work, rare = _search_level(task, goals, size, most, count_all)
        smallest.settle(size, goals)
        if count_all:
            smallest.rare_sets.append(rare)
        if work > most:
            break
        most -= work
        smallest.exact = size


def _search_level(task: Task, goals: Terms, size: int, most: int, count_all: bool) -> tuple[int, int]:
    """Lower ``goals`` to the least support of each record's sets of one size.

    Returns the work done, more than ``most`` if some sets were left out, and how many sets are rare. What is found
    until then does not depend on the number of threads: a share of a round knows what earlier rounds found and nothing
    of the others.
    """
    shares = even_shares(np.cumsum(task.following + task.supports), _ROUNDS)
    spent = rare = 0
    for start in range(0, len(shares), _SHARES):
        task.tell(f"sets of {size} terms, {100 * start // len(shares)} %")
        limit = most if count_all else (most - spent) // _SHARES
        results = _search_round(task, goals, size, shares[start : start + _SHARES], limit, count_all)
        spent += sum(work for work, _ in results)
        rare += sum(below for _, below in results)
        if any(work > limit for work, _ in results):
            spent = most + 1
        if spent > most:
            break
    return spent, rare


def _search_round(
    task: Task, goals: Terms, size: int, shares: list[tuple[int, int]], limit: int, count_all: bool
) -> list[tuple[int, int]]:
    """Look at the sets whose rarest term is in one of the shares, and lower ``goals``; work and rare sets of each."""
    from disassociation._kernels.rare_sets import mark_rare_sets

    found: dict[int, Terms] = {}
    results: dict[int, tuple[int, int]] = {}

    def look(first: int, last: int) -> None:
        supports = task.supports[first:last]
        room = int(supports.max()), int((supports + task.following[first:last]).max())
        if room[1] * size > MOST_ROOM:
            results[first] = (limit + 1, 0)
            return
        least = goals.copy()
        results[first] = mark_rare_sets(task.ranked, (first, last), size, task.k, least, room, limit, count_all)
        found[first] = least

    run_shares(look, shares, task.threads)
    for least in found.values():
        np.minimum(goals, least, out=goals)
    return list(results.values())


@dataclass(frozen=True, slots=True)
class Sample:
    """Records drawn from those of which too little is known, and what searching these few has shown."""

    chosen: Terms  # record numbers
    found: Terms  # terms of the smallest set found, 0 if none
    clean: Terms  # no set of so many terms or fewer is rare, unless found
    open: int  # how many records it was drawn from

    def counts(self, size: int) -> tuple[int, int]:
        """How many have a rare set of up to ``size`` terms, and of how many that was not decided."""
        found = (self.found > 0) & (self.found <= size)
        return int(found.sum()), int((~found & (self.clean < size)).sum())


def search_sample(task: Task, smallest: Smallest, most: int, random_state: int) -> tuple[Sample, Sample]:
    """Search up to ``most`` records in which no rare set is known, and as many in which no unique one is.

    Which are drawn depends on what is in the records and not on their order; equal ones can stand for each other.
    """
    from disassociation._kernels.ranks import order_records

    open_ = order_records(task.ranked, np.flatnonzero(smallest.unique == 0))
    drawn = open_[np.argsort(seeded(random_state).random(len(open_)), kind="stable")].astype(_KIND)
    unpinned = drawn[smallest.pinned[drawn] == 0]
    further = smallest.copy()
    _search_levels(task, further, task.m, MOST_SAMPLE_WORK, np.union1d(drawn[:most], unpinned[:most]))
    clean = np.full(task.records, further.exact, _KIND)
    _search_one_by_one(task, unpinned[:most], task.k, further.pinned, clean)
    pinned = Sample(unpinned[:most], further.pinned[unpinned[:most]], clean[unpinned[:most]], len(unpinned))
    # A set that is in one record only is rare: where no rare set is found there is nothing to look for.
    possible = drawn[:most][further.pinned[drawn[:most]] > 0]
    _search_one_by_one(task, possible, 2, further.unique, clean)
    return pinned, Sample(drawn[:most], further.unique[drawn[:most]], clean[drawn[:most]], len(drawn))


def _search_one_by_one(task: Task, chosen: Terms, below: int, sizes: Terms, clean: Terms) -> None:
    """Search those records by themselves of which nothing is in ``sizes`` yet, within a budget each."""
    from disassociation._kernels.record_search import search_records

    rest = chosen[(sizes[chosen] == 0) & (clean[chosen] < task.m)]
    found, known = np.zeros_like(rest), clean[rest]

    def look(first: int, last: int) -> None:
        task.tell(f"records one by one, {100 * first // len(rest)} %")
        part = slice(first, last)
        search_records(task.ranked, rest[part], task.m, below, WORD_BUDGET, found[part], known[part])

    run_shares(look, even_shares(np.arange(1, len(rest) + 1), max(task.threads, 4)), task.threads)
    sizes[rest], clean[rest] = found, known
