"""G3 for one shared chunk in its release-only form (guarantee.md 3.7): linear conditions first, then by flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from disassociation.auditor.flow import TOO_LARGE, transports
from disassociation.auditor.kernels_rare import Bag, first_rare_itemset

__all__ = ["Fault", "SharedChunk", "Tally", "judge_shared_chunk"]

Itemset = frozenset[int]
_MOST_FLOWS = 20_000


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a shared chunk is refused: in words, where, and for which itemset."""

    what: str
    leaf: int | None = None
    itemset: Itemset | None = None


@dataclass(frozen=True, slots=True)
class SharedChunk:
    """A shared chunk and the leaves under it, those that refuse the same terms taken together."""

    rows: tuple[tuple[Itemset, int], ...]  # subrecords and how many there are of each
    refused: tuple[Itemset, ...]  # for each kind of leaf: the chunk's terms that are forbidden there
    room: tuple[int, ...]  # records of all leaves of the kind
    smallest: tuple[int, ...]  # records of the smallest leaf of the kind
    example: tuple[int, ...]  # that leaf

    @property
    def total(self) -> int:
        """How many subrecords there are."""
        return sum(count for _, count in self.rows)

    def takes(self, kind: int, subrecord: Itemset) -> bool:
        """Whether a leaf of the kind may take a subrecord."""
        return not subrecord & self.refused[kind]


class Tally:
    """How many flows were solved."""

    def __init__(self) -> None:
        self.flows = 0


def judge_shared_chunk(chunk: SharedChunk, k: int, m: int, counter: Tally) -> Fault | None:
    """Decide G3 for a chunk; None if it holds.

    K and room first. Where they do not decide, the exact test: for every leaf and itemset, if one subrecord with it can
    be there, k can.
    """
    if chunk.total > TOO_LARGE:
        return Fault(f"too many subrecords to decide: more than {TOO_LARGE:,}")
    is_open = [any(chunk.takes(kind, row) for row, _ in chunk.rows) for kind in range(len(chunk.room))]
    opened = [kind for kind, opens in enumerate(is_open) if opens]
    conflicts = frozenset[int]().union(*(chunk.refused[kind] for kind in opened))
    if not _placeable(chunk, opened, conflicts, {}, counter):
        return Fault(
            f"its {chunk.total} subrecords do not fit on the records that may take them, so no original exists"
        )
    rare = _breaks_k(chunk, conflicts, k, m)
    if rare is None and _has_room(chunk, opened, conflicts, k, counter):
        return None
    return _exact(chunk, opened, k, m, counter, rare)


def _patterns(rows: Iterable[tuple[Itemset, int]], conflicts: Itemset) -> dict[Itemset, int]:
    """How many subrecords hold each set of conflicts: nothing else decides where one may go."""
    found: defaultdict[Itemset, int] = defaultdict(int)
    for row, count in rows:
        found[row & conflicts] += count
    return found


def _placeable(chunk: SharedChunk, opened: list[int], conflicts: Itemset, less: dict[int, int], counter: Tally) -> bool:
    """Whether the chunk can be placed when some kinds of leaves have fewer records to give."""
    patterns = _patterns(chunk.rows, conflicts)
    rooms = [chunk.room[kind] - less.get(kind, 0) for kind in opened]
    if not conflicts:
        return chunk.total <= sum(rooms)
    counter.flows += 1
    may_go = {
        i: [j for j, kind in enumerate(opened) if chunk.takes(kind, pattern)] for i, pattern in enumerate(patterns)
    }
    return transports(list(patterns.values()), rooms, may_go)


def _breaks_k(chunk: SharedChunk, conflicts: Itemset, k: int, m: int) -> Itemset | None:
    """K: an itemset that too few subrecords hold which have no other conflicts than one that holds it.

    For each set of conflicts, the bag of subrecords with no others must be k^m-anonymous; that comes to the same.
    """
    for pattern in _patterns(chunk.rows, conflicts):
        bag = [(sorted(row), count) for row, count in chunk.rows if row & conflicts <= pattern]
        items = np.array([term for row, _ in bag for term in row], np.int64)
        codes, local = np.unique(items, return_inverse=True)
        starts = np.concatenate([[0], np.cumsum([len(row) for row, _ in bag])]).astype(np.int64)
        counts = np.array([count for _, count in bag], np.int64)
        size, _, itemset = first_rare_itemset(Bag(counts, starts, local.astype(np.int32)), k, m, len(codes))
        if size:
            return frozenset(codes[itemset].tolist())
    return None


def _has_room(chunk: SharedChunk, opened: list[int], conflicts: Itemset, k: int, counter: Tally) -> bool:
    """Whether the chunk can be placed with k records of any one open leaf left free."""
    touching = sum(count for row, count in chunk.rows if row & conflicts)
    return all(
        touching + k <= chunk.smallest[kind]
        or (chunk.smallest[kind] >= k and _placeable(chunk, opened, conflicts, {kind: k}, counter))
        for kind in (opened if conflicts else [])
    )


def _exact(
    chunk: SharedChunk, opened: list[int], k: int, m: int, counter: Tally, suspect: Itemset | None
) -> Fault | None:
    """For every kind of open leaf and every itemset: one can be there, but not k? The suspect is tried first."""
    itemsets = {
        frozenset(itemset)
        for row, _ in chunk.rows
        for size in range(1, min(m, len(row)) + 1)
        for itemset in combinations(sorted(row), size)
    }
    for itemset in sorted(itemsets, key=lambda itemset: (itemset != suspect, len(itemset), sorted(itemset))):
        for kind in opened:
            if counter.flows > _MOST_FLOWS:
                return Fault(f"not decided within {_MOST_FLOWS:,} flows, so not accepted", chunk.example[kind])
            if _can_hold(chunk, opened, kind, itemset, 1, counter) and not _can_hold(
                chunk, opened, kind, itemset, k, counter
            ):
                return Fault(
                    f"one of its subrecords can be in cluster {chunk.example[kind]} with an itemset of {len(itemset)}, "
                    f"but never {k} of them: the others that hold it are not allowed there, or what they push out "
                    f"has nowhere to go",
                    chunk.example[kind],
                    itemset,
                )
    return None


def _can_hold(chunk: SharedChunk, opened: list[int], kind: int, itemset: Itemset, q: int, counter: Tally) -> bool:
    """Whether the chunk can be placed with q subrecords that hold the itemset in one (the smallest) leaf of a kind.

    q of the leaf's records are kept for such subrecords. If all subrecords can be placed so, and q of them can fill
    what is kept, both can be had at once (Mendelsohn and Dulmage).
    """
    fitting = sum(count for row, count in chunk.rows if itemset <= row and chunk.takes(kind, row))
    if fitting < q or chunk.smallest[kind] < q:
        return False
    counter.flows += 1
    conflicts = frozenset[int]().union(*(chunk.refused[other] for other in opened))
    amounts: defaultdict[tuple[Itemset, bool], int] = defaultdict(int)
    for row, count in chunk.rows:
        amounts[row & conflicts, itemset <= row] += count
    rooms = [chunk.room[other] - (q if other == kind else 0) for other in opened] + [q]
    may_go = {
        i: [j for j, other in enumerate(opened) if chunk.takes(other, pattern)]
        + ([len(opened)] if holds and chunk.takes(kind, pattern) else [])
        for i, (pattern, holds) in enumerate(amounts)
    }
    return transports(list(amounts.values()), rooms, may_go)
