"""Splitting one large part along its chain: with the most frequent term, without it with the next, and so on.

A *part* is a stretch of the record order. Its records are held as lists of local term numbers, projected on the terms
that can still split something: being disqualified (fewer than `minimum` records with, or without, the term) is for
ever, so a term once dropped is never missed. Every record leaves the chain once and counts only fall. Where there are
many terms, the most frequent comes from a bucket queue that moves a term only when it is met: time linear in the part's
occurrences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, helper
from disassociation._kernels.bits import prefetch_list
from disassociation._kernels.ragged import sort_numbers
from disassociation._kernels.room import roomy

_SCANNED = 512
"""Up to so many terms, looking at all for each split is faster than the queue, by half for parts of 100 records."""


class Part(NamedTuple):
    """A part to be split; `q` local terms in canonical order."""

    ids: NDArray[np.int32]  # (n,) record numbers
    offsets: NDArray[np.int64]  # (n + 1,) where each record's items begin
    items: NDArray[np.int32]  # local term numbers, rising within a record
    codes: NDArray[np.int32]  # (q,) the code of each local term
    counts: NDArray[np.int32]  # (q,) records that hold it


class Rules(NamedTuple):
    """What decides a split, the same for all parts."""

    sizes: NDArray[np.int64]  # (5,) minimum, F, l (0: not asked for), sensitive terms, all terms
    group: NDArray[np.int32]  # (terms,) group of each term, -1 for none; empty if there are no groups
    sensitive_offsets: NDArray[np.int64]  # (records + 1,) sensitive terms of each record; empty if there are none
    sensitive_items: NDArray[np.int32]  # sensitive terms, numbered by themselves
    bare: NDArray[np.bool_]  # (records,) the record holds nothing but sensitive terms


class Children(NamedTuple):
    """What a chain leaves behind, child after child; items are still the local terms of the part that was split."""

    order: NDArray[np.int32]  # (n,) record numbers
    lengths: NDArray[np.int32]  # (n,) how many items the record at each place of `order` has
    items: NDArray[np.int32]  # those of children that are to be split further
    bounds: NDArray[np.int64]  # (children, 4) start, stop, items start (-1: no term splits it), last group


class Queue(NamedTuple):
    """Terms by the count they had when they were last met: linked lists, one for each count."""

    head: NDArray[np.int32]  # (n + 1,) first term of each bucket, -1 for none
    after: NDArray[np.int32]  # (q,) the next term in the same bucket


@borrowing
def push(queue, count, term):
    """Put a term into the bucket of its count."""
    queue.after[term] = queue.head[count]
    queue.head[count] = term


@helper
def postings(part):
    """For each local term, where its records begin, and the local records in order."""
    q = part.codes.shape[0]
    starts = np.zeros(q + 1, np.int64)
    for term in range(q):
        starts[term + 1] = starts[term] + part.counts[term]
    places = starts[:-1].copy()
    records = roomy(part.items.shape[0], np.int32)
    for record in range(part.ids.shape[0]):
        for place in range(part.offsets[record], part.offsets[record + 1]):
            term = part.items[place]
            records[places[term]] = record
            places[term] += 1
    return starts, records


@borrowing
def tally_sensitive(rules, ids, tally):
    """Add the sensitive terms of some records to `tally`; how many of the records hold another term too."""
    fit = 0
    for i in range(ids.shape[0]):
        for place in range(rules.sensitive_offsets[ids[i]], rules.sensitive_offsets[ids[i] + 1]):
            tally[rules.sensitive_items[place]] += 1
        if not rules.bare[ids[i]]:
            fit += 1
    return fit


@borrowing
def sides_stand(rules, whole, with_term, size_with, size_without, fit_without):
    """Whether both sides of a split hold a non-sensitive term and, if `l` is asked for, are diverse."""
    if fit_without < 1:
        return False
    l = rules.sizes[2]  # noqa: E741
    if l > 0:
        for y in range(whole.shape[0]):
            if l * with_term[y] > size_with or l * (whole[y] - with_term[y]) > size_without:
                return False
    return True


class Chain(NamedTuple):
    """The state of a chain: who is still there, and how often each term occurs among them."""

    alive: NDArray[np.bool_]  # (n,)
    banned_at: NDArray[np.int64]  # (q,) children there were when the term was banned from splitting; many if it was not
    counts: NDArray[np.int32]  # (q,) records that hold the term and are still there
    members: NDArray[np.int32]  # (n + 1,) scratch: local records that are leaving
    left: NDArray[np.int64]  # (5,) records still there; places in order, items; children; fit records still there
    whole: NDArray[np.int64]  # sensitive counts among those still there
    tally: NDArray[np.int64]  # scratch: sensitive counts among those leaving


_NEVER = np.int64(1) << 60


@helper
def new_chain(part, rules):
    """The chain of a part before its first split."""
    n = part.ids.shape[0]
    chain = Chain(
        np.ones(n, np.bool_),
        np.full(part.codes.shape[0], _NEVER),
        part.counts.copy(),
        np.empty(n + 1, np.int32),
        np.zeros(5, np.int64),
        np.zeros(rules.sizes[3], np.int64),
        np.zeros(rules.sizes[3], np.int64),
    )
    chain.left[0] = n
    if rules.sizes[3] > 0:
        chain.left[4] = tally_sensitive(rules, part.ids, chain.whole)
    return chain


@borrowing
def may_leave(rules, chain, ids):
    """Whether `sides_stand` lets these records leave; if so, their sensitive terms are counted out."""
    chain.tally[:] = 0
    fit = tally_sensitive(rules, ids, chain.tally)
    m = ids.shape[0]
    if not sides_stand(rules, chain.whole, chain.tally, m, chain.left[0] - m, chain.left[4] - fit):
        return False
    for y in range(chain.whole.shape[0]):
        chain.whole[y] -= chain.tally[y]
    chain.left[4] -= fit
    return True


@borrowing
def leave(part, rules, chain, term, starts, records, group, out):
    """Take the records with `term` out of the chain, as the next child; ban the term if `sides_stand` forbids it."""
    m = 0
    for place in range(starts[term], starts[term + 1]):
        # Without a branch, which would often be mispredicted.
        chain.members[m] = records[place]
        m += chain.alive[records[place]]
    members = chain.members[:m]
    start = chain.left[1]
    for i in range(m):
        out.order[start + i] = part.ids[members[i]]
    if rules.sizes[3] > 0 and not may_leave(rules, chain, out.order[start : start + m]):
        chain.banned_at[term] = chain.left[3]
        return
    counts = chain.counts
    written = chain.left[2]
    for i in range(m):
        prefetch_list(part.offsets, part.items, members, i)
        record = members[i]
        chain.alive[record] = False
        if m >= rules.sizes[1]:
            for place in range(part.offsets[record], part.offsets[record + 1]):
                counts[part.items[place]] -= 1
                out.items[written] = part.items[place]
                written += 1
            out.lengths[start + i] = part.offsets[record + 1] - part.offsets[record]
        else:
            for place in range(part.offsets[record], part.offsets[record + 1]):
                counts[part.items[place]] -= 1
    add_child(chain, out, m, written, group)


@borrowing
def add_child(chain, out, size, items_end, group):
    """Note the next `size` places of the order as a child, whose items end at `items_end`."""
    row = out.bounds[chain.left[3]]
    row[0] = chain.left[1]
    row[1] = chain.left[1] + size
    row[2] = chain.left[2]
    row[3] = group
    chain.left[0] -= size
    chain.left[1] += size
    chain.left[2] = items_end
    chain.left[3] += 1


@borrowing
def best_by_scan(part, rules, chain, active, size, last):
    """Drop from `active[:size]` (rising) terms that no longer qualify; returns how many stay, and the best's place.

    Preferred are terms of the last group, then of any group, then the most frequent, then the smallest.
    """
    minimum, most = rules.sizes[0], chain.left[0] - rules.sizes[0]
    grouped = rules.group.shape[0] > 0
    kept = 0
    best, best_count, best_class = -1, np.int32(0), 0
    for i in range(size):
        term = active[i]
        count = chain.counts[term]
        active[kept] = term
        if count < minimum or count > most or chain.banned_at[term] < _NEVER:
            continue
        preference = 0
        if grouped:
            group = rules.group[part.codes[term]]
            preference = 0 if group < 0 else (2 if group == last else 1)
        if preference > best_class or (preference == best_class and count > best_count):
            best, best_count, best_class = kept, count, preference
        kept += 1
    return kept, best


@borrowing
def split_by_scan(part, rules, chain, active, starts, records, last, out):
    """Split on the terms in `active`, looking at all of them each time; returns the group last split on."""
    size = active.shape[0]
    while chain.left[0] >= rules.sizes[1]:
        size, best = best_by_scan(part, rules, chain, active, size, last)
        if best < 0:
            break
        term = active[best]
        group = last
        if rules.group.shape[0] > 0 and rules.group[part.codes[term]] >= 0:
            group = rules.group[part.codes[term]]
        leave(part, rules, chain, term, starts, records, group, out)
        if chain.banned_at[term] == _NEVER:
            last = group
    return last


@helper
def split_by_queue(part, rules, chain, starts, records, last, out):
    """Split on any term, the most frequent found by a bucket queue."""
    minimum, limit = rules.sizes[0], rules.sizes[1]
    q = part.codes.shape[0]
    queue = Queue(np.full(part.ids.shape[0] + 1, -1, np.int32), np.empty(q, np.int32))
    top = 0
    for term in range(q):
        if chain.counts[term] >= minimum and chain.banned_at[term] == _NEVER:
            push(queue, chain.counts[term], term)
            top = max(top, chain.counts[term])
    level = np.empty(q, np.int32)
    while top >= minimum and chain.left[0] >= limit:
        term = queue.head[top]
        queue.head[top] = -1
        size = 0
        while term >= 0:
            following = queue.after[term]
            if chain.counts[term] == top:
                level[size] = term
                size += 1
            elif chain.counts[term] >= minimum:
                push(queue, chain.counts[term], term)
            term = following
        sort_numbers(level[:size])
        for i in range(size):
            term = level[i]
            count = chain.counts[term]
            if count < top:
                if count >= minimum:
                    push(queue, count, term)
            elif count <= chain.left[0] - minimum and chain.left[0] >= limit:
                leave(part, rules, chain, term, starts, records, last, out)
        top -= 1


@helper
def run_chain(part, rules, last, out):
    """Split a part along its whole chain; returns the number of children, and when each term was banned.

    What is left at the end is a child too, which no term splits.
    """
    q = part.codes.shape[0]
    chain = new_chain(part, rules)
    starts, records = postings(part)
    everything = np.arange(q).astype(np.int32)
    if q <= _SCANNED:
        split_by_scan(part, rules, chain, everything, starts, records, last, out)
    else:
        if rules.group.shape[0] > 0:
            grouped = everything[rules.group[part.codes] >= 0]
            last = split_by_scan(part, rules, chain, grouped, starts, records, last, out)
        split_by_queue(part, rules, chain, starts, records, last, out)
    if chain.left[0] > 0:
        start = chain.left[1]
        for record in range(part.ids.shape[0]):
            if chain.alive[record]:
                out.order[start] = part.ids[record]
                start += 1
        add_child(chain, out, chain.left[0], chain.left[2], -1)
        out.bounds[chain.left[3] - 1, 2] = -1
    return chain.left[3], chain.banned_at
