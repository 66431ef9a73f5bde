"""S0 by trying everything: all ways to divide records among the leaves of a release, and what each one reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from naive.conditions import Site, itemsets, sites
from naive.forest import Bag, Forest, Joint, Leaf, Record, joints, leaves, paths, terms_of

Parts = tuple[Bag, ...]
"""The records of each leaf, in the order of ``leaves``."""
Place = tuple[int, int]
"""A chunk: the identity of its cluster, and its number there; -1 for a term chunk."""


def divisions(records: Sequence[Record], sizes: Sequence[int]) -> Iterator[Parts]:
    """Every way to divide a bag of records into parts of given sizes; equal records are interchangeable."""
    if not sizes:
        if not records:
            yield ()
        return
    kinds = sorted(Counter(records).items(), key=lambda item: sorted(item[0]))

    def choose(i: int, room: int) -> Iterator[tuple[int, ...]]:
        if i == len(kinds):
            if room == 0:
                yield ()
            return
        for amount in range(min(room, kinds[i][1]) + 1):
            for others in choose(i + 1, room - amount):
                yield (amount, *others)

    for amounts in choose(0, sizes[0]):
        part = tuple(kind for (kind, _), amount in zip(kinds, amounts, strict=True) for _ in range(amount))
        rest = [kind for (kind, count), taken in zip(kinds, amounts, strict=True) for _ in range(count - taken)]
        for others in divisions(rest, sizes[1:]):
            yield (part, *others)


def places(leaf: Leaf, above: Sequence[Joint]) -> dict[str, Place]:
    """Where a leaf gives each of its terms to: the nearest place that has it."""
    found = dict.fromkeys(leaf.term_chunk, (id(leaf), -1))
    for cluster, chunks in [(id(leaf), leaf.record_chunks), *((id(joint), joint.shared_chunks) for joint in above)]:
        here = {term: (cluster, i) for i, chunk in enumerate(chunks) for term in terms_of([chunk])}
        found = here | found
    return found


def leaves_this(forest: Forest, parts: Parts) -> bool:
    """Whether the release is what is published of these parts."""
    bags: dict[Place, Counter[Record]] = {}
    for (leaf, above), part in zip(paths(forest), parts, strict=True):
        place = places(leaf, above)
        if not terms_of([part]) <= place.keys() or not leaf.term_chunk <= terms_of([part]) or len(part) != leaf.n:
            return False
        for record in part:
            for chunk in {place[term] for term in record if place[term][1] >= 0}:
                projection = frozenset(term for term in record if place[term] == chunk)
                bags.setdefault(chunk, Counter())[projection] += 1
    published = {(id(leaf), i): Counter(bag) for leaf in leaves(forest) for i, bag in enumerate(leaf.record_chunks)}
    for joint in joints(forest):
        published |= {(id(joint), i): Counter(bag) for i, bag in enumerate(joint.shared_chunks)}
    return bags == published


def groupings(forest: Forest, records: Sequence[Record]) -> list[Parts]:
    """Every division of the records that leaves the release; S0 holds exactly if there is one. S1 must hold."""
    return [
        parts for parts in divisions(list(records), [leaf.n for leaf in leaves(forest)]) if leaves_this(forest, parts)
    ]


@dataclass(frozen=True)
class Reached:
    """What a release reaches with its records divided in one way."""

    confidence: float
    term_chunk_share: float
    covered_share: float
    l: float | None  # noqa: E741
    filled_clusters: int
    roomy_chunks: int


def reached(forest: Forest, parts: Parts, k: int, m: int, sensitive: frozenset[str]) -> Reached:
    """Count it all."""
    rows = list(zip(leaves(forest), parts, strict=True))
    counts = [Counter(term for record in part for term in record) for part in parts]
    shares = [{term: count / leaf.n for term, count in c.items()} for (leaf, _), c in zip(rows, counts, strict=True)]
    inside = [share[term] for (leaf, _), share in zip(rows, shares, strict=True) for term in leaf.term_chunk]
    secret = [leaf.n / c[term] for (leaf, _), c in zip(rows, counts, strict=True) for term in sensitive & c.keys()]
    return Reached(
        max(max(share.values()) for share in shares),
        max(inside, default=0.0),
        sum(1 in share.values() for share in shares) / len(shares),
        min(secret, default=None),
        sum(is_filled(leaf, part, k, m, sensitive) for leaf, part in rows),
        sum(roomy(forest, joint, i, parts, k, m) for joint in joints(forest) for i in range(len(joint.shared_chunks))),
    )


def is_filled(leaf: Leaf, part: Bag, k: int, m: int, sensitive: frozenset[str]) -> bool:
    """G2 with as many record chunks as one record of the leaf really touches."""
    if leaf.term_chunk - sensitive:
        return True
    domains = [terms_of([chunk]) for chunk in leaf.record_chunks]
    h = max(1, min(m, max(sum(bool(record & domain) for domain in domains) for record in part)))
    return bool(domains) and sum(map(len, leaf.record_chunks)) >= leaf.n + k * (h - 1)


def conflicts(chunk: Bag, where: Sequence[Site]) -> frozenset[str]:
    """X: the terms of a shared chunk that are forbidden at some open leaf."""
    opened = [site.forbidden for site in where if any(site.takes(subrecord) for subrecord in chunk)]
    return terms_of([chunk]) & frozenset().union(*opened)


def roomy(forest: Forest, joint: Joint, i: int, parts: Parts, k: int, m: int) -> bool:
    """No conflicts, or R (guarantee.md 4.7) at every leaf under the joint cluster."""
    x = conflicts(joint.shared_chunks[i], sites(joint))
    if not x:
        return True
    for (leaf, above), part in zip(paths(forest), parts, strict=True):
        if any(other is joint for other in above):
            mine = {term for term, place in places(leaf, above).items() if place == (id(joint), i)}
            own = [record & mine for record in part if record & mine]
            for itemset in itemsets(tuple(own), m):
                others = sum(bool(row & x) and not itemset <= row for row in own)
                if sum(itemset <= row for row in own) < k and others + k > leaf.n:
                    return False
    return True


def forced(every: Sequence[Parts]) -> int:
    """How many records are in the same leaf in every grouping."""
    amounts = [Counter((leaf, record) for leaf, part in enumerate(parts) for record in part) for parts in every]
    return sum(min(found[key] for found in amounts) for key in amounts[0])
