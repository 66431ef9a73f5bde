"""Going through a release and collecting everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from disassociation.auditor import kernels_clusters as kernels
from disassociation.auditor.conflicts import (
    chunks_of_several_terms,
    conflicts_by_leaf,
    lone_terms_without_room,
    shared_terms,
)
from disassociation.auditor.kernels_clusters import Group, Rule
from disassociation.auditor.kernels_confidence import above, highest_confidence
from disassociation.auditor.kernels_conflicts import IN_TERM_CHUNK, find_conflicts
from disassociation.auditor.kernels_order import compare_neighbours
from disassociation.auditor.kernels_rare import Bag, first_rare_itemset
from disassociation.auditor.order import misplaced_cluster, term_ranks
from disassociation.auditor.shared import Tally, judge_shared_chunk
from disassociation.auditor.source import Source
from disassociation.auditor.survey import Survey, leaf_groups
from disassociation.auditor.verdict import Violation

__all__ = ["Findings", "judge_release"]

_WORDS = {
    kernels.OVERLAP: ("S1", "a term of it is in another chunk of the cluster too"),
    kernels.TOO_MANY: ("S1", "{number} subrecords, but only {size} records"),
    kernels.ORDER: ("order", "chunks, rows or terms do not stand in their order, each once"),
    kernels.SMALL: ("G0", "{number} records, fewer than {minimum}"),
    kernels.RARE: ("G1", "an itemset of {items} is in {number} of its subrecords, fewer than {k}"),
    kernels.UNFILLED: ("G2", "no term chunk to fill its {size} records, and only {number} subrecords in its chunks"),
    kernels.SENSITIVE: ("L", "a sensitive term in a chunk"),
}


@dataclass(slots=True)
class Findings:
    """What the passes over a release bring to light."""

    violations: list[Violation] = field(default_factory=list)
    chunks: int = 0
    flows: int = 0
    covered: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    within: float = 0.0
    widest: NDArray[np.int64] = field(default_factory=lambda: np.array([0, 1]))


def judge_release(source: Source, found: Survey, sensitive: NDArray[np.bool_], minimum: int) -> Findings:
    """Decide every condition that the release alone decides."""
    terms, clusters = len(found.lexicon.terms), len(found.sizes)
    rule = Rule(np.array([source.k, minimum, source.m, found.leaves], np.int64), sensitive)
    findings = Findings(covered=np.zeros(terms + 1, np.int64))
    shared = shared_terms(found)
    rank = term_ranks(found.certain)
    conflicts = [np.empty((0, 5), np.int64)]
    steps, key = [np.empty(0, np.int64)], np.empty(0, np.int64)
    for first, group in leaf_groups(source, found):
        _judge_group(source, found, rule, group, first, findings)
        kernels.count_covers(group, findings.covered, findings.widest)
        _judge_confidence(source, found, group, first, findings)
        step, key = compare_neighbours(group, rank, key)
        steps.append(step)
        if clusters > found.leaves:
            conflicts.append(find_conflicts(group, first, found.parents, shared, terms))
    if clusters > found.leaves:
        _judge_group(source, found, rule, found.joints, found.leaves, findings)
        _judge_confidence(source, found, found.joints, found.leaves, findings)
        findings.violations += _joint_faults(found)
        every = np.concatenate(conflicts)
        findings.violations += _left_behind(every)
        findings.violations += _judge_shared(source, found, conflicts_by_leaf(found, shared, every), findings)
    misplaced = misplaced_cluster(found, np.concatenate(steps))
    if misplaced is not None:
        findings.violations.append(Violation("order", misplaced, None, "does not stand where its content puts it"))
    return findings


def _judge_group(source: Source, found: Survey, rule: Rule, group: Group, first: int, findings: Findings) -> None:
    """The conditions on single clusters, in words."""
    faults, chunks = kernels.judge_clusters(group, rule, first, len(found.lexicon.terms))
    findings.chunks += int(chunks)
    for what, cluster, chunk, number in faults.tolist():
        condition, words = _WORDS[what]
        itemset: tuple[str, ...] | None = None
        if what == kernels.RARE:
            condition = "G1" if cluster < found.leaves else "G3"
            itemset = _rare_itemset(source, found, group, cluster - first, chunk)
        size = int(group.sizes[cluster - first])
        text = words.format(
            number=number, size=size, minimum=int(rule.numbers[1]), k=source.k, items=len(itemset or ())
        )
        findings.violations.append(Violation(condition, cluster, None if chunk < 0 else chunk, text, itemset=itemset))


def _judge_confidence(source: Source, found: Survey, group: Group, first: int, findings: Findings) -> None:
    """The highest confidence within chunks, and C: whether any is higher than the release promises."""
    terms = len(found.lexicon.terms)
    findings.within = highest_confidence(group, source.m, terms, findings.within)
    if source.max_confidence is None or source.max_confidence >= 1:
        return
    across, within = (np.zeros(len(group.sizes), np.bool_) for _ in range(2))
    above(group, source.m, terms, float(source.max_confidence), across, within)
    for i in np.flatnonzero(across & (first < found.leaves)).tolist():
        what = f"a term is in more than {source.max_confidence:.0%} of its records"
        findings.violations.append(Violation("C", first + i, None, what))
    for i in np.flatnonzero(within).tolist():
        what = f"within a chunk, terms imply another with more than {source.max_confidence:.0%} confidence"
        findings.violations.append(Violation("C", first + i, None, what))


def _rare_itemset(source: Source, found: Survey, group: Group, i: int, chunk: int) -> tuple[str, ...]:
    """The itemset that makes a chunk fail, by name."""
    rows = np.flatnonzero(group.chunks[group.row_starts[i] : group.row_starts[i + 1]] == chunk) + group.row_starts[i]
    starts = group.bag.starts
    items = [group.bag.items[starts[row] : starts[row + 1]] for row in rows]
    bag = Bag(
        group.bag.counts[rows],
        np.concatenate([[0], np.cumsum([len(row) for row in items])]).astype(np.int64),
        np.concatenate(items).astype(np.int32),
    )
    return names(found, first_rare_itemset(bag, source.k, source.m, len(found.lexicon.terms))[2].tolist())


def names(found: Survey, codes: list[int]) -> tuple[str, ...]:
    """Terms by their codes, in canonical order."""
    return tuple(found.lexicon.terms[code].as_py() for code in sorted(codes))


def _joint_faults(found: Survey) -> Iterator[Violation]:
    """S1 for joint clusters: two children or more, a size that is the sum of theirs, and something that they share."""
    children = np.bincount(found.parents[found.parents >= 0], minlength=len(found.sizes))
    below = np.zeros(len(found.sizes), np.int64)
    inner = found.parents >= 0
    np.add.at(below, found.parents[inner], found.sizes[inner])
    bare = np.zeros(len(found.sizes), np.bool_)
    bare[found.leaves :] = np.diff(found.joints.row_starts) == 0
    wrong = (children < 2) | bare | (below != found.sizes)
    for joint in (found.leaves + np.flatnonzero(wrong[found.leaves :])).tolist():
        if children[joint] < 2:
            yield Violation("S1", joint, None, "a joint cluster of fewer than two")
        if bare[joint]:
            yield Violation("S1", joint, None, "a joint cluster without a shared chunk")
        if below[joint] != found.sizes[joint]:
            yield Violation("S1", joint, None, f"{found.sizes[joint]} records, but {below[joint]} below it")


def _left_behind(conflicts: NDArray[np.int64]) -> list[Violation]:
    """S2: terms of shared chunks that are still in a term chunk below."""
    found = conflicts[conflicts[:, 4] == IN_TERM_CHUNK]
    return [
        Violation("S2", joint, chunk, f"a term of it is in the term chunk of cluster {leaf}", leaf)
        for joint, chunk, leaf in np.unique(found[:, :3], axis=0).tolist()
    ]


def _judge_shared(source: Source, found: Survey, conflicts: NDArray[np.int64], findings: Findings) -> list[Violation]:
    """G3 for every shared chunk that meets a conflict below; for the others S1 and k^m-anonymity say all."""
    violations = [
        Violation("G3", joint, chunk, f"{count} subrecords, but only {room} records may take them")
        for joint, chunk, count, room in lone_terms_without_room(found, conflicts)
    ]
    tally = Tally()
    for joint, number, chunk in chunks_of_several_terms(found, conflicts):
        fault = judge_shared_chunk(chunk, source.k, source.m, tally)
        if fault is not None:
            itemset = None if fault.itemset is None else names(found, list(fault.itemset))
            violations.append(Violation("G3", joint, number, fault.what, fault.leaf, itemset))
    findings.flows += tally.flows
    return violations
