"""Drawing a possible original, leaf by leaf: record chunks, term chunks, and records put together from all they got."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.associating import AFFINITY, length_class, new_strewing, place_together
from disassociation._kernels.chance import LEAF, ORDER, begin, below, draw_first, share
from disassociation._kernels.covering import FACTORIALS, count_ways, ways_to_lay
from disassociation._kernels.drawing import GIVEN
from disassociation._kernels.placement import FOREST, LAYOUT
from disassociation._kernels.ragged import sort_numbers

_FAR = -1100


class World(NamedTuple):
    """Records, leaf after leaf."""

    offsets: NDArray[np.int64]  # (records + 1,) where each record begins in `items`
    items: NDArray[np.int32]  # codes, rising within a record


class Desk(NamedTuple):
    """A leaf in the making: which row, or which term (as -1 - term), is put on which of its records."""

    chance: NDArray[np.uint64]  # (1,)
    order: NDArray[np.int64]  # (records of the leaf,) its records in any order
    lengths: NDArray[np.int64]  # (records of the leaf,) terms so far
    what: NDArray[np.int64]
    where: NDArray[np.int64]


WORLD = types.NamedTuple((buffer(types.int64), buffer(types.int32)), World)


@borrowing
def lay_rows(forest, layout, chunk, desk, size):
    """Put the subrecords of a record chunk on the first records in desk.order."""
    rows = forest.rows
    i = 0
    for row in range(layout.firsts[chunk], layout.firsts[chunk + 1]):
        length = rows.offsets[row + 1] - rows.offsets[row]
        for _ in range(rows.counts[row]):
            desk.what[size], desk.where[size] = row, desk.order[i]
            desk.lengths[desk.order[i]] += length
            size += 1
            i += 1
    return size


@helper
def cover_leaf(forest, layout, factorials, leaf, desk, size):
    """Lay the record chunks of a tight leaf so that every record is covered, every way alike.

    Records already covered are kept at the front of `around`; those a chunk is put on are gathered in desk.order.
    """
    n = forest.sizes[leaf]
    sizes = layout.subrecords[layout.offsets[leaf] : layout.offsets[leaf + 1]].copy()
    ways = count_ways(factorials, n, sizes, np.empty(0, np.bool_), n)
    around = np.arange(n)
    uncovered = n
    for i in range(sizes.shape[0]):
        at = uncovered - ways.firsts[i]
        goal, power = share(desk.chance) * ways.fractions[i, at], ways.powers[i, at]
        left, so_far = uncovered, 0.0
        for possible in range(ways.firsts[i + 1], min(uncovered, ways.lasts[i + 1]) + 1):
            after = possible - ways.firsts[i + 1]
            here, more = ways_to_lay(factorials, n, sizes[i], uncovered, uncovered - possible)
            here *= ways.fractions[i + 1, after]
            if here > 0.0 and so_far <= goal:
                left = possible
                so_far += math.ldexp(here, max(_FAR, more + ways.powers[i + 1, after] - power))
        new, covered = uncovered - left, n - uncovered
        draw_first(desk.chance, around[covered:], new)
        draw_first(desk.chance, around[:covered], sizes[i] - new)
        desk.order[:new] = around[covered : covered + new]
        desk.order[new : sizes[i]] = around[: sizes[i] - new]
        draw_first(desk.chance, desk.order[: sizes[i]], sizes[i])
        size = lay_rows(forest, layout, layout.offsets[leaf] + i, desk, size)
        uncovered = left
    return size


@borrowing
def strew_alike(forest, leaf, desk, size):
    """Put each term of a leaf's term chunk on a record, all alike: the model "independent"."""
    for place in range(forest.term_offsets[leaf], forest.term_offsets[leaf + 1]):
        record = below(desk.chance, forest.sizes[leaf])
        desk.what[size], desk.where[size] = -1 - forest.terms[place], record
        desk.lengths[record] += 1
        size += 1
    return size


@borrowing
def strew_together(forest, leaf, affinity, copies, strewing, desk, size):
    """Put each term of a leaf's term chunk on as many records as it has copies, with those it often meets."""
    start, stop = forest.term_offsets[leaf], forest.term_offsets[leaf + 1]
    power = affinity.powers[length_class(stop - start)] if stop > start else 1.0
    place_together(
        desk.chance, affinity, power, forest.terms[start:stop], copies[start:stop], forest.sizes[leaf], strewing
    )
    at = 0
    for turn in range(stop - start):
        place = start + strewing.order[turn]
        for _ in range(copies[place]):
            desk.what[size], desk.where[size] = -1 - forest.terms[place], strewing.places[at]
            desk.lengths[strewing.places[at]] += 1
            size += 1
            at += 1
    return size


@borrowing
def fill_empty(forest, leaf, desk, size):
    """Put a term of the leaf's term chunk on each record that is still empty."""
    start, stop = forest.term_offsets[leaf], forest.term_offsets[leaf + 1]
    for record in range(forest.sizes[leaf] if stop > start else 0):
        if desk.lengths[record] == 0:
            term = forest.terms[start + below(desk.chance, stop - start)]
            desk.what[size], desk.where[size] = -1 - term, record
            desk.lengths[record] = 1
            size += 1
    return size


