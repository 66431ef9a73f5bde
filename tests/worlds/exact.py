"""How many records of a leaf can contain an itemset, exactly, by a maximum flow with lower bounds.

Records of a leaf can be told apart by nothing, so the question "q records of leaf L contain S" is: fix q *targets* of
L's records. Each chunk that holds a part of S puts a subrecord with its part on every target. The other n - q records,
and all records of a leaf without a term chunk, must not be empty: chunks of c_1, c_2, ... subrecords, each chunk's on
distinct records, cover min(n, c_1 + c_2 + ...) of n records at best. A term chunk can fill any record. That makes a
network of whole numbers: kinds of subrecords -> (chunk, leaf) -> leaf.
"""

from __future__ import annotations

from itertools import combinations

from naive.forest import Forest, Record
from worlds.network import SINK, SOURCE, Network
from worlds.scene import Scene, set_up

MOST = 10**9  # more than any leaf takes


def can_hold(scene: Scene, target: int, itemset: Record, q: int) -> bool:
    """Whether in some world at least q records of the leaf contain the itemset."""
    parts = scene.parts(target, itemset)
    if parts is None or q > scene.leaves[target].n:
        return False
    chunks = scene.leaves[target].record_chunks
    for (place, i), part in parts.items():
        if place == "record" and sum(part <= subrecord for subrecord in chunks[i]) < q:
            return False
    wanted = {i: part for (place, i), part in parts.items() if place == "shared"}
    network = Network()
    for position, leaf in enumerate(scene.leaves):
        if any(len(chunk) > leaf.n for chunk in leaf.record_chunks):
            return False
        to_cover = leaf.n - sum(len(chunk) for chunk in leaf.record_chunks)
        if position == target:  # q targets need no cover, and q subrecords of each chunk with a part give none
            to_cover += q * (sum(place != "term" for place, _ in parts) - 1)
        if leaf.term_chunk:
            to_cover = 0
        network.add(position, SINK, max(0, to_cover), MOST)
    for c, shared in enumerate(scene.shared):
        for position in shared.forbidden:
            n = scene.leaves[position].n
            network.add(("at", c, position), position, 0, n)
            if position == target and c in wanted:
                network.add(("with", c), ("at", c, position), q, n)
        for subrecord, count in shared.kinds:
            network.add(SOURCE, ("kind", c, subrecord), count, count)
            for position in shared.forbidden:
                if shared.may_go(subrecord, position):
                    special = position == target and c in wanted and wanted[c] <= subrecord
                    network.add(("kind", c, subrecord), ("with", c) if special else ("at", c, position), 0, count)
    return network.is_feasible()


def is_possible(forest: Forest) -> bool:
    """Whether there is a world at all."""
    scene = set_up(forest)
    return not scene.leaves or can_hold(scene, 0, frozenset(), 0)


def records_with(forest: Forest, leaf: int, itemset: Record) -> int:
    """The greatest number of records of a leaf (by position) that contain the itemset in any world."""
    scene = set_up(forest)
    q = 0
    while can_hold(scene, leaf, itemset, q + 1):
        q += 1
    return q


def counterexample(forest: Forest, k: int, m: int) -> tuple[int, Record] | None:
    """A leaf and an itemset of at most m terms that some world puts there but none puts there k times."""
    scene = set_up(forest)
    for leaf, source in enumerate(scene.sources):
        fine: list[Record] = []
        for size in range(m, 0, -1):
            for terms in combinations(sorted(source), size):
                itemset = frozenset(terms)
                if any(itemset <= larger for larger in fine):
                    continue
                if can_hold(scene, leaf, itemset, k):
                    fine.append(itemset)
                elif can_hold(scene, leaf, itemset, 1):
                    return leaf, itemset
    return None


def holds_guarantee(forest: Forest, k: int, m: int) -> bool:
    """Whether there is a world, and what some world puts in a leaf, some world puts there k times."""
    return is_possible(forest) and counterexample(forest, k, m) is None


def holds_for(forest: Forest, original: tuple[tuple[Record, ...], ...], k: int, m: int) -> bool:
    """The local guarantee with the original at hand per leaf: m known terms always fit k records of it."""
    scene = set_up(forest)
    known = {
        (leaf, frozenset(terms))
        for leaf, records in enumerate(original)
        for record in set(records)
        for size in range(1, m + 1)
        for terms in combinations(sorted(record), size)
    }
    return all(can_hold(scene, leaf, itemset, k) for leaf, itemset in known)
