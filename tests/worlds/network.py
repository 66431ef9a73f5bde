"""Feasibility of a flow with lower and upper bounds, by augmenting paths in plain Python."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable

Node = Hashable
SOURCE, SINK = "source", "sink"
_EXCESS, _NEED = "excess", "need"


class Network:
    """A directed network; arcs are added with the least and the most they may carry, in whole units."""

    def __init__(self) -> None:
        self.room: defaultdict[Node, dict[Node, int]] = defaultdict(dict)
        self.balance: defaultdict[Node, int] = defaultdict(int)
        self.consistent = True

    def _arc(self, tail: Node, head: Node, capacity: int) -> None:
        self.room[tail][head] = self.room[tail].get(head, 0) + capacity
        self.room[head].setdefault(tail, 0)

    def add(self, tail: Node, head: Node, least: int, most: int) -> None:
        """Add an arc; bounds that exclude each other make the network infeasible."""
        self.consistent &= least <= most
        self._arc(tail, head, most - least)
        self.balance[tail] -= least
        self.balance[head] += least

    def is_feasible(self) -> bool:
        """Whether some flow from source to sink keeps all bounds."""
        if not self.consistent:
            return False
        demand = sum(amount for amount in self.balance.values() if amount > 0)
        self._arc(SINK, SOURCE, demand)
        for node, amount in list(self.balance.items()):
            if amount > 0:
                self._arc(_EXCESS, node, amount)
            elif amount < 0:
                self._arc(node, _NEED, -amount)
        sent = 0
        while sent < demand:
            amount = self._augment()
            if amount == 0:
                return False
            sent += amount
        return True

    def _augment(self) -> int:
        """Send as much as a shortest path allows."""
        before: dict[Node, Node] = {_EXCESS: _EXCESS}
        queue = deque([_EXCESS])
        while queue and _NEED not in before:
            node = queue.popleft()
            for head, capacity in self.room[node].items():
                if capacity > 0 and head not in before:
                    before[head] = node
                    queue.append(head)  # type: ignore[arg-type]
        if _NEED not in before:
            return 0
        path = [_NEED]
        while path[-1] != _EXCESS:
            path.append(before[path[-1]])  # type: ignore[arg-type]
        steps = list(zip(path[1:], path, strict=False))
        amount = min(self.room[tail][head] for tail, head in steps)
        for tail, head in steps:
            self.room[tail][head] -= amount
            self.room[head][tail] += amount
        return amount
