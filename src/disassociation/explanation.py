"""Where a term or a pair of terms ended in a release, and why, as far as the release alone implies it.

What is implied rests on docs/algorithm.md, which is public, so it says nothing that a reader could not find out. It
holds of releases that this program made. Which of the reasons left open it was needs the original.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._types import Flags, Ids
from disassociation.errors import ParameterError
from disassociation.params import Parameters
from disassociation.support import DEFAULT_MODEL, Support, codes_of, require_model, support_of

if TYPE_CHECKING:
    from disassociation.records import Transactions
    from disassociation.release import Release

__all__ = ["Cause", "Explanation", "Known", "Place", "Setting", "explain", "pair_places", "term_places"]


class Place(NamedTuple):
    """One kind of place that a term, or a pair, is in; each cluster is in one of them for a pair."""

    kind: str
    level: int | None  # of shared chunks that hold all that is asked: how many levels above the clusters
    clusters: int  # leaves that may have records with it from there
    records: int  # of these leaves
    lower: int  # records with it from there
    upper: int


class Cause(NamedTuple):
    """Why it is where it is, in so many leaves; `implied` says whether the release leaves nothing else open."""

    kind: str
    clusters: int
    implied: bool


class Known(NamedTuple):
    """Why it was put where it is, in so many leaves, found with the original; `records` of them hold it."""

    kind: str
    clusters: int
    records: int
    thirds: tuple[str, ...] = ()  # terms that keep a pair apart, most frequent cause first


class Setting(NamedTuple):
    """Where it would end with other parameters: of the records that hold it, so many from chunks of each kind."""

    k: int
    m: int
    max_cluster_size: int
    records: int
    in_record_chunks: int
    in_shared_chunks: int

    @property
    def elsewhere(self) -> int:
        """Those not in one chunk: in a term chunk, or a pair apart."""
        return self.records - self.in_record_chunks - self.in_shared_chunks


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a term or a pair ended, and why; ``str()`` shows it without terms.

    Examples:
        >>> import disassociation as da
        >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2, k=2, m=2)
        >>> print(release.explain(["gin"]))
        5 records, k = 2, m = 2; records with the term: at least 2, expected 2.00, at most 2
        where it is    clusters  records  at least  at most
        record chunks         1        5         2        2
        expected elsewhere than in one record or shared chunk: 0.00
    """

    k: int
    m: int
    records: int
    terms: tuple[str, ...]
    unknown: int  # of the terms, not in the release
    support: Support
    places: tuple[Place, ...]
    causes: tuple[Cause, ...]
    known: tuple[Known, ...] | None = None  # None without the original
    settings: tuple[Setting, ...] = ()

    def __str__(self) -> str:
        return self.to_text()

    @property
    def expected_elsewhere(self) -> float:
        """Records expected to hold it from elsewhere than one chunk: from term chunks, or a pair apart."""
        inside = sum(place.lower for place in self.places if place.kind in (RECORD, SHARED))
        return max(self.support.expected - inside, 0.0)

    def to_text(self, *, show_values: bool = False) -> str:
        """A table for people."""
        from disassociation._explanation_table import explanation_table

        return explanation_table(self, show_values)

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        """All of it for programs; the terms that were asked for, and third ones only if values may be shown."""
        facts = asdict(self)
        facts["support"] = {**self.support._asdict(), "expected_elsewhere": self.expected_elsewhere}
        facts["places"] = [place._asdict() for place in self.places]
        facts["causes"] = [cause._asdict() for cause in self.causes]
        facts["settings"] = [{**each._asdict(), "elsewhere": each.elsewhere} for each in self.settings]
        facts["known"] = None if self.known is None else [_shown(each, show_values) for each in self.known]
        return facts


def _shown(known: Known, show_values: bool) -> dict[str, Any]:
    facts = known._asdict()
    return {**facts, "thirds": list(known.thirds)} if show_values else {**facts, "thirds": len(known.thirds)}


