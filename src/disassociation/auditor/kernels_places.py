"""Where the leaves of a release have their terms from: each from the nearest place that has it (guarantee.md 1.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, plain, writable
from disassociation.auditor.kernels_conflicts import SHARED_TERMS, SharedTerms
from disassociation.auditor.kernels_rare import BAG, Bag

_I32, _I64 = writable(types.int32), writable(types.int64)


class Chunks(NamedTuple):
    """Every chunk of a release, those of leaves first, numbered through."""

    bag: Bag  # rows in the order of their chunks
    rows: NDArray[np.int64]  # (chunks + 1,) where each chunk's rows begin
    of_cluster: NDArray[np.int64]  # (clusters + 1,) where each cluster's chunks begin
    empty: NDArray[np.int64]  # (chunks,) records of a leaf without a subrecord in its chunk; 0 for joint clusters


class Content(NamedTuple):
    """All of a release."""

    parents: NDArray[np.int64]  # (clusters,)
    sizes: NDArray[np.int64]  # (clusters,)
    chunks: Chunks
    entry_starts: NDArray[np.int64]  # (leaves + 1,) where each leaf's term chunk begins
    entries: NDArray[np.int32]  # codes
    shared: SharedTerms

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.entry_starts) - 1


class Postings(NamedTuple):
    """For each term the leaves that have it, and from where."""

    starts: NDArray[np.int64]  # (terms + 1,)
    leaves: NDArray[np.int32]  # rising for each term
    places: NDArray[np.int32]  # number of a chunk, or -1 - the number of an entry of a term chunk


CHUNKS = types.NamedTuple((BAG, _I64, _I64, _I64), Chunks)
CONTENT = types.NamedTuple((_I64, _I64, CHUNKS, _I64, _I32, SHARED_TERMS), Content)
POSTINGS = types.NamedTuple((_I64, _I32, _I32), Postings)


@plain
def add_place(out, ends, term, leaf, place):
    """Note where a leaf has a term from; only counts if there is no room yet."""
    if out.leaves.shape[0] > 0:
        out.leaves[ends[term]], out.places[ends[term]] = leaf, place
    ends[term] += 1


@plain
def walk_places(content, seen, out, ends):
    """Give every leaf each of its terms from the nearest place; `ends` (terms,) moves on."""
    chunks, shared = content.chunks, content.shared
    bag, leaves = chunks.bag, content.entry_starts.shape[0] - 1
    for leaf in range(leaves):
        for entry in range(content.entry_starts[leaf], content.entry_starts[leaf + 1]):
            seen[content.entries[entry]] = leaf
            add_place(out, ends, content.entries[entry], leaf, -1 - entry)
        for chunk in range(chunks.of_cluster[leaf], chunks.of_cluster[leaf + 1]):
            for place in range(bag.starts[chunks.rows[chunk]], bag.starts[chunks.rows[chunk + 1]]):
                if seen[bag.items[place]] != leaf:
                    seen[bag.items[place]] = leaf
                    add_place(out, ends, bag.items[place], leaf, chunk)
        joint = content.parents[leaf]
        while joint >= 0:
            for i in range(shared.starts[joint - leaves], shared.starts[joint - leaves + 1]):
                if seen[shared.terms[i]] != leaf:
                    seen[shared.terms[i]] = leaf
                    add_place(out, ends, shared.terms[i], leaf, chunks.of_cluster[joint] + shared.chunks[i])
            joint = content.parents[joint]


@compiled(types.int64(CONTENT))
def looks_at_shared_terms(content):
    """How often `walk_places` looks at a term of a joint cluster: each one's terms for every leaf under it."""
    leaves = content.entry_starts.shape[0] - 1
    under = np.zeros(content.parents.shape[0], np.int64)
    under[:leaves] = 1
    looks = np.int64(0)
    for cluster in range(content.parents.shape[0]):
        if cluster >= leaves:
            shared = content.shared.starts[cluster - leaves + 1] - content.shared.starts[cluster - leaves]
            looks += under[cluster] * shared
        if content.parents[cluster] >= 0:
            under[content.parents[cluster]] += under[cluster]
    return looks


@compiled(POSTINGS(CONTENT, types.int64, types.int64))
def find_places(content, terms, most):
    """Where each leaf has each of its terms from; nothing if there were more than `most`."""
    ends, seen = np.zeros(terms, np.int64), np.full(terms, -1, np.int64)
    none = Postings(np.zeros(terms + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    walk_places(content, seen, none, ends)
    starts = np.zeros(terms + 1, np.int64)
    for term in range(terms):
        starts[term + 1] = starts[term] + ends[term]
    if starts[terms] > most:
        return none
    out = Postings(starts, np.empty(starts[terms], np.int32), np.empty(starts[terms], np.int32))
    seen[:] = -1
    walk_places(content, seen, out, starts[:-1].copy())
    return out


@plain
def advance(postings, place, end, leaf):
    """The first place from `place` on whose leaf is not before the given one."""
    step = np.int64(1)
    while place + step < end and postings.leaves[place + step] < leaf:
        place += step
        step *= 2
    high = min(place + step, end)
    while place < high:
        middle = (place + high) // 2
        if postings.leaves[middle] < leaf:
            place = middle + 1
        else:
            high = middle
    return place


@plain
def place_of(postings, term, leaf):
    """Where a leaf stands among those that have a term, or -1."""
    place = advance(postings, postings.starts[term], postings.starts[term + 1], leaf)
    if place == postings.starts[term + 1] or postings.leaves[place] != leaf:
        return np.int64(-1)
    return place
