"""What a release is still good for, measured against the records it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation import metrics
from disassociation._kernels.ancestors import keep_terms
from disassociation._types import Ids
from disassociation.errors import ParameterError
from disassociation.formats import read
from disassociation.hierarchy import Hierarchy, Lines, read_hierarchy
from disassociation.itemsets import CodedItemsets, Wanted
from disassociation.metrics import Counted
from disassociation.params import require_whole
from disassociation.reconstruct import Originals, check_draw
from disassociation.records import Transactions
from disassociation.release import Release
from disassociation.release_itemsets import mine_release
from disassociation.release_reader import open_release
from disassociation.support import INDEPENDENT, MODELS, expected_of_pairs

if TYPE_CHECKING:
    from disassociation._types import Terms

__all__ = ["Averaged", "Expected", "Figures", "Spread", "Utility", "check_options", "evaluate"]

_AVERAGED = (1, 2, 5, 10)
_MOST_RECONSTRUCTIONS = 1000
_MOST_ITEMSETS = 1_000_000
_LISTED = 2  # times as many itemsets are found of each reconstruction as are compared: that tells the best of several

Progress = Callable[[str], None]


class Spread(NamedTuple):
    """A figure over several draws."""

    mean: float
    deviation: float | None  # standard deviation between draws; None of one draw

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Mean and sample standard deviation."""
        drawn = list(values)
        return cls(float(np.mean(drawn)), float(np.std(drawn, ddof=1)) if len(drawn) > 1 else None)


class Figures(NamedTuple):
    """tKd, and re of each window; None where no pair of the window is in any record."""

    tkd: float
    re: tuple[float | None, ...]


class Expected(NamedTuple):
    """tKd and re of the supports that a model expects."""

    model: str
    tkd: float
    re: tuple[float | None, ...]


class Averaged(NamedTuple):
    """tKd and re of supports that are averaged over some reconstructions."""

    reconstructions: int  # averaged over
    draws: int  # how often that was done, each time with other reconstructions
    tkd: Spread
    re: tuple[Spread | None, ...]  # one for each window


@dataclass(frozen=True, slots=True, repr=False)
class Utility:
    """How much of the records a release keeps; made by :func:`evaluate`. docs/metrics.md explains each number.

    Printed, it is a table. It holds nothing of the data but numbers.

    Examples:
        >>> import disassociation as da
        >>> data = da.read([["bread", "milk"]] * 4 + [["bread", "gin"], ["milk", "gin"]])
        >>> found = da.evaluate(data, da.disassociate(data, k=2, m=2), reconstructions=2)
        >>> found.tlost, found.pair_retention, round(found.in_chunks.tkd, 3)
        (0.0, 1.0, 0.333)
        >>> found.windows[0], found.in_chunks.re[0], found.in_chunks.re[1]
        ((0, 20), 1.3333333333333333, None)
    """

    records: int
    terms: int
    k: int
    m: int
    top: int  # itemsets that were asked for
    itemsets: int  # itemsets of the records that there are, up to so many
    random_state: int
    model: str  # that reconstructions are drawn by
    in_chunks: Figures  # tKd-a and re-a: what is certain, in record and shared chunks
    expected: tuple[Expected, ...]  # of expected supports by each model there is, which need no reconstruction
    averaged: tuple[Averaged, ...]  # over 1, 2, 5, 10 reconstructions
    tkd_ml2: Spread | None  # of single reconstructions; None without a hierarchy
    tlost: float  # of the terms in more than k records, the share that is in no chunk but term chunks
    pair_retention: float  # of the co-occurrence of pairs in at least k records, the share inside chunks

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """The ranks of the terms whose pairs each relative error is of."""
        return metrics.WINDOWS

    def to_dict(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "records": self.records,
            "terms": self.terms,
            "k": self.k,
            "m": self.m,
            "top": self.top,
            "itemsets": self.itemsets,
            "random_state": self.random_state,
            "model": self.model,
            "tkd_a": self.in_chunks.tkd,
            "re_a": _by_window(self.in_chunks.re),
            "expected": {each.model: {"tkd": each.tkd, "re": _by_window(each.re)} for each in self.expected},
            "averaged": [
                {
                    "reconstructions": each.reconstructions,
                    "draws": each.draws,
                    "tkd": each.tkd._asdict(),
                    "re": _by_window([spread and spread._asdict() for spread in each.re]),
                }
                for each in self.averaged
            ],
            "tkd_ml2": self.tkd_ml2 and self.tkd_ml2._asdict(),
            "tlost": self.tlost,
            "pair_retention": self.pair_retention,
        }

    def __repr__(self) -> str:
        from disassociation._utility_table import utility_table

        return utility_table(self)


