"""Real data sets: the conditions by the naive judge, every occurrence accounted for, and no effect of order.

The files are not part of the project. Set DISASSOCIATION_DATA to a folder that holds them; without it these tests skip.
"""

from __future__ import annotations

import gzip
import os
import random
from collections import Counter
from pathlib import Path

import pytest

import disassociation as da
import naive
from commands import contents
from naive.forest import joints, leaves, terms_of

FOLDER = Path(os.environ.get("DISASSOCIATION_DATA", "no such folder"))
NAMES = ("BMS-WebView-1", "BMS-WebView-2", "retail", "Instacart-train")
SETTINGS = ((5, 2), (3, 3), (10, 4))

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="DISASSOCIATION_DATA names no folder of real data sets")


def records_of(name: str) -> list[list[str]]:
    """The records, read without our reader."""
    with gzip.open(FOLDER / f"{name}.dat.gz", "rt") as lines:
        return [line.split() for line in lines]


def check_counts(records: list[list[str]], forest: naive.Forest) -> None:
    """Of each term: what chunks hold, and between one and all records of each leaf that has it in its term chunk."""
    actual = Counter(term for record in records for term in set(record))
    in_chunks: Counter[str] = Counter()
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for cluster in leaves(forest):
        in_chunks.update(term for chunk in cluster.record_chunks for row in chunk for term in row)
        least.update(cluster.term_chunk)
        most.update(dict.fromkeys(cluster.term_chunk, cluster.n))
    for joint in joints(forest):
        in_chunks.update(term for chunk in joint.shared_chunks for row in chunk for term in row)
    assert in_chunks.keys() | least.keys() == actual.keys()
    for term, support in actual.items():
        assert least[term] <= support - in_chunks[term] <= most[term]
    assert sum(leaf.n for leaf in leaves(forest)) == len(records)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("k", "m"), SETTINGS)
@pytest.mark.parametrize("name", NAMES)
def test_a_real_data_set(name: str, k: int, m: int, tmp_path: Path) -> None:
    """Safe, complete, and the same bytes for shuffled records of shuffled tokens."""
    records = records_of(name)
    release = da.disassociate(records, k=k, m=m)
    forest = naive.forest_of_rows(release.clusters.to_pylist(), release.subrecords.to_pylist())
    assert naive.violations(forest, k, m) == []
    assert naive.out_of_order(release.clusters.to_pylist(), release.subrecords.to_pylist()) == []
    check_counts(records, forest)
    chance = random.Random(f"{name} {k} {m}")
    shuffled = [chance.sample(record, len(record)) for record in records]
    chance.shuffle(shuffled)
    release.save(tmp_path / "first")
    da.disassociate(shuffled, k=k, m=m).save(tmp_path / "second")
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


@pytest.mark.parametrize("name", NAMES)
def test_real_data_have_something_to_prove(name: str) -> None:
    """Joint clusters, nested ones too, and shared chunks of several terms do occur in these releases."""
    release = da.disassociate(FOLDER / f"{name}.dat.gz", k=3, m=3)
    forest = naive.forest_of_rows(release.clusters.to_pylist(), release.subrecords.to_pylist())
    assert any(isinstance(child, naive.Joint) for joint in joints(forest) for child in joint.children)
    assert any(len(terms_of([chunk])) > 1 for joint in joints(forest) for chunk in joint.shared_chunks)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_release_is_of_its_data(name: str) -> None:
    """S0 is decided: for the data, against them without a record, against them with terms of two records exchanged."""
    records = records_of(name)
    release = da.disassociate(records, k=5, m=2)
    found = da.audit(release, original=records)
    assert found.holds
    assert found.conditions["S0"]
    assert found.reached is not None
    forced = found.reached["forced_records"]
    assert isinstance(forced, int)
    assert 0.95 * len(records) < forced <= len(records)
    assert found.reached["filled_clusters"] == found.clusters
    assert found.reached["roomy_chunks"] == found.reached["shared_chunks"]
    assert not da.audit(release, original=records[1:]).conditions["S0"]
    chance = random.Random(name)
    long = [i for i, record in enumerate(records) if len(set(record)) > 5]
    one, other = chance.sample(long, 2)
    mine, theirs = set(records[one]) - set(records[other]), set(records[other]) - set(records[one])
    given, taken = {min(mine)}, {min(theirs)}
    exchanged = [*records]
    exchanged[one] = sorted(set(records[one]) - given | taken)
    exchanged[other] = sorted(set(records[other]) - taken | given)
    assert not da.audit(release, original=exchanged).conditions["S0"]
