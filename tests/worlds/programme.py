"""The same question as an integer programme (scipy's HiGHS), for one leaf or for all of them at once."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from naive.forest import Forest, Record
from worlds.scene import set_up


class Programme:
    """Whole-number variables with bounds, and linear constraints added one by one."""

    def __init__(self) -> None:
        self.upper: list[float] = []
        self.rows: list[dict[int, int]] = []
        self.least: list[float] = []
        self.most: list[float] = []

    def variable(self, upper: float) -> int:
        """A variable from 0 to ``upper``."""
        self.upper.append(upper)
        return len(self.upper) - 1

    def require(self, row: dict[int, int], least: float = -np.inf, most: float = np.inf) -> None:
        """Bound a weighted sum of variables."""
        self.rows.append(row)
        self.least.append(least)
        self.most.append(most)

    def maximum(self, wanted: list[int]) -> int | None:
        """The greatest sum of some variables, or None if nothing is feasible."""
        matrix = np.zeros((len(self.rows), len(self.upper)))
        for i, row in enumerate(self.rows):
            for variable, weight in row.items():
                matrix[i, variable] = weight
        objective = np.zeros(len(self.upper))
        objective[wanted] = -1
        result = milp(
            objective,
            integrality=np.ones(len(self.upper)),
            bounds=Bounds(np.zeros(len(self.upper)), np.array(self.upper)),
            constraints=LinearConstraint(matrix, np.array(self.least), np.array(self.most)),
        )
        return round(-result.fun) if result.success else None


def records_anywhere(forest: Forest, itemset: Record, only: int | None = None) -> int | None:
    """The most records with the itemset in any world, in all of the release or one leaf; None without a world."""
    scene = set_up(forest)
    programme = Programme()
    targets: list[int] = []
    parts = []
    cover: list[dict[int, int]] = []  # per leaf: what covers its records that are not targets
    for position, leaf in enumerate(scene.leaves):
        mine = scene.parts(position, itemset) if only in (None, position) else None
        parts.append(mine or {})
        q = programme.variable(leaf.n if mine else 0)
        targets.append(q)
        row: defaultdict[int, int] = defaultdict(int, {q: 1})
        for i, chunk in enumerate(leaf.record_chunks):
            if len(chunk) > leaf.n:
                return None
            part = (mine or {}).get(("record", i))
            covering = programme.variable(len(chunk))
            row[covering] += 1
            programme.require({covering: 1, q: 1}, most=len(chunk) if part else leaf.n)
            if part:
                programme.require({q: 1}, most=sum(part <= subrecord for subrecord in chunk))
        cover.append(row)
    for c, shared in enumerate(scene.shared):
        placed: dict[tuple[int, int], int] = {}  # (kind, leaf) -> variable
        for kind, (subrecord, count) in enumerate(shared.kinds):
            open_to = [position for position in shared.forbidden if shared.may_go(subrecord, position)]
            placed |= {(kind, position): programme.variable(count) for position in open_to}
            programme.require({placed[kind, position]: 1 for position in open_to}, count, count)
        for position in shared.forbidden:
            n, q = scene.leaves[position].n, targets[position]
            here = {variable: 1 for (_, where), variable in placed.items() if where == position}
            programme.require(here, most=n)
            part = parts[position].get(("shared", c))
            covering = programme.variable(n)
            cover[position][covering] += 1
            less = dict.fromkeys(here, -1)
            programme.require({covering: 1, **less, **({q: 1} if part else {})}, most=0)
            programme.require({covering: 1, q: 1}, most=n)
            if part:
                with_part = {
                    variable: 1
                    for (kind, where), variable in placed.items()
                    if where == position and part <= shared.kinds[kind][0]
                }
                programme.require({**with_part, q: -1}, least=0)
    for position, leaf in enumerate(scene.leaves):
        if not leaf.term_chunk:
            programme.require(dict(cover[position]), least=leaf.n)
    return programme.maximum(targets)
