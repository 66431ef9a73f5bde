"""Judging clusters one by one: S1, order within a cluster, G0, G1, G2, and what a cluster tells of everyone in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, inner, plain, writable
from disassociation.auditor.kernels_rare import BAG, Bag, new_levels, rare_itemset

OVERLAP, TOO_MANY, ORDER, SMALL, RARE, UNFILLED, SENSITIVE = range(7)
"""What a fault is: two chunks share a term; a chunk is too large; something is out of order; G0;
G1 (for joint clusters the k^m part of G3); G2; a sensitive term in a chunk."""


class Group(NamedTuple):
    """Consecutive clusters with everything published of them, terms as codes."""

    sizes: NDArray[np.int64]  # (clusters,) records
    row_starts: NDArray[np.int64]  # (clusters + 1,) where each cluster's rows begin
    chunks: NDArray[np.int32]  # (rows,) number of the chunk within the cluster
    bag: Bag  # the rows
    term_starts: NDArray[np.int64]  # (clusters + 1,) where each cluster's term chunk begins
    terms: NDArray[np.int32]


class Rule(NamedTuple):
    """What is asked of every cluster."""

    numbers: NDArray[np.int64]  # (4,) k, max(k, l), m, clusters from which on they are joint
    sensitive: NDArray[np.bool_]  # (terms,) or empty


GROUP = types.NamedTuple(
    (
        writable(types.int64),
        writable(types.int64),
        writable(types.int32),
        BAG,
        writable(types.int64),
        writable(types.int32),
    ),
    Group,
)
RULE = types.NamedTuple((writable(types.int64), writable(types.boolean)), Rule)


class Report(NamedTuple):
    """Faults as they are found: what, cluster, chunk (-1 for the cluster as a whole), the number seen."""

    faults: NDArray[np.int64]  # (room, 4)
    used: NDArray[np.int64]  # (2,) faults, chunks looked at


@plain
def note(report, what, cluster, chunk, number):
    """Add a fault."""
    row = report.faults[report.used[0]]
    row[0], row[1], row[2], row[3] = what, cluster, chunk, number
    report.used[0] += 1


@plain
def rises(items, start, end):
    """Whether a list rises strictly."""
    for place in range(start + 1, end):
        if items[place] <= items[place - 1]:
            return False
    return True


@plain
def stands_before(bag, row):
    """Whether a row stands before the next in lexicographic order, a prefix before its extension."""
    a, b = bag.starts[row], bag.starts[row + 1]
    a_end, b_end = b, bag.starts[row + 2]
    while a < a_end and b < b_end:
        if bag.items[a] != bag.items[b]:
            return bag.items[a] < bag.items[b]
        a += 1
        b += 1
    return a == a_end and b < b_end


@plain
def chunk_in_order(bag, first, last):
    """Whether the rows of a chunk, and the terms of each, rise strictly."""
    for row in range(first, last):
        if not rises(bag.items, bag.starts[row], bag.starts[row + 1]):
            return False
        if row + 1 < last and not stands_before(bag, row):
            return False
    return True


@plain
def meets(items, start, end, owner, first_mark, mark):
    """Mark terms as the chunk's; whether one is another chunk's of the same cluster, which began with `first_mark`."""
    met = False
    for place in range(start, end):
        met |= first_mark <= owner[items[place]] < mark
        owner[items[place]] = mark
    return met


@plain
def has_other(items, start, end, sensitive):
    """Whether a term chunk has a term that is not sensitive."""
    if sensitive.shape[0] == 0:
        return start < end
    for place in range(start, end):
        if not sensitive[items[place]]:
            return True
    return False


@plain
def judge_chunk(group, rule, cluster, number, rows, owner, marks, desk, report):
    """Judge one chunk, `rows` = (first, last); returns how many subrecords it has."""
    bag, (first, last) = group.bag, rows
    k, m = rule.numbers[0], rule.numbers[2]
    total = np.int64(0)
    for row in range(first, last):
        total += bag.counts[row]
    start, end = bag.starts[first], bag.starts[last]
    marks[1] += 1
    if meets(bag.items, start, end, owner, marks[0], marks[1]):
        note(report, OVERLAP, cluster, group.chunks[first], 0)
    if rule.sensitive.shape[0] > 0:
        for place in range(start, end):
            if rule.sensitive[bag.items[place]]:
                note(report, SENSITIVE, cluster, group.chunks[first], 0)
                break
    ordered = group.chunks[first] == number and chunk_in_order(bag, first, last)
    if not ordered:
        note(report, ORDER, cluster, group.chunks[first], 0)
    size, count = rare_itemset(bag, first, last, k, m, *desk)
    if size > 0:
        note(report, RARE, cluster, group.chunks[first], count)
    return total


@plain
def judge_cluster(group, rule, i, cluster, owner, marks, desk, report):
    """Judge one cluster."""
    bag, n = group.bag, group.sizes[i]
    k, minimum, m, leaves = rule.numbers
    row, stop = group.row_starts[i], group.row_starts[i + 1]
    marks[0] = marks[1] + 1
    number, total, smallest = 0, np.int64(0), np.int32(-1)
    while row < stop:
        last = row
        while last < stop and group.chunks[last] == group.chunks[row]:
            last += 1
        size = judge_chunk(group, rule, cluster, number, (row, last), owner, marks, desk, report)
        if size > n:
            note(report, TOO_MANY, cluster, group.chunks[row], size)
        if bag.items[bag.starts[row]] <= smallest:
            note(report, ORDER, cluster, group.chunks[row], 0)
        smallest = bag.items[bag.starts[row]]
        total += size
        number += 1
        row = last
    report.used[1] += number
    start, end = group.term_starts[i], group.term_starts[i + 1]
    marks[1] += 1
    if meets(group.terms, start, end, owner, marks[0], marks[1]):
        note(report, OVERLAP, cluster, -1, 0)
    if not rises(group.terms, start, end):
        note(report, ORDER, cluster, -1, 0)
    if cluster >= leaves:
        return
    if n < minimum:
        note(report, SMALL, cluster, -1, n)
    if not has_other(group.terms, start, end, rule.sensitive) and (
        number == 0 or total < n + k * (min(m, np.int64(number)) - 1)
    ):
        note(report, UNFILLED, cluster, -1, total)


@inner
def chunk_starts(group):
    """Where each chunk begins, and where the last ends."""
    starts = np.empty(group.chunks.shape[0] + 1, np.int64)
    size = 0
    for i in range(group.sizes.shape[0]):
        for row in range(group.row_starts[i], group.row_starts[i + 1]):
            if row == group.row_starts[i] or group.chunks[row] != group.chunks[row - 1]:
                starts[size] = row
                size += 1
    starts[size] = group.chunks.shape[0]
    return starts[: size + 1]


_JUDGED = types.Tuple((types.Array(types.int64, 2, "C"), types.int64))


@compiled(_JUDGED(GROUP, RULE, types.int64, types.int64))
def judge_clusters(group, rule, first, terms):
    """Judge consecutive clusters, numbered from `first`; returns the faults and the number of chunks."""
    clusters, rows = group.sizes.shape[0], group.chunks.shape[0]
    report = Report(np.empty((6 * rows + 6 * clusters, 4), np.int64), np.zeros(2, np.int64))
    owner = np.full(terms, -1, np.int64)
    local = np.full(terms, -1, np.int32)
    marks = np.full(2, -1, np.int64)
    levels = new_levels(group.bag, chunk_starts(group), rule.numbers[2])
    desk = (local, levels, np.empty(levels.sizes.shape[0], np.int32))
    for i in range(clusters):
        judge_cluster(group, rule, i, first + i, owner, marks, desk, report)
    return report.faults[: report.used[0]].copy(), report.used[1]


@compiled(types.void(GROUP, writable(types.int64), writable(types.int64)))
def count_covers(group, covered, best):
    """Find what can be told of everyone in a leaf.

    `covered` (terms + 1,): leaves each term is in all records of, and last the number of leaves with such a term; added
    to. `best` (2,): the greatest share (s, n) of a leaf's records that hold one record-chunk term; raised.
    """
    bag = group.bag
    counts = np.zeros(covered.shape[0] - 1, np.int64)
    for i in range(group.sizes.shape[0]):
        n = group.sizes[i]
        rows = range(group.row_starts[i], group.row_starts[i + 1])
        any_covers = False
        for row in rows:
            for place in range(bag.starts[row], bag.starts[row + 1]):
                counts[bag.items[place]] += bag.counts[row]
        for row in rows:
            for place in range(bag.starts[row], bag.starts[row + 1]):
                term = bag.items[place]
                count = counts[term]
                if count == 0:
                    continue
                counts[term] = 0
                if count == n:
                    covered[term] += 1
                    any_covers = True
                if float(count) * best[1] > float(best[0]) * n:
                    best[0], best[1] = count, n
        covered[-1] += any_covers
