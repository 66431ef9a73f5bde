"""The two tables of a release (docs/release-format.md), given as rows, read back as a forest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from naive.forest import Bag, Cluster, Forest, Joint, Leaf

Row = Mapping[str, Any]


def forest_of_rows(clusters: Iterable[Row], subrecords: Iterable[Row]) -> Forest:
    """The forest that two tables describe; leaves are named by their cluster number."""
    bags: dict[int, dict[int, list[frozenset[str]]]] = {}
    for row in subrecords:
        chunk = bags.setdefault(row["cluster"], {}).setdefault(row["chunk"], [])
        assert len(set(row["terms"])) == len(row["terms"])
        chunk += [frozenset(row["terms"])] * row["count"]
    rows = list(clusters)
    assert {row["cluster"] for row in rows} >= bags.keys()
    below: dict[int | None, list[Row]] = {}
    for row in rows:
        below.setdefault(row["parent"], []).append(row)

    def build(row: Row) -> Cluster:
        chunks: tuple[Bag, ...] = tuple(tuple(bag) for _, bag in sorted(bags.get(row["cluster"], {}).items()))
        if row["terms"] is not None:
            assert row["cluster"] not in below, "a leaf has no children"
            return Leaf(row["size"], chunks, frozenset(row["terms"]), str(row["cluster"]))
        children = below[row["cluster"]]
        assert row["size"] == sum(child["size"] for child in children)
        return Joint(tuple(build(child) for child in children), chunks, str(row["cluster"]))

    return tuple(build(row) for row in below.get(None, []))


def out_of_order(clusters: Iterable[Row], subrecords: Iterable[Row]) -> list[str]:
    """What is not in canonical order (docs/algorithm.md section 4), short of the order among clusters."""
    found: list[str] = []

    def codes(terms: Iterable[str]) -> list[bytes]:
        return [term.encode("utf-8") for term in terms]

    clusters = list(clusters)
    if [row["cluster"] for row in clusters] != list(range(len(clusters))):
        found.append("clusters are not numbered from 0 in order")
    is_joint = [row["terms"] is None for row in clusters]
    if is_joint != sorted(is_joint):
        found.append("leaves do not come first")
    if any(codes(row["terms"]) != sorted(codes(row["terms"])) for row in clusters if row["terms"] is not None):
        found.append("a term chunk is not sorted")
    rows = list(subrecords)
    if any(codes(row["terms"]) != sorted(codes(row["terms"])) for row in rows):
        found.append("a subrecord is not sorted")
    keys = [(row["cluster"], row["chunk"], codes(row["terms"])) for row in rows]
    if any(one >= other for one, other in pairwise(keys)):
        found.append("subrecords are not in strictly rising order")
    least: dict[tuple[int, int], bytes] = {}
    for cluster, chunk, terms in keys:
        least[cluster, chunk] = min(terms[0], least.get((cluster, chunk), terms[0]))
    for (cluster, chunk), term in least.items():
        if chunk > 0 and not ((cluster, chunk - 1) in least and least[cluster, chunk - 1] < term):
            found.append("chunks are not numbered by their smallest terms")
    return found
