"""How many records hold an itemset at least and at most, in any possible world (docs/estimates.md, Bounds).

Cells are the leaves of a joint cluster that have the same terms of the itemset from below it, taken together. They are
kept on a stack as leaves are passed from left to right; a joint cluster is closed when all its leaves have been.
Clusters that hold no term of the itemset are never looked at: they are what is left of a joint cluster's size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import buffer, embedded, kernel, view
from disassociation._kernels.cells import merge, new_cells, open_joint, push_cell
from disassociation._kernels.ground import ELSEWHERE, GROUND, TERM_CHUNK_ROW, count_part, meet, part_size
from disassociation._kernels.leaf_search import shared_rows, span_beyond


class Asked(NamedTuple):
    """The itemset, and how far each term's spans have been read."""

    terms: NDArray[np.int32]  # rising
    stops: NDArray[np.int64]  # where the term's spans end
    at: NDArray[np.int64]  # the span that matters now
    cursors: NDArray[np.int64]  # the same for reading a whole tree
    firsts: NDArray[np.int64]  # scratch: the chunks that are looked at


@embedded
def bounds_in_leaf(scene, asked, size, position):
    """Least and most of a leaf's records with the terms whose chunks, its own, are in `asked.firsts`."""
    records = scene.sizes[position]
    least, most = records, records
    for slot in range(size):
        first = asked.firsts[slot]
        if first == TERM_CHUNK_ROW:
            least += 1 - records
        elif first != ELSEWHERE:
            members = part_size(asked.firsts, size, slot)
            if members > 0:
                count = scene.spans.counts[asked.at[slot]]
                if members > 1:
                    count = count_part(scene, asked.terms, asked.firsts, size, first)
                least += count - records
                most = min(most, count)
    return max(least, 0), most


@embedded
def take_part(scene, asked, cells, size, cell, start, first):
    """Let a cell have the terms it still misses from a shared chunk: only its bounds change yet."""
    joint, any_missing = cells.sizes[1] - 1, False
    for slot in range(size):
        is_missing = cells.sources[joint, slot] == first and not cells.has[cell, slot]
        asked.firsts[slot] = first if is_missing else ELSEWHERE
        any_missing |= is_missing
    if not any_missing:
        return
    count = count_part(scene, asked.terms, asked.firsts, size, first)
    certain = count  # of these, how many find no record outside the cell
    for other in range(start, cells.sizes[0]):
        may_have = other != cell
        for slot in range(size):
            may_have &= asked.firsts[slot] == ELSEWHERE or not cells.has[other, slot]
        if may_have:
            certain -= cells.records[other]
    cells.least[cell] = max(0, cells.least[cell] + max(0, certain) - cells.records[cell])
    cells.most[cell] = min(cells.most[cell], count)


@embedded
def close_joint(ground, asked, cells, size):
    """Take all cells of the innermost open joint cluster together, chunk after chunk."""
    scene, place = ground.scene, cells.sizes[1] - 1
    joint = cells.joints[place]
    start, rest = cells.sizes[0], ground.sizes[joint]
    while start > 0 and cells.lows[start - 1] >= ground.low[joint]:
        start -= 1
        rest -= cells.records[start]
        cells.lows[start] = ground.low[joint]
    if rest > 0:
        push_cell(cells, ground.low[joint], rest, rest, rest)
    merge(cells, size, start)
    first = np.int64(-1)
    while True:
        after = np.int64(-1)
        for slot in range(size):
            source = cells.sources[place, slot]
            if source > first and (after < 0 or source < after):
                after = source
        first = after
        if first < 0:
            break
        for cell in range(start, cells.sizes[0]):
            take_part(scene, asked, cells, size, cell, start, first)
        for cell in range(start, cells.sizes[0]):
            for slot in range(size):
                cells.has[cell, slot] |= cells.sources[place, slot] == first
        merge(cells, size, start)
    cells.sizes[1] -= 1


