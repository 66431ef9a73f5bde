"""The expected supports of all pairs of some terms at once: chunk by chunk and leaf by leaf instead of pair by pair.

A pair is together in one chunk, or from two chunks of a leaf, or at least one of its terms is from a shared chunk. For
the last kind each span of leaves that a shared chunk is open to is met with how often the other term is expected at
smaller positions, so that no list of what each leaf can have from above is made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.ground import GROUND
from disassociation._kernels.law import LAW, mixed_share
from disassociation._kernels.leaf_search import shared_rows
from disassociation._kernels.scene import source_of


class Pieces(NamedTuple):
    """Spans of places that have a term from a shared chunk, divided where its share changes.

    Places are the leaves that are in joint clusters, in the order of positions.
    """

    owners: NDArray[np.int64]  # which of the terms
    firsts: NDArray[np.int64]  # first row of the chunk
    starts: NDArray[np.int64]  # places
    ends: NDArray[np.int64]
    positions: NDArray[np.int64]  # of the first place
    shares: NDArray[np.float64]  # of the records there


class Sums(NamedTuple):
    """Of one term: how many records of the places before each are expected to hold it; and which chunks have it."""

    own: NDArray[np.int64]  # (places + 1,) from the leaf's own chunks
    shared: NDArray[np.float64]  # (places + 1,) from shared chunks
    is_in: NDArray[np.bool_]  # (rows of joint clusters,) at a chunk's first: the term is in it


@borrowing
def add_rows(rows, rank, pairs):
    """Pairs that are together in a subrecord: each counts, wherever the subrecord is."""
    for row in range(rows.counts.shape[0]):
        for place in range(rows.offsets[row], rows.offsets[row + 1]):
            one = rank[rows.items[place]]
            if one >= 0:
                for later in range(place + 1, rows.offsets[row + 1]):
                    other = rank[rows.items[later]]
                    if other >= 0:
                        pairs[one, other] += rows.counts[row]


@helper
def add_leaves(ground, law, rank, pairs):
    """Pairs from two chunks of a leaf, or with a term of its term chunk."""
    scene, entries = ground.scene, ground.scene.entries
    terms = pairs.shape[0]
    ranks, firsts, counts = np.empty(terms, np.int64), np.empty(terms, np.int64), np.empty(terms, np.int64)
    for position in range(ground.roots.shape[0]):
        leaf, records = scene.leaf_at[position], scene.sizes[position]
        ratios = law.ratios_from[position]
        row = scene.rows.cluster_offsets[leaf + 1] - 1
        width = scene.rows.chunks[row] + 1 if ratios >= 0 else 0
        size = 0
        for entry in range(entries.offsets[leaf], entries.offsets[leaf + 1]):
            one = rank[entries.terms[entry]]
            if one < 0:
                continue
            first, share = entries.firsts[entry], entries.counts[entry] / records
            for i in range(size):
                if first < 0 or firsts[i] != first:
                    expected = counts[i] * share
                    if ratios >= 0:
                        expected *= law.ratios[ratios + scene.rows.chunks[firsts[i]] * width + scene.rows.chunks[first]]
                    pairs[min(one, ranks[i]), max(one, ranks[i])] += expected
            ranks[size], firsts[size], counts[size] = one, first, entries.counts[entry]
            size += 1


@helper
def leaves_in_trees(ground):
    """How many leaves before each position are in joint clusters."""
    leaves = ground.roots.shape[0]
    places = np.zeros(leaves + 1, np.int64)
    for position in range(leaves):
        places[position + 1] = places[position] + (ground.roots[position] >= leaves)
    return places


@helper
def find_pieces(ground, law, codes, places):
    """The pieces of all terms, those of a mixed chunk leaf by leaf."""
    scene, spans = ground.scene, ground.scene.spans
    size = 0
    for code in codes:
        for span in range(spans.offsets[code], spans.offsets[code + 1]):
            if spans.firsts[span] >= shared_rows(scene):
                is_mixed = scene.is_mixed[spans.firsts[span]]
                size += spans.ends[span] - spans.starts[span] if is_mixed else 1
    pieces = Pieces(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.float64),
    )
    size = 0
    alone = np.zeros(1, np.int64)
    for one in range(codes.shape[0]):
        for span in range(spans.offsets[codes[one]], spans.offsets[codes[one] + 1]):
            first = np.int64(spans.firsts[span])
            if first < shared_rows(scene):
                continue
            position, stop = np.int64(spans.starts[span]), np.int64(spans.ends[span])
            while position < stop:
                end, share = stop, spans.shares[span]
                if scene.is_mixed[first]:
                    end, alone[0] = position + 1, first
                    share = mixed_share(ground, law.mixed, codes[one : one + 1], alone, 1, first, position)
                pieces.owners[size], pieces.firsts[size], pieces.positions[size] = one, first, position
                pieces.starts[size], pieces.ends[size], pieces.shares[size] = places[position], places[end], share
                size += 1
                position = end
    return pieces


@helper
def sum_up(ground, one, code, places, pieces, low, sums):
    """Fill in the sums of a term, whose pieces, if it has any, begin at `low`; returns where the next ones begin."""
    scene, spans = ground.scene, ground.scene.spans
    own, shared = sums.own, sums.shared
    own[:], shared[:], sums.is_in[:] = 0, 0.0, False
    for span in range(spans.offsets[code], spans.offsets[code + 1]):
        place = places[spans.starts[span]]
        if spans.firsts[span] < shared_rows(scene) and place < places[spans.starts[span] + 1]:
            own[place + 1] = spans.counts[span]
    while low < pieces.owners.shape[0] and pieces.owners[low] == one:
        sums.is_in[pieces.firsts[low] - shared_rows(scene)] = True
        position = pieces.positions[low]
        for place in range(pieces.starts[low], pieces.ends[low]):
            shared[place + 1] = pieces.shares[low] * scene.sizes[position]
            position += 1
        low += 1
    for place in range(own.shape[0] - 1):
        own[place + 1] += own[place]
        shared[place + 1] += shared[place]
    return low


@borrowing
def add_shared(ground, one, code, pieces, sums, pairs):
    """Pairs of a term with those that leaves have from a shared chunk; each pair of two shared ones once."""
    scene = ground.scene
    for piece in range(pieces.owners.shape[0]):
        other, start, end = pieces.owners[piece], pieces.starts[piece], pieces.ends[piece]
        if other == one:
            continue
        met = np.float64(sums.own[end] - sums.own[start])
        if one < other:
            first, is_same = pieces.firsts[piece], False
            if sums.is_in[first - shared_rows(scene)]:  # then both are from it throughout, unless it is mixed
                is_same = not scene.is_mixed[first]
                if not is_same:
                    source = source_of(scene, code, pieces.positions[piece])
                    is_same = source >= 0 and scene.entries.firsts[source] == first
            if not is_same:
                met += sums.shared[end] - sums.shared[start]
        if met > 0:
            pairs[min(one, other), max(one, other)] += met * pieces.shares[piece]


@kernel(buffer(types.float64, 2)(GROUND, LAW, view(types.int32), types.int64))
def expected_pairs(ground, law, codes, terms):
    """Expected records with each pair of some terms, and on the diagonal with each; of `terms` that there are."""
    size = codes.shape[0]
    rank = np.full(terms, -1, np.int32)
    for one in range(size):
        rank[codes[one]] = one
    pairs = np.zeros((size, size), np.float64)
    add_rows(ground.scene.rows, rank, pairs)
    add_leaves(ground, law, rank, pairs)
    places = leaves_in_trees(ground)
    pieces = find_pieces(ground, law, codes, places)
    sums = Sums(
        np.zeros(places[-1] + 1, np.int64),
        np.zeros(places[-1] + 1, np.float64),
        np.zeros(ground.scene.rows.counts.shape[0] - shared_rows(ground.scene), np.bool_),
    )
    low = 0
    for one in range(size):
        low = sum_up(ground, one, codes[one], places, pieces, low, sums)
        add_shared(ground, one, codes[one], pieces, sums, pairs)
    for one in range(size):
        pairs[one, one] = law.alone[codes[one]]
        for other in range(one):
            pairs[one, other] = pairs[other, one]
    return pairs
