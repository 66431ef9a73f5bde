"""The law by which a possible original is drawn under the model "independent", as far as it is not left to chance.

docs/estimates.md has the law. ``reconstruct.py`` draws by it, and ``support.py`` computes its exact expectation, both
from the numbers found here: which records each chunk's subrecords may be on, and which leaves have to be filled by
several record chunks together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disassociation._types import Flags, Ids
from disassociation.errors import GuaranteeError, ParameterError

if TYPE_CHECKING:
    from disassociation._kernels.covering import Factorials
    from disassociation._kernels.placement import Layout
    from disassociation.release import Release

__all__ = ["WHOLE", "Mixed", "Placement", "place_chunks"]

WHOLE = 1 << 30
"""Expected numbers of subrecords are whole multiples of one in so many."""
_SLACKS = (1 << 10, 1 << 15, 1 << 20)
_MOST_CELLS = 1 << 22
_MOST_RECORDS = (1 << 32) - 1
_MOST_MIXED = (1 << 31) - 1
_LARGEST_TIGHT = 1 << 24
_MOST_WAYS = 1 << 31


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """A shared chunk of several terms, of which some are closed to some of the records below.

    Its subrecords are grouped by *pattern*, the terms in them that are closed to someone, and the records by *kind*,
    the terms that are closed to them; kinds that no subrecord may go to are left out. ``parts`` says how many
    subrecords of each pattern are on records of each kind on average.
    """

    chunk: int
    first: int  # first row of the chunk
    pattern_of: Ids  # (rows of the chunk,) the pattern of each
    amounts: Ids  # (patterns,) subrecords, with their multiplicity
    spans: Ids  # (spans, 3) a kind, and the first and one beyond the last place of records of this kind
    rooms: Ids  # (kinds,) records
    parts: Ids  # (patterns, kinds) in units of 1 / WHOLE

    @property
    def expected(self) -> NDArray[np.float64]:
        """(patterns, kinds) the average number of subrecords of the pattern on records of the kind."""
        return self.parts / WHOLE


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """What is certain about where the subrecords of a release are."""

    layout: Layout  # all chunks and the records they may be on; see _kernels/placement.py
    mixed: tuple[Mixed, ...]  # the chunks that layout.records calls MIXED, in their order
    factorials: Factorials  # for _kernels/covering.py, up to the size of the largest tight leaf


def place_chunks(release: Release) -> Placement:
    """Find which records may take what; near-linear.

    Raises:
        GuaranteeError: The release has no possible original, or G2 does not hold of it.
        ParameterError: It has more records than can be drawn, or a shared chunk with far too many cases.
    """
    from disassociation._kernels.covering import Factorials, factorials_to
    from disassociation._kernels.placement import MIXED, Layout, lay_out

    forest, leaves = release.forest, release.leaves
    if release.records > _MOST_RECORDS:
        raise ParameterError(f"a release of more than {_MOST_RECORDS:,} records cannot be worked on at once; split it")
    found, spans = lay_out(forest, len(release.vocabulary))
    layout = Layout(*map(_frozen, found._replace(closed=found.closed[:spans])))
    _check_room(release, layout)
    mixed = tuple(_mixed(release, layout, int(chunk)) for chunk in np.flatnonzero(layout.records == MIXED))
    largest = forest.sizes[:leaves][layout.is_tight].max(initial=0)
    return Placement(layout, mixed, Factorials(*map(_frozen, factorials_to(int(largest)))))


def _frozen(array: Any) -> Any:
    """An array that kernels take as read-only."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def _check_room(release: Release, layout: Layout) -> None:
    """Raise if a leaf cannot be filled, or a chunk is larger than all that may take it."""
    forest, leaves = release.forest, release.leaves
    totals = np.concatenate([[0], np.cumsum(layout.subrecords)])
    inside = totals[layout.offsets[1 : leaves + 1]] - totals[layout.offsets[:leaves]]
    spare = inside - forest.sizes[:leaves]
    unfilled = np.flatnonzero(layout.is_tight & (spare < 0))
    if len(unfilled):
        raise _no_original(int(unfilled[0]), "a record would be empty")
    tight = np.flatnonzero(layout.is_tight)
    sizes, chunks = forest.sizes[tight], np.diff(layout.offsets)[tight]
    work = (chunks * (np.minimum(spare[tight], sizes) + 1.0) ** 2).sum()
    if sizes.max(initial=0) > _LARGEST_TIGHT or work > _MOST_WAYS:
        raise ParameterError(
            "the release has clusters that several of their chunks fill together, in too many ways to be counted; "
            "this program makes none"
        )
    crowded = np.flatnonzero((layout.records >= 0) & (layout.subrecords > layout.records))
    if len(crowded):
        raise _no_original(_cluster_of(layout, int(crowded[0])), "no room for a shared chunk")


def _no_original(cluster: int, reason: str) -> GuaranteeError:
    return GuaranteeError(
        f"cluster {cluster}: {reason} in what this release could have been made from, so it breaks its guarantee; "
        "audit it (disassociate audit)"
    )


def _cluster_of(layout: Layout, chunk: int) -> int:
    return int(np.searchsorted(layout.offsets, chunk, side="right")) - 1


