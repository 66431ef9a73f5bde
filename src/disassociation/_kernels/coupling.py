"""How many records of a leaf are expected to hold terms from several sources, by how much likelier these meet."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import borrowing, buffer, embedded, kernel, view
from disassociation._kernels.expectation import Itemset, expected_in_span
from disassociation._kernels.ground import GROUND, meet
from disassociation._kernels.joining import join_all, new_web, share_of_both, share_of_hidden
from disassociation._kernels.law import LAW
from disassociation._kernels.leaf_search import shared_rows
from disassociation._kernels.presence import HOLDINGS


@embedded
def coupled(first, second, one, other, lift, records, again):
    """The share of a leaf's records with two terms from different sources, not both record chunks.

    Less trust is put in the lift where not both are from the term chunk, as it is that of term chunks.
    """
    if first < 0 and second < 0:
        return share_of_hidden(one, other, lift, records, again)
    return share_of_both(one, other, np.sqrt(lift))


@kernel(
    types.void(
        HOLDINGS, view(types.int64), view(types.float64, 2), types.float64, types.int64, buffer(types.float64, 2)
    )
)
def couple_pairs(holdings, sizes, lifts, again, shared_from, pairs):
    """Add to what independence expects of each two terms, one < other, what lifts and counts of term chunks change."""
    for leaf in range(holdings.offsets.shape[0] - 1):
        start, stop, records = holdings.offsets[leaf], holdings.offsets[leaf + 1], np.float64(sizes[leaf])
        for i in range(start, stop):
            first, one = np.int64(holdings.firsts[i]), holdings.ranks[i]
            share = min(holdings.counts[i] / records, 1.0)
            plain = 1.0 if first < 0 else holdings.counts[i]
            for j in range(i + 1, stop):
                second, other = np.int64(holdings.firsts[j]), holdings.ranks[j]
                if first >= 0 and (first == second or (0 <= second < shared_from and first < shared_from)):
                    continue
                share_of_other = min(holdings.counts[j] / records, 1.0)
                both = coupled(first, second, share, share_of_other, lifts[one, other], records, again)
                by_chance = plain * (1.0 if second < 0 else holdings.counts[j]) / records
                pairs[one, other] += both * records - by_chance


@borrowing
def fill_web(ground, counts, lifts, again, itemset, size, position, end, web):
    """Look at each two terms in a span; returns how many records hold its hidden ones, and the least share of two."""
    scene, records = ground.scene, np.float64(ground.before[end] - ground.before[position])
    shared_from, hidden, most, at = shared_rows(scene), 1.0, 1.0, 0
    for slot in range(size):
        entry = scene.spans.entries[itemset.at[slot]]
        web.together[slot] = min(counts[entry] / scene.entries.bases[entry], 1.0)  # its share, for the time being
        web.is_hidden[slot] = itemset.firsts[slot] < 0
        if web.is_hidden[slot]:
            hidden *= web.together[slot] * records
    for i in range(size):
        for j in range(i + 1, size):
            first, second, lift = itemset.firsts[i], itemset.firsts[j], lifts[at]
            one, other, gain, at = web.together[i], web.together[j], 1.0, at + 1
            if first >= 0 and first == second:
                gain = np.inf
            elif first < 0 or second < 0 or max(first, second) >= shared_from:
                both = coupled(first, second, one, other, lift, records, again)
                most, gain = min(most, both), both / (one * other)
            web.gains[i, j] = web.gains[j, i] = gain
            web.lifts[i, j] = web.lifts[j, i] = lift
    return hidden, most * records


@kernel(
    buffer(types.float64, 2)(
        GROUND, LAW, view(types.float64), view(types.float64, 2), types.float64, view(types.int32, 2)
    ),
)
def couple_itemsets(ground, law, counts, lifts, again, itemsets):
    """Expected records with each of many itemsets of the same size, two or more; lifts of their pairs in order.

    And, in a second row, what independence expects.
    """
    spans, size = ground.scene.spans, itemsets.shape[1]
    expected = np.zeros((2, itemsets.shape[0]), np.float64)
    stops, at, firsts = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    known, web = np.empty((size, 2), np.int64), new_web(size)
    for number in range(itemsets.shape[0]):
        itemset = Itemset(itemsets[number], stops, at, firsts, known)
        known[:] = -1
        for slot in range(size):
            at[slot] = spans.offsets[itemset.terms[slot]]
            stops[slot] = spans.offsets[itemset.terms[slot] + 1]
        position = meet(spans, at, stops, size, 0)
        while position >= 0:
            end = np.int64(spans.ends[at[0]])
            for slot in range(1, size):
                end = min(end, spans.ends[at[slot]])
            plain = expected_in_span(ground, law, itemset, size, position, end)
            if plain > 0:
                hidden, most = fill_web(ground, counts, lifts[number], again, itemset, size, position, end, web)
                records = np.float64(ground.before[end] - ground.before[position])
                expected[0, number] += min(plain * hidden * join_all(web, size, records), most)
                expected[1, number] += plain
            position = meet(spans, at, stops, size, end)
    return expected
