"""``da.audit`` with the original: S0 as trying every grouping decides it, and what the release reaches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import disassociation as da
import naive
import worlds
from disassociation.auditor import grouping as grouping_module
from disassociation.auditor import undecided
from disassociation.auditor.auditing import audit
from disassociation.auditor.verdict import Audit
from disassociation.errors import InputError
from naive.forest import Joint, Leaf, Record
from naive.grouping import Reached, conflicts, forced, groupings, reached
from naive.order import in_canonical_order
from published import Published as Tables
from published import publish, tables
from strategies import Problem, Published, nested_problems, problems, random_parts, releases, sound_releases
from test_auditor_mutants import merged, move_a_subrecord
from test_cases import CASES, label, released

Rows = list[Record]


def as_lists(records: Iterable[Iterable[str]]) -> list[list[str]]:
    return [sorted(record) for record in records]


def compare(release: Tables, records: Rows, k: int, m: int, sensitive: Sequence[str] = ()) -> str:
    """Judge, and try everything; returns what came out."""
    found = audit(release, original=as_lists(records), sensitive=sensitive, explain=False)
    forest = naive.forest_of_rows(release.clusters.to_pylist(), release.subrecords.to_pylist())
    every = groupings(forest, records)
    numbers = found.reached
    assert numbers is not None
    if "S0" not in found.conditions:
        assert numbers["grouping"] == "not decided"
        assert not found.conditions["S1"]
        assert "S1" in str(numbers["why"])
        return "not decided"
    assert found.conditions["S0"] == bool(every)
    assert found.conditions["S0"] == (numbers["grouping"] == "found")
    assert any(violation.condition == "S0" for violation in found.violations) == (not every)
    if not every:
        assert not found.holds
        assert all(value is None for name, value in numbers.items() if name != "grouping")
        return "none"
    assert isinstance(numbers["forced_records"], int)
    assert numbers["forced_records"] <= forced(every)
    secret = frozenset(sensitive)
    possible = [reached(forest, parts, k, m, secret) for parts in every]
    names = [field.name for field in fields(Reached)]
    assert Reached(**{name: numbers[name] for name in names}) in possible  # type: ignore[arg-type]
    chunks = [(chunk, naive.conditions.sites(joint)) for joint in naive.joints(forest) for chunk in joint.shared_chunks]
    assert numbers["shared_chunks"] == len(chunks)
    assert numbers["conflicting_chunks"] == sum(bool(conflicts(chunk, where)) for chunk, where in chunks)
    return "found" if len(every) > 1 else "the only one"


def drop(records: Rows, chance: random.Random) -> Rows:
    """A record is missing."""
    at = chance.randrange(len(records))
    return records[:at] + records[at + 1 :]


def add(records: Rows, chance: random.Random) -> Rows:
    """There is one more, like one of the others or not."""
    terms = sorted(frozenset().union(*records))
    return [*records, chance.choice([*records, frozenset(chance.sample(terms, min(2, len(terms))))])]


def swap(records: Rows, chance: random.Random) -> Rows:
    """Two records exchange a term: all supports stay as they are."""
    one, other = chance.randrange(len(records)), chance.randrange(len(records))
    mine, theirs = records[one] - records[other], records[other] - records[one]
    if not mine or not theirs:
        return records
    given, taken = frozenset([chance.choice(sorted(mine))]), frozenset([chance.choice(sorted(theirs))])
    changed = [*records]
    changed[one], changed[other] = records[one] - given | taken, records[other] - taken | given
    return changed


def move(records: Rows, chance: random.Random) -> Rows:
    """A term goes from one record to another."""
    one, other = chance.randrange(len(records)), chance.randrange(len(records))
    mine = records[one] - records[other]
    if not mine or len(records[one]) == 1:
        return records
    given = frozenset([chance.choice(sorted(mine))])
    changed = [*records]
    changed[one], changed[other] = records[one] - given, records[other] | given
    return changed


def replace(records: Rows, chance: random.Random) -> Rows:
    """A record has another term instead of one of its own, perhaps one that nobody has."""
    at = chance.randrange(len(records))
    terms = sorted(frozenset().union(*records) | {"strange"})
    changed = records[at] - {chance.choice(sorted(records[at]))} | {chance.choice(terms)}
    return [*records[:at], changed, *records[at + 1 :]]


def duplicate(records: Rows, chance: random.Random) -> Rows:
    """One record is there again instead of another."""
    changed = [*records]
    changed[chance.randrange(len(records))] = chance.choice(records)
    return changed


def split(records: Rows, chance: random.Random) -> Rows:
    """A record is divided in two."""
    at = chance.randrange(len(records))
    part = frozenset(term for term in records[at] if chance.random() < 0.5)
    halves = [half for half in (part, records[at] - part) if half]
    return records[:at] + halves + records[at + 1 :]


MUTATIONS: list[Callable[[Rows, random.Random], Rows]] = [drop, add, swap, move, replace, duplicate, split]
SMALL = releases(max_leaves=3, max_n=3, terms=4) | sound_releases(max_leaves=3, max_n=3, terms=4)


@settings(max_examples=1000, deadline=None)
@given(SMALL, st.integers(1, 3), st.sampled_from([(), ("a",), ("a", "d")]))
def test_true_originals(published: Published, m: int, sensitive: tuple[str, ...]) -> None:
    """What a release was made from is found to be possible, and the numbers are those of a grouping."""
    records = [record for part in published.original for record in part]
    outcome = compare(publish(published.forest, 2, m), records, 2, m, sensitive)
    event(outcome)
    assert outcome != "none"


@settings(max_examples=2500, deadline=None)
@given(SMALL, st.sampled_from(MUTATIONS), st.integers(0, 2**32))
def test_changed_originals(published: Published, mutate: Callable[[Rows, random.Random], Rows], seed: int) -> None:
    """Judged exactly as by trying every grouping: a change may leave another possible original."""
    records = [record for part in published.original for record in part]
    changed = mutate(records, random.Random(seed))
    event(f"{mutate.__name__}: {compare(publish(published.forest, 2, 2), changed, 2, 2)}")


def test_changed_releases() -> None:
    """One subrecord moved to another chunk: judged as by trying everything."""
    outcomes = []
    for seed in range(1000):
        chance = random.Random(seed)
        parts = [part[:3] for part in random_parts(seed)[:3]]
        forest, _ = naive.anonymize_leaves(parts, 2, 2)
        published = publish(forest, 2, 2)
        clusters, subrecords = published.clusters.to_pylist(), published.subrecords.to_pylist()
        if subrecords and move_a_subrecord(clusters, subrecords, chance):
            clusters, subrecords = in_canonical_order(clusters, merged(subrecords))
            release = tables(clusters, subrecords, 2, 2)
            if audit(release, explain=False).conditions["S1"]:
                outcomes.append(compare(release, [record for part in parts for record in part], 2, 2))
    assert outcomes.count("none") > 30
    assert outcomes.count("found") + outcomes.count("the only one") > 5


@settings(max_examples=300, deadline=None)
@given(releases(max_leaves=2, max_n=2, terms=3), st.sampled_from([swap, move, duplicate]), st.integers(0, 2**32))
def test_the_oracle_agrees_with_the_worlds(
    published: Published, mutate: Callable[[Rows, random.Random], Rows], seed: int
) -> None:
    """Two ways to try everything: an original is a possible world exactly if it can be grouped."""
    records = [record for part in published.original for record in part]
    possible = {tuple(sorted(row for rows in world for row in rows)) for world in worlds.every_world(published.forest)}
    for candidate in (records, mutate(records, random.Random(seed))):
        expected = tuple(sorted(tuple(sorted(record)) for record in candidate)) in possible
        assert bool(groupings(published.forest, candidate)) == expected
        event(f"possible: {expected}")


@pytest.mark.parametrize(
    "case", [case for case in CASES.values() if case.release is not None and case.records is not None], ids=label
)
def test_cases(case: naive.Case) -> None:
    """Whatever else is wrong with them: each is a release of its data, but for two.

    b4 counts an empty record, h1 leaves out all clusters but one.
    """
    forest = released(case)
    assert case.records is not None
    found = audit(publish(forest, case.k, case.m), original=as_lists(case.records), explain=False)
    (case_number, _, _) = case.name.partition("_")
    assert found.conditions["S0"] == (case_number not in ("b4", "h1"))
    whats = [violation.what for violation in found.violations if violation.condition == "S0"]
    if case_number == "b4":
        assert whats == ["3 records, but 2 in the original"]
    if len(case.records) <= 8:
        assert found.conditions["S0"] == bool(groupings(forest, [record for record in case.records if record]))


def judged(problem: Problem) -> tuple[Audit, Audit]:
    """A release of ours with its original, and with the same records in another order."""
    records = as_lists(problem.records)
    release = da.disassociate(
        records,
        k=problem.k,
        m=problem.m,
        max_cluster_size=problem.max_cluster_size,
        sensitive=sorted(problem.sensitive),
        l=problem.l,
        keep_together=[sorted(group) for group in problem.groups if group],
        refine=problem.refine,
        method=problem.method,
    )
    shuffled = random.Random(7).sample(records, len(records))
    first, second = (
        da.audit(release, original=data, sensitive=problem.sensitive) for data in (da.read(records), shuffled)
    )
    return first, second


@settings(max_examples=250, deadline=None)
@given(problems() | nested_problems())
def test_what_we_make(problem: Problem) -> None:
    """Each release of ours is one of its data, with l where it was asked for; the order of records changes nothing."""
    found, again = judged(problem)
    assert found.conditions["S0"]
    assert found.holds
    assert found == again
    assert found.reached is not None
    if problem.l is not None and found.reached["l"] is not None:
        assert found.reached["l"] >= problem.l  # type: ignore[operator]


# Leaves drawn at random are much alike: this takes integer programming to decide.
CHANCE = random.Random(1)
ALIKE_PARTS = [
    [frozenset(term for term in "abcdefgh" if CHANCE.random() < 0.4) or frozenset("a") for _ in range(10)]
    for _ in range(5)
]
ALIKE = publish(naive.anonymize_leaves(ALIKE_PARTS, 3, 2)[0], 3, 2)
ALIKE_RECORDS = as_lists(record for part in ALIKE_PARTS for record in part)


def test_leaves_that_are_alike() -> None:
    """Single sums do not decide it; integer programming does, either way."""
    found = audit(ALIKE, original=ALIKE_RECORDS)
    assert found.conditions["S0"]
    assert found.reached is not None
    assert found.reached["forced_records"] != len(ALIKE_RECORDS)
    refused = 0
    for seed in range(10):
        changed = swap([frozenset(record) for record in ALIKE_RECORDS], random.Random(seed))
        refused += not audit(ALIKE, original=as_lists(changed)).conditions["S0"]
    assert 0 < refused < 10


@pytest.mark.parametrize(
    ("module", "limits", "why"),
    [
        (undecided, {"_WORK": 0}, "too hard"),
        (undecided, {"_MOST_UNKNOWN": 10}, "too hard"),
        (grouping_module, {"_SUMS": 0, "_SPARE_SUMS": 100}, "too many clusters"),
        (grouping_module, {"_LOOKS": 0, "_SPARE_LOOKS": 100}, "too many clusters"),
    ],
)
def test_what_is_too_hard(module: Any, limits: dict[str, int], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given up within the limits and said so: neither held nor violated."""
    for name, value in limits.items():
        monkeypatch.setattr(module, name, value)
    found = audit(ALIKE, original=ALIKE_RECORDS)
    assert "S0" not in found.conditions
    assert found.holds == audit(ALIKE).holds
    assert found.reached is not None
    assert found.reached["grouping"] == "not decided"
    assert why in str(found.reached["why"])
    assert f"S0    not decided: {found.reached['why']}" in repr(found)
    assert all(value is None for name, value in found.reached.items() if name not in ("grouping", "why"))


