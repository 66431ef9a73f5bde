"""What the model "independent" says of one leaf: the law of docs/estimates.md, section 2, in numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.covering import FACTORIALS, Factorials, chance_to_share
from disassociation._kernels.ground import GROUND, holds_part
from disassociation._kernels.leaf_search import shared_rows


class MixedChunks(NamedTuple):
    """For the shared chunks that do not go everywhere alike: how likely a record is to have one of the subrecords."""

    numbers: NDArray[np.int64]  # (rows of joint clusters,) at a chunk's first: its number here, else -1
    kinds: NDArray[np.int64]  # for each position under the joint cluster the kind of leaf, -1 if closed; one by one
    kinds_from: NDArray[np.int64]  # (mixed,) where a chunk's kinds begin
    widths: NDArray[np.int64]  # (mixed,) how many kinds it has
    chances: NDArray[np.float64]  # (row of the chunk, kind) that a record of the kind has this subrecord; one by one
    chances_from: NDArray[np.int64]  # (mixed,) where a chunk's chances begin


class Law(NamedTuple):
    """All that the expectation of an itemset needs beside the counts."""

    alone: NDArray[np.float64]  # (terms,) records expected to hold the term
    ratios_from: NDArray[np.int64]  # (leaves,) by position: where a tight leaf's ratios begin, -1 for others
    ratios: NDArray[np.float64]  # (chunk, chunk) how much likelier to meet on a record than if independent; one by one
    factorials: Factorials
    mixed: MixedChunks


_VIEW64, _FLOATS = view(types.int64), view(types.float64)
MIXED_CHUNKS = types.NamedTuple((_VIEW64, _VIEW64, _VIEW64, _VIEW64, _FLOATS, _VIEW64), MixedChunks)
LAW = types.NamedTuple((_FLOATS, _VIEW64, _FLOATS, FACTORIALS, MIXED_CHUNKS), Law)


@borrowing
def mixed_share(ground, mixed, terms, firsts, size, first, position):
    """The share of a leaf's records that have all terms that are from a mixed chunk; of no terms: that have any."""
    number = mixed.numbers[first - shared_rows(ground.scene)]
    kind = mixed.kinds[mixed.kinds_from[number] + position - ground.low[ground.owners[first]]]
    share = 0.0
    if kind >= 0:
        for row in range(first, ground.scene.ends[first]):
            if holds_part(ground.scene.rows, row, terms, firsts, size, first):
                share += mixed.chances[mixed.chances_from[number] + (row - first) * mixed.widths[number] + kind]
    return share


@helper
def empty_before_shared(ground, counts):
    """By position, the chance that a record of the leaf has nothing of its record chunks, nor of its term chunk.

    Also how many terms the term chunk has.
    """
    scene, leaves = ground.scene, ground.roots.shape[0]
    chances, terms = np.ones(leaves, np.float64), np.zeros(leaves, np.int64)
    for position in range(leaves):
        leaf, records = scene.leaf_at[position], scene.sizes[position]
        entry = scene.entries.offsets[leaf + 1] - 1
        while entry >= scene.entries.offsets[leaf] and scene.entries.firsts[entry] < 0:
            terms[position] += 1
            chances[position] *= max(1 - counts[entry] / records, 0.0)
            entry -= 1
        first = scene.rows.cluster_offsets[leaf]
        while first < scene.rows.cluster_offsets[leaf + 1]:
            chances[position] *= 1 - ground.totals[first] / records
            first = scene.ends[first]
    return chances, terms


@kernel(buffer(types.float64)(GROUND, MIXED_CHUNKS, view(types.float64)))
def expected_fill(ground, mixed, counts):
    """By position, the records expected to get a given term of the term chunk only as they are empty otherwise.

    `counts` are records expected to hold the term otherwise, by entry.
    """
    scene, spans = ground.scene, ground.scene.spans
    chances, terms = empty_before_shared(ground, counts)
    for term in range(spans.offsets.shape[0] - 1):
        for span in range(spans.offsets[term], spans.offsets[term + 1]):
            first = spans.firsts[span]
            # Once for a chunk: all its terms are had in the same leaves, unless it is mixed.
            if first >= shared_rows(scene) and scene.rows.items[scene.rows.offsets[first]] == term:
                if not scene.is_mixed[first]:
                    miss = 1 - ground.totals[first] / scene.entries.bases[spans.entries[span]]
                    for position in range(spans.starts[span], spans.ends[span]):
                        chances[position] *= miss
    no_terms, no_firsts = np.empty(0, np.int32), np.empty(0, np.int64)
    for first in range(shared_rows(scene), scene.is_mixed.shape[0]):
        if scene.is_mixed[first]:
            for position in range(ground.low[ground.owners[first]], ground.high[ground.owners[first]]):
                chances[position] *= 1 - mixed_share(ground, mixed, no_terms, no_firsts, 0, np.int64(first), position)
    for position in range(chances.shape[0]):
        chances[position] *= scene.sizes[position] / max(terms[position], 1)
    return chances


