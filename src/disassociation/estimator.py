"""Expected supports by empirical Bayes: what a release tells about itself beyond its chunks (docs/estimates.md).

Nothing is read but the release. Two things that term chunks hide are guessed from leaves that are alike: in how many
records of its leaf a term is, and how often two terms of a leaf share a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._types import Ids, Offsets, Terms

if TYPE_CHECKING:
    from disassociation._kernels.presence import Holdings
    from disassociation.release import Release

__all__ = ["Estimator", "Learned", "fit", "fit_release"]

# What follows is the same for all data; docs/estimates.md, section 3.6, says what it was chosen on.
BLOCKS = (4096, 256, 32, 8)  # leaves of a block within which a term is about equally frequent, one inside the other
STRENGTHS = (2.0, 2.0, 8.0, 16.0)  # the rate of the block around it is as sure as if so many leaves had told it
AGAIN = 0.01  # a record has a term that another of its leaf has so much likelier than a record of leaves like it
NEIGHBOURS = 16  # leaves of a block within which two terms meet as often as chance in one leaf has it ...
ALIKE = 1.065  # ... but for this: a leaf is a little more like itself than like its neighbours
GRID = np.concatenate([[0.0], np.geomspace(0.05, 300, 32)])  # lifts
EDGES = np.geomspace(0.05, 300, 12)  # of how often pairs meet by chance: pairs between two edges have one prior
FITTED_TERMS, FITTED_PAIRS, ROUNDS = 1024, 8192, 60
BATCH = 1 << 22  # places in itemsets, each times their size, that are looked at together


@dataclass(frozen=True, slots=True, eq=False)
class Estimator:
    """Expected supports in a release under the model "empirical-bayes"; immutable.

    Itemsets are given in codes, as for :func:`disassociation.support.bounds_of`.
    """

    release: Release
    counts: NDArray[np.float64]  # (entries,) expected records with the term: published but for term chunks
    alone: NDArray[np.float64]  # (terms,) expected records with each term
    records: float  # of an average leaf
    learned: Learned

    @property
    def hidden_counts(self) -> NDArray[np.float64]:
        """(terms of term chunks,) expected records with each, leaf after leaf."""
        return self.counts[self.release._ground.scene.entries.firsts < 0]

    def expected_pairs(self, codes: Terms) -> NDArray[np.float64]:
        """The records expected to hold each two of some terms, whose codes rise; each term on the diagonal.

        Takes time in proportion to what blocks of leaves hold of these terms two at a time. Unlike `expected`, it does
        not look at bounds, which takes longer than all the rest.

        Examples:
            >>> import disassociation as da, numpy as np
            >>> data = [["a", "b"]] * 4 + [["a", "c"], ["a", "c", "d"], ["b", "d"], ["c", "d"]]
            >>> pairs = fit(da.disassociate(data, k=4, m=2)).expected_pairs(np.arange(4))
            >>> pairs[:2, :2].tolist()
            [[6.0, 4.0], [4.0, 5.0]]
        """
        from disassociation._kernels.coupling import couple_pairs
        from disassociation._kernels.presence import gather_holdings
        from disassociation.support import INDEPENDENT, expected_of_pairs

        release, codes = self.release, np.ascontiguousarray(codes, np.int32)
        pairs = expected_of_pairs(release, codes, INDEPENDENT)
        order = np.argsort(-self.alone[codes], kind="stable")  # what is asked for most stays in the processor's cache
        holdings = gather_holdings(release._ground.scene, self.counts, codes[order])
        met, chance = _meetings(holdings, release.forest.sizes, len(codes))
        above = np.triu_indices(len(codes), 1)
        met[above] = self._lifts(met[above], chance[above])
        more = np.zeros_like(pairs)
        couple_pairs(holdings, release.forest.sizes, met, AGAIN, _shared_from(release), more)
        more += more.T
        places = np.argsort(order)
        pairs += more[np.ix_(places, places)]
        np.fill_diagonal(pairs, self.alone[codes])
        return np.maximum(pairs, 0.0)

    def expected(self, offsets: Offsets, codes: Terms, least: float = 0.0) -> NDArray[np.float64]:
        """The records expected to hold each of many itemsets, within their bounds, if they may be `least` or more.

        Takes time in proportion to the leaves that have either term of a pair, for each pair in an itemset.

        Examples:
            >>> import disassociation as da, numpy as np
            >>> data = [["a", "b"]] * 4 + [["a", "c"], ["a", "c", "d"], ["b", "d"], ["c", "d"]]
            >>> estimator = fit(da.disassociate(data, k=4, m=2))
            >>> estimator.expected(np.array([0, 1, 3]), np.array([0, 0, 1], np.int32)).tolist()
            [6.0, 4.0]
        """
        from disassociation.support import bounds_of, checked, some_of

        offsets, codes = checked(self.release, offsets, codes)
        sizes, firsts = np.diff(offsets), np.append(codes, np.int32(-1))[offsets[:-1]]
        expected = np.where(sizes == 0, float(self.release.records), 0.0)  # nothing of terms that it does not have
        single = np.flatnonzero((firsts >= 0) & (sizes == 1))
        expected[single] = self.alone[firsts[single]]
        most = expected.copy()
        for size in np.unique(sizes[sizes > 1]).tolist():
            chosen = np.flatnonzero((firsts >= 0) & (sizes == size))
            step = max(1, BATCH // size**2)
            for some in np.split(chosen, range(step, len(chosen), step)):
                expected[some], plain = self._coupled(codes[offsets[some, None] + np.arange(size)])
                # Independence is within the bounds, so nothing is raised beyond it. Bounds take the longest of all.
                most[some] = np.maximum(expected[some], plain)
        may_be = most >= least
        expected[may_be] = np.clip(expected[may_be], *bounds_of(self.release, *some_of(offsets, codes, may_be)))
        return expected

    def _coupled(self, itemsets: NDArray[np.int32]) -> NDArray[np.float64]:
        """Expected supports of itemsets of the same size, a row each, two terms or more; and by independence."""
        from disassociation._kernels.coupling import couple_itemsets
        from disassociation.support import is_worth_a_walk

        release, expected = self.release, np.empty((2, len(itemsets)))
        numbers, lifts = self._lifts_within(itemsets)
        if not is_worth_a_walk(release, itemsets):
            expected[:] = couple_itemsets(release._ground, release._law, self.counts, lifts[numbers], AGAIN, itemsets)
            return expected
        from disassociation._kernels.level_coupling import couple_level

        order = np.lexsort(itemsets.T[::-1])
        parts = np.ascontiguousarray(itemsets[order]), np.ascontiguousarray(numbers[order])
        expected[:, order] = couple_level(release._ground, release._law, self.counts, *parts, lifts, AGAIN)
        return expected

    def _lifts_within(self, itemsets: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """For the pairs of each itemset, in order, their numbers among all pairs, and the lifts of these."""
        from disassociation._kernels.pair_meetings import list_postings, meet_pairs
        from disassociation._kernels.presence import gather_holdings

        release = self.release
        terms, ranks = np.unique(itemsets, return_inverse=True)
        ranks = ranks.reshape(itemsets.shape)
        one, other = (ranks[:, places] for places in np.triu_indices(itemsets.shape[1], 1))
        keys, numbers = np.unique(one * len(terms) + other, return_inverse=True)
        pairs = np.stack(np.divmod(keys, len(terms)), axis=1)
        holdings = gather_holdings(release._ground.scene, self.counts, terms)
        postings = list_postings(holdings, release.forest.sizes, NEIGHBOURS, len(terms))
        met, chance = np.empty(len(pairs)), np.empty(len(pairs))
        meet_pairs(postings, NEIGHBOURS, pairs, met, chance)
        return numbers.reshape(one.shape).astype(np.int32), self._lifts(met, chance)

    def _lifts(self, met: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much likelier than by chance the terms of each pair are on one record, from how often they meet."""
        return _infer(met, chance, self.learned.weights, self.records)