def test_a_violation_says_where() -> None:
    """Cluster, chunk, numbers and the itemset, which the text does not show."""
    forest = (
        Leaf(2, ((frozenset("a"), frozenset("a")),), frozenset("c")),
        Leaf(2, ((frozenset("ab"),) * 2,), frozenset()),
    )
    found = audit(publish(forest, 2, 2), original=[["a", "b"], ["a", "c"], ["b"], ["a"]], explain=False)
    assert [str(violation) for violation in found.violations if violation.condition == "S0"] == [
        "S0: release: a term is in at least 4 records, but in 3 of the original"
    ]
    found = audit(publish(forest, 2, 2), original=[["a", "b", "c"], ["a", "b"], ["a"], ["a"]], explain=False)
    (violation,) = (violation for violation in found.violations if violation.condition == "S0")
    assert violation.to_dict(show_values=True) == {
        "condition": "S0",
        "cluster": None,
        "chunk": None,
        "what": "1 equal records of the original, but at most 0 fit in the clusters",
        "leaf": None,
        "itemset": ["a", "b", "c"],
    }


HIV = Leaf(4, ((frozenset("a"),) * 4,), frozenset(["b", "hiv"]))


@pytest.mark.parametrize(("with_hiv", "holds", "reached_l"), [(2, True, 4.0), (4, True, 2.0), (5, False, None)])
def test_l_of_the_true_counts(with_hiv: int, holds: bool, reached_l: float | None) -> None:
    """Records are divided so that l is kept, if they can be; if not, L is violated, and the cluster named."""
    records = [["a", "b"]] * 2 + [["a", "hiv"]] * with_hiv + [["a"]] * (6 - with_hiv)
    found = audit(publish((HIV, HIV), 2, 2), original=records, sensitive=["hiv"], l=2)
    assert found.conditions["S0"]
    assert found.conditions["L"] == holds
    assert found.reached is not None
    if holds:
        assert found.reached["l"] == reached_l
    else:
        assert "a sensitive term is in" in found.violations[0].what
        assert found.violations[0].cluster in (0, 1)
    assert audit(publish((HIV, HIV), 2, 2), sensitive=["hiv"], l=2).conditions["L"]


