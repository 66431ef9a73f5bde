"""What a leaf comes to with its records known: how often its terms are in them, and whether they fill it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation.auditor._compile import compiled, plain, writable
from disassociation.auditor.kernels_places import CHUNKS
from disassociation.auditor.kernels_records import SETS

_I32, _I64 = writable(types.int32), writable(types.int64)


class Placed(NamedTuple):
    """The records of every leaf."""

    starts: NDArray[np.int64]  # (leaves + 1,)
    sets: NDArray[np.int32]  # which sets
    amounts: NDArray[np.int64]  # and how many of each


class Kept(NamedTuple):
    """The term chunks of all leaves, and which terms are sensitive (or empty)."""

    starts: NDArray[np.int64]  # (leaves + 1,)
    terms: NDArray[np.int32]
    sensitive: NDArray[np.bool_]


PLACED = types.NamedTuple((_I64, _I32, _I64), Placed)
KEPT = types.NamedTuple((_I64, _I32, writable(types.boolean)), Kept)


@plain
def most_touched(sets, one, owner, last, first_mark):
    """How many record chunks a record touches; `owner` names those of each term, `last` the record seen last."""
    touched = np.int64(0)
    for place in range(sets.starts[one], sets.starts[one + 1]):
        chunk = owner[sets.items[place]]
        if chunk >= first_mark and last[chunk - first_mark] != one:
            last[chunk - first_mark] = one
            touched += 1
    return touched


@plain
def is_filled(chunks, kept, sets, leaf, records, asked, owner, last):
    """G2 with the original at hand; `records` are the leaf's sets, `asked` is k, m and the leaf's size."""
    for entry in range(kept.starts[leaf], kept.starts[leaf + 1]):
        if kept.sensitive.shape[0] == 0 or not kept.sensitive[kept.terms[entry]]:
            return True
    k, m, n = asked
    first, end = chunks.of_cluster[leaf], chunks.of_cluster[leaf + 1]
    total = np.int64(0)
    for chunk in range(first, end):
        last[chunk - first] = -1
        total += n - chunks.empty[chunk]
        for place in range(chunks.bag.starts[chunks.rows[chunk]], chunks.bag.starts[chunks.rows[chunk + 1]]):
            owner[chunks.bag.items[place]] = chunk
    h = np.int64(1)
    for one in records:
        h = max(h, min(m, most_touched(sets, one, owner, last, first)))
    return end > first and total >= n + k * (h - 1)


@compiled(types.Array(types.int64, 2, "C")(PLACED, SETS, CHUNKS, KEPT, _I64, types.int64, types.int64))
def measure_leaves(placed, sets, chunks, kept, sizes, k, m):
    """For each leaf: the most records one term-chunk term is in, one sensitive term, any term; 1 if G2 holds."""
    leaves, terms = kept.starts.shape[0] - 1, np.int64(0)
    for place in range(sets.items.shape[0]):
        terms = max(terms, np.int64(sets.items[place]) + 1)
    for place in range(chunks.bag.items.shape[0]):
        terms = max(terms, np.int64(chunks.bag.items[place]) + 1)
    found = np.zeros((leaves, 4), np.int64)
    counts, owner = np.zeros(terms, np.int64), np.full(terms, -1, np.int64)
    widest = np.int64(1)
    for leaf in range(leaves):
        widest = max(widest, chunks.of_cluster[leaf + 1] - chunks.of_cluster[leaf])
    last = np.empty(widest, np.int64)
    for leaf in range(leaves):
        records = placed.sets[placed.starts[leaf] : placed.starts[leaf + 1]]
        amounts = placed.amounts[placed.starts[leaf] : placed.starts[leaf + 1]]
        for i in range(records.shape[0]):
            for place in range(sets.starts[records[i]], sets.starts[records[i] + 1]):
                counts[sets.items[place]] += amounts[i]
        for entry in range(kept.starts[leaf], kept.starts[leaf + 1]):
            found[leaf, 0] = max(found[leaf, 0], counts[kept.terms[entry]])
        for i in range(records.shape[0]):
            for place in range(sets.starts[records[i]], sets.starts[records[i] + 1]):
                term = sets.items[place]
                found[leaf, 2] = max(found[leaf, 2], counts[term])
                if kept.sensitive.shape[0] > 0 and kept.sensitive[term]:
                    found[leaf, 1] = max(found[leaf, 1], counts[term])
                counts[term] = 0
        found[leaf, 3] = is_filled(chunks, kept, sets, leaf, records, (k, m, sizes[leaf]), owner, last)
    return found
