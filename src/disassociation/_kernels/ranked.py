"""Records as miners want them: terms as ranks by falling support, and for each the records that hold it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, kernel, view


class Ranked(NamedTuple):
    """Records of the terms that are mined, and the same by term."""

    offsets: NDArray[np.int64]  # (records + 1,) where each record begins in `items`
    items: NDArray[np.int32]  # ranks, rising within a record
    weights: NDArray[np.int32]  # (records,) how many records each one stands for; empty if one each
    posting_offsets: NDArray[np.int64]  # (ranks + 1,) where each rank's records begin in `postings`
    postings: NDArray[np.int32]  # record numbers, rising within a rank


RANKED = types.NamedTuple(
    (buffer(types.int64), buffer(types.int32), buffer(types.int32), buffer(types.int64), buffer(types.int32)), Ranked
)


@kernel(types.void(view(types.int64), view(types.int32), view(types.int32), buffer(types.int64)))
def weighted_supports(offsets: Any, items: Any, weights: Any, supports: Any) -> None:
    """Add up for each term the weights of the records that hold it."""
    for record in range(len(weights)):
        for place in range(offsets[record], offsets[record + 1]):
            supports[items[place]] += weights[record]


@kernel(
    types.Tuple((buffer(types.int64), buffer(types.int32), buffer(types.int64), buffer(types.int32)))(
        view(types.int64), view(types.int32), view(types.int32), types.int64
    )
)
def rank_terms(offsets, items, rank_of, ranks):
    """Replace terms by ranks (-1: left out), sorted within each record: by transposing twice, so without comparing."""
    records = offsets.shape[0] - 1
    bounds, begins = np.zeros(records + 1, np.int64), np.zeros(ranks + 1, np.int64)
    for record in range(records):
        kept = bounds[record]
        for place in range(offsets[record], offsets[record + 1]):
            rank = rank_of[items[place]]
            if rank >= 0:
                begins[rank + 1] += 1
                kept += 1
        bounds[record + 1] = kept
    for rank in range(ranks):
        begins[rank + 1] += begins[rank]
    ends = begins.copy()
    postings = np.empty(begins[ranks], np.int32)
    for record in range(records):
        for place in range(offsets[record], offsets[record + 1]):
            rank = rank_of[items[place]]
            if rank >= 0:
                postings[ends[rank]] = record
                ends[rank] += 1
    fill = bounds[:-1].copy()
    ranked = np.empty(bounds[records], np.int32)
    for rank in range(ranks):
        for place in range(begins[rank], begins[rank + 1]):
            record = postings[place]
            ranked[fill[record]] = rank
            fill[record] += 1
    return bounds, ranked, begins, postings