def _by_window(values: Iterable[Any]) -> dict[str, Any]:
    return {f"{first}-{stop}": value for (first, stop), value in zip(metrics.WINDOWS, values, strict=True)}


def evaluate(
    original: Any,
    release: Release | str | PathLike[str],
    *,
    hierarchy: Hierarchy | str | PathLike[str] | None = None,
    reconstructions: int = 10,
    random_state: int = 0,
    model: str = INDEPENDENT,
    top: int = 1000,
    progress: Progress | None = None,
) -> Utility:
    """Compare a release with the records it was made from, by the measures of the paper's sections 6 and 7.1.

    Args:
        original: Transactions, or anything :func:`disassociation.read` takes.
        release: What was made from them, or the path of its directory.
        hierarchy: A tree over the terms, or the path of its file (see :mod:`disassociation.hierarchy`), for tKd-ML2.
        reconstructions: Draw so many possible originals, 0 for none. tKd and re are given for supports averaged over 1,
            2, 5, 10 and all of them, as often as they can be divided into so many, with the spread between.
        random_state: The first of the numbers that they are drawn with.
        model: The law that they are drawn by, independent as in the paper or empirical-bayes. Expected supports are
            compared for both.
        top: How many itemsets tKd compares.
        progress: Is told what is being done.

    Raises:
        ParameterError: The release was not made from these records, or the hierarchy lacks some of their terms.
        GuaranteeError: The release has no possible original.

    Examples:
        >>> import disassociation as da
        >>> data = da.generate_quest(2000, terms=200, random_state=1)
        >>> found = da.evaluate(data, da.disassociate(data, k=5, m=2), reconstructions=1, top=100)
        >>> found.expected[0].model, found.expected[0].tkd < found.in_chunks.tkd
        ('independent', True)
    """
    check_options(reconstructions, random_state, top, model)
    data = read(original)
    opened = release if isinstance(release, Release) else open_release(Path(release))
    _check_pair(data, opened)
    tree = hierarchy if isinstance(hierarchy, Hierarchy) or hierarchy is None else read_hierarchy(hierarchy)
    lines = None if tree is None else tree.lines_of(data.vocabulary)
    draws = _Draws(reconstructions, random_state, model, progress or (lambda _step: None))
    return _compare(data, opened, lines, draws, top)


class _Draws(NamedTuple):
    """Which possible originals to draw, and who is told."""

    total: int
    first: int  # the number that the first one is drawn with
    model: str
    tell: Progress


def _compare(data: Transactions, release: Release, lines: Lines | None, draws: _Draws, top: int) -> Utility:
    """Measure a release that was made from these records."""
    draws.tell("comparing what is in chunks")
    records = metrics.coded(data, release.vocabulary)
    rows = release.forest.rows
    chunks = Counted(rows.offsets, rows.items, rows.counts)
    truth = _Truth.of(records, data.supports, top, lines)
    certain = metrics.top_itemsets(chunks, top)
    is_in_chunk = np.bincount(rows.items, minlength=len(data.vocabulary)) > 0
    draws.tell("comparing what is expected")
    expected = tuple(Expected(model, *truth.expected(release, model)) for model in MODELS)
    averaged, multilevel = truth.drawn(release, draws, certain)
    return Utility(
        records=len(data),
        terms=len(data.vocabulary),
        k=release.k,
        m=release.m,
        top=top,
        itemsets=len(truth.best.counts),
        random_state=draws.first,
        model=draws.model,
        in_chunks=truth.figures(certain, metrics.window_supports(chunks, truth.windows)),
        expected=expected,
        averaged=averaged,
        tkd_ml2=multilevel,
        tlost=metrics.terms_lost(data.supports, is_in_chunk, release.k),
        pair_retention=metrics.pair_retention(records, chunks, release.k),
    )


def check_options(reconstructions: int, random_state: int, top: int, model: str) -> None:
    """Refuse what cannot be, before anything is read."""
    require_whole("reconstructions", reconstructions, 0, _MOST_RECONSTRUCTIONS)
    require_whole("top", top, 1, _MOST_ITEMSETS)
    check_draw(random_state, model)


def _check_pair(data: Transactions, release: Release) -> None:
    if len(data) != release.records:
        raise ParameterError(
            f"the release is of {release.records:,} records, and these are {len(data):,}; give those it was made from"
        )
    if not data.vocabulary.equals(release.vocabulary):
        raise ParameterError("the release does not have the terms of these records; give those it was made from")