class Learned(NamedTuple):
    """What only looking at all leaves tells, and what little of it there is to keep."""

    weights: NDArray[np.float64]  # (bins, lifts) the prior of the lift of pairs that meet so often by chance
    fitted: Terms  # codes, rising, of the terms that are in the most term chunks
    lifts: NDArray[np.float32]  # (fitted, fitted) of each two of them


def fit(release: Release, path: str | PathLike[str] | None = None) -> Estimator:
    """What the model "empirical-bayes" learns from a release; once for each release in memory.

    With a path, it is taken from that file if there is one, and otherwise kept there for the next time.

    Near-linear: one second for a million records.

    Raises:
        FormatError: The file holds something else, or what was learned from another release.
        GuaranteeError: The release has no possible original.

    Examples:
        >>> import disassociation as da
        >>> release = da.disassociate(da.generate_quest(records=2_000, terms=200, mean_length=6), k=5, m=2)
        >>> fit(release) is fit(release)
        True
    """
    if path is not None:
        from disassociation.estimator_file import read_learned, write_learned

        if Path(path).exists():
            learned = read_learned(release, path)
            if "_estimator" not in vars(release):
                vars(release)["_estimator"] = fit_release(release, learned)
        else:
            write_learned(release._estimator, path)
    return release._estimator


