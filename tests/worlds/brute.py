"""All possible worlds of the tiniest releases, by putting every subrecord on every record it may go on."""

from __future__ import annotations

from itertools import combinations

from naive.forest import Forest, Record
from worlds.scene import set_up

Row = tuple[str, ...]
World = tuple[tuple[Row, ...], ...]  # per leaf, in the order of ``leaves``: its records in sorted order
Slots = tuple[tuple[tuple[Row, bool], ...], ...]  # the same under way, with "this chunk has put a subrecord here"


def _put(states: set[Slots], subrecord: Record, where: list[int]) -> set[Slots]:
    """Put a subrecord on one record of one of some leaves that has none of this chunk yet, in every way."""
    found: set[Slots] = set()
    for state in states:
        for leaf in where:
            for slot, (row, used) in enumerate(state[leaf]):
                if used or (slot > 0 and state[leaf][slot - 1] == (row, used)):
                    continue
                assert not subrecord & set(row), "a record gets each term from one place only"
                filled = [*state[leaf]]
                filled[slot] = (tuple(sorted({*row, *subrecord})), True)
                found.add((*state[:leaf], tuple(sorted(filled)), *state[leaf + 1 :]))
    return found


def _fresh(states: set[Slots]) -> set[Slots]:
    """Forget where the last chunk has been."""
    return {tuple(tuple(sorted((row, False) for row, _ in leaf)) for leaf in state) for state in states}


def _strew(states: set[Slots], term: str, leaf: int) -> set[Slots]:
    """Put a term of a term chunk on one or more records of its leaf, in every way."""
    found: set[Slots] = set()
    for state in states:
        slots = range(len(state[leaf]))
        for size in range(1, len(slots) + 1):
            for chosen in combinations(slots, size):
                filled = [
                    (tuple(sorted({*row, term})) if slot in chosen else row, used)
                    for slot, (row, used) in enumerate(state[leaf])
                ]
                found.add((*state[:leaf], tuple(sorted(filled)), *state[leaf + 1 :]))
    return found


def every_world(forest: Forest) -> set[World]:
    """Every possible world, each once."""
    scene = set_up(forest)
    states: set[Slots] = {tuple(tuple(((), False) for _ in range(leaf.n)) for leaf in scene.leaves)}
    for position, leaf in enumerate(scene.leaves):
        for bag in leaf.record_chunks:
            for subrecord in bag:
                states = _put(states, subrecord, [position])
            states = _fresh(states)
    for chunk in scene.shared:
        for kind, count in chunk.kinds:
            where = [position for position in chunk.forbidden if chunk.may_go(kind, position)]
            for _ in range(count):
                states = _put(states, kind, where)
        states = _fresh(states)
    for position, leaf in enumerate(scene.leaves):
        for term in sorted(leaf.term_chunk):
            states = _strew(states, term, position)
    worlds = {tuple(tuple(row for row, _ in leaf) for leaf in state) for state in states}
    return {world for world in worlds if all(row for leaf in world for row in leaf)}


def most_records(worlds: set[World], leaf: int, itemset: Record) -> int:
    """The greatest number of records of a leaf that contain the itemset in any of the worlds."""
    return max((sum(itemset <= set(row) for row in world[leaf]) for world in worlds), default=0)