def explain(
    release: Release,
    terms: Iterable[Hashable],
    *,
    model: str = DEFAULT_MODEL,
    original: Transactions | None = None,
    parameters: Parameters | None = None,
    sensitive: Iterable[str] | None = None,
    what_if: bool = False,
) -> Explanation:
    """Tell in which kinds of chunks a term or a pair of terms ended, and why (docs/estimates.md, section 5).

    Args:
        release: What to explain.
        terms: One term, or two.
        model: What to assume for expected numbers, as for :meth:`Release.support`.
        original: The records it was made from. Then reasons are found, not only narrowed down.
        parameters: With the original, what the release was made with; by default its k and m, and else defaults.
        sensitive: The terms that were named as sensitive, if that is known; those of ``parameters`` by default.
        what_if: With the original: also where it would end with other k, m and cluster sizes.

    Raises:
        ParameterError: Not one or two terms, or the original does not make this release with these parameters.

    Examples:
        >>> import disassociation as da
        >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2 + [["bread", "rum"]], k=3, m=2)
        >>> found = explain(release, ["gin"])
        >>> found.places[0]
        Place(kind='term chunks', level=None, clusters=1, records=6, lower=1, upper=6)
        >>> found.causes[0]
        Cause(kind='rare or sensitive', clusters=1, implied=False)
        >>> explain(release, ["gin"], sensitive=[]).causes[0]
        Cause(kind='rare', clusters=1, implied=True)
    """
    require_model(model)
    if what_if and original is None:
        raise ParameterError("what other settings do can be told only with the original; give it, or leave what-if out")
    names, codes = _named(release, terms)
    if parameters is not None and sensitive is None:
        sensitive = parameters.sensitive
    support = support_of(release, names, model)
    unknown = sum(int(codes_of(release, [name])[0] < 0) for name in names)
    places: tuple[Place, ...] = ()
    causes: tuple[Cause, ...] = ()
    known: tuple[Known, ...] | None = None
    settings: tuple[Setting, ...] = ()
    if original is not None:
        from disassociation._explanation_original import compare_settings, find_known

        parameters = parameters or Parameters(release.k, release.m, release.l, sensitive=frozenset(sensitive or ()))
        known = find_known(release, original, parameters, names)
        sensitive = parameters.sensitive
        settings = compare_settings(original, parameters, names) if what_if else ()
    if not unknown:
        view = _View(release, None if sensitive is None else frozenset(map(str, sensitive)))
        places = term_places(release, codes[0]) if len(codes) == 1 else pair_places(release, codes)
        causes = view.term_causes(codes[0]) if len(codes) == 1 else view.pair_causes(codes)
    return Explanation(release.k, release.m, release.records, names, unknown, support, places, causes, known, settings)


def _named(release: Release, terms: Iterable[Hashable]) -> tuple[tuple[str, ...], list[int]]:
    """One or two terms, each once, in order, and their codes."""
    terms = terms if isinstance(terms, (str, bytes)) else list(terms)
    codes = codes_of(release, terms).tolist()
    names = tuple(sorted({str(term) for term in terms}))
    if not 1 <= len(names) <= 2:
        raise ParameterError(f"one term or two can be explained, not {len(names)}")
    return names, codes


def term_places(release: Release, code: int) -> tuple[Place, ...]:
    """The kinds of chunks that hold a term; a leaf is counted where it can have the term from."""
    where = _sources(release, code)
    entries = release._ground.scene.entries
    sizes = release._ground.scene.sizes
    cluster, level = _clusters_of(release, where), _levels(release)
    found: list[Place] = []
    has, in_terms = where >= 0, _in_term_chunk(release, where)
    for kind, step in _kinds(level, cluster[has & ~in_terms]):
        here = has & ~in_terms & (level[cluster] == step)
        count = int(entries.counts[np.unique(where[here])].sum())
        found.append(Place(kind, step or None, int(here.sum()), int(sizes[here].sum()), count, count))
    if in_terms.any():
        held = int(in_terms.sum()), int(sizes[in_terms].sum())
        found.append(Place("term chunks", None, *held, *held))
    return tuple(found)


