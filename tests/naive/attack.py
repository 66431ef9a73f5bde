"""What somebody who knows some terms of a person gets out of a release: counted leaf by leaf, in fractions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from naive.forest import Bag, Forest, Joint, Leaf, Record, leaves, paths, terms_of


@dataclass(frozen=True)
class Place:
    """Where a leaf can have terms from: those of a chunk's subrecords that may be there, and how many records share."""

    name: tuple[object, ...]
    fitting: Bag
    base: int


Sources = dict[str, Place | None]  # None: the term chunk


def chunk_base(forest: Forest, joint: Joint, chunk: Bag) -> int:
    """The records of the leaves that can have the chunk's terms, by the term that the most can have."""
    found = dict.fromkeys(terms_of([chunk]), 0)
    for leaf, above in paths(forest):
        if joint in [one for one in above if one is joint]:
            nearer = leaf.term_chunk | terms_of(leaf.record_chunks)
            for one in above[: next(i for i, other in enumerate(above) if other is joint)]:
                nearer |= terms_of(one.shared_chunks)
            for term in found.keys() - nearer:
                found[term] += leaf.n
    return max(found.values())


def sources(forest: Forest) -> list[Sources]:
    """For each leaf, in the order of ``leaves``: its terms, and where it has them from."""
    bases = {
        (id(joint), i): chunk_base(forest, joint, chunk)
        for _, above in paths(forest)
        for joint in above
        for i, chunk in enumerate(joint.shared_chunks)
    }
    found = []
    for position, (leaf, above) in enumerate(paths(forest)):
        here: Sources = dict.fromkeys(leaf.term_chunk)
        for i, chunk in enumerate(leaf.record_chunks):
            here |= dict.fromkeys(terms_of([chunk]), Place(("own", position, i), chunk, leaf.n))
        for joint in above:
            taken = frozenset(here)
            for i, chunk in enumerate(joint.shared_chunks):
                fitting = tuple(row for row in chunk if not row & taken)
                place = Place(("shared", id(joint), i), fitting, bases[id(joint), i])
                here |= dict.fromkeys(terms_of([chunk]) - taken, place)
        found.append(here)
    return found


def parts(here: Sources, known: Set[str]) -> dict[Place, frozenset[str]]:
    """The known terms that come from each chunk."""
    divided: dict[Place, frozenset[str]] = {}
    for term in known:
        place = here[term]
        if place is not None:
            divided[place] = divided.get(place, frozenset()) | {term}
    return divided


def most_in_leaf(leaf: Leaf, here: Sources, known: Set[str]) -> int:
    """The records of a leaf that can hold the known terms as far as each chunk by itself tells, and none is empty.

    Its chunks cover at most as many records as they have subrecords that may be there; q records that hold parts of
    several chunks use up as many for one record.
    """
    if not known <= here.keys():
        return 0
    divided = parts(here, known)
    most = min([leaf.n, *(sum(part <= row for row in place.fitting) for place, part in divided.items())])
    if leaf.term_chunk:
        return most
    covered = sum(min(leaf.n, len(place.fitting)) for place in set(here.values()) if place is not None)
    while most > 0 and covered - most * (len(divided) - 1) < leaf.n and len(divided) > 1:
        most -= 1
    return most


def expected(leaf: Leaf, here: Sources, known: Set[str]) -> Fraction:
    """The records of a leaf expected to hold the known terms if chunks are independent; 0 if one is not there."""
    if not known <= here.keys():
        return Fraction(0)
    found = Fraction(leaf.n)
    for term in known:
        if here[term] is None:
            found /= leaf.n
    for place, part in parts(here, known).items():
        found *= Fraction(sum(part <= row for row in place.fitting), place.base)
    return found


def confidence(forest: Forest, known: Record, term: str, possible: Sequence[bool], also: Sequence[bool]) -> Fraction:
    """Expected records with the known terms and the other one, over those with the known ones.

    Only leaves count in which some world has such a record: `possible` for the known ones, `also` for all of them.
    """
    rows = list(zip(leaves(forest), sources(forest), possible, also, strict=True))
    total = sum((expected(leaf, here, known) for leaf, here, is_there, _ in rows if is_there), Fraction(0))
    both = sum((expected(leaf, here, known | {term}) for leaf, here, _, is_there in rows if is_there), Fraction(0))
    return both / total


def is_covered(forest: Forest, position: int) -> bool:
    """Whether a chunk gives each record of a leaf the same term, or its records can have one term only."""
    here = sources(forest)[position]
    if len(here) == 1:
        return True
    return any(
        place is not None and sum(term in row for row in place.fitting) == place.base for term, place in here.items()
    )


def may_be_together(records: Sequence[Record], here: Sources, pair: Record) -> bool:
    """Whether some record holds both terms, and nothing that the leaf cannot have."""
    return any(pair <= record <= here.keys() for record in records)


def meetings(term_chunks: Sequence[Set[str]], pair: Sequence[str], width: int) -> tuple[int, float]:
    """Term chunks that hold both terms, and how many would if one were there as often as in those around."""
    accidents = 0.0
    for first, second in (pair, pair[::-1]):
        for number, chunk in enumerate(term_chunks):
            around = [*term_chunks[max(number - width, 0) : number], *term_chunks[number + 1 : number + width + 1]]
            if first in chunk and around:
                accidents += sum(second in other for other in around) / len(around) / 2
    return sum(set(pair) <= chunk for chunk in term_chunks), accidents


def area(scores: Sequence[float], truths: Sequence[bool]) -> float | None:
    """How often a true one scores higher than a false one, ties counted half: every pair is looked at."""
    trues = [score for score, truth in zip(scores, truths, strict=True) if truth]
    falses = [score for score, truth in zip(scores, truths, strict=True) if not truth]
    if not trues or not falses:
        return None
    return sum((a > b) + (a == b) / 2 for a in trues for b in falses) / (len(trues) * len(falses))


def support(records: Sequence[Record], known: Set[str]) -> int:
    """How many records hold the terms."""
    return sum(known <= record for record in records)


def raw_followers(records: Sequence[Record], known: Record, least: Fraction) -> frozenset[str]:
    """Other terms that at least this share of the records with the known terms hold."""
    with_known = [record for record in records if known <= record]
    others = frozenset[str]().union(*with_known) - known
    return frozenset(term for term in others if support(with_known, {term}) >= least * len(with_known))


def subsets(record: Record, most: int) -> Iterator[Record]:
    """All sets of 1 to so many of a record's terms."""
    for size in range(1, min(most, len(record)) + 1):
        yield from map(frozenset, combinations(sorted(record), size))
