"""Bit sets of records, and the k^m test on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, helper, inlined

AHEAD = 16  # turns; 8 and 32 measure the same, none costs six times as much
LINE = 12  # most records end within so many items of their first cache line


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


@intrinsic
def prefetch(context: Any, array: Any, index: Any) -> Any:
    """Ask for array[index] ahead of its use: records are met in random order, and a miss costs as much as 100 sums."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), build


@inlined
def prefetch_list(offsets, items, ids, i):
    """Ask for a list some turns before a loop over `ids` comes to it: first for its place, then for its items."""
    if i + 2 * AHEAD < ids.shape[0]:
        prefetch(offsets, ids[i + 2 * AHEAD])
    if i + AHEAD < ids.shape[0]:
        start = offsets[ids[i + AHEAD]]
        prefetch(items, start)
        prefetch(items, min(start + LINE, items.shape[0] - 1))


@borrowing
def gather_lists(records, ids, count, offsets, items):
    """Copy the first `count` records of `ids` into `offsets` and `items`; returns how many items there are.

    `ids` may go on: what follows is asked for ahead.
    """
    written = 0
    offsets[0] = 0
    for i in range(count):
        prefetch_list(records.offsets, records.items, ids, i)
        for place in range(records.offsets[ids[i]], records.offsets[ids[i] + 1]):
            items[written] = records.items[place]
            written += 1
        offsets[i + 1] = written
    return written


@inlined
def shared_count(first, i, second, j, words):
    """How many records the bit sets first[i] and second[j] share."""
    count = 0
    for word in range(words):
        count += popcount(first[i, word] & second[j, word])
    return count


class Search(NamedTuple):
    """Scratch of the k^m test, made once for many."""

    path: NDArray[np.int64]  # (m,) the place in the chunk tried last at each depth
    counts: NDArray[np.int64]  # (m,) records of the itemset chosen so far
    sets: NDArray[np.uint64]  # (m, words) those records


@helper
def new_search(m, words):
    """Scratch for sets of up to so many words; tests with m <= 2 need none."""
    deep = m if m > 2 else 0
    return Search(np.empty(deep, np.int64), np.empty(deep, np.int64), np.empty((deep, words), np.uint64))


@borrowing
def admits(masks, chunk, size, term, k, m, search):
    """Whether a k^m-anonymous chunk stays so when `term` joins: METHOD's G1, for itemsets that hold the new term.

    `masks` (terms, words) are the records of each term, `chunk[:size]` the terms already in. Every term alone is known
    to have k records. A depth-first search over itemsets of the chunk; one that would not make the set of records
    smaller is skipped, because its extensions are met again without it, in fewer terms.
    """
    if m == 1:
        return True
    words = masks.shape[1]
    if m == 2 or size == 1:
        for position in range(size):
            count = shared_count(masks, term, masks, chunk[position], words)
            if 0 < count < k:
                return False
        return True
    path, counts, sets = search.path, search.counts, search.sets
    for word in range(words):
        sets[0, word] = masks[term, word]
    depth = 0
    path[0] = -1
    counts[0] = shared_count(masks, term, masks, term, words)
    while depth >= 0:
        path[depth] += 1
        if path[depth] >= size:
            depth -= 1
            continue
        other = chunk[path[depth]]
        count = shared_count(masks, other, sets, depth, words)
        if count == 0 or count == counts[depth]:
            continue
        if count < k:
            return False
        if depth + 2 < m:
            for word in range(words):
                sets[depth + 1, word] = sets[depth, word] & masks[other, word]
            counts[depth + 1] = count
            path[depth + 1] = path[depth]
            depth += 1
    return True
