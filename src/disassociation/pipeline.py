"""The whole way from records to a release: read, encode, horizontal, vertical, refine, release, audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from disassociation._kernels.arrays import Forest
from disassociation._parallel import usable_cores
from disassociation.assemble import assemble_forest
from disassociation.auditor.auditing import require_sound
from disassociation.errors import ParameterError
from disassociation.horizontal import partition_records
from disassociation.params import Parameters, Rules, require_whole
from disassociation.reconcile import require_balance
from disassociation.records import Transactions
from disassociation.refine import refine_leaves
from disassociation.release import Release, published_tables
from disassociation.vertical import partition_leaves

__all__ = ["STEPS", "disassociate", "make_release"]

STEPS = ("horizontal", "vertical", "refine", "assemble", "reconcile")
"""The stages after reading, in order; what a progress callback is told, and "audit" behind them."""

_MOST_THREADS = 1024


def disassociate(
    data: Any,
    *,
    k: int = 5,
    m: int = 2,
    l: int | None = None,  # noqa: E741
    max_cluster_size: int | None = None,
    sensitive: Iterable[str] = (),
    keep_together: Iterable[Iterable[str]] = (),
    refine: bool = True,
    method: str = "default",
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Release:
    """Anonymize records so that whoever knows up to ``m`` terms of a person still has ``k`` candidate records.

    Deterministic: the result depends on which records there are, not on their order, nor on ``threads``.

    Args:
        data: Transactions, or anything :func:`disassociation.read` takes: a path, an iterable of iterables, a frame.
        k: How many candidate records must remain, at least 2.
        m: How many terms of a record an adversary may know, at least 1.
        l: With sensitive terms: no sensitive term is in more than one in ``l`` of its cluster's records.
        max_cluster_size: Below this many records a cluster is not split further; a cluster stays within it unless
            ``2 * max(k, l) - 1`` is more, or sensitive terms force a larger one.
        sensitive: Terms that are never published together with another.
        keep_together: Groups of terms whose combinations matter most.
        refine: Whether rare terms of several clusters may be joined in shared chunks.
        method: ``default``, or ``paper`` for the paper's choices as far as they are sound: larger clusters, and joint
            ones of any size, where the default joins up to four times the cluster size.
        threads: How many threads to use; all of the machine's by default.
        progress: Told the name of each step as it begins.

    Raises:
        ParameterError: What is asked for is out of range, or impossible with these data.
        GuaranteeError: The finished release failed its audit; a defect of this program, and nothing is returned.

    Examples:
        >>> import disassociation as da
        >>> da.disassociate([["a", "b"], ["a", "b"], ["a"], ["b", "c"]], k=2, m=2)
        <Release: k=2, m=2; 4 records, 3 terms, 1 leaf, 0 joint clusters>
    """
    from disassociation.formats import read

    parameters = Parameters(
        k=k,
        m=m,
        l=l,
        max_cluster_size=max_cluster_size,
        sensitive=_terms("sensitive", sensitive),
        keep_together=tuple(_terms("a keep_together group", group) for group in keep_together),
        refine=refine,
        method=method,
    )
    release = make_release(read(data), parameters, threads=threads, progress=progress)
    if progress is not None:
        progress("audit")
    require_sound(published_tables(release), sensitive=parameters.sensitive)
    return release


def make_release(
    data: Transactions,
    parameters: Parameters,
    *,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Release:
    """Run the stages on records already read; what is made has yet to pass the audit, in memory or when written."""
    if threads is not None:
        require_whole("threads", threads, 1, _MOST_THREADS)
    threads = threads or usable_cores()
    tell = progress or (lambda step: None)
    rules = parameters.rules_for(data)
    forest = _make_forest(data, rules, threads, tell)
    l = None if parameters.l is None else int(parameters.l)  # noqa: E741
    return Release(int(parameters.k), int(parameters.m), l, None, data.vocabulary, forest)


def _make_forest(data: Transactions, rules: Rules, threads: int, tell: Callable[[str], None]) -> Forest:
    """The stages; what they hand to each other is let go before the result is written and audited."""
    tell("horizontal")
    leaves = partition_records(data, rules, threads)
    tell("vertical")
    domains, rows = partition_leaves(data, leaves, rules, threads)
    tell("refine")
    joints = refine_leaves(data, leaves, domains, rules, threads) if rules.refine else None
    tell("assemble")
    forest = assemble_forest(leaves, domains, rows, joints, len(data.vocabulary))
    tell("reconcile")
    require_balance(data, leaves, domains, joints, forest)
    return forest


def _terms(name: str, given: Iterable[str]) -> frozenset[str]:
    if isinstance(given, str):
        raise ParameterError(f"{name} must be a collection of terms, not one string; put it in a list")
    terms = list(given)
    if not all(isinstance(term, (str, int, np.integer)) and not isinstance(term, bool) for term in terms):
        raise ParameterError(f"{name} must hold terms: strings or whole numbers")
    return frozenset(str(term) for term in terms)
