"""How many records of a leaf are expected to hold terms from several sources, by how much likelier these meet."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.expectation import Itemset, expected_in_span
from disassociation._kernels.ground import GROUND, meet
from disassociation._kernels.law import LAW
from disassociation._kernels.leaf_search import shared_rows
from disassociation._kernels.presence import HOLDINGS


@borrowing
def share_of_both(one, other, lift):
    """The share of records with both terms whose odds ratio is `lift`, from the shares with each (Plackett 1965)."""
    if abs(lift - 1.0) < 1e-9:
        return one * other
    total = 1.0 + (lift - 1.0) * (one + other)
    root = np.sqrt(max(total * total - 4.0 * lift * (lift - 1.0) * one * other, 0.0))
    return 2.0 * lift * one * other / (total + root)


@borrowing
def coupled(sources, one, other, lift, records):
    """The share of a leaf's records with two terms from different sources, not both record chunks.

    Two terms of a term chunk are taken to be on one record each, so that none counts twice. Elsewhere less trust is put
    in the lift, which is that of term chunks.
    """
    if sources[0] < 0 and sources[1] < 0:
        return lift / ((lift + records - 1.0) * records)
    return share_of_both(one, other, np.sqrt(lift))


@kernel(types.void(HOLDINGS, view(types.int64), view(types.float64, 2), types.int64, buffer(types.float64, 2)))
def couple_pairs(holdings, sizes, lifts, shared_from, pairs):
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
                both = coupled((first, second), share, share_of_other, lifts[one, other], records)
                by_chance = plain * (1.0 if second < 0 else holdings.counts[j]) / records
                pairs[one, other] += both * records - by_chance


@helper
def tree_of(shares, firsts, lifts, records, shared_from):
    """Join terms of a leaf one by one to the one that raises the chance to meet most.

    `lifts` are those of the first term and each later one, then of the second. Returns the product of what terms are
    raised by, and the least share of records that any two have.
    """
    size = firsts.shape[0]
    best, is_in = np.full(size, -1.0), np.zeros(size, np.bool_)
    product, cap, at = 1.0, 1.0, 0
    is_in[0] = True
    for _ in range(size - 1):
        for slot in range(size):
            if is_in[slot]:
                continue
            first, second = firsts[at], firsts[slot]
            if first >= 0 and first == second:
                gain = np.inf  # what they share is published, and counted already
            elif 0 <= first < shared_from and 0 <= second < shared_from:
                gain = 1.0
            else:
                low, high = min(at, slot), max(at, slot)
                lift = lifts[low * size - low * (low + 1) // 2 + high - low - 1]
                both = coupled((first, second), shares[at], shares[slot], lift, records)
                cap = min(cap, both)
                gain = both / (shares[at] * shares[slot])
            best[slot] = max(best[slot], gain)
        at = -1
        for slot in range(size):
            if not is_in[slot] and (at < 0 or best[slot] > best[at]):
                at = slot
        is_in[at] = True
        if best[at] < np.inf:
            product *= best[at]
    return product, cap


@helper
def coupled_in_span(ground, counts, lifts, itemset, size, position, end):
    """What to multiply the independent expectation in a span by, and the most that may come of it."""
    scene = ground.scene
    records = np.float64(ground.before[end] - ground.before[position])
    shares, factor = np.empty(size, np.float64), 1.0
    for slot in range(size):
        entry = scene.spans.entries[itemset.at[slot]]
        base = np.float64(scene.entries.bases[entry])
        shares[slot] = min(counts[entry] / base, 1.0)
        if itemset.firsts[slot] < 0:
            factor *= shares[slot] * base
    product, cap = tree_of(shares, itemset.firsts[:size], lifts, records, shared_rows(scene))
    return factor * product, cap * records


@kernel(
    buffer(types.float64)(GROUND, LAW, view(types.float64), view(types.float64, 2), view(types.int32, 2)),
)
def couple_itemsets(ground, law, counts, lifts, itemsets):
    """Expected records with each of many itemsets of the same size, two or more; lifts of their pairs in order."""
    spans, size = ground.scene.spans, itemsets.shape[1]
    expected = np.zeros(itemsets.shape[0], np.float64)
    stops, at, firsts = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    known = np.empty((size, 2), np.int64)
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
                factor, most = coupled_in_span(ground, counts, lifts[number], itemset, size, position, end)
                expected[number] += min(plain * factor, most)
            position = meet(spans, at, stops, size, end)
    return expected
