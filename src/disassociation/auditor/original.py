"""With the original at hand: whether the release is one of it (S0), and what the release really reaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation.auditor.given_records import GivenRecords, read_records
from disassociation.auditor.grouping import (
    Grouping,
    Misfit,
    Possible,
    find_grouping,
    possible_places,
    published_content,
)
from disassociation.auditor.kernels_places import Content
from disassociation.auditor.reached import NOTHING, measured_leaves, what_is_reached
from disassociation.auditor.source import Source
from disassociation.auditor.survey import Survey
from disassociation.auditor.verdict import NOT_DECIDED, Violation

__all__ = ["Proof", "judge_original"]

_MOST_SHOWN = 20


class Proof(NamedTuple):
    """What the original says of the release."""

    violations: list[Violation]
    reached: dict[str, object]

    @property
    def decided(self) -> bool:
        """Whether it is known if the release is one of the original; hard cases are given up, and said to be."""
        return self.reached["grouping"] != NOT_DECIDED


def judge_original(
    source: Source,
    found: Survey,
    original: Any,
    secret: NDArray[np.bool_],
    l: int | None,  # noqa: E741
    *,
    broken: set[str],
) -> Proof:
    """Decide S0, and L for the true counts.

    `secret` says which terms are sensitive; it is empty if none are named. `broken` are the conditions that the release
    violates by itself: without S1 or order only numbers are compared.
    """
    data = read_records(original, found.lexicon.terms)
    content = published_content(source, found)
    violations = [*_other_numbers(found, data), *([] if "order" in broken else _other_supports(found, content, data))]
    if violations:
        return Proof(violations, _nothing("none exists"))
    if broken & {"order", "S1"}:
        return Proof([], _nothing(NOT_DECIDED, "a release that violates S1, or is out of order, is not looked into"))
    sets = data.distinct()
    possible = possible_places(content, sets, len(found.lexicon.terms))
    if possible is None:
        return Proof([], _nothing(NOT_DECIDED, "records fit in too many clusters to list them"))
    grouping, diverse = _diverse_grouping(possible, secret, l)
    if grouping is None:
        return Proof([], _nothing(NOT_DECIDED, "too hard to find out how the records can be divided"))
    if isinstance(grouping, Misfit):
        misfit = Violation("S0", grouping.cluster, grouping.chunk, grouping.what, itemset=_names(found, grouping))
        return Proof([misfit], _nothing("none exists"))
    measured = measured_leaves(source, possible, grouping, secret)
    frequent = [] if diverse is None else list(_too_frequent(content, measured.sensitive, l))
    return Proof(frequent, {"grouping": "found", "why": None, **what_is_reached(source, found, possible, measured)})


def _too_frequent(
    content: Content,
    counts: NDArray[np.int64],
    l: int | None,  # noqa: E741
) -> Iterator[Violation]:
    """L for the true counts: at most one in l records of a cluster has any sensitive term."""
    sizes = content.sizes[: content.leaves]
    for leaf in np.flatnonzero(counts * (l or 0) > sizes).tolist():
        yield Violation("L", leaf, None, f"a sensitive term is in {counts[leaf]:,} of its {sizes[leaf]:,} records")


def _nothing(grouping: str, why: str | None = None) -> dict[str, object]:
    return {"grouping": grouping, "why": why, **NOTHING}


def _diverse_grouping(
    possible: Possible,
    secret: NDArray[np.bool_],
    l: int | None,  # noqa: E741
) -> tuple[Grouping | Misfit | None, bool | None]:
    """A grouping, if there is one then with at most one in l records of each sensitive term; and whether there is.

    The second is None where it was not decided.
    """
    if l is None or not len(secret):
        return find_grouping(possible), True
    content = possible.content
    sizes = np.repeat(content.sizes[: content.leaves], np.diff(content.entry_starts))
    grouping = find_grouping(possible, np.where(secret[content.entries], sizes // l, sizes))
    if isinstance(grouping, Grouping):
        return grouping, True
    return find_grouping(possible), None if grouping is None else False


def _names(found: Survey, misfit: Misfit) -> tuple[str, ...] | None:
    """The terms that a misfit is about."""
    if misfit.itemset is None:
        return None
    return tuple(found.lexicon.terms[code].as_py() for code in misfit.itemset)


def _other_numbers(found: Survey, data: GivenRecords) -> Iterator[Violation]:
    """How many records there are, and which terms."""
    records, published = len(data.starts) - 1, int(found.sizes[: found.leaves].sum())
    if records != published:
        yield Violation("S0", None, None, f"{published:,} records, but {records:,} in the original")
    if len(data.unknown):
        named = (data.unknown[0].as_py(),)
        yield Violation("S0", None, None, f"terms of the original are missing: {len(data.unknown):,}", itemset=named)
    invented = np.flatnonzero(_supports(found, data) == 0)
    if len(invented):
        named = (found.lexicon.terms[int(invented[0])].as_py(),)
        yield Violation("S0", None, None, f"terms are not in the original: {len(invented):,}", itemset=named)


def _supports(found: Survey, data: GivenRecords) -> NDArray[np.int64]:
    """How many records of the original hold each term of the release."""
    return np.bincount(data.items[data.items >= 0], minlength=len(found.lexicon.terms)).astype(np.int64)


def _other_supports(found: Survey, content: Content, data: GivenRecords) -> Iterator[Violation]:
    """The records of each term: between what chunks say alone, and with all records of each term chunk's leaf."""
    support = _supports(found, data)
    room = np.repeat(content.sizes[: found.leaves] - 1, np.diff(content.entry_starts))
    most = found.certain.copy()
    np.add.at(most, content.entries, room)
    wrong = np.flatnonzero((support > 0) & ((support < found.certain) | (support > most)))
    for code in wrong[:_MOST_SHOWN].tolist():
        few = support[code] < found.certain[code]
        bound = f"at least {found.certain[code]:,}" if few else f"at most {most[code]:,}"
        what = f"a term is in {bound} records, but in {support[code]:,} of the original"
        yield Violation("S0", None, None, what, itemset=(found.lexicon.terms[code].as_py(),))
    if len(wrong) > _MOST_SHOWN:
        yield Violation("S0", None, None, f"the same of {len(wrong) - _MOST_SHOWN:,} more terms")
