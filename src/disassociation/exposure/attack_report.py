"""After publishing: simulated adversaries on a release, each beside the same attack on the records as they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disassociation._parallel import usable_cores
from disassociation._types import Ids
from disassociation.errors import ParameterError
from disassociation.exposure.candidates import Linkage, link
from disassociation.exposure.known_terms import STRATEGIES, draw_victims, known_sets
from disassociation.exposure.learned import Covers, Exposure, count_covers, what_follows
from disassociation.exposure.rejoin import Rejoining, guess_pairs
from disassociation.exposure.second import Both, Intersection, in_both, intersect_releases
from disassociation.exposure.side import Side, open_side, require_candidates
from disassociation.params import require_whole

__all__ = ["Attack", "Victim", "attack", "check_options"]

_BEYOND = 3  # the curve goes on for so many terms beyond m
_MOST_TERMS = 48  # sets of known terms are bits of 64 in places, and what is certain is added to them
_MOST_THREADS = 1024
_PAIRS = 5  # drawn for each victim


@dataclass(frozen=True, slots=True)
class Victim:
    """A record that stays the most exposed, to someone who knows the worst m of its terms."""

    record: int  # its number in the original, from 1, empty records not counted
    candidates: int
    raw: int  # records of the original that hold the known terms
    terms: tuple[str, ...] = field(repr=False)  # the known ones


@dataclass(frozen=True, slots=True, repr=False)
class Attack:
    """What simulated adversaries get out of a release; made by :func:`attack`. Printed, it is a few tables.

    It holds numbers only, no term of the data, unless examples were asked for. What they mean is said by their classes:
    :class:`~disassociation.exposure.candidates.Linkage`, :class:`~disassociation.exposure.learned.Exposure`,
    :class:`~disassociation.exposure.rejoin.Rejoining`, :class:`~disassociation.exposure.second.Intersection`.

    Examples:
        >>> import disassociation as da
        >>> data = [["bread", "milk"]] * 4 + [["bread", "gin"], ["milk", "gin"], ["gin", "beer"], ["beer"]]
        >>> found = da.attack(da.disassociate(data, k=2, m=2), data, most_terms=2)
        >>> worst = [row for row in found.linkage if row.strategy == "worst"]
        >>> [(row.terms, row.release.least, row.raw.least) for row in worst]
        [(1, 2, 2), (2, 2, 1)]
    """

    k: int
    m: int
    records: int
    victims: int
    confidence: float
    random_state: int
    linkage: tuple[Linkage, ...]  # by strategy, then by known terms
    exposure: tuple[Exposure, ...]  # by strategy, m known terms
    covers: Covers
    rejoining: Rejoining | None  # None if no term chunk has two terms
    second: Intersection | None  # None without a second release
    examples: tuple[Victim, ...] = ()  # the victims with the fewest candidates, if asked for

    @property
    def refuted(self) -> bool:
        """Whether some victim has fewer than ``k`` candidates given at most ``m`` terms: the guarantee does not hold.

        That no victim has proves nothing; :func:`disassociation.audit` does.
        """
        return any(row.release.below_k > 0 for row in self.linkage if row.terms <= self.m)

    def to_dict(self, *, show_values: bool = False) -> dict[str, object]:
        """All of it, for JSON; the terms of examples only if asked for."""
        found: dict[str, object] = asdict(self)
        found["refuted"] = self.refuted
        found["examples"] = [
            {"record": one.record, "candidates": one.candidates, "raw": one.raw}
            | ({"terms": list(one.terms)} if show_values else {})
            for one in self.examples
        ]
        return found

    def to_text(self, *, show_values: bool = False) -> str:
        """The tables, and the examples; their terms only if asked for."""
        from disassociation.exposure._attack_table import attack_table

        return attack_table(self, show_values)

    def __repr__(self) -> str:
        return self.to_text()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is asked for, checked."""

    victims: int
    most_terms: int | None
    confidence: float
    random_state: int
    examples: int
    threads: int
    tell: Callable[[str], None]