def _mixed(release: Release, layout: Layout, chunk: int) -> Mixed:
    """Patterns, kinds and how they meet, for a chunk that does not go everywhere alike."""
    rows = release.forest.rows
    cluster = _cluster_of(layout, chunk)
    first, stop = int(layout.firsts[chunk]), int(layout.firsts[chunk + 1])
    closed = layout.closed[layout.closed_from[chunk] : layout.closed_to[chunk]]
    terms = np.unique(closed[:, 0])
    start = int(layout.starts[cluster])
    cuts = np.unique(np.append(closed[:, 1:], [start, start + int(release.forest.sizes[cluster])]))

    def refused(term: np.int64) -> Flags:  # of each stretch of places between cuts
        ends = np.searchsorted(cuts, closed[closed[:, 0] == term, 1:])
        changes = np.bincount(ends[:, 0], minlength=len(cuts)) - np.bincount(ends[:, 1], minlength=len(cuts))
        return np.cumsum(changes)[:-1] > 0

    items = rows.items[rows.offsets[first] : rows.offsets[stop]]
    owners = np.repeat(np.arange(stop - first), np.diff(rows.offsets[first : stop + 1]))

    def holds(term: np.int64) -> Flags:  # of each row
        return np.bincount(owners[items == term], minlength=stop - first) > 0

    kind_of, kinds = _classes(len(cuts) - 1, [refused(term) for term in terms], cluster)
    pattern_of, patterns = _classes(stop - first, [holds(term) for term in terms], cluster)
    is_open = _may_go(patterns, kinds, cluster).any(axis=0)
    matters = kinds[is_open].any(axis=0)
    pattern_of, patterns = _classes(stop - first, [patterns[pattern_of, t] for t in np.flatnonzero(matters)], cluster)
    renumbered = np.where(is_open, np.cumsum(is_open) - 1, -1)[kind_of]
    spans = np.column_stack([renumbered, cuts[:-1], cuts[1:]])[renumbered >= 0]
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    rooms = np.bincount(spans[:, 0], weights=spans[:, 2] - spans[:, 1]).astype(np.int64)
    amounts = np.bincount(pattern_of, weights=rows.counts[first:stop]).astype(np.int64)
    allowed = _may_go(patterns, kinds[is_open][:, matters], cluster)
    parts = _proportional(amounts, rooms, allowed, cluster)
    return Mixed(chunk, first, *map(_frozen, (pattern_of, amounts, spans, rooms, parts)))


def _classes(size: int, flags: list[Flags], cluster: int) -> tuple[Ids, Flags]:
    """Group things by their flags: the class of each, and the flags of each class, in order of their flags."""
    labels = np.zeros(size, np.int64)
    for column in flags:
        _, labels = np.unique(2 * labels + column, return_inverse=True)
    _, examples = np.unique(labels, return_index=True)
    if len(examples) * max(1, len(flags)) > _MOST_CELLS:
        raise _too_many(cluster)
    return labels, np.array([column[examples] for column in flags], np.bool_).reshape(len(flags), len(examples)).T


def _may_go(patterns: Flags, kinds: Flags, cluster: int) -> Flags:
    """(patterns, kinds) whether no term of the pattern is closed to the kind."""
    if len(patterns) * len(kinds) > _MOST_CELLS:
        raise _too_many(cluster)
    together = patterns.astype(np.float32) @ kinds.T.astype(np.float32)
    return np.asarray(together == 0)


def _too_many(cluster: int) -> ParameterError:
    return ParameterError(f"cluster {cluster}: a shared chunk has too many cases of where it may go; it is left alone")


def _proportional(amounts: Ids, rooms: Ids, allowed: Flags, cluster: int) -> Ids:
    """Each pattern spread evenly over the records it may be on; if that overfills a kind, as evenly as there is room.

    That is the nearest by relative entropy. It is found nearly, and what is missing is put where there is room for it,
    by a maximum flow.
    """
    from disassociation._kernels.spreading import spread

    reach = allowed @ rooms
    if amounts.sum() > _MOST_MIXED:
        raise _too_many(cluster)
    if (reach == 0).any():
        raise _no_original(cluster, "no room for a shared chunk")
    upto = np.cumsum(np.where(allowed, rooms, 0), axis=1)
    # Rounded so that the rows still sum up to what they should; doubles are exact enough to round.
    bounds = np.rint(upto / reach[:, None] * (amounts * WHOLE)[:, None]).astype(np.int64)
    even: Ids = np.diff(bounds, axis=1, prepend=0)
    if (even.sum(axis=0) <= rooms * WHOLE).all():
        return even
    somehow = _maximum_flow(amounts, np.minimum(rooms, amounts.sum()), allowed)
    if somehow.sum() < amounts.sum():
        raise _no_original(cluster, "no room for a shared chunk")
    found = (spread(amounts, rooms, allowed) * WHOLE).astype(np.int64)
    for slack in _SLACKS:
        certain = np.maximum(found - slack, 0)
        missing, free = amounts * WHOLE - certain.sum(axis=1), rooms * WHOLE - certain.sum(axis=0)
        if (missing >= 0).all() and (free >= 0).all() and missing.sum() <= _MOST_MIXED:
            flow = _maximum_flow(missing, np.minimum(free, missing.sum()), allowed)
            if flow.sum() == missing.sum():
                return np.asarray(certain + flow)
    return somehow * WHOLE


def _maximum_flow(amounts: Ids, rooms: Ids, allowed: Flags) -> Ids:
    """As much of each pattern as fits into each kind, in whole numbers."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    patterns, kinds = allowed.shape
    source, sink = patterns + kinds, patterns + kinds + 1
    tails, heads = np.nonzero(allowed)
    network = (
        np.concatenate([amounts[tails], amounts, rooms]).astype(np.int32),
        (
            np.concatenate([tails, np.full(patterns, source), patterns + np.arange(kinds)]),
            np.concatenate([patterns + heads, np.arange(patterns), np.full(kinds, sink)]),
        ),
    )
    flow = maximum_flow(coo_array(network, shape=(sink + 1, sink + 1)).tocsr(), source, sink).flow
    return np.asarray(flow[:patterns, patterns : patterns + kinds].toarray(), np.int64)
