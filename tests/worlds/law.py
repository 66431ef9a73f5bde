"""The law of the model "independent" (docs/estimates.md), exactly: the probability of every world of a tiny release."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

from naive.forest import Forest, Leaf, Record
from worlds.brute import Row, World
from worlds.scene import Shared, set_up

Slots = tuple[tuple[tuple[Row, bool], ...], ...]  # per leaf, sorted: a record, and whether the chunk under way is on it
Law = dict[Slots, Fraction]


def _changed(state: Slots, leaf: int, slot: int, more: Record, used: bool) -> Slots:
    """A state with more terms on a record."""
    row, _ = state[leaf][slot]
    assert not more & set(row), "a record gets each term from one place only"
    filled = [*state[leaf]]
    filled[slot] = (tuple(sorted({*row, *more})), used)
    return (*state[:leaf], tuple(sorted(filled)), *state[leaf + 1 :])


def _put(law: Law, subrecord: Record, where: list[int]) -> Law:
    """Put a subrecord on a record of some leaves that has none of this chunk yet, all alike."""
    found: defaultdict[Slots, Fraction] = defaultdict(Fraction)
    for state, chance in law.items():
        free = [(leaf, slot) for leaf in where for slot, (_, used) in enumerate(state[leaf]) if not used]
        for leaf, slot in free:
            found[_changed(state, leaf, slot, subrecord, True)] += chance / len(free)
    return dict(found)


def _put_chunk(law: Law, subrecords: list[Record], where: list[int]) -> Law:
    """Put all subrecords of a chunk, then forget where it has been."""
    for subrecord in subrecords:
        law = _put(law, subrecord, where)
    found: defaultdict[Slots, Fraction] = defaultdict(Fraction)
    for state, chance in law.items():
        found[tuple(tuple(sorted((row, False) for row, _ in leaf)) for leaf in state)] += chance
    return dict(found)


def _strew(law: Law, position: int, terms: list[str], needed: bool) -> Law:
    """Put each term on a record, all alike; if `needed`, one of them on a record that is empty, all alike."""
    for term in [None] if needed else terms:
        found: defaultdict[Slots, Fraction] = defaultdict(Fraction)
        for state, chance in law.items():
            empty = [slot for slot, (row, _) in enumerate(state[position]) if not row]
            if needed and not empty:
                found[state] += chance
                continue
            slots = empty[:1] if needed else range(len(state[position]))
            choices = [(slot, one) for slot in slots for one in (terms if term is None else [term])]
            for slot, one in choices:
                found[_changed(state, position, slot, frozenset([one]), False)] += chance / len(choices)
        law = dict(found)
    return law


def is_mixed(shared: Shared) -> bool:
    """Whether a shared chunk has several terms, one of them from nearer in some leaf under its joint cluster."""
    terms = frozenset().union(*(kind for kind, _ in shared.kinds))
    return len(terms) > 1 and any(terms & forbidden for forbidden in shared.forbidden.values())


def _only_filled(law: Law, position: int) -> Law:
    """The same law, given that no record of a leaf is empty."""
    filled = {state: chance for state, chance in law.items() if all(row for row, _ in state[position])}
    total = sum(filled.values(), Fraction())
    return {state: chance / total for state, chance in filled.items()}


def _with_record_chunks(law: Law, position: int, leaf: Leaf) -> Law:
    for chunk in leaf.record_chunks:
        law = _put_chunk(law, list(chunk), [position])
    return law if leaf.term_chunk else _only_filled(law, position)


def law_of_worlds(forest: Forest) -> dict[World, Fraction]:
    """The probability of each possible world, for a release without mixed chunks in which all leaves can be filled."""
    scene = set_up(forest)
    law: Law = {tuple(tuple(((), False) for _ in range(leaf.n)) for leaf in scene.leaves): Fraction(1)}
    for position, leaf in enumerate(scene.leaves):
        law = _with_record_chunks(law, position, leaf)
    for shared in scene.shared:
        assert not is_mixed(shared)
        kinds = Counter(dict(shared.kinds))
        where = [position for position in shared.forbidden if shared.may_go(shared.kinds[0][0], position)]
        law = _put_chunk(law, sorted(kinds.elements(), key=sorted), where)
    for position, leaf in enumerate(scene.leaves):
        law = _strew(law, position, sorted(leaf.term_chunk), needed=False)
        for _ in range(leaf.n if leaf.term_chunk else 0):
            law = _strew(law, position, sorted(leaf.term_chunk), needed=True)
    found: defaultdict[World, Fraction] = defaultdict(Fraction)
    for state, chance in law.items():
        found[tuple(tuple(row for row, _ in leaf) for leaf in state)] += chance
    return dict(found)


def even_shares(forest: Forest, chunk: int) -> dict[tuple[Record, int], Fraction] | None:
    """For a mixed chunk: how many of each subrecord are in each leaf on average, if evenly spread ones have room."""
    scene = set_up(forest)
    shared = scene.shared[chunk]
    found: defaultdict[tuple[Record, int], Fraction] = defaultdict(Fraction)
    for kind, count in shared.kinds:
        allowed = [position for position in shared.forbidden if shared.may_go(kind, position)]
        room = sum(scene.leaves[position].n for position in allowed)
        for position in allowed:
            found[kind, position] += Fraction(count * scene.leaves[position].n, room)
    load: Counter[int] = Counter()
    for (_, position), amount in found.items():
        load[position] += amount  # type: ignore[assignment]
    return dict(found) if all(load[position] <= scene.leaves[position].n for position in load) else None