def attack(
    release: Any,
    original: Any,
    *,
    second: tuple[Any, Any] | None = None,
    victims: int = 1000,
    most_terms: int | None = None,
    confidence: float = 0.9,
    random_state: int = 0,
    examples: int = 0,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Attack:
    """Attack a release as somebody would who knows some terms of a person, and compare with the original.

    *Linkage*: the candidate records left to someone who knows 1 to ``most_terms`` terms, chosen at random, the rarest
    first, or the worst ones (the best set of each size for records of up to four terms; for others terms are added one
    by one, each the one that leaves the fewest candidates). *Exposure*: the terms that follow from ``m`` known ones.
    *Re-joining*: telling which terms of a term chunk were in one record. *Second*: what another release of overlapping
    data adds. The guarantee is one of each release alone and **does not hold of two together**.

    The order of the original's records decides which of them are drawn as victims, and which of their terms are known
    where that is random; nothing else. So with all records as victims only the rows of random terms depend on it.

    Args:
        release: A release, or the path of one.
        original: The records it was made from: Transactions, or anything :func:`disassociation.read` takes.
        second: Another release and its original.
        victims: How many records to attack, drawn uniformly; all if there are fewer.
        most_terms: How far the curve of linkage goes, 1 to 48; by default ``m`` + 3.
        confidence: From which confidence on a term counts as learned, above 0 and at most 1.
        random_state: Another number draws other victims, terms and pairs.
        examples: How many of the victims with the fewest candidates to name; ties by record number.
        threads: How many threads to use; all of the machine's by default.
        progress: Told what is being simulated.

    Raises:
        ParameterError: What is asked for is out of range.
        InputError: The release cannot have been made from this original.

    Examples:
        >>> import disassociation as da
        >>> data = da.generate_pos(records=2_000)
        >>> found = da.attack(da.disassociate(data, k=5, m=2), data, victims=200)
        >>> row = next(row for row in found.linkage if row.strategy == "worst" and row.terms == 2)
        >>> row.release.below_k, row.least_in_leaf >= 5, row.raw.below_k > 0.5
        (0.0, True, True)
    """
    check_options(victims, most_terms, confidence, random_state, examples, threads)
    if second is not None and (not isinstance(second, tuple) or len(second) != 2):
        raise ParameterError("second must be a tuple of two things: another release, and its original")
    tell = progress or (lambda step: None)
    plan = _Plan(victims, most_terms, float(confidence), random_state, examples, threads or usable_cores(), tell)
    tell("reading")
    side = open_side(release, original, None, "the original")
    other = None if second is None else open_side(*second, side, "the second original")
    return _simulate(plan, side, other)


def check_options(
    victims: int, most_terms: int | None, confidence: float, random_state: int, examples: int, threads: int | None
) -> None:
    """Refuse what is out of range, before anything is read."""
    require_whole("victims", victims, 1)
    require_whole("random_state", random_state, 0)
    require_whole("examples", examples, 0)
    if most_terms is not None:
        require_whole("most_terms", most_terms, 1, _MOST_TERMS)
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence <= 1:
        raise ParameterError("confidence must be a number above 0 and at most 1")
    if threads is not None:
        require_whole("threads", threads, 1, _MOST_THREADS)


def _simulate(plan: _Plan, side: Side, other: Side | None) -> Attack:
    """All attacks, one after the other."""
    release, data = side.release, side.data
    chosen = draw_victims(np.arange(len(data)), plan.victims, plan.random_state)
    linkage: list[Linkage] = []
    exposure: list[Exposure] = []
    examples: tuple[Victim, ...] = ()
    m = min(release.m, _MOST_TERMS)
    most = min(plan.most_terms or m + _BEYOND, _MOST_TERMS)
    for strategy in STRATEGIES:
        plan.tell(f"{strategy} terms known")
        known = _known(plan, side, strategy, chosen, max(most, m))
        curve = np.ascontiguousarray(known[:, :most, :most])
        linkage += link(strategy, side.scene, side.postings, len(data), release.k, curve, plan.threads)
        require_candidates(min(row.release.least for row in linkage), "the original")
        at_m = np.ascontiguousarray(known[:, m - 1, :m])
        exposure.append(
            what_follows(strategy, side.scene, side.postings, data, chosen, at_m, plan.confidence, plan.threads)
        )
        if strategy == STRATEGIES[-1]:
            examples = _most_exposed(plan, side, chosen, at_m)
    plan.tell("re-joining chunks")
    pairs = _PAIRS * len(chosen)
    return Attack(
        release.k,
        release.m,
        len(data),
        len(chosen),
        plan.confidence,
        plan.random_state,
        tuple(linkage),
        tuple(exposure),
        count_covers(release, side.scene),
        guess_pairs(release, side.scene, side.postings, data, pairs, plan.random_state, plan.threads),
        None if other is None else _intersection(plan, side, other),
        examples,
    )


def _known(plan: _Plan, side: Side, strategy: str, victims: Ids, most: int) -> NDArray[np.int32]:
    """What one adversary knows of each victim."""
    return known_sets(strategy, side.scene, side.data, victims, most, plan.random_state, plan.threads)


def _most_exposed(plan: _Plan, side: Side, victims: Ids, known: NDArray[np.int32]) -> tuple[Victim, ...]:
    """The victims with the fewest candidates, given the worst m terms."""
    candidates = side.candidates(known, plan.threads)
    raw = side.raw_candidates(known)
    found = []
    for i in np.lexsort((victims, raw, candidates))[: plan.examples].tolist():
        terms = sorted(known[i][known[i] >= 0].tolist())
        names = tuple(side.data.vocabulary[code].as_py() for code in terms)
        found.append(Victim(int(victims[i]) + 1, int(candidates[i]), int(raw[i]), names))
    return tuple(found)


def _intersection(plan: _Plan, side: Side, other: Side) -> Intersection:
    """The attack on both, knowing up to m terms (of the two, the smaller m)."""
    plan.tell("two releases")
    common = in_both(side.data, other.data)
    chosen = draw_victims(common, plan.victims, plan.random_state)
    most = min(side.release.m, other.release.m, _MOST_TERMS)
    rows: list[Both] = []
    if len(chosen):
        for strategy in STRATEGIES:
            known = _known(plan, side, strategy, chosen, most)
            rows += intersect_releases((side, other), strategy, chosen, known, plan.threads)
    return Intersection(len(chosen), len(common), tuple(rows))
