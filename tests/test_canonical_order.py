"""The order of a release's rows, against docs/release-format.md section 5 programmed once more in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from disassociation._kernels.arrays import Forest, Rows
from disassociation._kernels.canonical import canonical_forest
from disassociation.release import Release
from naive import order
from strategies import Problem, nested_problems, problems
from test_anonymize_properties import SLOW, release_of

Table = list[dict[str, Any]]
Tables = tuple[Table, Table]


def tables_of(problem: Problem) -> Tables:
    """What the real method publishes."""
    release = release_of(problem)
    return release.clusters.to_pylist(), release.subrecords.to_pylist()


def scrambled(tables: Tables, seed: int) -> Tables:
    """The same content, everything that the order settles undone: numbers of clusters and chunks, rows, terms."""
    chance = random.Random(seed)
    clusters, subrecords = tables
    number = chance.sample(range(len(clusters)), len(clusters))

    def shuffled(terms: list[str] | None) -> list[str] | None:
        return terms and chance.sample(terms, len(terms))

    new_clusters = [
        row
        | {"cluster": number[row["cluster"]], "terms": shuffled(row["terms"])}
        | {"parent": None if row["parent"] is None else number[row["parent"]]}
        for row in clusters
    ]
    new_rows = [
        row | {"cluster": number[row["cluster"]], "chunk": 7 - row["chunk"], "terms": shuffled(row["terms"])}
        for row in subrecords
    ]
    chance.shuffle(new_clusters)
    chance.shuffle(new_rows)
    return new_clusters, new_rows


def twins(tables: Tables) -> int:
    """How many leaves are published like the one before, but for the joint cluster they are in."""
    clusters, subrecords = tables
    content: dict[int, list[Any]] = {row["cluster"]: [row["size"], row["terms"]] for row in clusters}
    for row in subrecords:
        content[row["cluster"]].append((row["chunk"], row["terms"], row["count"]))
    leaves = [row for row in clusters if row["terms"] is not None]
    return sum(
        content[one["cluster"]] == content[other["cluster"]] and one["parent"] != other["parent"]
        for one, other in pairwise(leaves)
    )


@settings(max_examples=400, deadline=None, suppress_health_check=SLOW)
@given(problems() | nested_problems(), st.integers(1, 4), st.integers(0, 2**32))
def test_releases_stand_in_canonical_order(problem: Problem, copies: int, seed: int) -> None:
    """Every record up to four times, so that there are leaves that are published alike."""
    tables = tables_of(replace(problem, records=problem.records * copies))
    event(f"twins: {bool(twins(tables))}, joint clusters: {tables[0][-1]['terms'] is None}")
    assert order.in_canonical_order(*scrambled(tables, seed)) == tables


@st.composite
def forests(draw: DrawFn) -> Tables:
    """Trees over leaves of three kinds, joint clusters of two: much is equal, in part or with all that is below."""
    clusters: Table = []
    rows: Table = []
    for number in range(draw(st.integers(1, 9))):
        size, term = draw(st.sampled_from([(2, "a"), (2, "b"), (3, "a")]))
        clusters.append({"cluster": number, "parent": None, "size": size, "terms": ["d"]})
        rows.append({"cluster": number, "chunk": 0, "terms": [term], "count": 2})
    roots = list(clusters)
    while len(roots) > 1 and draw(st.integers(0, 4)):
        children = draw(st.lists(st.sampled_from(roots), min_size=2, max_size=3, unique_by=id))
        number = len(clusters)
        clusters.append({"cluster": number, "parent": None, "size": sum(c["size"] for c in children), "terms": None})
        rows.append({"cluster": number, "chunk": 0, "terms": [draw(st.sampled_from("cd"))], "count": 2})
        for child in children:
            child["parent"] = number
        roots = [root for root in roots if root not in children] + [clusters[-1]]
    return clusters, rows


def kernel_order(tables: Tables) -> Tables:
    """The tables as the kernel puts them, given with leaves first and children before parents."""
    clusters, rows = tables
    terms = sorted({term for row in [*clusters, *rows] for term in row["terms"] or ()})
    chunks = [[terms.index(term) for term in row["terms"]] for row in clusters if row["terms"] is not None]

    def joined(lists: list[list[int]]) -> Any:
        return np.array(list(chain.from_iterable(lists)), np.int32)

    def ends(lengths: list[int]) -> Any:
        return np.cumsum([0, *lengths], dtype=np.int64)

    items = [[terms.index(term) for term in row["terms"]] for row in rows]
    per_cluster = Counter(row["cluster"] for row in rows)
    forest = Forest(
        np.array([-1 if row["parent"] is None else row["parent"] for row in clusters], np.int64),
        np.array([row["size"] for row in clusters], np.int64),
        ends([len(chunk) for chunk in chunks]),
        joined(chunks),
        Rows(
            ends([per_cluster[row["cluster"]] for row in clusters]),
            np.array([row["chunk"] for row in rows], np.int32),
            np.array([row["count"] for row in rows], np.int32),
            ends([len(item) for item in items]),
            joined(items),
        ),
    )
    release = Release(2, 2, None, None, pa.array(terms), canonical_forest(forest, len(terms)))
    return release.clusters.to_pylist(), release.subrecords.to_pylist()


@settings(max_examples=800, deadline=None, suppress_health_check=SLOW)
@given(forests(), st.integers(0, 2**32))
def test_clusters_that_are_much_alike_stand_in_canonical_order(tables: Tables, seed: int) -> None:
    """What can hardly come of data: the walk by hashes has to decide nearly everything."""
    found = kernel_order(tables)
    event(f"twins: {bool(twins(found))}")
    assert found == order.in_canonical_order(*scrambled(tables, seed))


def test_mixing_is_splitmix64() -> None:
    """Its first three numbers from the seed 0, as they are published with the generator."""
    gamma = 0x9E3779B97F4A7C15
    numbers = [order.mix(i * gamma % 2**64) for i in range(3)]
    assert numbers == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
