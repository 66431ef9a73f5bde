"""Hypothesis strategies: bags of records with what to ask of them, and small releases that have a true world.

Records are drawn as whole numbers read as bit sets, which Hypothesis draws and shrinks fast; large bags from a seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from naive.forest import Bag, Cluster, Forest, Joint, Leaf, Record

PLAIN = tuple("abcdefghij")
# Orders that differ: by bytes, by UTF-16 units, by number, by locale; and blanks, signs, empty of letters.
ODD = ("10", "9", "007", "7", "Zebra", "zebra", "\u00e9", "\uffff", "\U0001f600", "a b")

METHODS = ("default", "paper")


@dataclass(frozen=True)
class Problem:
    """A bag of records and everything that is asked of the method."""

    records: tuple[Record, ...]
    k: int
    m: int
    max_cluster_size: int
    sensitive: frozenset[str] = frozenset()
    l: int | None = None  # noqa: E741 - the paper's letter
    groups: tuple[frozenset[str], ...] = ()
    refine: bool = True
    method: str = "default"


def _decode(mask: int, vocabulary: tuple[str, ...]) -> Record:
    return frozenset(term for bit, term in enumerate(vocabulary) if mask >> bit & 1)


@st.composite
def bags(draw: DrawFn, vocabulary: tuple[str, ...], most: int, least: int = 1) -> tuple[Record, ...]:
    """A bag of non-empty records: arbitrary, skewed, or copies of a few."""
    whole = (1 << len(vocabulary)) - 1
    any_set = st.integers(1, whole)
    kind = draw(st.sampled_from(["any", "skewed", "sparse", "copies"]))
    if kind == "copies":
        pool = draw(st.lists(any_set, min_size=1, max_size=4))
        masks = draw(st.lists(st.sampled_from(pool), min_size=least, max_size=most))
    elif kind == "sparse":
        one = st.integers(0, len(vocabulary) - 1).map(lambda bit: 1 << bit)
        masks = draw(st.lists(st.builds(int.__or__, one, one), min_size=least, max_size=most))
    else:
        masks = draw(st.lists(any_set, min_size=least, max_size=most))
        if kind == "skewed":
            rare = draw(st.integers(0, whole))
            masks = [mask & ~rare or mask if place % 3 else mask for place, mask in enumerate(masks)]
    return tuple(_decode(mask, vocabulary) for mask in masks)


def zipf_bag(seed: int, size: int, vocabulary: tuple[str, ...], density: float) -> tuple[Record, ...]:
    """Many records whose terms' frequencies fall like 1 / rank."""
    chance = random.Random(seed)
    weights = [min(0.97, density / (rank + 1)) for rank in range(len(vocabulary))]
    found = []
    for _ in range(size):
        record = {term for term, weight in zip(vocabulary, weights, strict=True) if chance.random() < weight}
        found.append(frozenset(record or {chance.choice(vocabulary)}))
    return tuple(found)


@st.composite
def settings_for(draw: DrawFn, records: tuple[Record, ...], vocabulary: tuple[str, ...], largest: int) -> Problem:
    """What to ask of some records: mostly legal, and small enough that there is something to do."""
    k = draw(st.integers(2, 5)) if len(records) > 8 else 2
    m = draw(st.integers(1, 4))
    sensitive: frozenset[str] = frozenset()
    wanted_l = None
    groups: tuple[frozenset[str], ...] = ()
    if draw(st.integers(0, 2)) == 0:
        sensitive = _decode(draw(st.integers(0, 7)), vocabulary[-3:])
        if sensitive:
            wanted_l = draw(st.sampled_from([None, 2, 3, 5]))
    if draw(st.integers(0, 2)) == 0:
        first, second = draw(st.tuples(st.integers(0, 1023), st.integers(0, 1023)))
        groups = tuple(
            group for group in (_decode(first, vocabulary), _decode(second & ~first, vocabulary)) if len(group) > 1
        )
    minimum = max(k, wanted_l or 0)
    size = draw(st.integers(minimum, max(minimum, largest)) | st.sampled_from([minimum, 2 * minimum - 1, 2 * minimum]))
    refine = draw(st.integers(0, 4)) > 0
    return Problem(records, k, m, size, sensitive, wanted_l, groups, refine, draw(st.sampled_from(METHODS)))


