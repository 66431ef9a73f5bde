"""Counting pairs of terms: those of a few windows one by one, and how many of all are still in chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, kernel, view
from disassociation._kernels.extensions import Search, count_with
from disassociation._kernels.ranked import RANKED
from disassociation._types import Offsets, Terms


@kernel(
    types.void(view(types.int64), view(types.int32), view(types.int32), view(types.int32, 2), buffer(types.int64, 3))
)
def count_windows(
    offsets: Offsets, items: Terms, weights: Terms, slots: NDArray[np.int32], counts: NDArray[np.int64]
) -> None:
    """Add the pairs of each window's terms to its counts, on both sides of the diagonal.

    ``slots`` (terms, 2) are a term's window, -1 for none, and its place in the window; weights are empty if all are 1.
    """
    held = np.empty(counts.shape[0] * counts.shape[1], np.int32)
    for record in range(len(offsets) - 1):
        size = 0
        for at in range(offsets[record], offsets[record + 1]):
            if slots[items[at], 0] >= 0:
                held[size] = items[at]
                size += 1
        if size < 2:
            continue
        weight = weights[record] if len(weights) else 1
        for i in range(size):
            window, one = slots[held[i], 0], slots[held[i], 1]
            for j in range(i):
                if slots[held[j], 0] == window:
                    other = slots[held[j], 1]
                    counts[window, one, other] += weight
                    counts[window, other, one] += weight


@kernel(types.Tuple((types.int64, types.int64))(RANKED, RANKED, types.int64))
def pair_mass(records: Any, chunks: Any, least: int) -> tuple[int, int]:
    """Of pairs in at least so many records: how often they are in subrecords of chunks, and how often in records."""
    terms = len(records.posting_offsets) - 1
    tally, kept = np.zeros(terms, np.int64), np.zeros(terms, np.int64)
    touched, together = np.empty(terms, np.int32), np.empty(terms, np.int32)
    none, flat = np.empty(0, np.int32), np.empty((0, 4), np.int64)
    in_records = Search(tally, touched, tally, none, flat, flat)
    in_chunks = Search(kept, together, kept, none, flat, flat)
    inside = mass = 0
    for root in range(1, terms):
        met, stayed = count_with(records, root, in_records), count_with(chunks, root, in_chunks)
        for i in range(met):
            count = tally[touched[i]] >> 32
            if count >= least:
                mass += count
                inside += kept[touched[i]] >> 32
            tally[touched[i]] = 0
        for i in range(stayed):
            kept[together[i]] = 0
    return inside, mass
