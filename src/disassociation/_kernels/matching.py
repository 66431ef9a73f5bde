"""Finding the powers that lifts are taken to, so that terms of term chunks meet as often as is expected of them."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.associating import AFFINITY, length_class, log_lift, new_strewing, place_together
from disassociation._kernels.chance import SAMPLE, begin
from disassociation._kernels.joining import share_of_hidden
from disassociation._kernels.placement import FOREST

_HALVINGS = 12


@helper
def meetings_drawn(affinity, power, leaves, forest, copies, strewing):
    """How often two terms of a term chunk meet in some leaves, if drawn with this power."""
    chance, met = np.zeros(1, np.uint64), 0.0
    for leaf in leaves:
        begin(chance, np.uint64(0), SAMPLE, leaf)
        first, stop, n = forest.term_offsets[leaf], forest.term_offsets[leaf + 1], forest.sizes[leaf]
        place_together(chance, affinity, power, forest.terms[first:stop], copies[first:stop], n, strewing)
        strewing.pulls[:n] = 0.0
        for i in range(copies[first:stop].sum()):
            met += strewing.pulls[strewing.places[i]]
            strewing.pulls[strewing.places[i]] += 1.0
    return met


@helper
def meetings_expected(affinity, leaves, forest, counts, again):
    """How often they are expected to."""
    met = 0.0
    for leaf in leaves:
        n = np.float64(forest.sizes[leaf])
        for one in range(forest.term_offsets[leaf], forest.term_offsets[leaf + 1]):
            for other in range(one + 1, forest.term_offsets[leaf + 1]):
                lift = np.exp(log_lift(affinity, forest.terms[one], forest.terms[other]))
                met += n * share_of_hidden(min(counts[one] / n, 1.0), min(counts[other] / n, 1.0), lift, n, again)
    return met


@kernel(
    buffer(types.float64)(
        AFFINITY, FOREST, view(types.int64), view(types.float64), view(types.int32), types.float64, types.int64
    )
)
def find_powers(affinity, forest, sample, counts, copies, again, classes):
    """The power for each class of lengths of term chunks, found on a sample of leaves by halving: from 0 to 1."""
    powers, owners = np.ones(classes, np.float64), np.empty(sample.shape[0], np.int64)
    length, total, records = 0, 0, np.int64(0)
    for i in range(sample.shape[0]):
        first, stop = forest.term_offsets[sample[i]], forest.term_offsets[sample[i] + 1]
        owners[i] = length_class(stop - first)
        length, total = max(length, stop - first), max(total, np.int64(copies[first:stop].sum()))
        records = max(records, forest.sizes[sample[i]])
    strewing = new_strewing(length, total, records)
    for number in range(classes):
        leaves = sample[owners == number]
        if leaves.shape[0] > 0:
            goal, low, high = meetings_expected(affinity, leaves, forest, counts, again), 0.0, 1.0
            for _ in range(_HALVINGS):
                powers[number] = (low + high) / 2
                if meetings_drawn(affinity, powers[number], leaves, forest, copies, strewing) < goal:
                    low = powers[number]
                else:
                    high = powers[number]
    return powers