def pair_places(release: Release, codes: list[int]) -> tuple[Place, ...]:
    """What leaves with both terms have them from; what is in one chunk is exact, the rest at least and at most."""
    scene = release._ground.scene
    first, second = (_sources(release, code) for code in codes)
    both = np.flatnonzero((first >= 0) & (second >= 0))
    level = _levels(release)
    found: dict[tuple[str, int | None], tuple[int, int, int, int]] = {}
    groups, members = np.unique(np.stack([first[both], second[both]], axis=1), axis=0, return_inverse=True)
    members = members.ravel()
    leaves = np.bincount(members, minlength=len(groups))
    records = np.bincount(members, scene.sizes[both], minlength=len(groups)).astype(np.int64)
    for number, (one, other) in enumerate(groups.tolist()):
        n = int(records[number])
        kind, step, lower, upper = _pair_place(release, (one, other), codes, level, n)
        had = found.get((kind, step), (0, 0, 0, 0))
        here = int(leaves[number])
        found[kind, step] = (had[0] + here, had[1] + n, had[2] + lower, had[3] + upper)
    only = (first >= 0) ^ (second >= 0)
    if only.any():
        found[ONE_ONLY, None] = (int(only.sum()), int(scene.sizes[only].sum()), 0, 0)
    order = sorted(found, key=lambda key: (PAIR_KINDS.index(key[0]), key[1] or 0))
    return tuple(Place(*key, *found[key]) for key in order)


RECORD, SHARED = "record chunks", "shared chunks"
TWO_CHUNKS, WITH_SHARED = "two record chunks", "two chunks, one or both shared"
ONE_TERM_CHUNK, BOTH_TERM_CHUNK, ONE_ONLY = "one in the term chunk", "both in the term chunk", "only one there"
PAIR_KINDS = (RECORD, SHARED, TWO_CHUNKS, WITH_SHARED, ONE_TERM_CHUNK, BOTH_TERM_CHUNK, ONE_ONLY)


def _pair_place(
    release: Release, pair: tuple[int, int], codes: list[int], level: Ids, n: int
) -> tuple[str, int | None, int, int]:
    """What leaves of n records, that have two terms from two entries, hold of the pair."""
    entries, leaves = release._ground.scene.entries, release.leaves
    firsts = [int(entries.firsts[entry]) for entry in pair]
    hidden = [first < 0 for first in firsts]
    if firsts[0] == firsts[1] and not any(hidden):
        cluster = int(release._ground.owners[firsts[0]])
        count = _count_rows(release, firsts[0], codes)
        return (RECORD, None, count, count) if cluster < leaves else (SHARED, int(level[cluster]), count, count)
    owners = np.searchsorted(entries.offsets, np.array(pair), side="right") - 1
    is_shared = bool((owners >= leaves).any())
    most = min(n if unseen else int(entries.counts[entry]) for entry, unseen in zip(pair, hidden, strict=True))
    least = 0 if is_shared else max(0, int(entries.counts[list(pair)].sum()) - n)
    kinds = (WITH_SHARED if is_shared else TWO_CHUNKS, ONE_TERM_CHUNK, BOTH_TERM_CHUNK)
    return kinds[sum(hidden)], None, least, min(n, most)


def _count_rows(release: Release, first: int, codes: list[int]) -> int:
    """Subrecords of a chunk that hold both terms."""
    rows = release.forest.rows
    stop = int(release._ground.scene.ends[first])
    begin = rows.offsets[first]
    items = rows.items[begin : rows.offsets[stop]]
    row = np.searchsorted(rows.offsets[first : stop + 1] - begin, np.flatnonzero(np.isin(items, codes)), "right") - 1
    return int(rows.counts[first:stop][np.bincount(row, minlength=stop - first) == len(codes)].sum())


def _sources(release: Release, code: int) -> Ids:
    """(leaves,) by position: the entry that the leaf has a term from, -1 for none."""
    scene = release._ground.scene
    found = np.full(release.leaves, -1, np.int64)
    spans = slice(int(scene.spans.offsets[code]), int(scene.spans.offsets[code + 1]))
    starts = scene.spans.starts[spans].astype(np.int64)
    lengths = scene.spans.ends[spans] - starts
    before = np.cumsum(lengths) - lengths
    at = np.repeat(starts - before, lengths) + np.arange(lengths.sum())
    found[at] = np.repeat(scene.spans.entries[spans], lengths)
    return found


def _in_term_chunk(release: Release, where: Ids) -> Flags:
    return np.asarray((where >= 0) & (release._ground.scene.entries.firsts[where] < 0))


def _clusters_of(release: Release, where: Ids) -> Ids:
    """The cluster of each entry."""
    return np.searchsorted(release._ground.scene.entries.offsets, where, side="right") - 1


def _levels(release: Release) -> Ids:
    """(clusters,) how many levels a cluster is above its deepest leaf, 0 for a leaf."""
    levels = np.zeros(len(release.forest.parents), np.int64)
    for cluster, parent in enumerate(release.forest.parents.tolist()):
        if parent >= 0:
            levels[parent] = max(levels[parent], levels[cluster] + 1)
    return levels


