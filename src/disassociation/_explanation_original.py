"""Why terms ended where they did, with the original at hand: the stages are run again and looked into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from disassociation._kernels.arrays import TERM_CHUNK, Domains, Forest, Joints, Leaves
from disassociation._types import Terms
from disassociation.assemble import assemble_forest
from disassociation.errors import ParameterError
from disassociation.explanation import RECORD, SHARED, Known, Setting, pair_places, term_places
from disassociation.horizontal import partition_records
from disassociation.params import Parameters
from disassociation.records import Transactions
from disassociation.refine import refine_leaves
from disassociation.release import Release
from disassociation.support import codes_of
from disassociation.vertical import partition_leaves

__all__ = ["compare_settings", "find_known"]

CLUSTER_SIZES = (10, 20, 30)
_MOST_THIRDS = 3


class _Run(NamedTuple):
    """What the stages made."""

    release: Release
    leaves: Leaves
    domains: Domains
    joints: Joints | None
    sensitive: Terms


def _run(data: Transactions, parameters: Parameters) -> _Run:
    rules = parameters.rules_for(data)
    leaves = partition_records(data, rules)
    domains, rows = partition_leaves(data, leaves, rules)
    joints = refine_leaves(data, leaves, domains, rules) if rules.refine else None
    forest: Forest = assemble_forest(leaves, domains, rows, joints, len(data.vocabulary))
    l = None if parameters.l is None else int(parameters.l)  # noqa: E741
    release = Release(int(parameters.k), int(parameters.m), l, None, data.vocabulary, forest)
    return _Run(release, leaves, domains, joints, rules.sensitive)


def find_known(release: Release, data: Transactions, parameters: Parameters, terms: Sequence[str]) -> tuple[Known, ...]:
    """The reasons, leaf by leaf; refuses records and parameters that make another release."""
    if len(data) != release.records:
        raise ParameterError(
            f"the release has {release.records:,} records, the original {len(data):,}; give those it was made from"
        )
    run = _run(data, parameters)
    if run.release != release:
        raise ParameterError(
            "these records do not make this release with these parameters; give those it was made with "
            "(cluster size, sensitive terms, groups, refining, method), or leave the original out"
        )
    codes = codes_of(release, terms)
    if codes[0] < 0:
        return ()
    return _of_term(run, int(codes[0])) if len(codes) == 1 else _of_pair(run, data, codes)


def _of_term(run: _Run, code: int) -> tuple[Known, ...]:
    """Where each leaf that has the term put it, and why."""
    at = np.flatnonzero(run.domains.terms == code)
    supports = run.domains.supports[at]
    hidden = run.domains.chunks[at] == TERM_CHUNK
    lifted = hidden & (False if run.joints is None else run.joints.lifted[at])
    kept = hidden & ~lifted
    is_sensitive = bool(np.isin(code, run.sensitive))
    rare = supports < run.release.k
    kinds = {
        "frequent": ~hidden,
        "lifted": lifted,
        "sensitive": kept & is_sensitive,
        "rare": kept & rare & (not is_sensitive),
        "moved": kept & ~rare & (not is_sensitive),
    }
    found = [Known(kind, int(where.sum()), int(supports[where].sum())) for kind, where in kinds.items()]
    return tuple(known for known in found if known.clusters)


def _of_pair(run: _Run, data: Transactions, codes: Terms) -> tuple[Known, ...]:
    """For each leaf that has both terms, in what relation vertical partitioning left them, and why."""
    domains, counts = run.domains, Counter[str]()
    clusters, thirds = Counter[str](), Counter[int]()
    leaf_of = np.repeat(np.arange(len(domains.offsets) - 1), np.diff(domains.offsets))
    one, other = (np.flatnonzero(domains.terms == code) for code in codes.tolist())
    both, first, second = np.intersect1d(leaf_of[one], leaf_of[other], return_indices=True)
    for leaf, a, b in zip(both.tolist(), one[first].tolist(), other[second].tolist(), strict=True):
        numbers = run.leaves.order[run.leaves.offsets[leaf] : run.leaves.offsets[leaf + 1]]
        records = [frozenset(data.items[data.offsets[i] : data.offsets[i + 1]].tolist()) for i in numbers.tolist()]
        pair = frozenset(codes.tolist())
        together = sum(pair <= record for record in records)
        chunks = int(domains.chunks[a]), int(domains.chunks[b])
        kind = _relation(chunks, together, run.release.k)
        if kind == "third":
            culprit = _culprit(run, leaf, records, ((codes.tolist()[0], chunks[1]), (codes.tolist()[1], chunks[0])))
            thirds.update(culprit - pair)
        counts[kind] += together
        clusters[kind] += 1
    names = [run.release.vocabulary[code].as_py() for code, _ in sorted(thirds.items(), key=lambda x: (-x[1], x[0]))]
    kinds = ("together", "few", "never", "third", "one hidden", "both hidden")
    return tuple(
        Known(kind, clusters[kind], counts[kind], tuple(names[:_MOST_THIRDS]) if kind == "third" else ())
        for kind in kinds
        if clusters[kind]
    )


def _relation(chunks: tuple[int, int], together: int, k: int) -> str:
    """Why two terms of a leaf are in these chunks."""
    hidden = chunks.count(TERM_CHUNK)
    if hidden:
        return "both hidden" if hidden == 2 else "one hidden"
    if chunks[0] == chunks[1]:
        return "together"
    return "never" if together == 0 else "few" if together < k else "third"


def _culprit(run: _Run, leaf: int, records: list[frozenset[int]], tries: tuple[tuple[int, int], ...]) -> frozenset[int]:
    """A smallest itemset in fewer than k records that one term would make with the other's chunk; none: empty."""
    domains = run.domains
    here = slice(int(domains.offsets[leaf]), int(domains.offsets[leaf + 1]))
    for size in range(1, run.release.m):
        for code, chunk in tries:
            domain = domains.terms[here][domains.chunks[here] == chunk].tolist()
            for others in combinations(domain, size):
                itemset = frozenset([code, *others])
                if 0 < sum(itemset <= record for record in records) < run.release.k:
                    return itemset
    return frozenset()


