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


def own_cover(scene: Scene, leaf: int, touched: frozenset[int], q: int) -> int | None:
    """How many of a leaf's records that are not targets its own record chunks can cover, or None if one has no room."""
    n = scene.leaves[leaf].n
    cover = 0
    for i, chunk in enumerate(scene.leaves[leaf].record_chunks):
        if len(chunk) > n:
            return None
        cover += len(chunk) - q if i in touched else min(len(chunk), n - q)
    return cover


def can_hold(scene: Scene, target: int, itemset: Record, q: int) -> bool:
    """Whether in some world at least q records of the leaf contain the itemset."""
    parts = scene.parts(target, itemset)
    leaf = scene.leaves[target]
    if parts is None or q > leaf.n:
        return False
    for (kind, i), part in parts.items():
        if kind == "record" and sum(part <= subrecord for subrecord in leaf.record_chunks[i]) < q:
            return False
    touched = frozenset(i for kind, i in parts if kind == "record")
    wanted = {i: part for (kind, i), part in parts.items() if kind == "shared"}
    network = Network()
    for position, other in enumerate(scene.leaves):
        here = position == target
        cover = own_cover(scene, position, touched if here else frozenset(), q if here else 0)
        if cover is None:
            return False
        to_cover = 0 if other.term_chunk else other.n - cover
        if here and not other.term_chunk:
            to_cover += q * (len(wanted) - 1)  # q targets need no cover; a touched chunk's first q subrecords give none
        network.add(position, SINK, max(0, to_cover), len(scene.shared) * other.n + 1)
    for c, chunk in enumerate(scene.shared):
        for position in chunk.forbidden:
            n = scene.leaves[position].n
            here = position == target
            if here and c in wanted:
                network.add(("with", c), ("at", c, position), q, n)
            aside = q if here and c not in wanted else 0  # on targets, where they cover nothing that needs it
            network.add(("at", c, position), ("on", c, position), 0, n)
            network.add(("on", c, position), position, 0, n - aside)
            network.add(("on", c, position), SINK, 0, aside)
        for subrecord, count in chunk.kinds:
            network.add(SOURCE, ("kind", c, subrecord), count, count)
            for position in chunk.forbidden:
                if chunk.may_go(subrecord, position):
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
