"""Why a refused release is refused: an itemset that one record can hold, but never k."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from disassociation.auditor.exact import exposed_itemset, gather, is_exposed
from disassociation.auditor.flow import TOO_LARGE
from disassociation.auditor.source import Source
from disassociation.auditor.survey import Survey
from disassociation.auditor.verdict import Violation

__all__ = ["explained"]

_MOST = 20
"""Violations that are looked into; the first are enough to see what is wrong."""
_LARGEST_GROVE = 200
_EXPOSING = frozenset({"S2", "G0", "G1", "G2", "G3"})


def explained(source: Source, found: Survey, violations: list[Violation]) -> Iterator[Violation]:
    """The violations, the first of them with an itemset that they expose, where there is one that can be confirmed."""
    looked_into = 0
    for violation in violations:
        if violation.condition in _EXPOSING and violation.cluster is not None and looked_into < _MOST:
            looked_into += 1
            yield _with_itemset(source, found, violation, violation.cluster)
        else:
            yield violation


def _with_itemset(source: Source, found: Survey, violation: Violation, cluster: int) -> Violation:
    """The same violation, with an itemset that some world has in one record of a leaf, and none in k."""
    leaf = violation.leaf if violation.leaf is not None or cluster >= found.leaves else cluster
    if _under_root(found, cluster) > _LARGEST_GROVE or found.sizes.max() > TOO_LARGE:
        return violation
    grove = gather(source, found, cluster if leaf is None else leaf)
    if violation.itemset is not None and leaf is not None:
        codes = pc.index_in(pa.array(violation.itemset), found.lexicon.terms)
        if is_exposed(grove, leaf, frozenset(codes.to_pylist()), source.k):
            return replace(violation, leaf=leaf)
    # The leaf that fails and the leaf that is exposed need not be the same.
    for candidate in sorted(grove.leaves, key=lambda other: (other != leaf, other)):
        itemset = exposed_itemset(grove, candidate, source.k, source.m)
        if itemset is not None:
            names = tuple(found.lexicon.terms[code].as_py() for code in itemset)
            return replace(violation, leaf=candidate, itemset=names)
    return replace(violation, itemset=None)


def _under_root(found: Survey, cluster: int) -> int:
    """How many clusters are in the tree of a cluster."""
    root = cluster
    while found.parents[root] >= 0:
        root = int(found.parents[root])
    inside = {root}
    for other in range(root - 1, -1, -1):
        if int(found.parents[other]) in inside:
            inside.add(other)
    return len(inside)