@helper
def chunk_sizes(ground, position):
    """How many subrecords each of a leaf's record chunks has."""
    scene = ground.scene
    leaf = scene.leaf_at[position]
    first, stop = scene.rows.cluster_offsets[leaf], scene.rows.cluster_offsets[leaf + 1]
    sizes = np.empty(0 if first == stop else scene.rows.chunks[stop - 1] + 1, np.int64)
    while first < stop:
        sizes[scene.rows.chunks[first]] = ground.totals[first]
        first = scene.ends[first]
    return sizes


@helper
def meeting_ratio(factorials, records, sizes, is_wanted):
    """How much likelier some chunks of a tight leaf are to meet on a record than if they were independent."""
    chance = chance_to_share(factorials, records, sizes, is_wanted)
    for chunk in range(sizes.shape[0]):
        if is_wanted[chunk]:
            chance *= records / sizes[chunk]
    return chance


@helper
def expected_alone(ground, mixed, fill):
    """The records expected to hold each term."""
    scene, spans = ground.scene, ground.scene.spans
    terms = spans.offsets.shape[0] - 1
    alone, asked, firsts = np.zeros(terms, np.float64), np.empty(1, np.int32), np.empty(1, np.int64)
    for term in range(terms):
        for span in range(spans.offsets[term], spans.offsets[term + 1]):
            first, start, end = np.int64(spans.firsts[span]), spans.starts[span], spans.ends[span]
            if first < 0:
                alone[term] += 1 + fill[start]
            elif first < shared_rows(scene):
                alone[term] += spans.counts[span]
            elif scene.is_mixed[first]:
                asked[0], firsts[0] = term, first
                for position in range(start, end):
                    share = mixed_share(ground, mixed, asked, firsts, 1, first, position)
                    alone[term] += scene.sizes[position] * share
            else:
                records = ground.before[end] - ground.before[start]
                alone[term] += records * spans.counts[span] / scene.entries.bases[spans.entries[span]]
    return alone


@kernel(
    types.Tuple((buffer(types.float64), buffer(types.int64), buffer(types.float64)))(
        GROUND, MIXED_CHUNKS, FACTORIALS, view(types.bool_)
    )
)
def law_figures(ground, mixed, factorials, is_tight):
    """What the law has for each term, and for each leaf by position: `alone`, `ratios_from`, `ratios`."""
    scene, leaves = ground.scene, ground.roots.shape[0]
    ratios_from = np.full(leaves, -1, np.int64)
    size = 0
    for position in range(leaves):
        if is_tight[scene.leaf_at[position]]:
            ratios_from[position] = size
            size += chunk_sizes(ground, position).shape[0] ** 2
    ratios = np.ones(size, np.float64)
    for position in range(leaves):
        if ratios_from[position] >= 0:
            sizes = chunk_sizes(ground, position)
            is_wanted = np.zeros(sizes.shape[0], np.bool_)
            for one in range(sizes.shape[0]):
                for other in range(one):
                    is_wanted[one] = is_wanted[other] = True
                    ratio = meeting_ratio(factorials, scene.sizes[position], sizes, is_wanted)
                    ratios[ratios_from[position] + one * sizes.shape[0] + other] = ratio
                    ratios[ratios_from[position] + other * sizes.shape[0] + one] = ratio
                    is_wanted[one] = is_wanted[other] = False
    fill = expected_fill(ground, mixed, scene.entries.counts.astype(np.float64))
    return expected_alone(ground, mixed, fill), ratios_from, ratios