@dataclass(frozen=True, slots=True)
class _Truth:
    """What the original has, to compare with."""

    best: CodedItemsets
    windows: list[Terms]
    pairs: Ids
    lines: Lines | None
    best_multilevel: CodedItemsets | None
    top: int

    @classmethod
    def of(cls, records: Counted, supports: Ids, top: int, lines: Lines | None) -> _Truth:
        windows = metrics.find_windows(supports)
        multilevel = lines and metrics.multilevel_itemsets(records, lines, top)
        pairs = metrics.window_supports(records, windows)
        return cls(metrics.top_itemsets(records, top), windows, pairs, lines, multilevel, top)

    def figures(self, published: CodedItemsets, pairs: NDArray[Any]) -> Figures:
        return Figures(metrics.top_deviation(self.best, published), metrics.relative_errors(self.pairs, pairs))

    def expected(self, release: Release, model: str) -> Figures:
        """Of expected supports: the itemsets of the release that are expected most often, and the expected pairs."""
        best = mine_release(release, Wanted(1, self.top, metrics.LONGEST), model=model).itemsets
        pairs = np.zeros(self.pairs.shape)
        for window, codes in enumerate(self.windows):
            order = np.argsort(codes)
            pairs[window][np.ix_(order, order)] = expected_of_pairs(release, codes[order], model)
        return self.figures(best, pairs)

    def drawn(
        self, release: Release, draws: _Draws, certain: CodedItemsets
    ) -> tuple[tuple[Averaged, ...], Spread | None]:
        """Figures over reconstructions, of which only one is held at a time."""
        if draws.total == 0:
            return (), None
        originals, terms = Originals.of(release, draws.model), len(release.vocabulary)
        drawn, multilevel = [], []
        for done, number in enumerate(range(draws.first, draws.first + draws.total), 1):
            draws.tell(f"reconstruction {done:,} of {draws.total:,}")
            world = _world(originals, number)
            pairs, supports = metrics.window_supports(world, self.windows), np.bincount(world.items, minlength=terms)
            drawn.append(_Drawn(number, metrics.top_itemsets(world, _LISTED * self.top), pairs, supports))
            if self.lines is not None and self.best_multilevel is not None:
                found = metrics.multilevel_itemsets(world, self.lines, self.top)
                multilevel.append(metrics.top_deviation(self.best_multilevel, found))
        draws.tell("comparing reconstructions")

        def best_of(some: list[_Drawn]) -> CodedItemsets:
            best = metrics.top_of_all([each.listed for each in some], _LISTED * self.top, self.top)
            if best is None:
                # What is certain of the last of the best is what the last of any world's best has at least.
                least = int(certain.counts[-1]) if len(certain.counts) == self.top else 0
                is_kept = np.max([each.supports for each in some], axis=0) >= least
                worlds = [_only(_world(originals, each.number), is_kept) for each in some]
                best = metrics.top_itemsets(_together(worlds), self.top)
            return best

        sizes = sorted({size for size in (*_AVERAGED, draws.total) if size <= draws.total})
        averaged = tuple(self._averaged([drawn[part] for part in _parts(len(drawn), size)], best_of) for size in sizes)
        return averaged, Spread.of(multilevel) if multilevel else None

    def _averaged(self, parts: list[list[_Drawn]], best_of: Callable[[list[_Drawn]], CodedItemsets]) -> Averaged:
        size = len(parts[0])
        draws = [self.figures(best_of(part), np.sum([each.pairs for each in part], axis=0) / size) for part in parts]
        errors = [[each for each in window if each is not None] for window in zip(*(d.re for d in draws), strict=True)]
        spreads = tuple(Spread.of(window) if window else None for window in errors)
        return Averaged(size, len(draws), Spread.of(draw.tkd for draw in draws), spreads)


class _Drawn(NamedTuple):
    """What is kept of a reconstruction; it can be drawn again."""

    number: int
    listed: CodedItemsets  # its best itemsets, more of them than are compared
    pairs: Ids  # of windows
    supports: Ids  # of terms


def _world(originals: Originals, number: int) -> Counted:
    """A reconstruction, its records not shuffled: that takes longer than to draw them, and nothing depends on it."""
    return Counted(*originals.leaf_by_leaf(number), np.empty(0, np.int32))


def _parts(count: int, size: int) -> Iterator[slice]:
    """As many runs of so many as there are, without overlap."""
    return (slice(start, start + size) for start in range(0, count - size + 1, size))


def _only(world: Counted, is_kept: NDArray[np.bool_]) -> Counted:
    offsets, items = keep_terms(world.offsets, world.items, is_kept)
    return Counted(offsets, items, np.empty(0, np.int32))


def _together(worlds: list[Counted]) -> Counted:
    """The records of several reconstructions as those of one: supports add up."""
    if len(worlds) == 1:
        return worlds[0]
    begins = np.cumsum(np.array([0] + [len(world.items) for world in worlds], np.int64))
    offsets = [world.offsets[:-1] + begin for world, begin in zip(worlds, begins, strict=False)]
    items = np.concatenate([world.items for world in worlds])
    return Counted(np.concatenate([*offsets, begins[-1:]]), items, np.empty(0, np.int32))
