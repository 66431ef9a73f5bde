"""Two releases of overlapping data: what is certain, or impossible, in one makes the other tell more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disassociation._types import Flags, Ids, Terms, Words
from disassociation.exposure.known_terms import in_shares
from disassociation.exposure.side import PAIR, Side, codes_in, require_candidates
from disassociation.records import Transactions

__all__ = ["Both", "Intersection", "Others", "in_both", "intersect_releases", "with_certain"]

_MOST_KNOWN = 48  # terms that are made use of; sets of terms are bits of 64 in places
_AT_ONCE = 64  # victims all of whose possible terms are held in memory


@dataclass(frozen=True, slots=True)
class Both:
    """What knowing so many terms is worth to someone who has both releases.

    *Candidates.* Records of the two cannot be matched, so he takes the release that leaves him fewer. Beforehand he
    adds to what he knows whatever is certain in either (held, beside the known terms, by every candidate of every
    leaf), and what is certain then, until nothing is added.

    *Others*: the terms that the victim may have beside the known ones, those of the records that are candidates. In a
    single release, the one that leaves fewer; with both, what the two have in common, for she is in both.
    """

    strategy: str
    terms: int
    median: int  # of the candidates in the better of the two
    below_k: float  # share of the victims with fewer than k (that release's) in one of the two
    added: float  # terms per victim that are certain in one or the other
    joined_median: int  # as above, with these terms known too
    joined_below_k: float
    raw_below_k: float  # share whose known terms are in fewer than k records of one of the originals
    others: Others
    joined_others: Others
    raw_others: Others  # in the originals, both


@dataclass(frozen=True, slots=True)
class Others:
    """Terms that victims may have beside the known ones."""

    low: int  # 99 % of the victims have as many or more
    median: int
    hers: float  # share of them that she has, on average over victims who have more terms than are known

    @classmethod
    def of(cls, counts: Ids, unknown: Ids) -> Others:
        """From how many are possible for each victim, and how many she has: all of these are possible."""
        low, median = np.quantile(counts, [0.01, 0.5], method="inverted_cdf").tolist()
        shares = np.sort(unknown[unknown > 0] / np.maximum(counts[unknown > 0], 1))
        return cls(int(low), int(median), float(shares.mean()) if len(shares) else 0.0)


@dataclass(frozen=True, slots=True)
class Intersection:
    """Attack on two releases of overlapping data; k^m-anonymity does not compose.

    Victims are records of the first original that the second has too, with just the same terms.
    """

    victims: int
    common: int  # records of the first original that are in the second
    rows: tuple[Both, ...]


def in_both(first: Transactions, second: Transactions) -> Ids:
    """The records of the first that the second has too, with the same terms, by hashes of 64 bits."""
    codes = codes_in(first.vocabulary, second.vocabulary)
    mine = _hashes(first, codes)
    theirs = _hashes(second, np.arange(len(second.vocabulary), dtype=np.int32))
    is_known: Flags = np.logical_and.reduceat(codes[first.items] >= 0, first.offsets[:-1])
    return np.flatnonzero(is_known & np.isin(mine, theirs))


def _hashes(data: Transactions, codes: Terms) -> Words:
    """A hash of each record's terms, in any order: the sum of SplitMix64 of their codes."""
    value = codes[data.items].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashes: Words = np.add.reduceat(value ^ (value >> np.uint64(31)), data.offsets[:-1])
    return hashes


def intersect_releases(
    sides: tuple[Side, Side], strategy: str, victims: Ids, known: NDArray[np.int32], threads: int
) -> tuple[Both, ...]:
    """The rows for one strategy, for 1, 2, ... known terms, given as (victims, most, most) in the first's codes."""
    data = sides[0].data
    lengths = (data.offsets[1:] - data.offsets[:-1])[victims]
    return tuple(_both(sides, strategy, lengths, known[:, i, : i + 1], threads) for i in range(known.shape[1]))


def _both(sides: tuple[Side, Side], strategy: str, lengths: Ids, known: NDArray[np.int32], threads: int) -> Both:
    wider = with_certain(sides, known, threads)
    plain = np.stack([side.candidates(known, threads) for side in sides])
    require_candidates(int(plain[0].min()), "the original")
    require_candidates(int(plain[1].min()), "the second original")
    joined = np.stack([side.candidates(wider, threads) for side in sides])
    raw = np.stack([side.raw_candidates(known) for side in sides])
    k = np.array([[side.release.k] for side in sides])
    unknown = lengths - (known >= 0).sum(axis=1)
    others = _others(lambda some: [side.possible(some) for side in sides], known, threads)
    raw_others = _others(lambda some: [side.raw_possible(some) for side in sides], known, threads)
    return Both(
        strategy,
        known.shape[1],
        _median(plain),
        _below(plain, k),
        float(((wider >= 0).sum(axis=1) - (known >= 0).sum(axis=1)).mean()),
        _median(joined),
        _below(joined, k),
        _below(raw, k),
        Others.of(others[:2].min(axis=0), unknown),
        Others.of(others[2], unknown),
        Others.of(raw_others[2], unknown),
    )


def _others(
    look: Callable[[NDArray[np.int32]], list[Ids]], known: NDArray[np.int32], threads: int
) -> NDArray[np.int64]:
    """How many terms each victim may have in the first, in the second, and in both: (3, victims)."""

    def count(start: int, stop: int) -> NDArray[np.int64]:
        parts = []
        for low in range(start, stop, _AT_ONCE):
            first, second = look(known[low : min(low + _AT_ONCE, stop)])
            both = np.intersect1d(first, second, assume_unique=True)
            size = min(_AT_ONCE, stop - low)
            parts.append(np.stack([np.bincount(found // PAIR, minlength=size) for found in (first, second, both)]))
        return np.concatenate(parts, axis=1)

    return np.concatenate(in_shares(count, len(known), threads), axis=1)


def _median(candidates: NDArray[np.int64]) -> int:
    """Of what the better of two sides, (2, victims), leaves."""
    return int(np.quantile(candidates.min(axis=0), 0.5, method="inverted_cdf"))


def _below(candidates: NDArray[np.int64], k: NDArray[np.int64]) -> float:
    """The share of victims with too few candidates on one of two sides, (2, victims)."""
    return float((candidates < k).any(axis=0).mean())


def with_certain(sides: tuple[Side, Side], known: NDArray[np.int32], threads: int) -> NDArray[np.int32]:
    """The known terms and, behind them, those that are certain in either release, round after round."""
    sets: list[list[int]] = [row[row >= 0].tolist() for row in known]
    asked = list(range(len(sets)))
    while asked:
        terms = _padded([sets[victim] for victim in asked])
        grown = []
        for victim, *news in zip(asked, *(side.certain(terms, threads) for side in sides), strict=True):
            added = sorted({term for new in news for term in new} - {*sets[victim], -1})
            if added and len(sets[victim]) < _MOST_KNOWN:
                sets[victim] = (sets[victim] + added)[:_MOST_KNOWN]
                grown.append(victim)
        asked = grown
    return _padded(sets)


def _padded(sets: list[list[int]]) -> NDArray[np.int32]:
    """Lists as rows, padded with -1."""
    width = max(map(len, sets))
    return np.array([terms + [-1] * (width - len(terms)) for terms in sets], np.int32)
