"""Terms numbered by rarity, and the records of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, kernel, view
from disassociation._kernels.ragged import order_lists


class Ranked(NamedTuple):
    """Records over ranks (0 is the rarest term, ties by code), and the records of each rank."""

    offsets: NDArray[np.int64]  # (records + 1,)
    items: NDArray[np.int32]  # ranks, rising within a record
    rank_offsets: NDArray[np.int64]  # (terms + 1,)
    postings: NDArray[np.int32]  # records, rising within a rank


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
RANKED = types.NamedTuple((_INT64, _INT32, _INT64, _INT32), Ranked)


@kernel(types.Tuple((RANKED, _INT64))(view(types.int64), view(types.int32), view(types.int32), view(types.int64)))
def rank_records(offsets, items, rank, rank_offsets):
    """Records over ranks, and how many items follow each rank in its records; linear, by two scatters."""
    ends = rank_offsets.copy()
    postings = np.empty_like(items)
    for record in range(offsets.shape[0] - 1):
        for place in range(offsets[record], offsets[record + 1]):
            code = rank[items[place]]
            postings[ends[code]] = record
            ends[code] += 1
    ranked = np.empty_like(items)
    following = np.zeros(rank_offsets.shape[0] - 1, np.int64)
    places = offsets[:-1].copy()
    for code in range(following.shape[0]):
        for i in range(rank_offsets[code], rank_offsets[code + 1]):
            record = postings[i]
            ranked[places[record]] = code
            places[record] += 1
            following[code] += offsets[record + 1] - places[record]
    return Ranked(offsets.copy(), ranked, rank_offsets.copy(), postings), following


@kernel(_INT64(RANKED, view(types.int64)))
def order_records(ranked, rows):
    """Records, given rising, in an order that depends on what they hold only."""
    return order_lists(ranked.items, ranked.offsets, ranked.offsets[1:], rows)
