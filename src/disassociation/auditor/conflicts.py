"""Which leaves refuse which terms of the shared chunks above them, and the shared chunks as such."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation.auditor.kernels_conflicts import SharedTerms, find_nested, leaf_spans
from disassociation.auditor.shared import Itemset, SharedChunk
from disassociation.auditor.survey import Survey

__all__ = ["Chunks", "chunks_of_several_terms", "conflicts_by_leaf", "lone_terms_without_room", "shared_terms"]


class Chunks(NamedTuple):
    """The shared chunks of all joint clusters, numbered through."""

    keys: NDArray[np.int64]  # (chunks,) joint cluster << 32 | number within it; rising
    rows: NDArray[np.int64]  # (chunks + 1,) where each chunk's rows begin
    lone: NDArray[np.bool_]  # (chunks,) of one term only
    first: NDArray[np.int64]  # (clusters,) the first chunk of each; empty if some joint cluster leaves out numbers

    def numbers(self, joints: NDArray[np.int64], chunks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each (joint cluster, chunk), all of which are there."""
        if len(self.first):
            return self.first[joints] + chunks
        return np.searchsorted(self.keys, joints << 32 | chunks)


def shared_chunks(found: Survey) -> Chunks:
    """Number the shared chunks; rows of one stand together, or the release is refused for its order."""
    keys = (_owners(found) + found.leaves) << 32 | found.joints.chunks
    distinct, first, sizes = np.unique(keys, return_index=True, return_counts=True)
    lone = (sizes == 1) & (np.diff(found.joints.bag.starts)[first] == 1)
    first_of = np.searchsorted(distinct, np.arange(len(found.sizes)) << 32)
    is_dense = np.array_equal(first_of[distinct >> 32] + (distinct & 0xFFFFFFFF), np.arange(len(distinct)))
    none = np.zeros(0, np.int64)
    return Chunks(distinct, np.append(first, len(keys)), lone, first_of if is_dense else none)


def shared_terms(found: Survey) -> SharedTerms:
    """The terms of every joint cluster's shared chunks."""
    joints = found.joints
    lengths = np.diff(joints.bag.starts)
    owner = np.repeat(_owners(found), lengths)
    # Distinct (joint, term), with the chunk of its first occurrence.
    _, first = np.unique(owner << 32 | joints.bag.items, return_index=True)
    starts = np.searchsorted(owner[first], np.arange(len(joints.sizes) + 1)).astype(np.int64)
    return SharedTerms(starts, joints.bag.items[first].copy(), np.repeat(joints.chunks, lengths)[first].copy())


def _owners(found: Survey) -> NDArray[np.int64]:
    """The joint cluster (counted from the first) of each of their rows."""
    return np.repeat(np.arange(len(found.joints.sizes)), np.diff(found.joints.row_starts))


def _leaves_by_place(found: Survey) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Leaves in an order in which those under any cluster are neighbours, and where those of each begin and end."""
    places, spans = leaf_spans(found.parents, found.leaves)
    return np.argsort(places), spans.reshape(-1, 2)


def conflicts_by_leaf(found: Survey, shared: SharedTerms, direct: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every (joint cluster, chunk, leaf, term) such that the leaf may not take the term from the chunk.

    `direct` are those of leaves that have the term themselves; where a joint cluster in between shares it, none of the
    leaves under that one may take it. Left out are chunks of one term that have room even if all of these were
    different leaves, which spares listing the leaves for nearly all chunks.
    """
    chunks = shared_chunks(found)
    nested = find_nested(found.parents, shared)
    room = found.sizes[chunks.keys >> 32]
    for blocks in (direct, nested):
        np.subtract.at(room, chunks.numbers(blocks[:, 0], blocks[:, 1]), found.sizes[blocks[:, 2]])
    open_question = ~chunks.lone | (found.joints.bag.counts[chunks.rows[:-1]] > room)
    direct, nested = (blocks[open_question[chunks.numbers(blocks[:, 0], blocks[:, 1])]] for blocks in (direct, nested))
    leaves, spans = _leaves_by_place(found)
    first, last = spans[nested[:, 2]].T
    lengths = last - first
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    spread = np.repeat(nested, lengths, axis=0)
    spread[:, 2] = leaves[np.repeat(first, lengths) + within]
    return np.concatenate([direct, spread])[:, :4]


def lone_terms_without_room(found: Survey, conflicts: NDArray[np.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Chunks of one term that do not fit on the leaves that may take it: (joint, chunk, subrecords, room).

    Such a chunk has no conflicts that matter: a leaf that refuses the term is not open (guarantee.md 4.6). That the
    term is frequent enough is all that K asks of it.
    """
    chunks = shared_chunks(found)
    room = found.sizes[chunks.keys >> 32]
    numbers = chunks.numbers(conflicts[:, 0], conflicts[:, 1])
    closed = np.unique(numbers * found.leaves + conflicts[:, 2])
    np.subtract.at(room, closed // found.leaves, found.sizes[closed % found.leaves])
    counts = found.joints.bag.counts[chunks.rows[:-1]]
    for i in np.flatnonzero(chunks.lone & (counts > room)).tolist():
        yield int(chunks.keys[i] >> 32), int(chunks.keys[i] & 0xFFFFFFFF), int(counts[i]), int(room[i])


def chunks_of_several_terms(found: Survey, conflicts: NDArray[np.int64]) -> Iterator[tuple[int, int, SharedChunk]]:
    """The chunks of several terms that meet conflicts: (joint cluster, number of the chunk, the chunk)."""
    chunks = shared_chunks(found)
    numbers = chunks.numbers(conflicts[:, 0], conflicts[:, 1])
    several = ~chunks.lone[numbers]
    refused: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, (leaf, term) in zip(numbers[several].tolist(), conflicts[several, 2:].tolist(), strict=True):
        refused[number][leaf].add(term)
    leaves, spans = _leaves_by_place(found)
    for number in sorted(refused):
        joint, chunk = int(chunks.keys[number] >> 32), int(chunks.keys[number] & 0xFFFFFFFF)
        under = leaves[spans[joint, 0] : spans[joint, 1]]
        rows = range(chunks.rows[number], chunks.rows[number + 1])
        yield joint, chunk, _shared_chunk(found, rows, under, refused[number])


def _shared_chunk(found: Survey, rows: range, below: NDArray[np.int64], refused: dict[int, set[int]]) -> SharedChunk:
    """Some rows of a joint cluster as a chunk, and the leaves under it by what they refuse."""
    bag, sizes = found.joints.bag, found.sizes
    kinds: defaultdict[Itemset, list[int]] = defaultdict(list)
    for leaf, terms in refused.items():
        kinds[frozenset(terms)].append(leaf)
    groups = [(terms, np.array(kinds[terms])) for terms in sorted(kinds, key=sorted)]
    groups.insert(0, (frozenset(), np.setdiff1d(below, np.fromiter(refused, np.int64, len(refused)))))
    groups = [(terms, leaves) for terms, leaves in groups if len(leaves)]
    smallest = [int(leaves[np.argmin(sizes[leaves])]) for _, leaves in groups]
    return SharedChunk(
        rows=tuple(
            (frozenset(bag.items[bag.starts[row] : bag.starts[row + 1]].tolist()), int(bag.counts[row])) for row in rows
        ),
        refused=tuple(terms for terms, _ in groups),
        room=tuple(int(sizes[leaves].sum()) for _, leaves in groups),
        smallest=tuple(int(sizes[leaf]) for leaf in smallest),
        example=tuple(smallest),
    )
