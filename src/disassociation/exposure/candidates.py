"""Linkage: how many records of a release may be the victim's, for someone who knows some of her terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels.candidates import count_candidates
from disassociation._kernels.raw_records import Postings, count_records
from disassociation._kernels.scene import Scene
from disassociation.exposure.known_terms import in_shares

__all__ = ["Counted", "Linkage", "count_everywhere", "link"]


@dataclass(frozen=True, slots=True)
class Counted:
    """How many candidate records victims have."""

    least: int
    low: int  # 99 % of the victims have as many or more
    median: int
    below_k: float  # share of the victims with fewer than k
    chance: float  # of picking the right one if all are equally likely: 1 / candidates, on average

    @classmethod
    def of(cls, candidates: NDArray[np.int64], k: int) -> Counted:
        """The figures, the same whatever the victims' order; one without a candidate is pinned down and never found."""
        low, median = np.quantile(candidates, [0.01, 0.5], method="inverted_cdf").tolist()
        chances = np.divide(1.0, candidates, out=np.zeros(len(candidates)), where=candidates > 0)
        return cls(
            int(candidates.min()), int(low), int(median), float((candidates < k).mean()), float(np.sort(chances).mean())
        )


@dataclass(frozen=True, slots=True)
class Linkage:
    """What knowing so many terms is worth, in the release and (`raw`) in the records as they were.

    Candidates in the release are the records that hold all known terms in the possible world that has the most: in each
    leaf just as many, in all leaves together just as many or, rarely, fewer (``_kernels/leaf_search.py`` has the rules
    and says for which releases that is so). In the records as they were they are those that hold the terms.
    """

    strategy: str
    terms: int  # how many are known; of a victim who has fewer, all
    release: Counted
    least_in_leaf: int  # fewest candidates in any leaf that has some; at least k for up to m terms
    best_guess: float  # chance of the likeliest one, as he sees it who takes chunks to be independent, on average
    raw: Counted


def count_everywhere(
    scene: Scene, known: NDArray[np.int32], threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each victim and set of known terms: candidates, the fewest in a leaf that has some, the best guess."""
    parts = in_shares(lambda start, stop: count_candidates(scene, known[start:stop]), len(known), threads)
    candidates, fewest, guesses = zip(*parts, strict=True)
    return np.concatenate(candidates), np.concatenate(fewest), np.concatenate(guesses)


def link(
    strategy: str, scene: Scene, postings: Postings, records: int, k: int, known: NDArray[np.int32], threads: int
) -> tuple[Linkage, ...]:
    """The curve over how many terms are known."""
    candidates, fewest, guesses = count_everywhere(scene, known, threads)
    parts = in_shares(lambda start, stop: count_records(postings, records, known[start:stop]), len(known), threads)
    raw = np.concatenate(parts)
    return tuple(
        Linkage(
            strategy,
            i + 1,
            Counted.of(candidates[:, i], k),
            int(fewest[:, i].min(where=fewest[:, i] > 0, initial=fewest.max())),
            float(np.sort(guesses[:, i]).mean()),
            Counted.of(raw[:, i], k),
        )
        for i in range(known.shape[1])
    )