def _kinds(level: Ids, clusters: Ids) -> list[tuple[str, int]]:
    return [(SHARED if step else RECORD, step) for step in np.unique(level[clusters]).tolist()]


class _View:
    """What the algorithm allows to conclude from a release: who may be sensitive, which leaves may be repaired."""

    def __init__(self, release: Release, sensitive: frozenset[str] | None) -> None:
        self.release = release
        vocabulary = release.vocabulary.to_pylist()
        if sensitive is None:
            self.may_be_sensitive = np.ones(len(vocabulary), np.bool_)
            self.may_be_sensitive[release.forest.rows.items] = False
        else:
            self.may_be_sensitive = np.array([term in sensitive for term in vocabulary])
        self.is_told = sensitive is not None

    def may_be_repaired(self, leaf: int, code: int) -> bool:
        """Whether G2 may have moved a term, or any (-1), to this leaf's term chunk: it leans, and there is no other.

        No other but those that may be sensitive. A leaf leans after the move if it did before, as what is left covers
        less. And a term that was moved stays there.
        """
        release = self.release
        forest, ground = release.forest, release._ground
        chunk = forest.terms[forest.term_offsets[leaf] : forest.term_offsets[leaf + 1]]
        others = int((~self.may_be_sensitive[chunk] & (chunk != code)).sum())
        if others > (code < 0):
            return False
        totals = ground.totals[forest.rows.cluster_offsets[leaf] : forest.rows.cluster_offsets[leaf + 1]]
        v, n = int((totals > 0).sum()), int(forest.sizes[leaf])
        return v == 0 or int(totals.sum()) < n + release.k * (min(release.m, v) - 1)

    def term_causes(self, code: int) -> tuple[Cause, ...]:
        """Of the leaves that keep a term in their term chunk: why it is there, and why refining left it there."""
        where = _sources(self.release, code)
        kept = np.flatnonzero(_in_term_chunk(self.release, where))
        ground = self.release._ground
        unsure = bool(self.may_be_sensitive[code])
        if self.is_told and unsure:
            return (Cause("sensitive", len(kept), True),) if len(kept) else ()
        repaired = sum(self.may_be_repaired(leaf, code) for leaf in ground.scene.leaf_at[kept].tolist())
        sensitive = " or sensitive" if unsure else ""
        found = [
            Cause(f"rare{sensitive}", len(kept) - repaired, not unsure),
            Cause(f"rare{sensitive} or moved", repaired, False),
        ]
        roots = ground.roots[kept]
        joined = roots >= self.release.leaves
        several = np.bincount(roots, minlength=len(self.release.forest.parents))[roots] > 1
        found += [
            Cause("not joined", int((~joined).sum()), True),
            Cause("joined without", int((joined & ~several).sum()), True),
            Cause("joined too few", int((joined & several).sum()), not unsure),
        ]
        return tuple(cause for cause in found if cause.clusters)

    def pair_causes(self, codes: list[int]) -> tuple[Cause, ...]:
        """Of the leaves that have two terms in two record chunks: what kept them apart."""
        release, entries = self.release, self.release._ground.scene.entries
        first, second = (_sources(release, code) for code in codes)
        both = np.flatnonzero((first >= 0) & (second >= 0))
        pairs = np.stack([first[both], second[both]], axis=1)
        firsts = entries.firsts[pairs]
        own = (_clusters_of(release, pairs) < release.leaves).all(axis=1)
        apart = both[own & (firsts >= 0).all(axis=1) & (firsts[:, 0] != firsts[:, 1])]
        alone = 0
        for place in apart.tolist():
            lonely = all(self._is_alone(int(entries.firsts[where[place]])) for where in (first, second))
            alone += lonely and not self.may_be_repaired(int(release._ground.scene.leaf_at[place]), -1)
        found = [
            Cause("too few together", alone, True),
            Cause("too few, with others or not", len(apart) - alone, False),
        ]
        return tuple(cause for cause in found if cause.clusters)

    def _is_alone(self, first: int) -> bool:
        """Whether a chunk has one term, and so one row."""
        rows: NDArray[np.int64] = self.release.forest.rows.offsets
        return bool(self.release._ground.scene.ends[first] == first + 1 and rows[first + 1] - rows[first] == 1)
