"""Drawing where a mixed chunk goes: whole numbers at random that are as expected on average, and then the records.

Dependent rounding (Gandhi, Khuller, Parthasarathy and Srinivasan, J. ACM 53, 2006) in whole numbers throughout, so it
is exact: each row keeps its sum, and no column gets more than its sum rounded up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, kernel, view
from disassociation._kernels.chance import CHUNK, begin, below, draw_first
from disassociation._kernels.drawing import scatter_chunk


class Grid(NamedTuple):
    """Numbers on their way to whole ones. Rows and columns are nodes, rows first; those not whole yet join them."""

    rests: NDArray[np.int64]  # (rows, columns) what they have above whole ones; once 0 it stays 0
    wholes: NDArray[np.int64]  # (rows, columns)
    firsts: NDArray[np.int64]  # (nodes,) no node before this one is joined to it
    turns: NDArray[np.int64]  # (nodes,) where on the path, or -1
    path: NDArray[np.int64]  # (nodes + 1,)


@borrowing
def joined(grid, node, start):
    """The first node from `start` on that is joined to a row or column; -1 for none."""
    rows, columns = grid.rests.shape
    if node < rows:
        for other in range(max(start, rows), rows + columns):
            if grid.rests[node, other - rows] > 0:
                return other
    else:
        for other in range(start, rows):
            if grid.rests[other, node - rows] > 0:
                return other
    return -1


@borrowing
def next_on_path(grid, node, before):
    """The first node joined to a node, other than the one before; -1 for none."""
    first = joined(grid, node, grid.firsts[node])
    grid.firsts[node] = first if first >= 0 else grid.turns.shape[0]
    return joined(grid, node, first + 1) if first >= 0 and first == before else first


@borrowing
def find_path(grid, start):
    """Walk until a node is met again, which closes a circle, or there is no way on.

    Returns the part of grid.path that is the circle or the way, and the node where the way ends; -1 for a circle.
    """
    length, before, node = 0, -1, start
    while node >= 0 and grid.turns[node] < 0:
        grid.turns[node] = length
        grid.path[length] = node
        length += 1
        after = next_on_path(grid, node, before)
        before, node = node, after
    first, last = 0, before
    if node >= 0:
        first, last = grid.turns[node], -1
        grid.path[length] = node
        length += 1
    for i in range(length):
        grid.turns[grid.path[i]] = -1
    return first, length, last


@borrowing
def cell_on_path(grid, step):
    """Row and column of the number between two neighbours on the path."""
    low = min(grid.path[step], grid.path[step + 1])
    high = max(grid.path[step], grid.path[step + 1])
    return low, high - grid.rests.shape[0]


@borrowing
def shift_path(grid, chance, whole, first, length):
    """Move numbers on the path up and down in turn until one is whole: one way or the other, fairly."""
    up, down = whole, whole
    for step in range(first, length - 1):
        row, column = cell_on_path(grid, step)
        rest = grid.rests[row, column]
        if (step - first) % 2 == 0:
            up, down = min(up, whole - rest), min(down, rest)
        else:
            up, down = min(up, rest), min(down, whole - rest)
    change = up if below(chance, up + down) < down else -down
    for step in range(first, length - 1):
        row, column = cell_on_path(grid, step)
        grid.rests[row, column] += change if (step - first) % 2 == 0 else -change
        if grid.rests[row, column] == whole:
            grid.wholes[row, column] += 1
            grid.rests[row, column] = 0


@helper
def round_parts(chance, parts, whole):
    """Round parts / whole at random to whole numbers, each up with the chance that its fraction says.

    The parts of a row sum up to whole numbers, so a walk that cannot go on ends at a column; from there it is taken
    again, and ends at another column or in a circle.
    """
    rows, columns = parts.shape
    grid = Grid(
        parts % whole,
        parts // whole,
        np.zeros(rows + columns, np.int64),
        np.full(rows + columns, -1, np.int64),
        np.empty(rows + columns + 1, np.int64),
    )
    for row in range(rows):
        while joined(grid, row, grid.firsts[row]) >= 0:
            first, length, last = find_path(grid, row)
            if last >= 0:
                first, length, last = find_path(grid, last)
            shift_path(grid, chance, whole, first, length)
    return grid.wholes


@helper
def deal_pattern(chance, counts, pattern_of, pattern, numbers, kind_of):
    """Deal the subrecords of a pattern among kinds of records: so many to each, every way alike."""
    total = 0
    for kind in range(numbers.shape[0]):
        total += numbers[kind]
    dealt = np.empty(total, np.int64)
    at = 0
    for kind in range(numbers.shape[0]):
        dealt[at : at + numbers[kind]] = kind
        at += numbers[kind]
    draw_first(chance, dealt, total)
    at, i = 0, 0
    for row in range(counts.shape[0]):
        for _ in range(counts[row]):
            if pattern_of[row] == pattern:
                kind_of[i] = dealt[at]
                at += 1
            i += 1


@helper
def scatter_kind(chance, kind_of, kind, spans, marked, places):
    """Put the subrecords dealt to a kind on different records of it; `marked` is scratch and a mark not used in it."""
    records, size = 0, 0
    for span in range(spans.shape[0]):
        records += spans[span, 2] - spans[span, 1]
    for i in range(kind_of.shape[0]):
        size += kind_of[i] == kind
    drawn = np.empty(size, np.int64)
    scatter_chunk(chance, size, records, marked[1], marked[0], drawn)
    upto = np.zeros(spans.shape[0] + 1, np.int64)
    for span in range(spans.shape[0]):
        upto[span + 1] = upto[span] + spans[span, 2] - spans[span, 1]
    at = 0
    for i in range(kind_of.shape[0]):
        if kind_of[i] == kind:
            span = np.searchsorted(upto, drawn[at], side="right") - 1
            places[i] = spans[span, 1] + drawn[at] - upto[span]
            at += 1


_VIEW64 = view(types.int64)


@kernel(
    buffer(types.int64)(
        types.UniTuple(types.uint64, 2),
        view(types.int32),
        _VIEW64,
        view(types.int64, 2),
        types.int64,
        view(types.int64, 2),
        types.Tuple((buffer(types.int32), types.int64)),
    )
)
def scatter_mixed(key_chunk, counts, pattern_of, parts, whole, spans, marked):
    """Put the subrecords of a mixed chunk on places; see Mixed in placement.py for what it is given.

    `marked` is an array for every record and the first of as many marks as there are kinds, none of them used in it.
    """
    chance = np.zeros(1, np.uint64)
    begin(chance, key_chunk[0], CHUNK, key_chunk[1])
    numbers = round_parts(chance, parts, whole)
    total = 0
    for row in range(counts.shape[0]):
        total += counts[row]
    kind_of = np.empty(total, np.int64)
    for pattern in range(parts.shape[0]):
        deal_pattern(chance, counts, pattern_of, pattern, numbers[pattern], kind_of)
    places = np.empty(total, np.int64)
    first = 0
    for kind in range(parts.shape[1]):
        last = first
        while last < spans.shape[0] and spans[last, 0] == kind:
            last += 1
        scatter_kind(chance, kind_of, kind, spans[first:last], (marked[0], marked[1] + kind), places)
        first = last
    return places