@borrowing
def write_records(rows, desk, size, given, start, world, record):
    """Append the records of a leaf to `world` from its number `record` on, each with its terms in order.

    `start` is the place of the leaf's first record.
    """
    n = desk.order.shape[0]
    at = world.offsets[record]
    for i in range(n):
        desk.order[i] = at  # where the next of the record's terms goes
        at += desk.lengths[i]
        world.offsets[record + i + 1] = at
    for i in range(size):
        here = desk.order[desk.where[i]]
        if desk.what[i] < 0:
            world.items[here] = -1 - desk.what[i]
            here += 1
        else:
            for place in range(rows.offsets[desk.what[i]], rows.offsets[desk.what[i] + 1]):
                world.items[here] = rows.items[place]
                here += 1
        desk.order[desk.where[i]] = here
    for i in range(n):
        here = desk.order[i]
        for of in range(given.offsets[start + i], given.offsets[start + i + 1]):
            for place in range(rows.offsets[given.rows[of]], rows.offsets[given.rows[of] + 1]):
                world.items[here] = rows.items[place]
                here += 1
        sort_numbers(world.items[world.offsets[record + i] : here])


@borrowing
def copies_in(forest, leaf, copies):
    """On how many records the terms of a leaf's term chunk are, each counted; one each if none are given."""
    start, stop = forest.term_offsets[leaf], forest.term_offsets[leaf + 1]
    if copies.shape[0] == 0:
        return stop - start
    total = np.int64(0)
    for place in range(start, stop):
        total += copies[place]
    return total


@helper
def largest_leaf(forest, layout, copies):
    """Most records of any leaf; most terms of its term chunk, and on records; rows and terms to put on the records."""
    most, length, strewn, widest = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for leaf in range(forest.term_offsets.shape[0] - 1):
        n, here = forest.sizes[leaf], copies_in(forest, leaf, copies)
        wide = n + here
        for chunk in range(layout.offsets[leaf], layout.offsets[leaf + 1]):
            wide += layout.subrecords[chunk]
        length = max(length, forest.term_offsets[leaf + 1] - forest.term_offsets[leaf])
        most, strewn, widest = max(most, n), max(strewn, here), max(widest, wide)
    return most, length, strewn, widest


@helper
def room_for_terms(forest, copies):
    """Most terms that all records together can have."""
    rows = forest.rows
    room = np.int64(0)
    for row in range(rows.counts.shape[0]):
        room += rows.counts[row] * (rows.offsets[row + 1] - rows.offsets[row])
    for leaf in range(forest.term_offsets.shape[0] - 1):
        if forest.term_offsets[leaf + 1] > forest.term_offsets[leaf]:
            room += forest.sizes[leaf] + copies_in(forest, leaf, copies)
    return room


@kernel(types.Tuple((WORLD, types.int64))(FOREST, LAYOUT, FACTORIALS, GIVEN, AFFINITY, view(types.int32), types.uint64))
def fill_leaves(forest, layout, factorials, given, affinity, copies, key):
    """Draw all leaves; the records, leaf after leaf, and how many terms they have. Near-linear.

    `copies` says on how many records each term of each term chunk is; if it is empty, affinity does not matter.
    """
    leaves = forest.term_offsets.shape[0] - 1
    records = np.int64(0)
    for leaf in range(leaves):
        records += forest.sizes[leaf]
    world = World(np.zeros(records + 1, np.int64), np.empty(room_for_terms(forest, copies), np.int32))
    most, length, strewn, widest = largest_leaf(forest, layout, copies)
    order, lengths = np.empty(most, np.int64), np.empty(most, np.int64)
    chance, what, where = np.zeros(1, np.uint64), np.empty(widest, np.int64), np.empty(widest, np.int64)
    strewing = new_strewing(length, strewn, most)
    record = 0
    for leaf in range(leaves):
        n, start = forest.sizes[leaf], layout.starts[leaf]
        begin(chance, key, LEAF, leaf)
        desk = Desk(chance, order[:n], lengths[:n], what, where)
        for i in range(n):
            order[i], lengths[i] = i, 0
            for of in range(given.offsets[start + i], given.offsets[start + i + 1]):
                row = given.rows[of]
                lengths[i] += forest.rows.offsets[row + 1] - forest.rows.offsets[row]
        size = 0
        if layout.is_tight[leaf]:
            size = cover_leaf(forest, layout, factorials, leaf, desk, size)
        else:
            for chunk in range(layout.offsets[leaf], layout.offsets[leaf + 1]):
                draw_first(chance, desk.order, layout.subrecords[chunk])
                size = lay_rows(forest, layout, chunk, desk, size)
        if copies.shape[0] == 0:
            size = strew_alike(forest, leaf, desk, size)
        else:
            size = strew_together(forest, leaf, affinity, copies, strewing, desk, size)
        size = fill_empty(forest, leaf, desk, size)
        write_records(forest.rows, desk, size, given, start, world, record)
        record += n
    return world, world.offsets[records]


@kernel(types.void(types.uint64, buffer(types.uint32)))
def shuffle_records(key, order):
    """Fill `order` with the numbers from 0, every order alike."""
    chance = np.zeros(1, np.uint64)
    begin(chance, key, ORDER, 0)
    for i in range(order.shape[0]):
        order[i] = i
    draw_first(chance, order, order.shape[0])


@kernel(types.void(view(types.int64), view(types.int32), view(types.uint32), buffer(types.int64), buffer(types.int32)))
def reorder_records(offsets, items, order, new_offsets, new_items):
    """Put the records in another order.

    Where each goes is found first, and then they are read one after the other: it takes half the time of reading them
    in the new order, as their lengths, which no processor can guess, are known early.
    """
    new_offsets[0] = 0
    goals = np.empty(order.shape[0], np.int64)
    for i in range(order.shape[0]):
        goals[order[i]] = new_offsets[i]
        new_offsets[i + 1] = new_offsets[i] + offsets[order[i] + 1] - offsets[order[i]]
    for record in range(order.shape[0]):
        goal = goals[record]
        for place in range(offsets[record], offsets[record + 1]):
            new_items[goal] = items[place]
            goal += 1