def test_shared_chunks_with_conflicts() -> None:
    """4.7 holds of what the leaves of the paper's Figure 5b gave to the shared chunk, and not of 5a's."""
    release = da.disassociate([["a", "b"]] * 4 + [["c"]] * 4, k=2, m=2)
    found = audit(release, original=[["a", "b"]] * 4 + [["c"]] * 4)
    assert found.reached is not None
    assert found.reached["roomy_chunks"] == found.reached["shared_chunks"]
    p = Leaf(3, ((frozenset("x"),) * 3,), frozenset())
    q = Leaf(2, ((frozenset("ay"),) * 2,), frozenset())
    cramped = Joint((p, q), ((frozenset("a"), frozenset("a"), frozenset("b"), frozenset("b")),))
    records = [["a", "x"], ["a", "x"], ["b", "x"], ["a", "b", "y"], ["a", "y"]]
    found = audit(publish((cramped,), 2, 2), original=records, explain=False)
    assert found.conditions["S0"]
    assert not found.conditions["G3"]
    assert found.reached is not None
    assert (found.reached["conflicting_chunks"], found.reached["roomy_chunks"]) == (1, 0)


RECORDS = [["a", "b"], ["a", "b"], ["a"], ["b", "c"]]


@pytest.mark.parametrize(
    "original",
    [
        da.read(RECORDS),
        RECORDS,
        (tuple(record) for record in [*RECORDS, []]),
        pa.table({"items": [*RECORDS, [], None]}),
        pa.table({"items": pa.array(RECORDS, pa.large_list(pa.dictionary(pa.int32(), pa.string())))}),
        pl.DataFrame({"items": RECORDS}),
        pd.DataFrame({"items": pd.Series(RECORDS, dtype=pd.ArrowDtype(pa.list_(pa.string())))}),
        [["b", "a", "a"], *RECORDS[1:]],
    ],
    ids=["transactions", "lists", "generator", "pyarrow", "dictionary", "polars", "pandas", "repeated"],
)
def test_originals_from_anywhere(original: Any) -> None:
    """Whatever speaks Arrow, and plain records; empty ones are left out."""
    assert audit(da.disassociate(RECORDS, k=2, m=2), original=original).conditions["S0"]