def compare_settings(data: Transactions, parameters: Parameters, terms: Sequence[str]) -> tuple[Setting, ...]:
    """Where the terms would end with neighbouring settings, the present ones first; impossible ones are left out."""
    k, m, size = parameters.k, parameters.m, parameters.max_cluster_size
    sizes = CLUSTER_SIZES if size is None else (size, *CLUSTER_SIZES)
    wanted = [
        (k, m, size),
        *((other, m, size) for other in (k - 1, k + 1, 2 * k)),
        *((k, other, size) for other in (m - 1, m + 1)),
        *((k, m, other) for other in sizes),
    ]
    found: dict[tuple[int, int, int], Setting] = {}
    for other_k, other_m, other_size in wanted:
        least = max(other_k, parameters.l or 0)
        if other_k < 2 or other_m < 1 or least > len(data) or (other_size is not None and other_size < least):
            continue
        one = replace(parameters, k=other_k, m=other_m, max_cluster_size=other_size)
        key = (one.k, one.m, one.cluster_size)
        if key not in found:
            found[key] = _setting(data, one, terms)
    return tuple(found.values())


def _setting(data: Transactions, parameters: Parameters, terms: Sequence[str]) -> Setting:
    """Where the terms end with some parameters."""
    release = _run(data, parameters).release
    codes = codes_of(release, terms)
    numbers = parameters.k, parameters.m, parameters.cluster_size
    if codes[0] < 0:
        return Setting(*numbers, 0, 0, 0)
    held = np.add.reduceat(np.isin(data.items, codes), data.offsets[:-1])
    places = term_places(release, int(codes[0])) if len(codes) == 1 else pair_places(release, codes.tolist())
    amounts = (sum(place.lower for place in places if place.kind == kind) for kind in (RECORD, SHARED))
    return Setting(*numbers, int((held == len(codes)).sum()), *amounts)
