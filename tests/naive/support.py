"""Supports of an itemset in plain sets and fractions: bounds by recursion, expectation leaf by leaf, the law itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

from naive.attack import Place, Sources, parts, sources
from naive.forest import Bag, Cluster, Forest, Leaf, Record, leaves, paths, terms_of

Cell = tuple[int, int, int]  # records, and of these at least and at most so many with the terms so far
Cells = dict[Record, Cell]  # by the terms of the itemset that leaves have from below
Shares = Callable[[Place, int, Record], Fraction]
"""Of a mixed chunk, the share of a leaf's records, by position, that have a part of one of its subrecords."""


def support(records: Sequence[Record], itemset: Record) -> int:
    """How many records hold it."""
    return sum(itemset <= record for record in records)


def leaf_cell(leaf: Leaf, itemset: Record) -> tuple[Record, Cell]:
    """A leaf with what it has itself."""
    counts = [support(bag, itemset & terms_of([bag])) for bag in leaf.record_chunks if itemset & terms_of([bag])]
    in_term_chunk = itemset & leaf.term_chunk
    lower = sum(counts) + len(in_term_chunk) - (len(counts) + len(in_term_chunk) - 1) * leaf.n
    return itemset & (leaf.term_chunk | terms_of(leaf.record_chunks)), (leaf.n, max(0, lower), min([leaf.n, *counts]))


def together(cells: Sequence[tuple[Record, Cell]]) -> Cells:
    """Sums of those that have the same terms."""
    found: Cells = {}
    for has, cell in cells:
        before = found.get(has, (0, 0, 0))
        found[has] = (before[0] + cell[0], before[1] + cell[1], before[2] + cell[2])
    return found


def cells_of(cluster: Cluster, itemset: Record) -> Cells:
    """All leaves of a cluster, by the terms they have from it or from below."""
    if isinstance(cluster, Leaf):
        return together([leaf_cell(cluster, itemset)])
    found = together([cell for child in cluster.children for cell in cells_of(child, itemset).items()])
    for bag in sorted(cluster.shared_chunks, key=lambda bag: min(terms_of([bag]))):
        changed = []
        for has, (records, lower, upper) in found.items():
            part = (itemset & terms_of([bag])) - has
            if part:
                elsewhere = sum(other[0] for its, other in found.items() if its != has and not its & part)
                count = support(bag, part)
                lower = max(0, lower + max(0, count - elsewhere) - records)
                upper = min(upper, count)
            changed.append((has | part, (records, lower, upper)))
        found = together(changed)
    return found


def bounds(forest: Forest, itemset: Record) -> tuple[int, int]:
    """At least and at most so many records hold it, in every world."""
    cells = [cells_of(root, itemset).get(itemset, (0, 0, 0)) for root in forest]
    return sum(cell[1] for cell in cells), sum(cell[2] for cell in cells)


def coverings(leaf: Leaf) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to choose records for each record chunk; of a tight leaf those that leave none out."""
    is_tight = not leaf.term_chunk and all(len(bag) < leaf.n for bag in leaf.record_chunks)
    for chosen in product(*(combinations(range(leaf.n), len(bag)) for bag in leaf.record_chunks)):
        if not is_tight or len(set().union(*chosen)) == leaf.n:
            yield chosen


def own_share(leaf: Leaf, itemset: Record) -> Fraction:
    """The chance that a record has, from each of the leaf's record chunks, its part of the itemset."""
    touched = [i for i, bag in enumerate(leaf.record_chunks) if itemset & terms_of([bag])]
    ways = list(coverings(leaf))
    share = Fraction(sum(all(0 in way[i] for i in touched) for way in ways), len(ways))
    for i in touched:
        bag = leaf.record_chunks[i]
        share *= Fraction(support(bag, itemset & terms_of([bag])), len(bag))
    return share


def chance_to_be_empty(forest: Forest, position: int, here: Sources, mixed: Shares) -> Fraction:
    """That nothing has been put on a record before the empty ones are filled."""
    leaf, above = paths(forest)[position]
    chance = Fraction(1)
    for bag in leaf.record_chunks:
        chance *= 1 - Fraction(len(bag), leaf.n)
    chance *= Fraction(leaf.n - 1, leaf.n) ** len(leaf.term_chunk)
    for joint in above:
        for i, bag in enumerate(joint.shared_chunks):
            place = next((place for place in here.values() if place and place.name == ("shared", id(joint), i)), None)
            if place is not None:
                some = Fraction(len(bag), place.base)
                chance *= 1 - (mixed(place, position, frozenset()) if is_mixed(forest, place) else some)
    return chance


