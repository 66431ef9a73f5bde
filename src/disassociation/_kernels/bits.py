"""Bit sets of records, and the k^m test on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from disassociation._kernels._jit import helper


@intrinsic
def popcount(context: Any, word: Any) -> Any:
    """How many bits of a 64-bit word are set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), build


@intrinsic
def lowest_bit(context: Any, word: Any) -> Any:
    """The position of the lowest set bit of a 64-bit word that is not zero."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), build


@helper
def shared_count(first, second):  # type: ignore[no-untyped-def]
    """How many records two bit sets (words,) share."""
    count = 0
    for word in range(first.shape[0]):
        count += popcount(first[word] & second[word])
    return count


@helper
def admits(masks, chunk, size, term, k, m, path, sets):  # type: ignore[no-untyped-def]
    """Whether a k^m-anonymous chunk stays so when `term` joins: METHOD's G1, for itemsets that hold the new term.

    `masks` (terms, words) are the records of each term, `chunk[:size]` the terms already in. Every term alone is known
    to have k records. A depth-first search over itemsets of the chunk; one that would not make the set of records
    smaller is skipped, because its extensions are met again without it, in fewer terms.
    `path` (m,) and `sets` (m, words) are scratch.
    """
    if m == 1:
        return True
    own = masks[term]
    words = own.shape[0]
    if m == 2 or size == 1:
        for position in range(size):
            count = shared_count(own, masks[chunk[position]])
            if 0 < count < k:
                return False
        return True
    for word in range(words):
        sets[0, word] = own[word]
    depth = 0
    path[0] = -1
    before = shared_count(own, own)
    # sets[d] holds the records of the itemset chosen so far, path[d] the chunk position tried last at that depth.
    counts = np.empty(m, np.int64)
    counts[0] = before
    while depth >= 0:
        path[depth] += 1
        if path[depth] >= size:
            depth -= 1
            continue
        other = masks[chunk[path[depth]]]
        count = shared_count(sets[depth], other)
        if count == 0 or count == counts[depth]:
            continue
        if count < k:
            return False
        if depth + 2 < m:
            for word in range(words):
                sets[depth + 1, word] = sets[depth, word] & other[word]
            counts[depth + 1] = count
            path[depth + 1] = path[depth]
            depth += 1
    return True
