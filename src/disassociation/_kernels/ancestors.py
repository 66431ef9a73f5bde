"""Records with the ancestors of their terms."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, kernel, view
from disassociation._types import Flags, Offsets, Terms


@kernel(
    types.Tuple((buffer(types.int64), buffer(types.int32)))(
        view(types.int64), view(types.int32), view(types.int64), view(types.int32), types.int64
    )
)
def extend_records(offsets: Offsets, items: Terms, begins: Offsets, lines: Terms, nodes: int) -> tuple[Offsets, Terms]:
    """Replace each term by its line, ``lines[begins[term] : begins[term + 1]]``, every node once a record."""
    seen = np.full(nodes, -1, np.int32)
    bounds = np.zeros(len(offsets), np.int64)
    for record in range(len(offsets) - 1):
        size = 0
        for at in range(offsets[record], offsets[record + 1]):
            for place in range(begins[items[at]], begins[items[at] + 1]):
                size += seen[lines[place]] != record
                seen[lines[place]] = record
        bounds[record + 1] = bounds[record] + size
    seen[:] = -1
    extended = np.empty(bounds[-1], np.int32)
    written = 0
    for record in range(len(offsets) - 1):
        for at in range(offsets[record], offsets[record + 1]):
            for place in range(begins[items[at]], begins[items[at] + 1]):
                node = lines[place]
                if seen[node] != record:
                    seen[node] = record
                    extended[written] = node
                    written += 1
    return bounds, extended


@kernel(
    types.Tuple((buffer(types.int64), buffer(types.int32)))(view(types.int64), view(types.int32), view(types.bool_))
)
def keep_terms(offsets: Offsets, items: Terms, is_kept: Flags) -> tuple[Offsets, Terms]:
    """Leave out the other terms, and records that are left with none."""
    size = records = 0
    for at in range(len(items)):
        size += is_kept[items[at]]
    bounds, kept = np.empty(len(offsets), np.int64), np.empty(size, np.int32)
    bounds[0] = size = 0
    for record in range(len(offsets) - 1):
        for at in range(offsets[record], offsets[record + 1]):
            if is_kept[items[at]]:
                kept[size] = items[at]
                size += 1
        if size > bounds[records]:
            records += 1
            bounds[records] = size
    return bounds[: records + 1].copy(), kept