def is_mixed(forest: Forest, place: Place) -> bool:
    """Whether a shared chunk has several terms, and some leaf under it has one of them from nearer."""
    for (_, above), here in zip(paths(forest), sources(forest), strict=True):
        for joint in above:
            for i, bag in enumerate(joint.shared_chunks):
                if place.name == ("shared", id(joint), i):
                    found = [here[term] for term in terms_of([bag])]
                    if len(found) > 1 and any(one is None or one.name != place.name for one in found):
                        return True
    return False


def expected(forest: Forest, itemset: Record, mixed: Shares) -> Fraction:
    """Records expected to hold an itemset of one or more terms under the independent law."""
    total = Fraction(0)
    for position, (leaf, here) in enumerate(zip(leaves(forest), sources(forest), strict=True)):
        if not itemset <= here.keys():
            continue
        share = own_share(leaf, itemset)
        for term in itemset:
            if here[term] is None:
                share /= leaf.n
        for place, part in parts(here, itemset).items():
            if place.name[0] == "shared":
                if is_mixed(forest, place):
                    share *= mixed(place, position, part)
                else:
                    share *= Fraction(support(place.fitting, part), place.base)
        if len(itemset) == 1 and itemset <= leaf.term_chunk:
            share += chance_to_be_empty(forest, position, here, mixed) / len(leaf.term_chunk)
        total += leaf.n * share
    return total


World = tuple[tuple[Record, ...], ...]
Chances = dict[World, Fraction]


def _place(states: Chances, bag: Bag, sites: list[tuple[int, int]]) -> Chances:
    """Put the subrecords of a chunk on distinct ones of some records, every way alike."""
    found: Chances = {}
    ways = list(permutations(sites, len(bag)))
    for state, chance in states.items():
        for way in ways:
            rows = [list(leaf) for leaf in state]
            for (leaf, slot), subrecord in zip(way, bag, strict=True):
                rows[leaf][slot] |= subrecord
            world = tuple(tuple(leaf) for leaf in rows)
            found[world] = found.get(world, Fraction(0)) + chance / len(ways)
    return found


def _fill(states: Chances, leaf: int, terms: Sequence[str]) -> Chances:
    """Give each empty record of a leaf one of some terms, every one alike."""
    found: Chances = {}
    for state, chance in states.items():
        empty = [slot for slot, row in enumerate(state[leaf]) if not row]
        for chosen in product(terms, repeat=len(empty)):
            rows = list(state[leaf])
            for slot, term in zip(empty, chosen, strict=True):
                rows[slot] = frozenset([term])
            world = (*state[:leaf], tuple(rows), *state[leaf + 1 :])
            found[world] = found.get(world, Fraction(0)) + chance / len(terms) ** len(empty)
    return found


def law(forest: Forest) -> Chances:
    """The chance of every outcome of the independent law; of releases without mixed chunks."""
    every = leaves(forest)
    states: Chances = {tuple((frozenset[str](),) * leaf.n for leaf in every): Fraction(1)}
    for position, leaf in enumerate(every):
        if not leaf.term_chunk and all(len(bag) < leaf.n for bag in leaf.record_chunks):
            states = _place_tight(states, position, leaf)
        else:
            for bag in leaf.record_chunks:
                states = _place(states, bag, [(position, slot) for slot in range(leaf.n)])
    open_to: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    bags: dict[tuple[object, ...], Bag] = {}
    for position, (leaf, here) in enumerate(zip(every, sources(forest), strict=True)):
        for place in {place for place in here.values() if place and place.name[0] == "shared"}:
            open_to.setdefault(place.name, []).extend((position, slot) for slot in range(leaf.n))
            bags[place.name] = place.fitting
    for name, sites in open_to.items():
        states = _place(states, bags[name], sites)
    for position, leaf in enumerate(every):
        for term in sorted(leaf.term_chunk):
            states = _place(states, (frozenset([term]),), [(position, slot) for slot in range(leaf.n)])
    for position, leaf in enumerate(every):
        states = _fill(states, position, sorted(leaf.term_chunk))
    return states


def _place_tight(states: Chances, position: int, leaf: Leaf) -> Chances:
    """Put all record chunks of a leaf on records together, every way alike that leaves none empty."""
    ways = []
    for chosen in coverings(leaf):
        for orders in product(*(permutations(records) for records in chosen)):
            rows = [frozenset[str]()] * leaf.n
            for records, bag in zip(orders, leaf.record_chunks, strict=True):
                for slot, subrecord in zip(records, bag, strict=True):
                    rows[slot] |= subrecord
            ways.append(tuple(rows))
    found: Chances = {}
    for state, chance in states.items():
        for rows_of_way in ways:
            world = (*state[:position], rows_of_way, *state[position + 1 :])
            found[world] = found.get(world, Fraction(0)) + chance / len(ways)
    return found
