"""Re-joining: which terms of a leaf's term chunk were in one record, guessed from what is known of such pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels.raw_records import Postings, posting_lists
from disassociation._kernels.scene import Scene
from disassociation._kernels.term_pairs import count_meetings, join_pairs
from disassociation._types import Flags
from disassociation.exposure.known_terms import in_shares
from disassociation.generators._assemble import seeded
from disassociation.records import Transactions
from disassociation.release import Release

__all__ = ["Guess", "Rejoining", "guess_pairs"]

_NEIGHBOURS = 8  # leaves on each side
_TOP = 0.1


@dataclass(frozen=True, slots=True)
class Guess:
    """How well one kind of knowledge tells pairs that were together from those that were not."""

    knowledge: str  # nothing; neighbours: the release alone; public: in how many records of the data pairs are
    auc: float | None  # chance that a pair that was together scores higher than one that was not; None if all are alike
    top: float  # share of the tenth with the highest scores that was together


@dataclass(frozen=True, slots=True)
class Rejoining:
    """Guessing which pairs of terms of one term chunk were in one record of the leaf.

    A release does not say which records are in a leaf. A pair counts as having been together if some record of the
    original holds both and nothing that the leaf cannot have; that is an upper bound, for this record may have been in
    another leaf. Pairs are drawn from leaves with two terms or more in their term chunk, leaves equally likely.

    Scores: of *neighbours*, in how many term chunks of the release both terms are, less in how many they would meet by
    accident, to judge from how often one is in the eight leaves on each side of the other's. Of *public*, the records
    of the original that hold both over the geometric mean of those that hold each: the strongest prior there is, as
    it has seen the very records.
    """

    pairs: int
    together: float  # share that was, at most
    guesses: tuple[Guess, ...]


def guess_pairs(
    release: Release,
    scene: Scene,
    postings: Postings,
    data: Transactions,
    pairs: int,
    random_state: int,
    threads: int,
) -> Rejoining | None:
    """Draw pairs, guess, compare; None if no term chunk has two terms."""
    forest = release.forest
    sizes = np.diff(forest.term_offsets)
    several = np.flatnonzero(sizes > 1)
    if len(several) == 0:
        return None
    uniform = seeded(random_state + 2).random((3, pairs))
    leaves = several[(uniform[0] * len(several)).astype(np.int64)]
    first = (uniform[1] * sizes[leaves]).astype(np.int64)
    second = (uniform[2] * (sizes[leaves] - 1)).astype(np.int64)
    second += second >= first
    start = forest.term_offsets[leaves]
    drawn = np.stack([forest.terms[start + first], forest.terms[start + second]], axis=1)
    positions = np.empty(release.leaves, np.int64)
    positions[scene.leaf_at] = np.arange(release.leaves)
    in_term_chunks = posting_lists(forest.term_offsets, forest.terms, len(release.vocabulary))

    def look_at(start: int, stop: int) -> tuple[NDArray[Any], ...]:
        some = drawn[start:stop]
        return (
            *join_pairs(scene, data.offsets, data.items, postings, positions[leaves[start:stop]], some),
            *count_meetings(in_term_chunks, release.leaves, some, _NEIGHBOURS),
        )

    parts = zip(*in_shares(look_at, pairs, threads), strict=True)
    both, together, meetings, accidents = (np.concatenate(part) for part in parts)
    supports = data.supports[drawn].astype(np.float64)
    scores = {
        "nothing": np.zeros(pairs),
        "neighbours": meetings - accidents,
        "public": both / np.sqrt(supports[:, 0] * supports[:, 1]),
    }
    return Rejoining(
        pairs,
        float(together.mean()),
        tuple(
            Guess(name, area_under_curve(score, together), top_share(score, together)) for name, score in scores.items()
        ),
    )


def area_under_curve(scores: NDArray[np.float64], is_true: Flags) -> float | None:
    """The chance that a true one scores higher than a false one, ties counted half."""
    true = int(is_true.sum())
    false = len(is_true) - true
    if true == 0 or false == 0:
        return None
    _, group = np.unique(scores, return_inverse=True)
    trues, falses = np.bincount(group, is_true), np.bincount(group, ~is_true)
    below = np.cumsum(falses) - falses
    return float((trues * (below + falses / 2)).sum() / (true * false))


def top_share(scores: NDArray[np.float64], is_true: Flags) -> float:
    """The share of true ones in the tenth with the highest scores; of ties for its last places, on average."""
    _, group = np.unique(-scores, return_inverse=True)
    sizes, trues = np.bincount(group), np.bincount(group, is_true)
    wanted = max(_TOP * len(scores), 1.0)
    before = np.cumsum(sizes) - sizes
    taken = np.clip(wanted - before, 0, sizes)
    return float((trues * taken / sizes).sum() / wanted)
