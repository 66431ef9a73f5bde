"""Showing that an itemset does not give a person away: k records of a possible world that all hold it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from disassociation.auditor.conflicts import shared_terms
from disassociation.auditor.exact import gather, world_records
from disassociation.auditor.files import of_finished_files
from disassociation.auditor.source import Source, of_tables
from disassociation.auditor.survey import Survey, leaf_groups, take_survey
from disassociation.errors import ParameterError

__all__ = ["Witness", "witness"]

_MOST_LEAVES = 50


class Witness(NamedTuple):
    """Records of one cluster in a possible world, and in how many clusters the itemset can be at all.

    Examples:
        >>> import disassociation as da
        >>> da.witness(da.disassociate([["a", "b"]] * 4, k=2, m=2), ["a"]).records
        (('a', 'b'), ('a', 'b'))
    """

    cluster: int
    records: tuple[tuple[str, ...], ...]
    clusters: int


def witness(release: Any, itemset: Iterable[str], *, k: int | None = None) -> Witness | None:
    """Show k records of one cluster that all hold an itemset in a possible world; None if nobody can hold it at all.

    Args:
        release: A release directory, or a release in memory.
        itemset: Terms that someone may know of a person.
        k: How many records to show; by default as many as the release promises.

    Examples:
        >>> import disassociation as da
        >>> release = da.disassociate([["a", "b"], ["a", "b"], ["a"], ["b", "c"]], k=2, m=2)
        >>> found = da.witness(release, ["a", "c"])
        >>> all({"a", "c"} <= set(record) for record in found.records), len(found.records)
        (True, 2)
    """
    source = of_finished_files(release) if isinstance(release, str | Path) else of_tables(release)
    found = take_survey(source)
    names = sorted(set(itemset))
    if not names:
        raise ParameterError("an itemset must hold a term; give one or more")
    codes = pc.index_in(pa.array(names, pa.string()), found.lexicon.terms)
    if codes.null_count:
        return None
    wanted = frozenset(codes.to_pylist())
    leaves = _leaves_with(source, found, sorted(wanted))
    for leaf in leaves[:_MOST_LEAVES]:
        records = world_records(gather(source, found, leaf), leaf, wanted, source.k if k is None else k)
        if records is not None:
            shown = tuple(tuple(found.lexicon.terms[code].as_py() for code in sorted(record)) for record in records)
            return Witness(leaf, shown, len(leaves))
    return None


def _leaves_with(source: Source, found: Survey, wanted: list[int]) -> list[int]:
    """The leaves that may have every one of some terms, from wherever."""
    has = np.zeros((len(wanted), found.leaves), np.bool_)
    for first, group in leaf_groups(source, found):
        rows = np.repeat(np.arange(len(group.sizes)), np.diff(group.row_starts))
        owners = np.repeat(rows, np.diff(group.bag.starts))
        keepers = np.repeat(np.arange(len(group.sizes)), np.diff(group.term_starts))
        for i, code in enumerate(wanted):
            has[i, first + owners[group.bag.items == code]] = True
            has[i, first + keepers[group.terms == code]] = True
    shared = shared_terms(found)
    above = np.repeat(np.arange(len(found.joints.sizes)), np.diff(shared.starts)) + found.leaves
    for i, code in enumerate(wanted):
        reached = np.zeros(len(found.sizes), np.bool_)
        reached[above[shared.terms == code]] = True
        for cluster in range(len(found.sizes) - 1, -1, -1):
            reached[cluster] |= found.parents[cluster] >= 0 and reached[found.parents[cluster]]
        has[i] |= reached[: found.leaves]
    return [int(leaf) for leaf in np.flatnonzero(has.all(axis=0))]
