"""Placing the subrecords of a shared chunk: transport problems, decided by maximum flow (guarantee.md 3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["TOO_LARGE", "Arc", "circulates", "transports"]

TOO_LARGE = (1 << 31) - 1
"""SciPy counts flow in 32 bits; what does not fit is not decided."""


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc of a network between numbered nodes, with the least and the most it may carry."""

    tail: int
    head: int
    least: int
    most: int


def transports(amounts: Sequence[int], rooms: Sequence[int], may_go: Mapping[int, Sequence[int]]) -> bool:
    """Whether all amounts find room, each only where it may go."""
    if sum(amounts) > sum(rooms) or any(amount and not may_go[i] for i, amount in enumerate(amounts)):
        return False
    source, sink = len(amounts) + len(rooms), len(amounts) + len(rooms) + 1
    arcs = [(source, i, amount) for i, amount in enumerate(amounts)]
    arcs += [(len(amounts) + j, sink, room) for j, room in enumerate(rooms)]
    arcs += [(i, len(amounts) + j, amounts[i]) for i in may_go for j in may_go[i]]
    return _maximum(arcs, source, sink) == sum(amounts)


def circulates(arcs: Sequence[Arc], nodes: int) -> list[int] | None:
    """A flow that goes round in a network without source or sink, within the bounds of every arc; None if none does."""
    if any(arc.least > arc.most for arc in arcs):
        return None
    excess = np.zeros(nodes, np.int64)
    for arc in arcs:
        excess[arc.head] += arc.least
        excess[arc.tail] -= arc.least
    source, sink = nodes, nodes + 1
    network = [(arc.tail, arc.head, arc.most - arc.least) for arc in arcs]
    network += [(source, int(node), int(excess[node])) for node in np.flatnonzero(excess > 0)]
    network += [(int(node), sink, -int(excess[node])) for node in np.flatnonzero(excess < 0)]
    wanted = int(excess[excess > 0].sum())
    solved = _solve(network, source, sink)
    if solved.flow_value < wanted:
        return None
    flow = solved.flow.tocsr()
    return [arc.least + int(flow[arc.tail, arc.head]) for arc in arcs]


def _maximum(arcs: Sequence[tuple[int, int, int]], source: int, sink: int) -> int:
    return int(_solve(arcs, source, sink).flow_value)


def _solve(arcs: Sequence[tuple[int, int, int]], source: int, sink: int):  # type: ignore[no-untyped-def]
    """SciPy's maximum flow; arcs are distinct pairs of nodes. Most releases need none, and so need not load SciPy."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    size = max(source, sink) + 1
    tails, heads, amounts = (np.array(column, np.int64) for column in zip(*arcs, strict=True))
    if amounts.max(initial=0) > TOO_LARGE:
        amounts = np.minimum(amounts, TOO_LARGE)
    graph = coo_array((amounts.astype(np.int32), (tails, heads)), shape=(size, size)).tocsr()
    return maximum_flow(graph, source, sink)
