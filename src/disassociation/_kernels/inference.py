"""Which other terms of a person follow, with what confidence, from the terms that somebody knows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.leaf_search import NO_LIMIT, all_expected, narrow, new_search, push, same_chunk
from disassociation._kernels.scene import SCENE, row_holds

_ROUNDING = 1e-12
_MARGIN = 1e-9
_ASKED = 128  # leaves between two looks at the votes; mostly a small part of all leaves is enough


class Ballot(NamedTuple):
    """For each term, the weight of the leaves in which it is likely enough to matter."""

    votes: NDArray[np.float64]  # (terms,) 0 between uses
    voted: NDArray[np.int32]  # (terms,) those with votes
    tally: NDArray[np.int64]  # (terms,) scratch: counts in one chunk, 0 between uses
    tallied: NDArray[np.int32]  # (terms,) scratch
    size: NDArray[np.int64]  # (1,) how many have votes
    pending: NDArray[np.int64]  # (levels, 3) chunk, known terms as bits, span: their weight is not counted yet
    weight: NDArray[np.float64]  # (levels,) of the leaves that pending stands for
    is_alone: NDArray[np.bool_]  # (spans,) no other term of the chunk follows from the span's; found out as needed


class Likely(NamedTuple):
    """The terms that a large enough share of a cluster's records hold: of leaves by position, then of joint clusters.

    Read in order, which saves a third of the time.
    """

    offsets: NDArray[np.int64]  # (clusters + 1,)
    terms: NDArray[np.int32]
    firsts: NDArray[np.int64]  # first row of the chunk, -1 for a term chunk
    above: NDArray[np.int64]  # (clusters,) the nearest joint cluster above that has any, -1 for none


@helper
def new_ballot(scene, terms, levels):
    """A ballot without votes."""
    return Ballot(
        np.zeros(terms, np.float64),
        np.empty(terms, np.int32),
        np.zeros(terms, np.int64),
        np.empty(terms, np.int32),
        np.zeros(1, np.int64),
        np.full((levels, 3), -1, np.int64),
        np.zeros(levels, np.float64),
        np.zeros(scene.spans.starts.shape[0], np.bool_),
    )


@borrowing
def vote(ballot, term, weight):
    """Give a term the weight of a leaf."""
    if ballot.votes[term] == 0.0:
        ballot.voted[ballot.size[0]] = term
        ballot.size[0] += 1
    ballot.votes[term] += weight


@borrowing
def count_pending(scene, search, ballot, slot, ratio):
    """Votes for the terms that at least a ratio of the subrecords with the known ones hold, of the pending chunk."""
    first, bits = ballot.pending[slot, 0], ballot.pending[slot, 1]
    if first < 0:
        return
    size, total, followers = 0, np.int64(0), 0
    for row in range(first, scene.ends[first]):
        if row_holds(scene.rows, row, search.terms, bits):
            total += scene.rows.counts[row]
            for place in range(scene.rows.offsets[row], scene.rows.offsets[row + 1]):
                term = scene.rows.items[place]
                if ballot.tally[term] == 0:
                    ballot.tallied[size] = term
                    size += 1
                ballot.tally[term] += scene.rows.counts[row]
    for i in range(size):
        term = ballot.tallied[i]
        # Some of the subrecords may be forbidden where leaves differ, so every term may be in all that are not.
        if scene.is_mixed[first] or ballot.tally[term] >= ratio * total:
            vote(ballot, term, ballot.weight[slot])
            followers += 1
        ballot.tally[term] = 0
    if bits == np.int64(1) << slot and followers == 1:
        ballot.is_alone[ballot.pending[slot, 2]] = True
    ballot.pending[slot, 0] = -1


@borrowing
def vote_in_leaf(scene, search, ballot, depth, i, likely, ratio):
    """Votes of a leaf: its own chunks, chunks that known terms are from, likely terms of joint clusters above."""
    weight = search.expected[depth - 1, i]
    position = search.positions[depth - 1, i]
    for place in range(likely.offsets[position], likely.offsets[position + 1]):
        first = likely.firsts[place]
        if first < 0 or same_chunk(search, depth - 1, i, first) == 0:
            vote(ballot, likely.terms[place], weight)
    joint = likely.above[position]
    while joint >= 0:
        for place in range(likely.offsets[joint], likely.offsets[joint + 1]):
            vote(ballot, likely.terms[place], weight)
        joint = likely.above[joint]
    at = i
    for slot in range(depth - 1, -1, -1):
        first, span = np.int64(search.firsts[slot, at]), search.spans[slot, at]
        at = search.ups[slot, at]
        bits = same_chunk(search, depth - 1, i, first) if first >= 0 else np.int64(0)
        is_last = bits >> slot == 1  # of the terms from this chunk
        if is_last and not (bits == np.int64(1) << slot and ballot.is_alone[span]):
            if ballot.pending[slot, 0] != first or ballot.pending[slot, 1] != bits:
                count_pending(scene, search, ballot, slot, ratio)
                ballot.pending[slot, 0], ballot.pending[slot, 1], ballot.pending[slot, 2] = first, bits, span
                ballot.weight[slot] = 0.0
            ballot.weight[slot] += weight


@helper
def find_likely(scene, ratio):
    """The terms that at least a ratio of the records hold that a chunk may be on."""
    clusters, leaves, entries = scene.parents.shape[0], scene.leaf_at.shape[0], scene.entries
    offsets, above = np.zeros(clusters + 1, np.int64), np.full(clusters, -1, np.int64)
    terms, firsts = np.empty(entries.terms.shape[0], np.int32), np.empty(entries.terms.shape[0], np.int64)
    size = 0
    for place in range(clusters):
        cluster = scene.leaf_at[place] if place < leaves else place
        for entry in range(entries.offsets[cluster], entries.offsets[cluster + 1]):
            if entries.counts[entry] >= ratio * entries.bases[entry]:
                terms[size], firsts[size] = entries.terms[entry], entries.firsts[entry]
                size += 1
        offsets[place + 1] = size
    for place in range(clusters - 1, -1, -1):
        parent = scene.parents[scene.leaf_at[place] if place < leaves else place]
        if parent >= 0:
            above[place] = parent if offsets[parent] < offsets[parent + 1] else above[parent]
    return Likely(offsets, terms[:size].copy(), firsts[:size].copy(), above)


@borrowing
def is_settled(scene, search, ballot, depth, ratio, wanted, rest):
    """Whether no unknown term can get the wanted votes any more, or so much is counted that trying them is cheaper."""
    for slot in range(depth):
        count_pending(scene, search, ballot, slot, ratio)
    if rest < wanted / 2:
        return True
    for i in range(ballot.size[0]):
        if ballot.votes[ballot.voted[i]] + rest >= wanted * (1 - _MARGIN):
            is_known = False
            for slot in range(depth):
                is_known |= search.terms[slot] == ballot.voted[i]
            if not is_known:
                return False
    return rest < wanted * (1 - _MARGIN)


@borrowing
def hold_vote(scene, search, ballot, depth, likely, ratio, need):
    """Collect votes, heaviest leaves first, until that is settled; returns the weight of the leaves not asked."""
    total, seen, asked = all_expected(search, depth - 1), 0.0, 0
    heavy, below = 0.0, np.inf
    for i in range(search.sizes[depth - 1]):
        heavy = max(heavy, search.expected[depth - 1, i])
    while below > 0:
        heavy = heavy / 2 if heavy > total * _MARGIN else 0.0
        for i in range(search.sizes[depth - 1]):
            if heavy <= search.expected[depth - 1, i] < below:
                vote_in_leaf(scene, search, ballot, depth, i, likely, ratio)
                seen += search.expected[depth - 1, i]
                asked += 1
                if asked % _ASKED == 0 and is_settled(scene, search, ballot, depth, ratio, need * total, total - seen):
                    return total - seen
        below = heavy
    for slot in range(depth):
        count_pending(scene, search, ballot, slot, ratio)
    return total - seen


@borrowing
def is_certain(search, depth):
    """Whether every leaf of the level above the last is left as it was: the last term is on all that match."""
    if search.sizes[depth] != search.sizes[depth - 1]:
        return False
    for i in range(search.sizes[depth]):
        if search.expected[depth, i] < search.expected[depth - 1, i] * (1 - _ROUNDING):
            return False
    return True


@kernel(
    types.Tuple((buffer(types.int64), buffer(types.int32)))(SCENE, view(types.int32, 2), types.int64, types.float64)
)
def learned_terms(scene, known, terms, confidence):
    """For each victim, the unknown terms whose confidence given the known ones is high enough: offsets, codes.

    Confidence is the expected matches of the known terms and the other one over those of the known ones. Confidence 1
    is met exactly: by terms that in each leaf with candidates are on all of these. Only terms with a share of
    `ratio` in leaves of weight `need` can reach it, as a share is at most 1; the others are not tried.
    """
    ratio = 0.5 * confidence
    need = (confidence - ratio) / (1 - ratio)
    search, ballot = new_search(scene, known.shape[1] + 1), new_ballot(scene, terms, known.shape[1])
    likely = find_likely(scene, ratio)
    offsets = np.zeros(known.shape[0] + 1, np.int64)
    found = np.empty(1024, np.int32)
    size, depth = 0, 0
    for victim in range(known.shape[0]):
        depth = narrow(scene, search, depth, known[victim])
        total = all_expected(search, depth - 1)
        rest = hold_vote(scene, search, ballot, depth, likely, ratio, need)
        if rest < need * total * (1 - _MARGIN):
            for term in np.sort(ballot.voted[: ballot.size[0]]):
                if ballot.votes[term] + rest < need * total * (1 - _MARGIN) or (search.terms[:depth] == term).any():
                    continue
                push(scene, search, depth, term, NO_LIMIT)
                reached = all_expected(search, depth) >= confidence * total * (1 - _ROUNDING)
                if reached and (confidence < 1 or is_certain(search, depth)):
                    if size == found.shape[0]:
                        found = np.concatenate((found, np.empty_like(found)))
                    found[size] = term
                    size += 1
        ballot.votes[ballot.voted[: ballot.size[0]]] = 0.0
        ballot.size[0] = 0
        ballot.pending[:, 0] = -1
        offsets[victim + 1] = size
    return offsets, found[:size].copy()