def _legal(problem: Problem) -> bool:
    """Whether section 0 of docs/algorithm.md accepts the problem."""
    n = len(problem.records)
    minimum = max(problem.k, problem.l or 0)
    if n < minimum or all(record <= problem.sensitive for record in problem.records):
        return False
    counts = (sum(term in record for record in problem.records) for term in problem.sensitive)
    return problem.l is None or all(problem.l * count <= n for count in counts)


@st.composite
def problems(draw: DrawFn, most: int = 40, terms: int = 10, largest: int = 12) -> Problem:
    """A legal problem with at most that many records and terms, and max_cluster_size up to ``largest``."""
    alphabet = draw(st.sampled_from([PLAIN, ODD]))
    vocabulary = alphabet[: draw(st.integers(1, terms))]
    records = draw(bags(vocabulary, most, least=2))
    return draw(settings_for(records, vocabulary, largest).filter(_legal))


@st.composite
def large_problems(draw: DrawFn, most: int = 300) -> Problem:
    """Up to 300 records and leaves that need several machine words."""
    vocabulary = PLAIN[: draw(st.integers(3, 10))]
    size = draw(st.integers(60, most))
    records = zipf_bag(draw(st.integers(0, 2**32)), size, vocabulary, draw(st.sampled_from([0.4, 0.8, 1.5])))
    return draw(settings_for(records, vocabulary, 200).filter(_legal))


@st.composite
def nested_problems(draw: DrawFn) -> Problem:
    """Terms that are rare in every leaf and not in all of them: shared chunks, nested joints, conflicts."""
    vocabulary = tuple(f"t{i}" for i in range(draw(st.integers(6, 24))))
    records = zipf_bag(draw(st.integers(0, 2**32)), draw(st.integers(12, 90)), vocabulary, draw(st.floats(0.2, 1.5)))
    k = draw(st.integers(2, 5))
    largest = draw(st.sampled_from([k, 2 * k, 2 * k + 1, 3 * k]))
    problem = Problem(records, k, draw(st.integers(1, 4)), largest, method=draw(st.sampled_from(METHODS)))
    if draw(st.integers(0, 3)) == 0:
        return replace(problem, sensitive=frozenset(vocabulary[2:4]))
    if draw(st.integers(0, 3)) == 0:
        return replace(problem, groups=(frozenset(vocabulary[1:4]), frozenset(vocabulary[4:])))
    return problem


@st.composite
def wide_problems(draw: DrawFn) -> Problem:
    """Many terms that are rare in every leaf and occur in most: joint clusters that grow to all records, or a limit."""
    vocabulary = tuple(f"t{i}" for i in range(draw(st.integers(20, 40))))
    records = zipf_bag(draw(st.integers(0, 2**32)), draw(st.integers(60, 160)), vocabulary, draw(st.floats(1.0, 2.5)))
    k = draw(st.integers(3, 6))
    size = draw(st.sampled_from([k, 2 * k, 2 * k + 1]))
    return Problem(records, k, draw(st.integers(1, 3)), size, method=draw(st.sampled_from(METHODS)))


def random_parts(seed: int) -> list[Bag]:
    """Two to eight small leaves over few terms, frequent in one leaf and rare in the next, so that joints nest."""
    chance = random.Random(seed)
    vocabulary = PLAIN[: chance.randint(3, 9)]
    parts = []
    for _ in range(chance.randint(2, 8)):
        weights = [chance.random() * chance.choice([0.15, 0.5, 0.9]) for _ in vocabulary]
        drawn = [
            frozenset(term for term, weight in zip(vocabulary, weights, strict=True) if chance.random() < weight)
            for _ in range(chance.randint(3, 6))
        ]
        parts.append(tuple(record or frozenset(chance.choice(vocabulary)) for record in drawn))
    return parts


def leaf_parts(size: int = 5, most: int = 6, terms: int = 7) -> SearchStrategy[list[tuple[Record, ...]]]:
    """Leaves as they may come from any horizontal partitioning, for k = 2: many small ones, so that joints nest."""
    vocabulary = PLAIN[:terms]
    return st.lists(bags(vocabulary, size, least=2), min_size=1, max_size=most)


@dataclass(frozen=True)
class Published:
    """A small release and a world it was made from (records per leaf, in the order of ``naive.leaves``)."""

    forest: Forest
    original: tuple[Bag, ...]


Gifts = dict[str, set[int]]  # term -> the leaves that give it to a joint cluster


