"""How many records are expected to hold an itemset under the model "independent" (docs/estimates.md, section 2).

Where the same places have the terms of the itemset, in a span of leaves, that is the records of these leaves times, for
each place, the share of the records with its part: the places are independent given the leaf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.ground import GROUND, TERM_CHUNK_ROW, count_part, meet, part_size
from disassociation._kernels.law import LAW, chunk_sizes, meeting_ratio, mixed_share
from disassociation._kernels.leaf_search import shared_rows


class Itemset(NamedTuple):
    """The terms, and where they are from in the span of leaves that is looked at."""

    terms: NDArray[np.int32]  # rising
    stops: NDArray[np.int64]  # where the term's spans end
    at: NDArray[np.int64]  # the term's span
    firsts: NDArray[np.int64]  # first row of the chunk that has it
    known: NDArray[np.int64]  # (terms, 2) for the first term of a part: a shared chunk, and how many hold the part


@borrowing
def part_of_shared(scene, itemset, size, slot, first):
    """Subrecords with the part of a shared chunk that goes everywhere alike; counted once for many spans."""
    if itemset.known[slot, 0] != first:
        itemset.known[slot, 0] = first
        itemset.known[slot, 1] = count_part(scene, itemset.terms, itemset.firsts, size, first)
    return itemset.known[slot, 1]


@borrowing
def expected_plain(ground, itemset, size, position, end):
    """Records of a span expected to have all parts but those of mixed chunks; how many parts are from own chunks."""
    scene, spans = ground.scene, ground.scene.spans
    records = ground.before[end] - ground.before[position]
    expected, own = np.float64(records), 0
    for slot in range(size):
        first = itemset.firsts[slot]
        if first == TERM_CHUNK_ROW:
            expected /= records
            continue
        members = part_size(itemset.firsts, size, slot)
        if members == 0 or scene.is_mixed[first]:
            continue
        count, base = spans.counts[itemset.at[slot]], records
        if first < shared_rows(scene):
            own += 1
            if members > 1:
                count = count_part(scene, itemset.terms, itemset.firsts, size, first)
        else:
            base = scene.entries.bases[spans.entries[itemset.at[slot]]]
            if members > 1:
                count = part_of_shared(scene, itemset, size, slot, first)
        expected = expected * count / base
    return expected, own


@borrowing
def share_of_mixed(ground, law, itemset, size, position, end):
    """The share of a span's records that have the parts that are from mixed chunks."""
    scene, total = ground.scene, 0.0
    for place in range(position, end):
        here = np.float64(scene.sizes[place])
        for slot in range(size):
            first = itemset.firsts[slot]
            if first >= 0 and scene.is_mixed[first] and part_size(itemset.firsts, size, slot) > 0:
                here *= mixed_share(ground, law.mixed, itemset.terms, itemset.firsts, size, first, place)
        total += here
    return total / (ground.before[end] - ground.before[position])


@helper
def tight_ratio(ground, law, itemset, size, position):
    """How much likelier the parts from a tight leaf's chunks are to meet than if these were independent."""
    scene = ground.scene
    sizes = chunk_sizes(ground, position)
    is_wanted = np.zeros(sizes.shape[0], np.bool_)
    one, other = -1, -1
    for slot in range(size):
        first = itemset.firsts[slot]
        if 0 <= first < shared_rows(scene) and not is_wanted[scene.rows.chunks[first]]:
            is_wanted[scene.rows.chunks[first]] = True
            one, other = other, scene.rows.chunks[first]
    if is_wanted.sum() == 2:
        return law.ratios[law.ratios_from[position] + one * sizes.shape[0] + other]
    return meeting_ratio(law.factorials, scene.sizes[position], sizes, is_wanted)


@helper
def expected_in_span(ground, law, itemset, size, position, end):
    """Expected records of a span of leaves that have all terms from the same places."""
    spans, any_mixed = ground.scene.spans, False
    for slot in range(size):
        first = np.int64(spans.firsts[itemset.at[slot]])
        itemset.firsts[slot] = first
        any_mixed |= first >= 0 and ground.scene.is_mixed[first]
    expected, own = expected_plain(ground, itemset, size, position, end)
    if own > 1 and law.ratios_from[position] >= 0:
        expected *= tight_ratio(ground, law, itemset, size, position)
    if any_mixed:
        expected *= share_of_mixed(ground, law, itemset, size, position, end)
    return expected


@kernel(buffer(types.float64)(GROUND, LAW, view(types.int64), view(types.int32)))
def expected_supports(ground, law, offsets, terms):
    """Expected records with each of many itemsets: terms rise in each, -1 for one that is nowhere."""
    spans, count = ground.scene.spans, offsets.shape[0] - 1
    widest = 1
    for number in range(count):
        widest = max(widest, offsets[number + 1] - offsets[number])
    expected = np.zeros(count, np.float64)
    stops, at, firsts = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64)
    known = np.full((widest, 2), -1, np.int64)
    for number in range(count):
        start, size = offsets[number], offsets[number + 1] - offsets[number]
        if size == 0:
            expected[number] = ground.before[-1]
        elif size == 1 and terms[start] >= 0:
            expected[number] = law.alone[terms[start]]
        elif terms[start] >= 0:
            itemset = Itemset(terms[start : start + size], stops, at, firsts, known)
            known[:size, 0] = -1
            for slot in range(size):
                at[slot] = spans.offsets[terms[start + slot]]
                stops[slot] = spans.offsets[terms[start + slot] + 1]
            position = meet(spans, at, stops, size, 0)
            while position >= 0:
                end = np.int64(spans.ends[at[0]])
                for slot in range(1, size):
                    end = min(end, spans.ends[at[slot]])
                expected[number] += expected_in_span(ground, law, itemset, size, position, end)
                position = meet(spans, at, stops, size, end)
    return expected
