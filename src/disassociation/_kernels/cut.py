"""Cutting a part that no term splits: order its records by content, then cut them into pieces of legal size."""

from __future__ import annotations

import numpy as np

from disassociation._kernels._jit import borrowing, helper
from disassociation._kernels.bits import AHEAD, LINE, gather_lists, prefetch
from disassociation._kernels.chain import tally_sensitive
from disassociation._kernels.ragged import compare_lists, sort_lists, sort_numbers, sort_words

_CODE_BITS = 31
_LATE = 63


@helper
def shared_ranks(items, n, is_sensitive, counts):
    """Rank the codes that occur at least twice in `items`, of n records: falling support, ties by code, sensitive last.

    `counts` (terms,) is scratch of zeros; on return it holds 1 + rank of each such code. Returns the codes.
    """
    keys = np.empty(items.shape[0] + 1, np.int64)
    shared = 0
    for place in range(items.shape[0]):
        code = items[place]
        counts[code] += 1
        keys[shared] = code
        shared += counts[code] == 2
    keys = keys[:shared]
    # Sorting one integer a term: sensitive, then falling support, then code.
    for i in range(shared):
        code = keys[i]
        keys[i] |= np.int64(n - counts[code]) << _CODE_BITS
        if is_sensitive.shape[0] > 0 and is_sensitive[code]:
            keys[i] |= np.int64(1) << 62
    for place in range(items.shape[0]):
        counts[items[place]] = 0
    sort_numbers(keys)
    for i in range(shared):
        keys[i] &= (1 << _CODE_BITS) - 1
        counts[keys[i]] = 1 + i
    return keys


@helper
def room_for_lists(ids, records):
    """Room for a copy of some records, of which the first are asked for at once: most parts have no more."""
    total = 0
    for i in range(ids.shape[0]):
        prefetch(records.offsets, ids[min(i + AHEAD, ids.shape[0] - 1)])
        start = records.offsets[ids[i]]
        total += records.offsets[ids[i] + 1] - start
        if i < 4 * AHEAD:
            prefetch(records.items, start)
            prefetch(records.items, min(start + LINE, records.items.shape[0] - 1))
    return np.empty(ids.shape[0] + 1, np.int64), np.empty(total, np.int32)


@helper
def order_records(ids, records, counts):
    """Put `ids` in order of their lists of shared terms, ties by all their codes; `counts` is scratch of zeros.

    The lists are compared as sets of ranks in one word, which is a third of the time of comparing them one by one; its
    last bit stands for all ranks from 63 on, and records that agree in it are looked at again.
    """
    n = ids.shape[0]
    offsets, items = room_for_lists(ids, records)
    gather_lists(records, ids, n, offsets, items)
    shared = shared_ranks(items, n, records.is_sensitive, counts)
    words = np.empty(n, np.uint64)
    for i in range(n):
        word = np.uint64(0)
        for place in range(offsets[i], offsets[i + 1]):
            rank = counts[items[place]]
            word |= np.uint64(rank > 0) << np.uint64(min(max(rank - 1, 0), _LATE))
        words[i] = word
    rows = np.arange(n)
    scratch = np.empty(n, np.int64)
    sort_words(words, rows, scratch)
    low = 0
    for high in range(1, n + 1):
        if high < n and words[rows[high]] == words[rows[low]]:
            continue
        if high - low > 1:
            if words[rows[low]] >> np.uint64(_LATE):
                order_by_ranks(counts, offsets, items, rows[low:high], scratch)
            else:
                sort_lists(items, offsets[:-1], offsets[1:], rows[low:high], scratch)
        low = high
    for i in range(shared.shape[0]):
        counts[shared[i]] = 0
    ids[:] = ids[rows]


@helper
def order_by_ranks(counts, offsets, items, rows, scratch):
    """Put `rows` in order of their lists of ranks, which `counts` has, ties by all their codes."""
    n = rows.shape[0]
    size = 0
    for i in range(n):
        size += offsets[rows[i] + 1] - offsets[rows[i]]
    ranks, starts, ends = np.empty(size, np.int32), np.empty(n, np.int64), np.empty(n, np.int64)
    written = 0
    for i in range(n):
        starts[i] = written
        for place in range(offsets[rows[i]], offsets[rows[i] + 1]):
            rank = counts[items[place]]
            if rank > 0:
                j = written
                while j > starts[i] and ranks[j - 1] > rank:
                    ranks[j] = ranks[j - 1]
                    j -= 1
                ranks[j] = rank
                written += 1
        ends[i] = written
    order = np.arange(n)
    sort_lists(ranks, starts, ends, order, scratch)
    before = rows.copy()
    low = 0
    for high in range(1, n + 1):
        rows[high - 1] = before[order[high - 1]]
        if (
            high < n
            and compare_lists(ranks, starts[order[low]], ends[order[low]], starts[order[high]], ends[order[high]]) == 0
        ):
            continue
        if high - low > 1:
            sort_lists(items, offsets[:-1], offsets[1:], rows[low:high], scratch)
        low = high


@borrowing
def piece_start(n, pieces, piece):
    """Where a consecutive piece begins when the first n mod p are one longer."""
    return piece * (n // pieces) + min(piece, n % pieces)


@borrowing
def pieces_stand(ids, pieces, rules, tally):
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
def deal(ids, pieces):
    """Deal records out: piece i takes places i, i + p, i + 2p, ... and stands consecutively in the result."""
    dealt = np.empty_like(ids)
    place = 0
    for piece in range(pieces):
        for i in range(piece, ids.shape[0], pieces):
            dealt[place] = ids[i]
            place += 1
    return dealt


@helper
def cut_part(order, leaf_start, base, records, rules, rank):
    """Put the records `order` of a part into pieces of legal size; `leaf_start[base + i]` marks where each begins."""
    n = order.shape[0]
    limit = rules.sizes[1]
    pieces = 1 if n < limit else (n + limit - 2) // (limit - 1)
    order_records(order, records, rank)
    if rules.sizes[3] > 0:
        tally = np.zeros(rules.sizes[3], np.int64)
        if not pieces_stand(order, pieces, rules, tally):
            starts, ends, rows = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
            for i in range(n):
                starts[i] = rules.sensitive_offsets[order[i]]
                ends[i] = rules.sensitive_offsets[order[i] + 1]
                rows[i] = i
            sort_lists(rules.sensitive_items, starts, ends, rows, np.empty(n, np.int64))
            by_sensitive = order[rows]
            order[:] = deal(by_sensitive, pieces)
            while pieces > 1 and not pieces_stand(order, pieces, rules, tally):
                pieces -= max(1, pieces // 8)
                order[:] = deal(by_sensitive, pieces)
    for piece in range(pieces):
        leaf_start[base + piece_start(n, pieces, piece)] = True
