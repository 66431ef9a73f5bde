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
def coupled(sources, one, other, lift, records, again):
    """The share of a leaf's records with two terms from different sources, not both record chunks.

    Of two terms of a term chunk, each record with one is each with the other as often as the lift says; what `again`
    makes of a term's count is no further chance to meet. Elsewhere less trust is put in the lift, which is that of term
    chunks.
    """
    if sources[0] < 0 and sources[1] < 0:
        tries = one * other * records / (1.0 + again * (records - 1.0)) ** 2
        return min(one, other, tries * lift / (lift + records - 1.0))
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
                both = coupled((first, second), share, share_of_other, lifts[one, other], records, again)
                by_chance = plain * (1.0 if second < 0 else holdings.counts[j]) / records
                pairs[one, other] += both * records - by_chance


@borrowing
def lift_of(lifts, size, one, other):
    """The lift of two of an itemset's terms; `lifts` are of the first and each later one, of the second, and so on."""
    low, high = min(one, other), max(one, other)
    return lifts[low * size - low * (low + 1) // 2 + high - low - 1]


@borrowing
def one_more(lift, records):
    """The chance that a record with a term is on the one record that its lift is to."""
    return lift / (lift + records - 1.0)


@helper
def join_hidden(shares, firsts, lifts, records, again, is_in):
    """Join an itemset's terms of the term chunk one by one, each time the one with the highest lift to one before.

    All lifts to those before draw it to their record: odds are multiplied. Returns the product of what terms are raised
    by, and the least share of records that any two have.
    """
    size = firsts.shape[0]
    strongest, together = np.zeros(size), np.ones(size)
    product, cap, at, link = 1.0, 1.0, -1, np.zeros(size, np.int64)
    while True:
        after = -1
        for slot in range(size):
            if firsts[slot] >= 0 or is_in[slot]:
                continue
            if at >= 0:
                lift = lift_of(lifts, size, at, slot)
                cap = min(cap, coupled((-1, -1), shares[at], shares[slot], lift, records, again))
                together[slot] *= max(lift, 1.0)
                if lift > strongest[slot]:
                    strongest[slot], link[slot] = lift, at
            if after < 0 or strongest[slot] > strongest[after]:
                after = slot
        if after < 0:
            return product, cap
        if at >= 0:
            one, lift = shares[link[after]], strongest[after]
            product *= coupled((-1, -1), one, shares[after], lift, records, again) / (one * shares[after])
            product *= one_more(together[after], records) / one_more(max(lift, 1.0), records)
        at = after
        is_in[at] = True


@helper
def join_others(shares, firsts, lifts, records, shared_from, is_in):
    """Join the other terms one by one, each time by what raises the chance to meet most. Returns the same."""
    size = firsts.shape[0]
    best, product, cap = np.full(size, -1.0), 1.0, 1.0
    fresh = is_in.copy()
    if not is_in.any():
        is_in[0] = fresh[0] = True
    while not is_in.all():
        at = -1
        for slot in range(size):
            if is_in[slot]:
                continue
            for other in range(size):
                if not fresh[other]:
                    continue
                first, second = firsts[other], firsts[slot]
                if first == second:
                    gain = np.inf  # what they share is published, and counted already
                elif 0 <= first < shared_from and second < shared_from:
                    gain = 1.0
                else:
                    lift = lift_of(lifts, size, other, slot)
                    both = share_of_both(shares[other], shares[slot], np.sqrt(lift))
                    cap = min(cap, both)
                    gain = both / (shares[other] * shares[slot])
                best[slot] = max(best[slot], gain)
            if at < 0 or best[slot] > best[at]:
                at = slot
        if best[at] < np.inf:
            product *= best[at]
        fresh[:] = False
        is_in[at] = fresh[at] = True
    return product, cap


@helper
def coupled_in_span(ground, counts, lifts, again, itemset, size, position, end):
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
    is_in, firsts = np.zeros(size, np.bool_), itemset.firsts[:size]
    hidden, most_hidden = join_hidden(shares, firsts, lifts, records, again, is_in)
    others, most = join_others(shares, firsts, lifts, records, shared_rows(scene), is_in)
    return factor * hidden * others, min(most_hidden, most) * records


@kernel(
    buffer(types.float64)(
        GROUND, LAW, view(types.float64), view(types.float64, 2), types.float64, view(types.int32, 2)
    ),
)
def couple_itemsets(ground, law, counts, lifts, again, itemsets):
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
                factor, most = coupled_in_span(ground, counts, lifts[number], again, itemset, size, position, end)
                expected[number] += min(plain * factor, most)
            position = meet(spans, at, stops, size, end)
    return expected