def fit_release(release: Release, learned: Learned | None = None) -> Estimator:
    """The same, always anew, but for what was kept."""
    from disassociation._kernels.law import expected_fill
    from disassociation._kernels.term_counts import expected_counts

    scene = release._ground.scene
    counts = expected_counts(scene, release.forest.sizes, release.k - 1, np.array(BLOCKS), np.array(STRENGTHS), AGAIN)
    fill = expected_fill(release._ground, release._law.mixed, counts)
    is_hidden = scene.entries.firsts < 0
    by_leaf = np.empty_like(fill)
    by_leaf[scene.leaf_at] = fill
    alone = release._ground.least.astype(np.float64)
    more = counts[is_hidden] - 1 + np.repeat(by_leaf, np.diff(release.forest.term_offsets))
    alone += np.bincount(scene.entries.terms[is_hidden], more, len(alone))
    records = max(release.records / release.leaves, 2.0)
    learned = learned or _learn(release, counts, records)
    for array in (counts, alone, *learned):
        array.flags.writeable = False
    return Estimator(release, counts, alone, records, learned)


def _learn(release: Release, counts: NDArray[np.float64], records: float) -> Learned:
    """The prior of lifts, and the lifts of the terms it is fitted to."""
    from disassociation._kernels.presence import gather_holdings

    scene = release._ground.scene
    hidden = scene.entries.terms[scene.entries.firsts < 0]
    frequent = np.bincount(hidden, minlength=len(release.vocabulary))
    fitted = np.argsort(-frequent, kind="stable")[:FITTED_TERMS].astype(np.int32)
    order = np.argsort(fitted)
    met, chance = _meetings(gather_holdings(scene, counts, fitted), release.forest.sizes, len(fitted))
    met, chance = ((each + each.T)[np.ix_(order, order)] for each in (met, chance))
    fitted, above = fitted[order], np.triu_indices(len(fitted), 1)
    weights = _prior(met, chance, records)
    lifts = np.ones(met.shape, np.float32)
    lifts[above] = _infer(met[above], chance[above], weights, records)
    lifts.T[above] = lifts[above]
    return Learned(weights, fitted, lifts)


def _infer(
    met: NDArray[np.float64], chance: NDArray[np.float64], weights: NDArray[np.float64], records: float
) -> NDArray[np.float64]:
    from disassociation._kernels.lifts import infer_lifts

    lifts = met.copy()
    infer_lifts(lifts, ALIKE * chance, GRID, EDGES, weights, records)
    return lifts


def _shared_from(release: Release) -> int:
    """Where the rows of joint clusters begin."""
    return int(release.forest.rows.cluster_offsets[release.leaves])


def _meetings(holdings: Holdings, sizes: Ids, terms: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """In how many leaves each two terms meet, and would by chance alone, (terms, terms), above the diagonal."""
    from disassociation._kernels.presence import meet_in_leaves

    met, chance = np.zeros((terms, terms)), np.zeros((terms, terms))
    meet_in_leaves(holdings, sizes, NEIGHBOURS, met, chance)
    return met, chance


def _prior(met: NDArray[np.float64], chance: NDArray[np.float64], records: float) -> NDArray[np.float64]:
    """The weights of the grid's lifts, for the pairs of each bin; even ones where there are no pairs."""
    from disassociation._kernels.lifts import spread_lifts

    above = np.triu_indices(len(met), 1)
    met, chance = met[above], ALIKE * chance[above]
    weights = np.full((len(EDGES) + 1, len(GRID)), 1 / len(GRID))
    bins = np.searchsorted(EDGES, chance)
    for number in range(len(weights)):
        pairs = np.flatnonzero(bins == number)
        if len(pairs):
            pairs = pairs[:: -(-len(pairs) // FITTED_PAIRS)]
            spread_lifts(met[pairs], chance[pairs], GRID, records, ROUNDS, weights[number])
    return weights