@pytest.mark.parametrize(
    ("original", "message"),
    [
        (7, "neither a table that speaks Arrow nor records"),
        ("pos.dat", "neither a table that speaks Arrow nor records"),
        (["secret"], "a record is not a collection of terms"),
        ([["secret", 7]], "a term is not text"),
        (pa.table({"items": [["secret", None]]}), "a term is missing"),
        (pa.table({"items": ["secret"]}), "not one column of lists of text"),
        (pa.table({"items": [[7]]}), "not one column of lists of text"),
        (pa.table({"a": [["secret"]], "b": [1]}), "not one column of lists of text"),
    ],
)
def test_what_is_no_original(original: Any, message: str) -> None:
    """One line that says what to do, and shows no term."""
    with pytest.raises(InputError, match=message) as caught:
        audit(da.disassociate(RECORDS, k=2, m=2), original=original)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_original_that_has_nothing_to_do_with_it() -> None:
    """Other terms, another number of records; no records at all."""
    release = da.disassociate(RECORDS, k=2, m=2)
    found = audit(release, original=[["x"], ["y", "z"]])
    assert [violation.what for violation in found.violations] == [
        "4 records, but 2 in the original",
        "terms of the original are missing: 3",
        "terms are not in the original: 3",
    ]
    assert not audit(release, original=[]).holds
