"""Who is attacked, and which of their terms the adversary knows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels.scene import Scene
from disassociation._kernels.worst_terms import hardest_sets
from disassociation._parallel import run_shares
from disassociation._types import Ids, Offsets, Terms
from disassociation.generators._assemble import seeded, shuffled
from disassociation.records import Transactions

__all__ = ["STRATEGIES", "draw_victims", "in_shares", "known_sets", "records_of"]

STRATEGIES = ("random", "rarest", "worst")
"""Terms known at random; those first that the fewest records hold; those that leave the fewest candidates."""

_SEARCH_ALL = 4
"""Records of at most so many terms have all their sets tried for the worst, others are searched greedily. With 6 that
takes half as long again on a million records, and finds 0.1 % fewer candidates."""

Result = TypeVar("Result")


def draw_victims(records: Ids, most: int, random_state: int) -> Ids:
    """Up to so many of some records, all equally likely, in rising order."""
    order = shuffled(seeded(random_state), len(records))
    return np.sort(records[order[:most]])


def records_of(data: Transactions, victims: Ids) -> tuple[Offsets, Terms]:
    """The victims' terms: offsets, codes."""
    lengths = (data.offsets[1:] - data.offsets[:-1])[victims]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.arange(offsets[-1]) + np.repeat(data.offsets[victims] - offsets[:-1], lengths)
    return offsets, data.items[places]


def known_sets(
    strategy: str, scene: Scene, data: Transactions, victims: Ids, most: int, random_state: int, threads: int
) -> NDArray[np.int32]:
    """For each victim and each number from 1 to `most`: so many of her terms, or all if there are fewer.

    Returns (victims, most, most) codes, padded with -1.
    """
    offsets, items = records_of(data, victims)
    if strategy == "worst":
        found = in_shares(
            lambda start, stop: hardest_sets(
                scene, offsets[start : stop + 1], items, len(data.vocabulary), most, _SEARCH_ALL
            ),
            len(victims),
            threads,
        )
        return np.concatenate(found)
    owners = np.repeat(np.arange(len(victims)), np.diff(offsets))
    if strategy == "random":
        order = np.lexsort((seeded(random_state + 1).random(len(items)), owners))
    else:
        order = np.lexsort((items, data.supports[items], owners))
    return _prefixes(offsets, items[order], most)


def _prefixes(offsets: Offsets, items: Terms, most: int) -> NDArray[np.int32]:
    """The first 1, 2, ..., `most` terms of each list."""
    places = offsets[:-1, None] + np.arange(most)
    is_there = places < offsets[1:, None]
    first = np.where(is_there, items[np.where(is_there, places, 0)], -1)
    up_to = np.tri(most, dtype=np.bool_)
    return np.where(up_to, first[:, None, :], -1).astype(np.int32)


def in_shares(work: Callable[[int, int], Result], jobs: int, threads: int) -> list[Result]:
    """Share jobs out to threads, by ranges; the results in order. There is one even if there are no jobs."""
    cuts = np.linspace(0, jobs, max(min(2 * threads, jobs), 1) + 1).astype(np.int64).tolist()
    found: dict[int, Result] = {}

    def keep(start: int, stop: int) -> None:
        found[start] = work(start, stop)

    run_shares(keep, list(pairwise(cuts)), threads)
    return [found[start] for start in sorted(found)]
