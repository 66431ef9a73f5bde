"""Frequent itemsets of a release, by what is expected or by what is certain, without reconstructing anything.

Level by level: the expected support under a law of possible originals, and the least support in any of them, can only
fall when an itemset grows. So those of a level are made of those of the level below, and evaluated all at once. By any
other model an itemset counts only if all its parts do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from disassociation._types import Ids, Offsets, Terms
from disassociation.errors import ParameterError
from disassociation.itemsets import CodedItemsets, Itemsets, Wanted, mine_records, named, wanted_itemsets
from disassociation.support import (
    DEFAULT_MODEL,
    EMPIRICAL_BAYES,
    INDEPENDENT,
    bounds_of,
    bounds_of_pairs,
    expected_of,
    expected_of_pairs,
    require_model,
)

if TYPE_CHECKING:
    from disassociation.release import Release

__all__ = ["ORDERS", "Chosen", "check_options", "itemsets_of", "mine_release"]

ORDERS = ("expected", "lower")
"""What itemsets of a release can be frequent by."""

_BLOCK = 2048  # terms whose pairs are evaluated with those of as many others: matrices of 128 MiB
_BATCH, _LARGE_BATCH = 1024, 1 << 16  # candidates that are evaluated together: while the least can rise, and otherwise
_PAIRS = 6  # times as fast are bounds of all pairs of some terms as of each on its own
_DIGITS = 6  # expectations that differ behind them are equal: the rest is rounding, and must not decide an order


class Evaluated(NamedTuple):
    """Itemsets of one size in codes, and what they are chosen by."""

    codes: NDArray[np.int32]  # (itemsets, size) rising within each, in rising order
    values: NDArray[np.float64]  # (itemsets,)


class Chosen(NamedTuple):
    """Itemsets in order, and the values they are in order of."""

    itemsets: CodedItemsets  # without counts
    values: NDArray[np.float64]  # (itemsets,)


def itemsets_of(
    release: Release,
    *,
    top: int | None = None,
    min_support: float | None = None,
    min_count: int | None = None,
    max_length: int | None = None,
    by: str = "expected",
    model: str = DEFAULT_MODEL,
) -> Itemsets:
    """The itemsets of a release with their supports: `Release.itemsets` says the rest."""
    options: dict[str, Any] = {"top": top, "min_support": min_support, "min_count": min_count, "max_length": max_length}
    check_options(**options, by=by, model=model)
    wanted = wanted_itemsets(release.records, **options)
    if min_support is not None and by == "expected":  # which need not be a whole number
        wanted = wanted._replace(least=round(float(min_support) * release.records, _DIGITS))
    chosen = mine_release(release, wanted, by=by, model=model)
    offsets, codes = chosen.itemsets.offsets, chosen.itemsets.items
    lower, upper = bounds_of(release, offsets, codes)
    expected = chosen.values if by == "expected" else expected_of(release, offsets, codes, model)
    columns = {
        "itemset": named(chosen.itemsets, release.vocabulary),
        "lower": pa.array(lower),
        "expected": pa.array(np.clip(expected, lower, upper)),
        "upper": pa.array(upper),
    }
    return Itemsets(pa.table(columns))


def check_options(*, by: str, model: str, **options: Any) -> None:
    """Refuse what cannot be, before anything is opened."""
    if by not in ORDERS:
        raise ParameterError(f"by must be {' or '.join(map(repr, ORDERS))}, not {by!r}")
    require_model(model)
    wanted_itemsets(1, **options)


def mine_release(release: Release, wanted: Wanted, *, by: str = "expected", model: str = DEFAULT_MODEL) -> Chosen:
    """The itemsets of a release in codes, by falling value, then by size, then by codes."""
    search = _Levels(release, wanted, by, model)
    level = search.singles()
    levels = [level]
    while len(level.codes) and level.codes.shape[1] < wanted.longest:
        level = search.pairs(level.codes[:, 0]) if level.codes.shape[1] == 1 else search.larger(level)
        levels.append(level)
    return _in_order(levels, search.least, wanted.top)


class _Levels:
    """What an itemset has to have, which rises as more are found, if only so many are wanted."""

    def __init__(self, release: Release, wanted: Wanted, by: str, model: str) -> None:
        self.release, self.top, self.by = release, wanted.top, by
        self.expects = INDEPENDENT if by == "lower" else model  # nothing is certain of more records than it expects
        self.least = float(wanted.least)
        self.best = np.empty(0)
        if wanted.top:
            self.least = max(self.least, self._certain(wanted))

    def _certain(self, wanted: Wanted) -> float:
        """How often the last of the best itemsets of chunks is in them, and so in any possible original."""
        rows, terms = self.release.forest.rows, len(self.release.vocabulary)
        best = mine_records(rows.offsets, rows.items, terms, wanted._replace(least=1), weights=rows.counts)
        return float(best.counts[-1]) if len(best.counts) == wanted.top else 0.0

    def singles(self) -> Evaluated:
        """The terms."""
        terms = np.arange(len(self.release.vocabulary), dtype=np.int32)[:, None]
        return self._kept(terms, np.full(len(terms), np.inf))

    def pairs(self, terms: Terms) -> Evaluated:
        """The pairs of some terms, whose codes rise."""
        starts = range(0, len(terms), _BLOCK)
        blocks = [
            self._all_pairs(terms[first : first + _BLOCK], terms[second : second + _BLOCK])
            for first in starts
            for second in (range(first, len(terms), _BLOCK) if len(starts) > 1 else [first])
        ]
        codes, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return self._kept(codes, values)

    def _all_pairs(self, one: Terms, other: Terms) -> Evaluated:
        both = np.union1d(one, other).astype(np.int32)
        values = _rounded(expected_of_pairs(self.release, both, self.expects))
        is_new = np.triu(np.ones(values.shape, np.bool_), 1)
        if one[0] != other[0]:
            is_new[:, : len(one)] = False  # both of one block, which is looked at on its own
            is_new[len(one) :] = False
        found = np.argwhere(is_new & (values >= self.least))
        codes = both[found]
        if self.by == "expected":
            return Evaluated(codes, values[found[:, 0], found[:, 1]])
        if _PAIRS * len(codes) > np.count_nonzero(is_new):
            return Evaluated(codes, bounds_of_pairs(self.release, both)[0][found[:, 0], found[:, 1]].astype(np.float64))
        return Evaluated(codes, self._certain_of(codes))

    def larger(self, level: Evaluated) -> Evaluated:
        """Itemsets of one term more, all of whose parts are frequent."""
        is_kept = level.values >= self.least
        kept = Evaluated(level.codes[is_kept], level.values[is_kept])
        codes, most = _joined(kept, len(self.release.vocabulary))
        if self.by == "lower":  # expectations of all take as long as bounds of a few
            most = np.minimum(most, self._expected(codes))
        return self._kept(codes, most)

    def _kept(self, codes: NDArray[np.int32], most: NDArray[np.float64]) -> Evaluated:
        """Of candidates, those that have what it takes; ``most`` is what each can have.

        The most promising come first: they raise what it takes, and most of the others need not be evaluated.
        """
        order = np.lexsort((*codes.T[::-1], -most))
        values = np.full(len(codes), -1.0)
        size = max(_BATCH, self.top // 8) if self.top else _LARGE_BATCH
        for start in range(0, len(codes), size):
            batch = order[start : start + size]
            batch = batch[most[batch] >= self.least]
            if len(batch) == 0:
                break
            values[batch] = self._values(codes[batch], most[batch])
            self._take_note(values[batch])
        kept = np.flatnonzero(values >= self.least)
        kept = kept[np.lexsort(codes[kept].T[::-1])]
        return Evaluated(codes[kept], values[kept])

    def _take_note(self, values: NDArray[np.float64]) -> None:
        if self.top:
            self.best = np.concatenate([self.best, values[values >= self.least]])
            self.least = max(self.least, _last_of_top(self.best, self.top))
            self.best = self.best[self.best >= self.least]

    def _values(self, codes: NDArray[np.int32], most: NDArray[np.float64]) -> NDArray[np.float64]:
        if codes.shape[1] == 2:
            return most  # pairs come evaluated, all at once
        return self._certain_of(codes) if self.by == "lower" else self._expected(codes)

    def _certain_of(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        return bounds_of(self.release, *_listed(codes))[0].astype(np.float64)

    def _expected(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        if self.expects == EMPIRICAL_BAYES:  # which looks up bounds of those only that may have what it takes
            least = self.least - 10.0**-_DIGITS
            return _rounded(self.release._estimator.expected(*_listed(codes), least))
        return _rounded(expected_of(self.release, *_listed(codes), self.expects))


def _listed(codes: NDArray[np.int32]) -> tuple[Offsets, Terms]:
    """Itemsets of one size behind each other."""
    return np.arange(len(codes) + 1) * codes.shape[1], codes.ravel()


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(values, _DIGITS)


def _last_of_top(values: NDArray[np.float64], top: int) -> float:
    """The value that the best so many reach; 0 if there are fewer."""
    return float(np.partition(values, len(values) - top)[len(values) - top]) if len(values) >= top else 0.0


def _joined(level: Evaluated, terms: int) -> Evaluated:
    """Every itemset of one term more all of whose parts are there, and the least value of its parts.

    Each is made of two that differ in their last terms only.
    """
    codes, values = level
    size = codes.shape[1]
    if len(codes) < 2:
        return Evaluated(np.empty((0, size + 1), np.int32), np.empty(0))
    starts = np.append(True, (codes[1:, :-1] != codes[:-1, :-1]).any(axis=1))
    ends = np.append(np.flatnonzero(starts)[1:], len(codes))[np.cumsum(starts) - 1]
    partners = ends - np.arange(len(codes)) - 1
    first = np.repeat(np.arange(len(codes)), partners)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
    candidates = np.column_stack([codes[first], codes[second, -1]])
    least = np.minimum(values[first], values[second])
    prefixes = _prefix_numbers(codes)
    keys = [prefixes[place] * terms + codes[:, place] for place in range(size)]
    for left_out in range(size - 1):  # the parts without one of the last two are what it is made of
        number, at = np.zeros(len(candidates), np.int64), np.zeros(len(candidates), np.int64)
        for place, column in enumerate(np.delete(np.arange(size + 1), left_out)):
            key = number * terms + candidates[:, column]
            at = np.minimum(np.searchsorted(keys[place], key), len(codes) - 1)
            least[keys[place][at] != key] = -1.0
            number = prefixes[place + 1][at]
        least = np.minimum(least, values[at])
    return Evaluated(candidates[least >= 0], least[least >= 0])


def _prefix_numbers(codes: NDArray[np.int32]) -> list[Ids]:
    """For each length from 0, which of the distinct beginnings of that length each row has; rows are in order."""
    numbers: list[Ids] = [np.zeros(len(codes), np.int64)]
    is_new = np.zeros(len(codes), np.bool_)
    for column in codes.T:
        is_new[1:] |= column[1:] != column[:-1]
        numbers.append(np.cumsum(is_new))
    return numbers


def _in_order(levels: list[Evaluated], least: float, top: int) -> Chosen:
    """What was found on all levels, less what others have pushed out since."""
    longest = max(level.codes.shape[1] for level in levels)
    padded = [
        np.pad(level.codes, ((0, 0), (0, longest - level.codes.shape[1])), constant_values=-1) for level in levels
    ]
    codes, values = np.concatenate(padded), np.concatenate([level.values for level in levels])
    codes, values = codes[values >= least], values[values >= least]
    sizes = (codes >= 0).sum(axis=1)
    order = np.lexsort((*codes.T[::-1], sizes, -values))
    order = order[:top] if top else order
    codes = codes[order]
    offsets = np.append(0, np.cumsum(sizes[order]))
    return Chosen(CodedItemsets(offsets, codes[codes >= 0], np.zeros(len(order), np.int64)), values[order])
