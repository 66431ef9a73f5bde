"""Sets of leaves that have the same terms of an itemset from below a joint cluster, on a stack (see bounds.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import embedded, helper
from disassociation._kernels.ground import ELSEWHERE


class Cells(NamedTuple):
    """A stack of sets of leaves, and the joint clusters that are open around the last of them."""

    lows: NDArray[np.int64]  # (cells,) where the cluster begins that a cell is of
    records: NDArray[np.int64]
    least: NDArray[np.int64]  # of these, how many hold the terms that `has` says
    most: NDArray[np.int64]
    has: NDArray[np.bool_]  # (cells, terms) which terms are from the cluster, or from below it
    joints: NDArray[np.int64]  # (joints,) open ones, outermost first
    sources: NDArray[np.int64]  # (joints, terms) first row of the chunk that has the term, or ELSEWHERE
    sizes: NDArray[np.int64]  # (2,) how many cells, how many joint clusters


@helper
def new_cells(ground, terms):
    """Room for the largest tree."""
    room, leaves = 0, ground.roots.shape[0]
    position = 0
    while position < leaves:
        root = ground.roots[position]
        if root >= leaves:
            room = max(room, 2 * (ground.high[root] - ground.low[root]))
        position = ground.high[root]
    return Cells(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, terms), np.bool_),
        np.empty(ground.height, np.int64),
        np.empty((ground.height, terms), np.int64),
        np.zeros(2, np.int64),
    )


@embedded
def open_joint(cells, size, joint, slot, first):
    """Note that leaves may have a term from a chunk of a joint cluster around the current position."""
    place = cells.sizes[1]
    while place > 0 and cells.joints[place - 1] < joint:  # parents have the greater numbers
        place -= 1
    if place == 0 or cells.joints[place - 1] != joint:
        for inner in range(cells.sizes[1], place, -1):
            cells.joints[inner] = cells.joints[inner - 1]
            for other in range(size):
                cells.sources[inner, other] = cells.sources[inner - 1, other]
        cells.joints[place] = joint
        for other in range(size):
            cells.sources[place, other] = ELSEWHERE
        cells.sizes[1] += 1
        place += 1
    cells.sources[place - 1, slot] = first


@embedded
def push_cell(cells, low, records, least, most):
    """Add a cell that has no terms yet; returns its number."""
    cell = cells.sizes[0]
    cells.lows[cell], cells.records[cell], cells.least[cell], cells.most[cell] = low, records, least, most
    cells.has[cell] = False
    cells.sizes[0] += 1
    return cell


@embedded
def merge(cells, size, start):
    """Make one of the cells, from a place on, that have the same terms."""
    kept = start
    for cell in range(start, cells.sizes[0]):
        same, differs = start, True
        while same < kept and differs:
            differs = False
            for slot in range(size):
                differs |= cells.has[same, slot] != cells.has[cell, slot]
            same += differs
        if same < kept:
            cells.records[same] += cells.records[cell]
            cells.least[same] += cells.least[cell]
            cells.most[same] += cells.most[cell]
            continue
        for slot in range(size):
            cells.has[kept, slot] = cells.has[cell, slot]
        cells.lows[kept], cells.records[kept] = cells.lows[cell], cells.records[cell]
        cells.least[kept], cells.most[kept] = cells.least[cell], cells.most[cell]
        kept += 1
    cells.sizes[0] = kept