def _tree(draw: DrawFn, leaf_count: int) -> list[Any]:
    """Join neighbours at random: a forest as nested pairs of leaf numbers."""
    nodes: list[Any] = list(range(leaf_count))
    for _ in range(leaf_count - 1 - draw(st.integers(0, leaf_count - 1))):
        at = draw(st.integers(0, len(nodes) - 2))
        nodes[at : at + 2] = [nodes[at : at + 2]]
    return nodes


def _bags_of(draw: DrawFn, rows: list[Record]) -> tuple[Bag, ...]:
    """Divide the terms of some records over at most two chunks."""
    terms = sorted(frozenset().union(*rows))
    first = _decode(draw(st.integers(0, (1 << len(terms)) - 1)), tuple(terms))
    both = (tuple(row & domain for row in rows if row & domain) for domain in (first, frozenset(terms) - first))
    return tuple(bag for bag in both if bag)


def _build(draw: DrawFn, node: Any, originals: list[Bag], above: list[Gifts], sound: bool) -> tuple[Cluster, list[int]]:
    """Publish a cluster; terms may go up to the joint clusters above. Also returns the numbers of its leaves."""
    if isinstance(node, list):
        gifts: Gifts = {}
        built = [_build(draw, child, originals, [gifts, *above], sound) for child in node]
        numbers = [number for _, below in built for number in below]
        for term, given in gifts.items():  # S0: what is published here, leaves under it cannot give further up
            for upper in above:
                here = upper.get(term, set()) & set(numbers)
                given |= here
                upper.get(term, set()).difference_update(here)
        rows = [
            record & frozenset(term for term, given in gifts.items() if number in given)
            for number in numbers
            for record in originals[number]
        ]
        return Joint(tuple(child for child, _ in built), _bags_of(draw, rows), f"J{numbers}"), numbers
    kept: set[str] = set()
    term_chunk: set[str] = set()
    for term in sorted(frozenset().union(*originals[node])):
        if sound and all(term in record for record in originals[node]):
            kept.add(term)
            continue
        place = draw(st.integers(0, len(above) - 1 if sound and above else len(above) + (0 if sound else 2)))
        if place < len(above):
            above[place].setdefault(term, set()).add(node)
        elif place == len(above):
            term_chunk.add(term)
        else:
            kept.add(term)
    chunks = _bags_of(draw, [record & kept for record in originals[node]])
    return Leaf(len(originals[node]), chunks, frozenset(term_chunk), f"P{node}"), [node]


def _published(draw: DrawFn, originals: list[Bag], sound: bool) -> Published:
    built = [_build(draw, node, originals, [], sound) for node in _tree(draw, len(originals))]
    order = [number for _, numbers in built for number in numbers]
    return Published(tuple(cluster for cluster, _ in built), tuple(originals[number] for number in order))


@st.composite
def releases(draw: DrawFn, max_leaves: int = 3, max_n: int = 4, terms: int = 4, least_n: int = 1) -> Published:
    """A release that meets S0 and S1, perhaps no more: each leaf gives each term to one place, at random."""
    sizes = draw(st.lists(st.integers(least_n, max_n), min_size=1, max_size=max_leaves))
    return _published(draw, [draw(bags(PLAIN[:terms], n, least=n)) for n in sizes], sound=False)


def random_chunk(seed: int, k: int) -> tuple[Bag, list[tuple[int, Record]]]:
    """A shared chunk, and the leaves it may go to (sizes as G0 asks): the room in each and the terms it refuses."""
    chance = random.Random(seed)
    sites = [
        (chance.randint(k, k + 2), frozenset(term for term in "abc" if chance.random() < 0.35))
        for _ in range(chance.randint(2, 4))
    ]
    kinds = [frozenset(term for term in "abc" if chance.random() < 0.5) for _ in range(chance.randint(1, 3))]
    return tuple(kind for kind in kinds if kind for _ in range(chance.randint(1, 4))), sites


@st.composite
def sound_releases(draw: DrawFn, k: int = 2, max_leaves: int = 4, max_n: int = 4, terms: int = 5) -> Published:
    """A release that meets all conditions but, maybe, G3: a leaf's record chunks hold what all its records share."""
    masks = st.integers(0, (1 << terms) - 1)
    originals = []
    for n in draw(st.lists(st.integers(k, max_n), min_size=2, max_size=max_leaves)):
        base = _decode(draw(masks) & draw(masks), PLAIN) or frozenset("z")
        kinds = [_decode(draw(masks), PLAIN) for _ in range(draw(st.integers(1, n)))]
        originals.append(tuple(base | kinds[i % len(kinds)] for i in range(n)))
    return _published(draw, originals, sound=True)
