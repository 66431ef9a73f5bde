"""Drawing which records of a leaf hold the terms of its term chunk, those that often meet together.

Terms are placed one after the other, in random order. A record draws a term by the lifts to the terms it was given
before, as odds multiply: with two terms in all, they meet as often as their lift says. With many, every term draws on
every other, and they would meet too often; so lifts are taken to a power, by the length of the term chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, embedded, helper, kernel, view
from disassociation._kernels.chance import COUNT, begin, draw_first, share

_LOOKED = 256
"""So many terms placed before draw on the next one, so that a leaf with very many takes no more than linear time."""
_FAINT = 1e-200
"""Weights of less than this in all are made anew, from what is left."""
_STEPS = 8
"""Of Newton's method, which is exact after fewer."""


class Affinity(NamedTuple):
    """What draws terms of term chunks together."""

    ranks: NDArray[np.int32]  # (terms,) the term's row in `logs`, -1 for none
    logs: NDArray[np.float32]  # (fitted, fitted) logarithms of lifts
    levels: NDArray[np.float64]  # (terms,) whose sum says how often two terms meet by chance: its class, rounded up
    common: NDArray[np.float64]  # (classes,) logarithms of lifts of pairs without a row
    powers: NDArray[np.float64]  # (lengths,) what lifts are taken to, by `length_class` of the term chunk


class Strewing(NamedTuple):
    """Scratch for one leaf: as long as its term chunk, as its copies of terms, and as its records."""

    order: NDArray[np.int64]  # in which terms are placed
    begins: NDArray[np.int64]  # where the copies of each begin, in that order
    places: NDArray[np.int64]  # the record of each copy
    rows: NDArray[np.int64]  # of the term of each copy, as in `Affinity.ranks`
    levels: NDArray[np.float64]  # and as there
    pulls: NDArray[np.float64]  # of each record, on the term that is placed
    weights: NDArray[np.float64]  # how likely each record is to be the next one, times any number


_FLOATS = buffer(types.float64)
AFFINITY = types.NamedTuple((buffer(types.int32), buffer(types.float32, 2), _FLOATS, _FLOATS, _FLOATS), Affinity)


def unused_affinity() -> Affinity:
    """In its place where it does not matter."""
    return Affinity(np.empty(0, np.int32), np.empty((0, 0), np.float32), *(np.empty(0) for _ in range(3)))


@borrowing
def length_class(length):
    """0 for one term, 1 for two, 2 for up to four, 3 for up to eight, and so on."""
    found = 0
    while 1 << found < length:
        found += 1
    return found


@embedded
def common_lift(affinity, level):
    """The logarithm of the lift of two terms one of which has no row, from the sum of their levels."""
    return affinity.common[np.int64(min(max(np.ceil(level), 0.0), affinity.common.shape[0] - 1.0))]


@borrowing
def log_lift(affinity, one, other):
    """The logarithm of the lift of two terms."""
    row, column = affinity.ranks[one], affinity.ranks[other]
    if row >= 0 and column >= 0:
        return np.float64(affinity.logs[row, column])
    return common_lift(affinity, affinity.levels[one] + affinity.levels[other])


@helper
def new_strewing(length, copies, records):
    """Scratch for leaves up to this size."""
    return Strewing(
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(copies, np.int64),
        np.empty(copies, np.int64),
        np.empty(copies, np.float64),
        np.empty(records, np.float64),
        np.empty(records, np.float64),
    )


@embedded
def weigh_records(pulls, weights, n):
    """Make weights of pulls; returns their sum."""
    most, total = -np.inf, 0.0
    for record in range(n):
        most = max(most, pulls[record])
    for record in range(n):
        weights[record] = np.exp(pulls[record] - most)
        total += weights[record]
    return total


@embedded
def draw_record(chance, pulls, weights, n):
    """One of the first n records, as likely as its pull says, and not again. Weights are made if there are none."""
    total, last = 0.0, 0
    for record in range(n):
        total += weights[record]
    if total < _FAINT:
        total = weigh_records(pulls, weights, n)
    goal = share(chance) * total
    for record in range(n):
        if weights[record] > 0.0:
            last = record
            goal -= weights[record]
            if goal < 0.0:
                break
    pulls[last], weights[last] = -np.inf, 0.0
    return last


@embedded
def pull_records(affinity, power, row, level, strewing, begin, stop):
    """Find how much records draw a term: by some copies of others placed before."""
    pulls, places = strewing.pulls, strewing.places
    if row < 0:
        for copy in range(begin, stop):
            pulls[places[copy]] += power * common_lift(affinity, level + strewing.levels[copy])
        return
    for copy in range(begin, stop):
        column = strewing.rows[copy]
        known, common = affinity.logs[row, max(column, 0)], common_lift(affinity, level + strewing.levels[copy])
        pulls[places[copy]] += power * (known if column >= 0 else common)


@borrowing
def place_together(chance, affinity, power, terms, copies, n, strewing):
    """Fill in the record, of n, of each copy of each term; in the order that terms are placed in."""
    order, begins, at = strewing.order[: terms.shape[0]], strewing.begins, 0
    for i in range(terms.shape[0]):
        order[i] = i
    draw_first(chance, order, terms.shape[0])
    for turn in range(terms.shape[0]):
        term, begins[turn] = terms[order[turn]], at
        row, level = np.int64(affinity.ranks[term]), affinity.levels[term]
        strewing.pulls[:n] = 0.0
        strewing.weights[:n] = 0.0
        pull_records(affinity, power, row, level, strewing, begins[max(0, turn - _LOOKED)], at)
        for _ in range(copies[order[turn]]):
            strewing.places[at] = draw_record(chance, strewing.pulls, strewing.weights, n)
            strewing.rows[at], strewing.levels[at] = row, level
            at += 1


@kernel(buffer(types.int32)(types.uint64, view(types.int64), view(types.int64), view(types.float64), types.int64))
def draw_copies(key, term_offsets, sizes, ratios, most):
    """How many records hold each term of each term chunk: one, and with the chance of its ratio one more, and so on."""
    chance, copies = np.zeros(1, np.uint64), np.ones(ratios.shape[0], np.int32)
    for leaf in range(term_offsets.shape[0] - 1):
        begin(chance, key, COUNT, leaf)
        highest = min(most, sizes[leaf])
        for place in range(term_offsets[leaf], term_offsets[leaf + 1]):
            while copies[place] < highest and share(chance) < ratios[place]:
                copies[place] += 1
    return copies


@kernel(buffer(types.float64)(view(types.float64), view(types.int64), view(types.int64), types.int64))
def ratios_of(counts, term_offsets, sizes, most):
    """The ratios with which `draw_copies` draws so many on average, for each term of each term chunk; by Newton."""
    ratios = np.zeros(counts.shape[0], np.float64)
    for leaf in range(term_offsets.shape[0] - 1):
        highest = min(most, sizes[leaf])
        for place in range(term_offsets[leaf], term_offsets[leaf + 1]):
            more = min(counts[place], np.float64(highest)) - 1.0
            ratio = more / (more + 1.0)
            for _ in range(_STEPS if more > 0.0 else 0):
                total, slope, power = 0.0, 0.0, 1.0
                for number in range(1, highest):
                    slope += number * power
                    power *= ratio
                    total += power
                ratio = min(max(ratio - (total - more) / slope, 0.0), 1.0)
            ratios[place] = ratio
    return ratios
