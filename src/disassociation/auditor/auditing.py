"""Deciding on a release: the public ``audit``, and the gate that nothing unproved gets through."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from disassociation.auditor.explain import explained
from disassociation.auditor.files import of_files, of_finished_files
from disassociation.auditor.judge import Findings, judge_release
from disassociation.auditor.source import Source, of_tables
from disassociation.auditor.survey import Survey, take_survey
from disassociation.auditor.verdict import CONDITIONS, Audit, Covers, Violation
from disassociation.errors import GuaranteeError, ParameterError

if TYPE_CHECKING:
    from disassociation.auditor.original import Proof

__all__ = ["audit", "require_sound"]


def audit(
    release: Any,
    original: Any = None,
    *,
    sensitive: Iterable[str] = (),
    l: int | None = None,  # noqa: E741
    explain: bool = True,
) -> Audit:
    """Prove or refute the guarantee of a release from its published content alone.

    Args:
        release: A release directory, or a release in memory.
        original: The records it is said to be of: what :func:`disassociation.read` returns, another Arrow table of one
            column of lists, or collections of strings. Then it is also decided whether they can be divided among the
            clusters so that just this is published of them (S0), and ``reached`` tells what the release reaches with
            them, which no one else can know. If that is too hard, S0 is not among the ``conditions``, ``reached`` says
            so, and the verdict is on the release alone.
        sensitive: Terms that must stand in term chunks only, and that no cluster may need to fill its records. A
            release does not name its sensitive terms; whoever knows them can have this checked too.
        l: Hold the release to this diversity, whatever it claims; by default to what it claims.
        explain: Whether to look for the itemsets that a refused release exposes, which takes longer than to refuse it.

    Raises:
        FormatError: This is no release, or it is damaged or hostile.
        InputError: The original is nothing that holds records.

    Examples:
        >>> import disassociation as da
        >>> records = [["a", "b"], ["a", "b"], ["a"], ["b", "c"]]
        >>> release = da.disassociate(records, k=2, m=2)
        >>> da.audit(release).holds
        True
        >>> found = da.audit(release, original=records)
        >>> found.conditions["S0"], found.reached["forced_records"]
        (True, 4)
        >>> found = da.audit(release, original=[["a", "b"], ["a", "b"], ["a", "c"], ["b"]])
        >>> found.conditions["S0"], found.reached["grouping"]
        (True, 'found')
        >>> found = da.audit(release, original=[["a", "b"], ["a"], ["a"], ["b", "c"]])
        >>> print(found.violations[0])
        S0: release: a term is in at least 3 records, but in 2 of the original
    """
    if isinstance(sensitive, str):
        raise ParameterError("sensitive must be a collection of terms, not one string; put it in a list")
    if l is not None and (isinstance(l, bool) or not isinstance(l, int) or l < 2):
        raise ParameterError("l must be a whole number of at least 2")
    source = of_finished_files(release) if isinstance(release, str | Path) else of_tables(release)
    return _decide(source, sensitive, l, explain=explain, original=original)


def require_sound(release: Any, *, sensitive: Iterable[str] = ()) -> None:
    """Refuse what is not proved: a release in memory, or files that are about to be put in place."""
    source = of_files(release) if isinstance(release, Path) else of_tables(release)
    found = _decide(source, sensitive, None, explain=False)
    if not found.holds:
        raise GuaranteeError(f"the release does not keep its guarantee and was not published: {found.violations[0]}")


def _decide(
    source: Source,
    sensitive: Iterable[str],
    l: int | None,  # noqa: E741
    *,
    explain: bool,
    original: Any = None,
) -> Audit:
    """The verdict on a release, wherever it comes from."""
    found = take_survey(source)
    secret = _flags(found, sorted(set(sensitive)))
    wanted_l = max(filter(None, (source.l, l)), default=None)
    findings = judge_release(source, found, secret, max(source.k, wanted_l or 0))
    violations = sorted(findings.violations, key=_place)
    if explain:
        violations = list(explained(source, found, violations))
    proof = None
    if original is not None:
        # Only who has the original waits for what this takes to load.
        from disassociation.auditor.original import judge_original

        broken = {violation.condition for violation in violations}
        proof = judge_original(source, found, original, secret, wanted_l, broken=broken)
        violations = sorted(violations + proof.violations, key=_place)
    return _verdict(source, found, findings, tuple(violations), wanted_l, proof, asked=bool(len(secret)))


def _flags(found: Survey, terms: list[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which terms are sensitive; empty if none are named."""
    if not terms:
        return np.zeros(0, np.bool_)
    flags = np.zeros(len(found.lexicon.terms), np.bool_)
    places = pc.index_in(pa.array(terms, pa.string()), found.lexicon.terms).drop_null()
    flags[places.to_numpy(zero_copy_only=False)] = True
    return flags


def _place(violation: Violation) -> tuple[int, int, int]:
    """By condition, then by cluster and chunk."""
    return list(CONDITIONS).index(violation.condition), violation.cluster or 0, violation.chunk or 0


def _verdict(
    source: Source,
    found: Survey,
    findings: Findings,
    violations: tuple[Violation, ...],
    l: int | None,  # noqa: E741
    proof: Proof | None,
    *,
    asked: bool,
) -> Audit:
    """Everything found, by condition."""
    decided = [
        "order",
        "S1",
        "S2",
        "G0",
        "G1",
        "G2",
        "G3",
        *(["L"] if asked else []),
        *(["C"] if source.max_confidence else []),
        *(["S0"] if proof is not None and proof.decided else []),
    ]
    failed = {violation.condition for violation in violations}
    covered = findings.covered[:-1]
    return Audit(
        k=source.k,
        m=source.m,
        l=l,
        records=int(found.sizes[: found.leaves].sum()),
        terms=len(found.lexicon.terms),
        clusters=found.leaves,
        joint_clusters=len(found.sizes) - found.leaves,
        chunks=findings.chunks,
        flows=findings.flows,
        conditions={name: name not in failed for name in decided},
        violations=violations,
        covers=Covers(
            covered_clusters=int(findings.covered[-1]),
            covering_terms=int((covered > 0).sum()),
            widest=int(covered.max(initial=0)),
            across=float(findings.widest[0] / findings.widest[1]),
            within=findings.within,
        ),
        reached=None if proof is None else proof.reached,
    )
