"""Numbers that single sums leave open: found, or shown not to exist, by integer programming.

They fall apart into parts that share no sum. HiGHS decides the parts, the small ones first, within a fixed amount of
work: it counts nodes, never time, so that the same question gets the same answer everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from disassociation.auditor.kernels_sums import Sums

__all__ = ["settle"]

_MOST_UNKNOWN = 6_000
"""Of one part. The first node of a part of 13,000 took more than four minutes."""
_WORK = 2_000_000
"""Nodes times unknowns, of all parts: about half a minute."""
_ROOT = 100
"""The first node costs as much as so many others (1,800 unknowns: 2 s, and 20 ms for each further node)."""
_INFEASIBLE = 2


class _Part(NamedTuple):
    """Unknowns with the sums that are theirs alone."""

    unknowns: NDArray[np.int64]
    matrix: csr_array  # (sums, unknowns) of ones
    least: NDArray[np.int64]
    most: NDArray[np.int64]


def settle(
    sums: Sums,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
) -> bool | None:
    """Narrow all bounds to one solution; False if there is none, None if that was not found out within the work.

    `lows` and `highs` are what the sums come to with every unknown at its `low`, and at its `high`.
    """
    if (low == high).all():
        return True
    work, complete = _WORK, True
    for part in _parts(sums, low, high, lows, highs):
        nodes = work // len(part.unknowns) - _ROOT
        if len(part.unknowns) > _MOST_UNKNOWN or nodes < 1:
            complete = False
            continue
        answer = milp(
            np.zeros(len(part.unknowns)),
            integrality=np.ones(len(part.unknowns)),
            bounds=Bounds(low[part.unknowns], high[part.unknowns]),
            constraints=LinearConstraint(part.matrix, part.least, part.most),
            options={"node_limit": nodes},
        )
        if answer.status == _INFEASIBLE:
            return False
        if answer.mip_node_count:
            work -= len(part.unknowns) * (_ROOT + int(answer.mip_node_count))
        if answer.x is None:
            complete = False
            continue
        low[part.unknowns] = high[part.unknowns] = np.rint(answer.x).astype(np.int64)
    return True if complete else None


def _parts(
    sums: Sums,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    lows: NDArray[np.int64],
    highs: NDArray[np.int64],
) -> Iterator[_Part]:
    """The unknowns that are not known, those together that share a sum that may still be missed; the fewest first."""
    unknowns = np.flatnonzero(low < high)
    lengths = sums.of_starts[unknowns + 1] - sums.of_starts[unknowns]
    columns = np.repeat(np.arange(len(unknowns)), lengths)
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows = sums.of[np.repeat(sums.of_starts[unknowns], lengths) + np.arange(len(columns)) - before]
    is_open = (lows[rows] < sums.least[rows]) | (highs[rows] > sums.most[rows])
    distinct, rows = np.unique(rows[is_open], return_inverse=True)
    columns = columns[is_open]
    # Sums that are open have all their unknown members here, so what is left of them is known.
    known = lows[distinct] - np.bincount(rows, low[unknowns[columns]], len(distinct)).astype(np.int64)
    both = len(distinct) + len(unknowns)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, len(distinct) + columns)), shape=(both, both))
    count, part = connected_components(graph, directed=False)
    by_row, by_column = (np.argsort(of, kind="stable") for of in np.split(part, [len(distinct)]))
    matrix = csr_array(coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(distinct), len(unknowns))))
    matrix = csr_array(matrix[by_row][:, by_column])
    row_ends, column_ends = (np.cumsum(np.bincount(of, minlength=count)) for of in np.split(part, [len(distinct)]))
    sizes = np.diff(column_ends, prepend=0)
    for one in np.argsort(sizes, kind="stable").tolist():
        here = slice(column_ends[one] - sizes[one], column_ends[one])
        lines = slice(row_ends[one - 1] if one else 0, row_ends[one])
        total = by_row[lines]
        yield _Part(
            unknowns[by_column[here]],
            matrix[lines][:, here],
            sums.least[distinct[total]] - known[total],
            sums.most[distinct[total]] - known[total],
        )
