"""How many records of a leaf hold a term of its term chunk, guessed from which other leaves have the term there."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.scene import SCENE


@borrowing
def mean_count(absent, records, mean_size, most, again):
    """Records of a leaf with a term, given that one has it, from the chance that an average leaf has none.

    Each of the others has it as likely as any record of leaves like this one, and `again` more.
    """
    share = -np.expm1(np.log(absent) / mean_size)
    return min(1.0 + (records - 1.0) * (share + again), np.float64(most))


@helper
def narrow_rates(leaves, is_in, block, strength, rates):
    """Make the rates of a term's leaves those of their blocks, as far as the other leaves there can tell.

    `leaves` rise, `is_in` says which have the term in the term chunk. The others have it from elsewhere, tell nothing.
    """
    low, count = 0, leaves.shape[0]
    while low < count:
        start = leaves[low] - leaves[low] % block
        high, present = low, 0
        while high < count and leaves[high] < start + block:
            present += is_in[high]
            high += 1
        open_leaves = block - (high - low - present)
        for i in range(low, high if present else low):
            rates[i] = (present - 1 + strength * rates[i]) / (open_leaves - 1 + strength)
        low = high


@kernel(
    buffer(types.float64)(SCENE, view(types.int64), types.int64, view(types.int64), view(types.float64), types.float64)
)
def expected_counts(scene, sizes, most, blocks, strengths, again):
    """For each entry, the records of its cluster expected to hold the term: published, but for term chunks.

    The chance that a leaf has the term in its term chunk is that of all leaves, then that of smaller and smaller blocks
    of leaves, where the one before counts as much as `strengths` leaves. `sizes` are those of clusters.
    """
    spans, entries, leaves = scene.spans, scene.entries, scene.leaf_at.shape[0]
    mean_size = scene.sizes.sum() / leaves
    counts = entries.counts.astype(np.float64)
    for term in range(spans.offsets.shape[0] - 1):
        size, present = 0, 0
        for span in range(spans.offsets[term], spans.offsets[term + 1]):
            size += spans.ends[span] - spans.starts[span]
            present += spans.firsts[span] < 0
        if present == 0 or most < 2:
            continue
        keys = np.empty(size, np.int64)
        at = 0
        for span in range(spans.offsets[term], spans.offsets[term + 1]):
            own = spans.entries[span] + 1 if spans.firsts[span] < 0 else 0
            for position in range(spans.starts[span], spans.ends[span]):
                keys[at] = scene.leaf_at[position] << 32 | own
                at += 1
        keys.sort()
        owners = keys & 0xFFFFFFFF
        rates = np.full(size, present / (leaves - size + present + 1))
        for level in range(blocks.shape[0]):
            narrow_rates(keys >> 32, owners > 0, blocks[level], strengths[level], rates)
        for i in range(size):
            if owners[i] > 0:
                records = sizes[keys[i] >> 32]
                counts[owners[i] - 1] = mean_count(1.0 - rates[i], records, mean_size, min(most, records), again)
    return counts
