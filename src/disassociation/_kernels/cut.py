"""Cutting a part that no term splits: order its records by content, then cut them into pieces of legal size."""

from __future__ import annotations

import numpy as np

from disassociation._kernels._jit import helper
from disassociation._kernels.chain import tally_sensitive
from disassociation._kernels.ragged import sort_lists

_CODE_BITS = 31


@helper
def ranked_lists(ids, records, rank):  # type: ignore[no-untyped-def]
    """Each record as the rising list of its terms' numbers in the part: falling support, ties by code, sensitive last.

    `rank` (terms,) is scratch of zeros. Returns (starts, ends, numbers).
    """
    n = ids.shape[0]
    ends = np.empty(n, np.int64)
    starts = np.empty(n, np.int64)
    total = 0
    for i in range(n):
        starts[i] = total
        total += records.offsets[ids[i] + 1] - records.offsets[ids[i]]
        ends[i] = total
    numbers = np.empty(total, np.int32)
    keys = np.empty(total, np.int64)
    terms = 0
    for i in range(n):
        for place in range(records.offsets[ids[i]], records.offsets[ids[i] + 1]):
            code = records.items[place]
            if rank[code] == 0:
                keys[terms] = code
                terms += 1
            rank[code] += 1
    # Sorting one integer a term: sensitive, then falling support, then code.
    for i in range(terms):
        code = keys[i]
        keys[i] = (np.int64(n - rank[code]) << _CODE_BITS) | code
        if records.is_sensitive.shape[0] > 0 and records.is_sensitive[code]:
            keys[i] |= np.int64(1) << 62
    ordered = np.sort(keys[:terms])
    for i in range(terms):
        rank[ordered[i] & ((1 << _CODE_BITS) - 1)] = i
    for i in range(n):
        first = records.offsets[ids[i]]
        for place in range(starts[i], ends[i]):
            number = rank[records.items[first + place - starts[i]]]
            j = place - 1
            while j >= starts[i] and numbers[j] > number:
                numbers[j + 1] = numbers[j]
                j -= 1
            numbers[j + 1] = number
    for i in range(terms):
        rank[ordered[i] & ((1 << _CODE_BITS) - 1)] = 0
    return starts, ends, numbers


@helper
def piece_start(n, pieces, piece):  # type: ignore[no-untyped-def]
    """Where a consecutive piece begins when the first n mod p are one longer."""
    return piece * (n // pieces) + min(piece, n % pieces)


@helper
def pieces_stand(ids, pieces, rules, tally):  # type: ignore[no-untyped-def]
    """Whether every consecutive piece holds a non-sensitive term and, if `l` is asked for, is diverse."""
    l = rules.sizes[2]  # noqa: E741
    n = ids.shape[0]
    for piece in range(pieces):
        start, stop = piece_start(n, pieces, piece), piece_start(n, pieces, piece + 1)
        tally[:] = 0
        if tally_sensitive(rules, ids[start:stop], tally) < 1:
            return False
        if l > 0:
            for y in range(tally.shape[0]):
                if l * tally[y] > stop - start:
                    return False
    return True


@helper
def deal(ids, pieces):  # type: ignore[no-untyped-def]
    """Deal records out: piece i takes places i, i + p, i + 2p, ... and stands consecutively in the result."""
    dealt = np.empty_like(ids)
    place = 0
    for piece in range(pieces):
        for i in range(piece, ids.shape[0], pieces):
            dealt[place] = ids[i]
            place += 1
    return dealt


@helper
def cut_part(order, leaf_start, base, records, rules, rank):  # type: ignore[no-untyped-def]
    """Put the records `order` of a part into pieces of legal size, marking in `leaf_start[base + i]` where each begins."""
    n = order.shape[0]
    limit = rules.sizes[1]
    pieces = 1 if n < limit else (n + limit - 2) // (limit - 1)
    starts, ends, numbers = ranked_lists(order, records, rank)
    rows = np.arange(n)
    sort_lists(numbers, starts, ends, rows)
    order[:] = order[rows]
    if rules.sizes[3] > 0:
        tally = np.zeros(rules.sizes[3], np.int64)
        if not pieces_stand(order, pieces, rules, tally):
            for i in range(n):
                starts[i] = rules.sensitive_offsets[order[i]]
                ends[i] = rules.sensitive_offsets[order[i] + 1]
                rows[i] = i
            sort_lists(rules.sensitive_items, starts, ends, rows)
            by_sensitive = order[rows]
            order[:] = deal(by_sensitive, pieces)
            while pieces > 1 and not pieces_stand(order, pieces, rules, tally):
                pieces -= max(1, pieces // 8)
                order[:] = deal(by_sensitive, pieces)
    for piece in range(pieces):
        leaf_start[base + piece_start(n, pieces, piece)] = True
