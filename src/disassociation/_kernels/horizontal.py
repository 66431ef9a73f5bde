"""Horizontal partitioning of whole parts: large ones along their chains, small ones on one machine word a term."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.arrays import Records
from disassociation._kernels.bits import lowest_bit, popcount
from disassociation._kernels.chain import Children, Part, Rules, run_chain, sides_stand, tally_sensitive
from disassociation._kernels.cut import cut_part

_WORD = 64


@helper
def word_ids(ids, word):  # type: ignore[no-untyped-def]
    """The record numbers of the bits set in a word."""
    chosen = np.empty(popcount(word), np.int32)
    i = 0
    while word:
        bit = lowest_bit(word)
        chosen[i] = ids[bit]
        word &= word - np.uint64(1)
        i += 1
    return chosen


@helper
def word_split_stands(ids, rules, alive, with_term):  # type: ignore[no-untyped-def]
    """`sides_stand` for a part held in a word."""
    whole = np.zeros(rules.sizes[3], np.int64)
    tally = np.zeros(rules.sizes[3], np.int64)
    fit = tally_sensitive(rules, word_ids(ids, alive), whole)
    fit -= tally_sensitive(rules, word_ids(ids, with_term), tally)
    size = popcount(with_term)
    return sides_stand(rules, whole, tally, size, popcount(alive) - size, fit)


@helper
def best_word_term(alive, masks, terms, size, part, rules, last):  # type: ignore[no-untyped-def]
    """Drop the terms that no longer qualify from `terms[:size]`; returns how many stay and the place of the best."""
    minimum = rules.sizes[0]
    n = popcount(alive)
    grouped = rules.group.shape[0] > 0
    kept = 0
    best, best_count, best_class = -1, 0, -1
    for i in range(size):
        count = popcount(alive & masks[terms[i]])
        if count < minimum or count > n - minimum:
            continue
        terms[kept] = terms[i]
        preference = 0
        if grouped:
            group = rules.group[part.codes[terms[i]]]
            preference = 0 if group < 0 else (2 if group == last else 1)
        if preference > best_class or (preference == best_class and count > best_count):
            best, best_count, best_class = kept, count, preference
        kept += 1
    return kept, best


@helper
def split_word_part(part, rules, last, order, leaf_start, base, records, rank):  # type: ignore[no-untyped-def]
    """Split a part of at most 64 records down to leaves; `order[base:base+n]` receives its records, leaf after leaf."""
    n = part.ids.shape[0]
    q = part.codes.shape[0]
    minimum, limit = rules.sizes[0], rules.sizes[1]
    masks = np.zeros(q, np.uint64)
    for record in range(n):
        for place in range(part.offsets[record], part.offsets[record + 1]):
            masks[part.items[place]] |= np.uint64(1) << np.uint64(record)
    depth = n // minimum + 2
    words = np.empty(depth, np.uint64)
    starts = np.empty(depth, np.int64)
    lasts = np.empty(depth, np.int64)
    sizes = np.empty(depth, np.int64)
    candidates = np.empty((depth, q), np.int32)
    words[0] = (~np.uint64(0)) >> np.uint64(_WORD - n)
    starts[0] = base
    lasts[0] = last
    sizes[0] = q
    for term in range(q):
        candidates[0, term] = term
    waiting = 1
    while waiting > 0:
        top = waiting - 1
        alive = words[top]
        best = -1
        if popcount(alive) >= limit:
            sizes[top], best = best_word_term(alive, masks, candidates[top], sizes[top], part, rules, lasts[top])
        if best < 0:
            finish_word(part.ids, alive, order, leaf_start, starts[top], records, rules, rank)
            waiting -= 1
            continue
        term = candidates[top, best]
        for i in range(best, sizes[top] - 1):
            candidates[top, i] = candidates[top, i + 1]
        sizes[top] -= 1
        with_term = alive & masks[term]
        if rules.sizes[3] > 0 and not word_split_stands(part.ids, rules, alive, with_term):
            continue
        if rules.group.shape[0] > 0 and rules.group[part.codes[term]] >= 0:
            lasts[top] = rules.group[part.codes[term]]
        words[waiting] = with_term
        starts[waiting] = starts[top]
        lasts[waiting] = lasts[top]
        sizes[waiting] = sizes[top]
        candidates[waiting, : sizes[top]] = candidates[top, : sizes[top]]
        words[top] = alive & ~masks[term]
        starts[top] += popcount(with_term)
        waiting += 1


@helper
def finish_word(ids, alive, order, leaf_start, start, records, rules, rank):  # type: ignore[no-untyped-def]
    """Write the records of a word to their places: one leaf, or cut."""
    size = popcount(alive)
    place = start
    word = alive
    while word:
        order[place] = ids[lowest_bit(word)]
        word &= word - np.uint64(1)
        place += 1
    if size >= rules.sizes[1]:
        cut_part(order[start:place], leaf_start, start, records, rules, rank)
    else:
        leaf_start[start] = True


@helper
def child_part(children, bounds):  # type: ignore[no-untyped-def]
    """One child of a chain as a part of its own."""
    start, stop = bounds[0], bounds[1]
    offsets = np.empty(stop - start + 1, np.int64)
    offsets[0] = 0
    for i in range(stop - start):
        offsets[i + 1] = offsets[i] + children.lengths[start + i]
    items = children.items[bounds[2] : bounds[2] + offsets[-1]]
    return Part(children.order[start:stop], offsets, items, children.codes[bounds[3] : bounds[4]])


@helper
def finish_small(part, rules, last, order, leaf_start, base, records, rank):  # type: ignore[no-untyped-def]
    """Bring a part to its leaves unless it needs a chain of its own; returns whether it did."""
    n = part.ids.shape[0]
    if n < rules.sizes[1]:
        order[base : base + n] = part.ids
        leaf_start[base] = True
    elif part.codes.shape[0] == 0:
        order[base : base + n] = part.ids
        cut_part(order[base : base + n], leaf_start, base, records, rules, rank)
    elif n <= _WORD:
        split_word_part(part, rules, last, order, leaf_start, base, records, rank)
    else:
        return False
    return True


@helper
def put(source, row, target, at, base):  # type: ignore[no-untyped-def]
    """Copy the child `row` of `source` behind what `target` holds; `at` = (items, codes, rows) used so far."""
    start, stop = row[0], row[1]
    items = 0
    for i in range(start, stop):
        target.order[base + i] = source.order[i]
        target.lengths[base + i] = source.lengths[i]
        items += source.lengths[i]
    target.items[at[0] : at[0] + items] = source.items[row[2] : row[2] + items]
    codes = row[4] - row[3]
    target.codes[at[1] : at[1] + codes] = source.codes[row[3] : row[4]]
    kept = target.bounds[at[2]]
    kept[0], kept[1] = base + start, base + stop
    kept[2], kept[3], kept[4] = at[0], at[1], at[1] + codes
    kept[5] = row[5]
    return at[0] + items, at[1] + codes, at[2] + 1


@helper
def solve(part, rules, last, order, leaf_start, base, records, rank):  # type: ignore[no-untyped-def]
    """Split a part down to leaves with a stack of parts, each overwriting the one it was made from.

    Memory: twice the part, however deep the splits nest.
    """
    n, items, minimum = part.ids.shape[0], part.items.shape[0], rules.sizes[0]
    codes = items // minimum + part.codes.shape[0] + 1
    stack = room_for(n, items, codes, n // minimum + 2)
    fresh = room_for(n, items, codes, n // minimum + 2)
    count = run_chain(part, rules, last, fresh)
    at = (0, 0, 0)
    offset = 0
    while True:
        # The children just made: small ones are finished here, large ones go on the stack.
        for child in range(count):
            row = fresh.bounds[child]
            place = base + offset + row[0]
            if not finish_small(
                child_part(fresh, row), rules, row[5], order, leaf_start, place, records, rank
            ):
                at = put(fresh, row, stack, at, offset)
        if at[2] == 0:
            return
        row = stack.bounds[at[2] - 1]
        offset = row[0]
        top = child_part(stack, row)
        at = (row[2], row[3], at[2] - 1)
        count = run_chain(top, rules, row[5], fresh)


@helper
def room_for(n, items, codes, children):  # type: ignore[no-untyped-def]
    """Empty children of a part with `n` records and `items` occurrences."""
    return Children(
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(items, np.int32),
        np.empty(codes, np.int32),
        np.empty((children, 6), np.int64),
    )


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
_CHILDREN = types.NamedTuple((_INT32, _INT32, _INT32, _INT32, buffer(types.int64, 2)), Children)
_RULES = types.NamedTuple((_INT64, _INT32, _INT64, _INT32, buffer(types.boolean)), Rules)
_RECORDS = types.NamedTuple((view(types.int64), view(types.int32), buffer(types.boolean)), Records)


@kernel(_CHILDREN(_RECORDS, _RULES))
def root_part(records, rules):  # type: ignore[no-untyped-def]
    """All records as the only child, projected on the terms that may split them."""
    n = records.offsets.shape[0] - 1
    minimum, terms = rules.sizes[0], rules.sizes[4]
    number = np.zeros(terms, np.int32)
    for place in range(records.items.shape[0]):
        number[records.items[place]] += 1
    kept, items = 0, 0
    for term in range(terms):
        sensitive = records.is_sensitive.shape[0] > 0 and records.is_sensitive[term]
        if minimum <= number[term] <= n - minimum and not sensitive:
            items += number[term]
            number[term] = kept
            kept += 1
        else:
            number[term] = -1
    root = room_for(n, items, kept, 1)
    for term in range(terms):
        if number[term] >= 0:
            root.codes[number[term]] = term
    written = 0
    for record in range(n):
        before = written
        for place in range(records.offsets[record], records.offsets[record + 1]):
            local = number[records.items[place]]
            if local >= 0:
                root.items[written] = local
                written += 1
        root.order[record] = record
        root.lengths[record] = written - before
    root.bounds[0, 0], root.bounds[0, 1], root.bounds[0, 2] = 0, n, 0
    root.bounds[0, 3], root.bounds[0, 4], root.bounds[0, 5] = 0, kept, -1
    return root


@kernel(types.Tuple((_CHILDREN, types.int64))(_CHILDREN, _RULES))
def first_chain(root, rules):  # type: ignore[no-untyped-def]
    """Split all records along the first chain; returns the children and how many they are."""
    part = child_part(root, root.bounds[0])
    n, items, minimum = part.ids.shape[0], part.items.shape[0], rules.sizes[0]
    children = room_for(n, items, items // minimum + 1, n // minimum + 2)
    return children, run_chain(part, rules, -1, children)


@kernel(types.void(_CHILDREN, buffer(types.int64, 2), _RULES, _RECORDS, _INT32, buffer(types.boolean)))
def solve_children(children, rows, rules, records, order, leaf_start):  # type: ignore[no-untyped-def]
    """Bring some children (`rows` of their bounds) down to leaves: `order` and `leaf_start` at the children's places."""
    rank = np.zeros(rules.sizes[4], np.int32)
    for i in range(rows.shape[0]):
        part = child_part(children, rows[i])
        if not finish_small(part, rules, rows[i, 5], order, leaf_start, rows[i, 0], records, rank):
            solve(part, rules, rows[i, 5], order, leaf_start, rows[i, 0], records, rank)
