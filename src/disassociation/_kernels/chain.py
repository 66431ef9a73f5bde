"""Splitting one large part along its chain: with the most frequent term, without it with the next, and so on.

A *part* is a stretch of the record order. Its records are held as lists of local term numbers, projected on the terms
that can still split something: being disqualified (fewer than `minimum` records with, or without, the term) is for
ever, so a term once dropped is never missed. Every record leaves the chain once, counts only fall, and the most frequent
term comes from a bucket queue that moves a term only when it is met: time linear in the part's occurrences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import helper


class Part(NamedTuple):
    """A part to be split; `q` local terms in canonical order."""

    ids: NDArray[np.int32]  # (n,) record numbers
    offsets: NDArray[np.int64]  # (n + 1,) where each record's items begin
    items: NDArray[np.int32]  # local term numbers, rising within a record
    codes: NDArray[np.int32]  # (q,) the code of each local term


class Rules(NamedTuple):
    """What decides a split, the same for all parts."""

    sizes: NDArray[np.int64]  # (5,) minimum, F, l (0: not asked for), sensitive terms, all terms
    group: NDArray[np.int32]  # (terms,) group of each term, -1 for none; empty if there are no groups
    sensitive_offsets: NDArray[np.int64]  # (records + 1,) sensitive terms of each record; empty if there are none
    sensitive_items: NDArray[np.int32]  # sensitive terms, numbered by themselves
    bare: NDArray[np.bool_]  # (records,) the record holds nothing but sensitive terms


class Children(NamedTuple):
    """What a chain leaves behind: the parts to split further, and their projected records."""

    order: NDArray[np.int32]  # (n,) record numbers, child after child
    lengths: NDArray[np.int32]  # (n,) projected length of the record at each place of `order`
    items: NDArray[np.int32]  # the projections, in the same order
    codes: NDArray[np.int32]  # local terms of each child, child after child
    bounds: NDArray[np.int64]  # (children, 6) start, stop, items start, codes start, codes stop, last group


class Queue(NamedTuple):
    """Terms by the count they had when they were last met: linked lists, one for each count."""

    head: NDArray[np.int32]  # (n + 1,) first term of each bucket, -1 for none
    after: NDArray[np.int32]  # (q,) the next term in the same bucket


@helper
def push(queue, count, term):  # type: ignore[no-untyped-def]
    """Put a term into the bucket of its count."""
    queue.after[term] = queue.head[count]
    queue.head[count] = term


@helper
def postings(part, counts):  # type: ignore[no-untyped-def]
    """For each local term, where its records begin, and the local records in order."""
    q = part.codes.shape[0]
    starts = np.zeros(q + 1, np.int64)
    for term in range(q):
        starts[term + 1] = starts[term] + counts[term]
    places = starts[:-1].copy()
    records = np.empty(part.items.shape[0], np.int32)
    for record in range(part.ids.shape[0]):
        for place in range(part.offsets[record], part.offsets[record + 1]):
            term = part.items[place]
            records[places[term]] = record
            places[term] += 1
    return starts, records


@helper
def tally_sensitive(rules, ids, tally):  # type: ignore[no-untyped-def]
    """Add the sensitive terms of some records to `tally`; how many of the records hold another term too."""
    fit = 0
    for i in range(ids.shape[0]):
        for place in range(rules.sensitive_offsets[ids[i]], rules.sensitive_offsets[ids[i] + 1]):
            tally[rules.sensitive_items[place]] += 1
        if not rules.bare[ids[i]]:
            fit += 1
    return fit


@helper
def sides_stand(rules, whole, with_term, size_with, size_without, fit_without):  # type: ignore[no-untyped-def]
    """Whether both sides of a split hold a non-sensitive term and, if `l` is asked for, are diverse."""
    if fit_without < 1:
        return False
    l = rules.sizes[2]  # noqa: E741
    if l > 0:
        for y in range(whole.shape[0]):
            if l * with_term[y] > size_with or l * (whole[y] - with_term[y]) > size_without:
                return False
    return True


@helper
def project_child(part, members, chain, touched, minimum, out, at):  # type: ignore[no-untyped-def]
    """Write the records `members` projected on the terms that can still split them; returns (items, terms) written.

    `chain.inside` has the counts among the members, of the terms in `touched`.
    `at` = (place in order, place in items, place in codes).
    """
    n = members.shape[0]
    local = chain.local
    kept = 0
    for i in range(touched.shape[0]):
        term = touched[i]
        if minimum <= chain.inside[term] <= n - minimum and not chain.banned[term]:
            touched[kept] = term
            kept += 1
    terms = np.sort(touched[:kept])
    for i in range(kept):
        local[terms[i]] = i
        out.codes[at[2] + i] = part.codes[terms[i]]
    written = at[1]
    for i in range(n):
        record = members[i]
        before = written
        if kept:
            for place in range(part.offsets[record], part.offsets[record + 1]):
                number = local[part.items[place]]
                if number >= 0:
                    out.items[written] = number
                    written += 1
        out.lengths[at[0] + i] = written - before
    for i in range(kept):
        local[terms[i]] = -1
    return written - at[1], kept


class Chain(NamedTuple):
    """The state of a chain: who is still there, and how often each term occurs among them."""

    alive: NDArray[np.bool_]  # (n,)
    banned: NDArray[np.bool_]  # (q,) terms that must not split this part, nor any part made from it from now on
    counts: NDArray[np.int64]  # (q,) records that hold the term and are still there
    inside: NDArray[np.int64]  # (q,) scratch: counts within the side that is leaving
    touched: NDArray[np.int32]  # (q,) scratch: the terms with a count inside
    local: NDArray[np.int32]  # (q,) scratch of -1
    members: NDArray[np.int32]  # (n,) scratch: local records that are leaving
    left: NDArray[np.int64]  # (6,) records still there; places in order, items, codes; children; fit records still there
    whole: NDArray[np.int64]  # sensitive counts among those still there
    tally: NDArray[np.int64]  # scratch: sensitive counts among those leaving


@helper
def new_chain(part, rules):  # type: ignore[no-untyped-def]
    """The chain of a part before its first split."""
    n = part.ids.shape[0]
    q = part.codes.shape[0]
    kinds = rules.sizes[3]
    chain = Chain(
        np.ones(n, np.bool_),
        np.zeros(q, np.bool_),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.empty(q, np.int32),
        np.full(q, -1, np.int32),
        np.empty(n, np.int32),
        np.zeros(6, np.int64),
        np.zeros(kinds, np.int64),
        np.zeros(kinds, np.int64),
    )
    chain.left[0] = n
    for place in range(part.items.shape[0]):
        chain.counts[part.items[place]] += 1
    if rules.sizes[3] > 0:
        chain.left[5] = tally_sensitive(rules, part.ids, chain.whole)
    return chain


@helper
def leave(part, rules, chain, term, starts, records, group, out):  # type: ignore[no-untyped-def]
    """Take the records with `term` out of the chain, as the next child; ban the term if `sides_stand` forbids it."""
    minimum, limit = rules.sizes[0], rules.sizes[1]
    m = 0
    for place in range(starts[term], starts[term + 1]):
        if chain.alive[records[place]]:
            chain.members[m] = records[place]
            out.order[chain.left[1] + m] = part.ids[records[place]]
            m += 1
    if rules.sizes[3] > 0:
        chain.tally[:] = 0
        ids = out.order[chain.left[1] : chain.left[1] + m]
        fit = tally_sensitive(rules, ids, chain.tally)
        if not sides_stand(rules, chain.whole, chain.tally, m, chain.left[0] - m, chain.left[5] - fit):
            chain.banned[term] = True
            return
        for y in range(chain.whole.shape[0]):
            chain.whole[y] -= chain.tally[y]
        chain.left[5] -= fit
    touched = 0
    members = chain.members[:m]
    for i in range(m):
        chain.alive[members[i]] = False
        for place in range(part.offsets[members[i]], part.offsets[members[i] + 1]):
            other = part.items[place]
            if chain.inside[other] == 0:
                chain.touched[touched] = other
                touched += 1
            chain.inside[other] += 1
    for i in range(touched):
        chain.counts[chain.touched[i]] -= chain.inside[chain.touched[i]]
    start = chain.left[1]
    items, terms = 0, 0
    if m >= limit:
        at = (start, chain.left[2], chain.left[3])
        # `touched` is reordered and cut by the projection, so the counts inside are cleared from the records below.
        items, terms = project_child(part, members, chain, chain.touched[:touched], minimum, out, at)
        for i in range(m):
            for place in range(part.offsets[members[i]], part.offsets[members[i] + 1]):
                chain.inside[part.items[place]] = 0
    else:
        for i in range(touched):
            chain.inside[chain.touched[i]] = 0
    add_child(chain, out, m, items, terms, group)


@helper
def add_child(chain, out, size, items, terms, group):  # type: ignore[no-untyped-def]
    """Note the next `size` places of the order as a child."""
    row = out.bounds[chain.left[4]]
    row[0] = chain.left[1]
    row[1] = chain.left[1] + size
    row[2] = chain.left[2]
    row[3] = chain.left[3]
    row[4] = chain.left[3] + terms
    row[5] = group
    chain.left[0] -= size
    chain.left[1] += size
    chain.left[2] += items
    chain.left[3] += terms
    chain.left[4] += 1


@helper
def best_of_groups(part, rules, chain, last):  # type: ignore[no-untyped-def]
    """The preferred group term to split on next, or -1: of the last group if one qualifies, else of any."""
    minimum = rules.sizes[0]
    best = -1
    best_same = False
    for term in range(part.codes.shape[0]):
        group = rules.group[part.codes[term]]
        count = chain.counts[term]
        if group < 0 or chain.banned[term] or count < minimum or count > chain.left[0] - minimum:
            continue
        same = group == last
        if best < 0 or (same and not best_same) or (same == best_same and count > chain.counts[best]):
            best = term
            best_same = same
    return best


@helper
def run_chain(part, rules, last, out):  # type: ignore[no-untyped-def]
    """Split a part along its whole chain; returns the number of children. What is left at the end is a child too."""
    minimum, limit = rules.sizes[0], rules.sizes[1]
    n = part.ids.shape[0]
    q = part.codes.shape[0]
    chain = new_chain(part, rules)
    starts, records = postings(part, chain.counts)
    if rules.group.shape[0] > 0:
        while chain.left[0] >= limit:
            term = best_of_groups(part, rules, chain, last)
            if term < 0:
                break
            group = rules.group[part.codes[term]]
            leave(part, rules, chain, term, starts, records, group, out)
            if not chain.banned[term]:
                last = group
    queue = Queue(np.full(n + 1, -1, np.int32), np.empty(q, np.int32))
    top = 0
    for term in range(q):
        if chain.counts[term] >= minimum and not chain.banned[term]:
            push(queue, chain.counts[term], term)
            top = max(top, chain.counts[term])
    level = np.empty(q, np.int32)
    while top >= minimum and chain.left[0] >= limit:
        size = 0
        term = queue.head[top]
        queue.head[top] = -1
        while term >= 0:
            following = queue.after[term]
            if chain.counts[term] == top:
                level[size] = term
                size += 1
            elif chain.counts[term] >= minimum:
                push(queue, chain.counts[term], term)
            term = following
        equals = np.sort(level[:size])
        for i in range(size):
            term = equals[i]
            count = chain.counts[term]
            if count < top:
                if count >= minimum:
                    push(queue, count, term)
            elif count <= chain.left[0] - minimum and chain.left[0] >= limit:
                leave(part, rules, chain, term, starts, records, last, out)
        top -= 1
    finish_chain(part, chain, out)
    return chain.left[4]


@helper
def finish_chain(part, chain, out):  # type: ignore[no-untyped-def]
    """What no term splits further becomes the last child, without any term to split on."""
    size = 0
    for record in range(part.ids.shape[0]):
        if chain.alive[record]:
            out.order[chain.left[1] + size] = part.ids[record]
            out.lengths[chain.left[1] + size] = 0
            size += 1
    if size > 0:
        add_child(chain, out, size, 0, 0, -1)
