"""Horizontal partitioning of whole parts: large ones along their chains, small ones on one machine word a term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.arrays import Records
from disassociation._kernels.bits import lowest_bit, popcount
from disassociation._kernels.chain import Children, Part, Rules, run_chain, sides_stand, tally_sensitive
from disassociation._kernels.cut import cut_part
from disassociation._kernels.ragged import sort_numbers
from disassociation._kernels.room import roomy

_WORD = 64


@helper
def word_ids(ids, word):
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
def word_split_stands(ids, rules, alive, with_term):
    """`sides_stand` for a part held in a word."""
    whole = np.zeros(rules.sizes[3], np.int64)
    tally = np.zeros(rules.sizes[3], np.int64)
    fit = tally_sensitive(rules, word_ids(ids, alive), whole)
    fit -= tally_sensitive(rules, word_ids(ids, with_term), tally)
    size = popcount(with_term)
    return sides_stand(rules, whole, tally, size, popcount(alive) - size, fit)


@borrowing
def best_word_term(alive, masks, terms, size, codes, rules, last):
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
            group = rules.group[codes[terms[i]]]
            preference = 0 if group < 0 else (2 if group == last else 1)
        if preference > best_class or (preference == best_class and count > best_count):
            best, best_count, best_class = kept, count, preference
        kept += 1
    return kept, best


class Word(NamedTuple):
    """A part of at most 64 records, its terms as sets of them; room for any."""

    sets: NDArray[np.uint64]  # by term of the part it comes from, 0 between uses
    terms: NDArray[np.int32]  # the terms that can still split it, rising
    masks: NDArray[np.uint64]  # the set of each of those
    codes: NDArray[np.int32]  # and its code


@helper
def new_word(q):
    """Room for the terms of a part."""
    return Word(np.zeros(q, np.uint64), np.empty(q + 1, np.int32), np.empty(q, np.uint64), np.empty(q, np.int32))


@borrowing
def gather_word(fresh, child, codes, banned_at, minimum, word):
    """Write the terms that can still split a child of at most 64 records to `word`; returns how many there are."""
    start, stop, place = fresh.bounds[child, 0], fresh.bounds[child, 1], fresh.bounds[child, 2]
    n = stop - start
    size = 0
    for i in range(n):
        bit = np.uint64(1) << np.uint64(i)
        for _ in range(fresh.lengths[start + i]):
            # Without a branch, which would be mispredicted half the time.
            term = fresh.items[place]
            word.terms[size] = term
            size += word.sets[term] == 0
            word.sets[term] |= bit
            place += 1
    kept = 0
    for i in range(size):
        term = word.terms[i]
        if minimum <= popcount(word.sets[term]) <= n - minimum and banned_at[term] > child:
            word.terms[kept] = term
            kept += 1
        else:
            word.sets[term] = 0
    sort_numbers(word.terms[:kept])
    for i in range(kept):
        term = word.terms[i]
        word.masks[i], word.codes[i] = word.sets[term], codes[term]
        word.sets[term] = 0
    return kept


@helper
def split_word_part(ids, masks, codes, rules, last, order, leaf_start, base, records, rank):
    """Split a part of at most 64 records down to leaves; `order[base:base+n]` receives its records, leaf after leaf."""
    n = ids.shape[0]
    q = codes.shape[0]
    minimum, limit = rules.sizes[0], rules.sizes[1]
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
            sizes[top], best = best_word_term(alive, masks, candidates[top], sizes[top], codes, rules, lasts[top])
        if best < 0:
            finish_word(ids, alive, order, leaf_start, starts[top], records, rules, rank)
            waiting -= 1
            continue
        term = candidates[top, best]
        for i in range(best, sizes[top] - 1):
            candidates[top, i] = candidates[top, i + 1]
        sizes[top] -= 1
        with_term = alive & masks[term]
        if rules.sizes[3] > 0 and not word_split_stands(ids, rules, alive, with_term):
            continue
        if rules.group.shape[0] > 0 and rules.group[codes[term]] >= 0:
            lasts[top] = rules.group[codes[term]]
        words[waiting] = with_term
        starts[waiting] = starts[top]
        lasts[waiting] = lasts[top]
        sizes[waiting] = sizes[top]
        for i in range(sizes[top]):
            candidates[waiting, i] = candidates[top, i]
        words[top] = alive & ~masks[term]
        starts[top] += popcount(with_term)
        waiting += 1


@helper
def finish_word(ids, alive, order, leaf_start, start, records, rules, rank):
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


class Stack(NamedTuple):
    """Parts that wait to be split, each projected on the terms that can still split it."""

    order: NDArray[np.int32]  # record numbers
    lengths: NDArray[np.int32]  # how many items each has
    items: NDArray[np.int32]  # local terms of the part
    codes: NDArray[np.int32]  # code of each local term
    counts: NDArray[np.int32]  # records of the part that hold it
    rows: NDArray[
        np.int64
    ]  # (parts, 7) start, stop, items start, codes start, codes stop, last group, place of its records


@helper
def new_stack(n, items, codes, parts):
    """Room for parts of so many records, occurrences and local terms in all."""
    return Stack(
        roomy(n, np.int32),
        roomy(n, np.int32),
        roomy(items + 1, np.int32),  # one more: an item is written before it is known whether it counts
        roomy(codes, np.int32),
        roomy(codes, np.int32),
        np.empty((parts, 7), np.int64),
    )


@helper
def stacked_part(stack, row):
    """One part of a stack."""
    start, stop = row[0], row[1]
    offsets = np.empty(stop - start + 1, np.int64)
    offsets[0] = 0
    for i in range(stop - start):
        offsets[i + 1] = offsets[i] + stack.lengths[start + i]
    return Part(
        stack.order[start:stop],
        offsets,
        stack.items[row[2] : row[2] + offsets[-1]],
        stack.codes[row[3] : row[4]],
        stack.counts[row[3] : row[4]],
    )


@helper
def project_child(fresh, child, codes, banned_at, minimum, inside, local, stack, at):
    """Put a child on the stack, projected on the terms that can still split it; returns its row, not yet counted in.

    `inside` (q,) of 0 and `local` (q,) of -1 are scratch over the terms of the part it comes from, `codes` their codes.
    `at` = (records, items, codes, parts) the stack holds.
    """
    start, stop, first = fresh.bounds[child, 0], fresh.bounds[child, 1], fresh.bounds[child, 2]
    n = stop - start
    end = first
    for i in range(start, stop):
        end += fresh.lengths[i]
    touched = np.empty(min(end - first, codes.shape[0]) + 1, np.int32)
    size = 0
    for place in range(first, end):
        # Without a branch, which would be mispredicted half the time.
        term = fresh.items[place]
        touched[size] = term
        size += inside[term] == 0
        inside[term] += 1
    kept = 0
    for i in range(size):
        term = touched[i]
        if minimum <= inside[term] <= n - minimum and banned_at[term] > child:
            touched[kept] = term
            kept += 1
        else:
            inside[term] = 0
    sort_numbers(touched[:kept])
    for i in range(kept):
        term = touched[i]
        local[term] = i
        stack.codes[at[2] + i] = codes[term]
        stack.counts[at[2] + i] = inside[term]
        inside[term] = 0
    written = at[1]
    place = first
    for i in range(n):
        before = written
        for _ in range(fresh.lengths[start + i]):
            number = local[fresh.items[place]]
            stack.items[written] = number
            written += number >= 0
            place += 1
        stack.lengths[at[0] + i] = written - before
        stack.order[at[0] + i] = fresh.order[start + i]
    for i in range(kept):
        local[touched[i]] = -1
    row = stack.rows[at[3]]
    row[0], row[1], row[2], row[3], row[4] = at[0], at[0] + n, at[1], at[2], at[2] + kept
    row[5] = fresh.bounds[child, 3]
    return row, written


@helper
def split_once(part, rules, last, base, fresh, stack, at, order, leaf_start, records, rank):
    """Split a part along its chain: small children are brought to leaves, the others put on the stack.

    Returns what the stack then holds; `at` as in `project_child`.
    """
    codes = part.codes.copy()  # the part may stand where its children are about to be put
    count, banned_at = run_chain(part, rules, last, fresh)
    inside = np.zeros(codes.shape[0], np.int32)
    local = np.full(codes.shape[0], -1, np.int32)
    word = new_word(codes.shape[0])
    for child in range(count):
        start, stop = fresh.bounds[child, 0], fresh.bounds[child, 1]
        place, n = base + start, stop - start
        order[place : place + n] = fresh.order[start:stop]
        if n < rules.sizes[1]:
            leaf_start[place] = True
            continue
        kept, written = 0, at[1]
        small = n <= _WORD
        if fresh.bounds[child, 2] >= 0 and small:
            kept = gather_word(fresh, child, codes, banned_at, rules.sizes[0], word)
        elif fresh.bounds[child, 2] >= 0:
            row, written = project_child(fresh, child, codes, banned_at, rules.sizes[0], inside, local, stack, at)
            kept = row[4] - row[3]
            row[6] = place
        if kept == 0:
            cut_part(order[place : place + n], leaf_start, place, records, rules, rank)
        elif small:
            ids, masks, own = fresh.order[start:stop], word.masks[:kept], word.codes[:kept]
            split_word_part(ids, masks, own, rules, fresh.bounds[child, 3], order, leaf_start, place, records, rank)
        else:
            at = (at[0] + n, written, at[2] + kept, at[3] + 1)
    return at


@helper
def new_children(n, items, minimum):
    """Room for the children of a part of so many records and occurrences."""
    return Children(
        roomy(n, np.int32),
        roomy(n, np.int32),
        roomy(items, np.int32),
        np.empty((n // minimum + 2, 4), np.int64),
    )


@helper
def solve(part, rules, last, base, order, leaf_start, records, rank):
    """Split a part down to leaves with a stack of parts, each overwriting the one it was made from.

    Memory: twice the part, however deep the splits nest.
    """
    n, items, minimum = part.ids.shape[0], part.items.shape[0], rules.sizes[0]
    stack = new_stack(n, items, items // minimum + 1, n // _WORD + 2)
    fresh = new_children(n, items, minimum)
    zero = np.int64(0)
    at = split_once(part, rules, last, base, fresh, stack, (zero, zero, zero, zero), order, leaf_start, records, rank)
    while at[3] > 0:
        row = stack.rows[at[3] - 1]
        top = stacked_part(stack, row)
        at = (row[0], row[2], row[3], at[3] - 1)
        last, base = row[5], row[6]
        at = split_once(top, rules, last, base, fresh, stack, at, order, leaf_start, records, rank)


_INT32, _INT64 = buffer(types.int32), buffer(types.int64)
_STACK = types.NamedTuple((_INT32, _INT32, _INT32, _INT32, _INT32, buffer(types.int64, 2)), Stack)
_FLAGS = buffer(types.boolean)
_RULES = types.NamedTuple((_INT64, _INT32, _INT64, _INT32, _FLAGS), Rules)
_RECORDS = types.NamedTuple((view(types.int64), view(types.int32), _FLAGS), Records)


@helper
def root_part(records, rules):
    """All records as one part, projected on the terms that may split them."""
    n = records.offsets.shape[0] - 1
    minimum, terms = rules.sizes[0], rules.sizes[4]
    number = np.zeros(terms, np.int32)
    for place in range(records.items.shape[0]):
        number[records.items[place]] += 1
    kept, items = 0, 0
    codes = np.empty(terms, np.int32)
    counts = np.empty(terms, np.int32)
    for term in range(terms):
        sensitive = records.is_sensitive.shape[0] > 0 and records.is_sensitive[term]
        if minimum <= number[term] <= n - minimum and not sensitive:
            codes[kept] = term
            counts[kept] = number[term]
            items += number[term]
            number[term] = kept
            kept += 1
        else:
            number[term] = -1
    offsets = roomy(n + 1, np.int64)
    offsets[0] = 0
    projected = roomy(items + 1, np.int32)
    written = 0
    for record in range(n):
        for place in range(records.offsets[record], records.offsets[record + 1]):
            local = number[records.items[place]]
            projected[written] = local
            written += local >= 0
        offsets[record + 1] = written
    return Part(np.arange(n).astype(np.int32), offsets, projected[:items], codes[:kept], counts[:kept])


@kernel(types.Tuple((_STACK, types.int64))(_RECORDS, _RULES, _INT32, _FLAGS))
def first_chain(records, rules, order, leaf_start):
    """Split all records along the first chain; returns the parts to split further, as a stack, and their number."""
    root = root_part(records, rules)
    n, items, minimum = root.ids.shape[0], root.items.shape[0], rules.sizes[0]
    rank = np.zeros(rules.sizes[4], np.int32)
    stack = new_stack(n, items, items // minimum + 1, n // _WORD + 2)
    fresh = new_children(n, items, minimum)
    none, zero = np.int64(-1), np.int64(0)  # bare literals would be types of their own, and compile everything again
    at = split_once(root, rules, none, zero, fresh, stack, (zero, zero, zero, zero), order, leaf_start, records, rank)
    return stack, at[3]


@kernel(types.void(_STACK, buffer(types.int64, 2), _RULES, _RECORDS, _INT32, _FLAGS))
def solve_parts(stack, rows, rules, records, order, leaf_start):
    """Bring some parts of a stack (`rows` of it) down to leaves, in `order` and `leaf_start` at the parts' places."""
    rank = np.zeros(rules.sizes[4], np.int32)
    for i in range(rows.shape[0]):
        solve(stacked_part(stack, rows[i]), rules, rows[i, 5], rows[i, 6], order, leaf_start, records, rank)