@embedded
def read_position(ground, asked, cells, size, position):
    """Take in what begins at a position: a leaf's own terms make a cell, shared ones open their joint cluster."""
    scene, has_own = ground.scene, False
    for slot in range(size):
        asked.firsts[slot] = ELSEWHERE
        span = asked.cursors[slot]
        if span < asked.stops[slot] and scene.spans.starts[span] == position:
            first = np.int64(scene.spans.firsts[span])
            if first >= shared_rows(scene):
                open_joint(cells, size, ground.owners[first], slot, first)
            else:
                asked.firsts[slot], has_own = first, True
                asked.at[slot] = span
            asked.cursors[slot] += 1
    if has_own:
        least, most = bounds_in_leaf(scene, asked, size, position)
        cell = push_cell(cells, position, scene.sizes[position], least, most)
        for slot in range(size):
            cells.has[cell, slot] = asked.firsts[slot] != ELSEWHERE


@embedded
def bounds_in_tree(ground, asked, cells, size, root):
    """Least and most under a joint cluster that is in no other one."""
    cells.sizes[0], cells.sizes[1] = 0, 0
    for slot in range(size):
        asked.cursors[slot] = span_beyond(ground.scene.spans, asked.cursors[slot], asked.stops[slot], ground.low[root])
    position = ground.low[root]
    while position < ground.high[root]:
        position = ground.high[root]
        for slot in range(size):
            if asked.cursors[slot] < asked.stops[slot]:
                position = min(position, ground.scene.spans.starts[asked.cursors[slot]])
        while cells.sizes[1] > 0 and ground.high[cells.joints[cells.sizes[1] - 1]] <= position:
            close_joint(ground, asked, cells, size)
        if position < ground.high[root]:
            read_position(ground, asked, cells, size, position)
    least, most = np.int64(0), np.int64(0)
    for cell in range(cells.sizes[0]):
        is_whole = True
        for slot in range(size):
            is_whole &= cells.has[cell, slot]
        if is_whole:
            least += cells.least[cell]
            most += cells.most[cell]
    return least, most


@embedded
def bounds_of(ground, asked, cells, size):
    """Least and most in all leaves."""
    spans, position = ground.scene.spans, np.int64(0)
    least, most = np.int64(0), np.int64(0)
    while True:
        position = meet(spans, asked.at, asked.stops, size, position)
        if position < 0:
            return least, most
        root = ground.roots[position]
        if root < ground.roots.shape[0]:
            for slot in range(size):
                asked.firsts[slot] = spans.firsts[asked.at[slot]]
            low, high = bounds_in_leaf(ground.scene, asked, size, position)
        else:
            low, high = bounds_in_tree(ground, asked, cells, size, root)
        least += low
        most += high
        position = ground.high[root]


@kernel(types.Tuple((buffer(types.int64), buffer(types.int64)))(GROUND, view(types.int64), view(types.int32)))
def support_bounds(ground, offsets, terms):
    """Least and most records with each of many itemsets: terms rise in each, -1 for one that is nowhere."""
    count = offsets.shape[0] - 1
    widest = 1
    for itemset in range(count):
        widest = max(widest, offsets[itemset + 1] - offsets[itemset])
    least, most = np.zeros(count, np.int64), np.zeros(count, np.int64)
    stops, at, cursors = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64)
    cells, firsts = new_cells(ground, widest), np.empty(widest, np.int64)
    spans = ground.scene.spans
    for itemset in range(count):
        start, stop = offsets[itemset], offsets[itemset + 1]
        if start == stop:
            least[itemset] = most[itemset] = ground.before[-1]
        elif stop - start == 1 and terms[start] >= 0:
            least[itemset], most[itemset] = ground.least[terms[start]], ground.most[terms[start]]
        elif terms[start] >= 0:
            asked = Asked(terms[start:stop], stops, at, cursors, firsts)
            for slot in range(stop - start):
                at[slot] = cursors[slot] = spans.offsets[terms[start + slot]]
                stops[slot] = spans.offsets[terms[start + slot] + 1]
            least[itemset], most[itemset] = bounds_of(ground, asked, cells, stop - start)
    return least, most
