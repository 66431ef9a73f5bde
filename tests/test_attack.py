"""``attack``: the guarantee holds, baselines are counts, the same whoever runs it, silent about the terms."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import disassociation as da
import naive
from disassociation._kernels.inference import learned_terms
from disassociation._kernels.other_terms import possible_terms
from disassociation.exposure.known_terms import draw_victims, known_sets
from disassociation.exposure.second import in_both, with_certain
from disassociation.exposure.side import open_side
from naive import attack as plainly
from naive.forest import Bag, Record
from strategies import PLAIN, Problem, problems, zipf_bag
from test_attack_worlds import lay
from test_cases import WITH_DATA, label
from test_real_data import FOLDER

SECRET = [["SECRETa", "SECRETb", "SECRETc"]] * 4 + [["SECRETa", "SECRETd"], ["SECRETb", "SECRETc"], ["SECRETd"]]


def rows_up_to_m(found: da.Attack) -> Iterator[Any]:
    """The rows of linkage that the guarantee is about."""
    return (row for row in found.linkage if row.terms <= found.m)


def check_guarantee(found: da.Attack) -> None:
    """Up to m known terms leave k candidates, and k in each leaf that has any; more never leave none."""
    assert not found.refuted
    for row in rows_up_to_m(found):
        assert row.release.below_k == 0
        assert row.release.least >= row.least_in_leaf >= found.k
        assert row.release.chance <= 1 / found.k
        assert row.best_guess <= 1 / found.k + 1e-9
    for row in found.linkage:
        assert 1 <= row.release.least <= row.release.low <= row.release.median
        assert 1 <= row.raw.least <= row.raw.low <= row.raw.median
        assert row.release.median >= row.raw.median or row.strategy == "random" or found.victims < found.records


@settings(max_examples=300, deadline=None)
@given(problems(most=30), st.integers(0, 99))
def test_the_guarantee_holds(problem: Problem, seed: int) -> None:
    """Any k, m and sizes, sensitive terms, no joint clusters: whatever is known of whomever."""
    options: dict[str, Any] = {"k": problem.k, "m": problem.m, "max_cluster_size": problem.max_cluster_size}
    options |= {"sensitive": problem.sensitive, "l": problem.l, "refine": problem.refine, "method": problem.method}
    release = da.disassociate(problem.records, **options)
    found = da.attack(release, problem.records, random_state=seed)
    assert (found.k, found.m, found.records) == (problem.k, problem.m, len(problem.records))
    check_guarantee(found)
    check_raw(found, problem.records)


@pytest.mark.parametrize("case", [case for case in WITH_DATA if case.dataset], ids=label)
def test_cases(case: naive.Case) -> None:
    """The data sets of tests/cases, anonymized by us."""
    records = [record for record in case.dataset or () if record]
    if len(records) >= case.k:
        check_guarantee(da.attack(da.disassociate(records, k=case.k, m=case.m), records))


def check_raw(found: da.Attack, records: Bag) -> None:
    """The baseline of the rarest terms, and of what follows from them, by counting records."""
    order = {term: (plainly.support(records, {term}), term.encode()) for term in frozenset().union(*records)}
    ranked = [sorted(record, key=order.__getitem__) for record in records]
    for row in found.linkage:
        if row.strategy == "rarest":
            counts = sorted(plainly.support(records, set(terms[: row.terms])) for terms in ranked)
            assert (row.raw.least, row.raw.median) == (counts[0], counts[(len(counts) - 1) // 2])
            assert row.raw.below_k == pytest.approx(sum(count < found.k for count in counts) / len(counts))
            assert row.raw.chance == pytest.approx(sum(1 / count for count in counts) / len(counts))
    least = Fraction(str(found.confidence))
    asked = [
        (record, plainly.raw_followers(records, frozenset(terms[: found.m]), least))
        for record, terms in zip(records, ranked, strict=True)
        if len(record) > found.m
    ]
    learned = next(row for row in found.exposure if row.strategy == "rarest")
    assert learned.victims == len(asked)
    victims = max(len(asked), 1)
    assert learned.raw.true == sum(len(terms & record) for record, terms in asked) / victims
    assert learned.raw.false == sum(len(terms - record) for record, terms in asked) / victims
    assert learned.raw.victims == sum(bool(terms) for _, terms in asked) / victims


def make_two(seed: int) -> tuple[list[Record], list[Record]]:
    """Two bags with records in common."""
    chance = random.Random(seed)
    vocabulary = tuple(f"t{number}" for number in range(chance.randint(4, 24)))
    pool = zipf_bag(seed, 60, vocabulary, chance.choice([0.8, 1.5, 3.0]))
    return list(pool[:45]), [*pool[20:], *[frozenset(["other", "t0"])] * 5]


@pytest.mark.parametrize("seed", range(40))
def test_two_releases(seed: int) -> None:
    """Victims are in both; what is certain is true, and closed; what may be holds the truth; each number is counted."""
    one, two = make_two(seed)
    k, m = 2 + seed % 3, 1 + seed % 2
    releases = [da.disassociate(records, k=k, m=m) for records in (one, two)]
    sides = (first := open_side(releases[0], one, None, "it"), open_side(releases[1], two, first, "it"))
    common = in_both(first.data, sides[1].data)
    assert common.tolist() == [number for number, record in enumerate(one) if record in two]
    found = da.attack(releases[0], one, second=(releases[1], two), random_state=seed).second
    assert found is not None
    assert (found.victims, found.common) == (len(common), len(common))
    assert [row.terms for row in found.rows] == [*range(1, m + 1)] * 3
    names = first.data.vocabulary.to_pylist()
    known = known_sets("rarest", first.scene, first.data, draw_victims(common, 1000, seed), m, seed, 1)
    for row in (row for row in found.rows if row.strategy == "rarest"):
        sets = np.ascontiguousarray(known[:, row.terms - 1, : row.terms])
        wider = with_certain(sides, sets, 1)
        added = []
        others: list[list[frozenset[str]]] = [[], []]
        for victim, mine, more in zip(common.tolist(), sets, wider, strict=True):
            terms, all_terms = ({names[code] for code in codes if code >= 0} for codes in (mine, more))
            assert terms <= all_terms <= one[victim]
            added.append(len(all_terms - terms))
            for side, mine_there in zip(sides, others, strict=True):
                codes = side.own(more[None, :])
                vocabulary = side.data.vocabulary.to_pylist()
                _, certain = learned_terms(side.scene, codes, len(vocabulary), 1.0)
                assert {vocabulary[code] for code in certain} <= all_terms
                _, possible = possible_terms(side.scene, side.own(mine[None, :]), len(vocabulary))
                mine_there.append(frozenset(vocabulary[code] for code in possible) & set(names))
        assert row.added == pytest.approx(np.mean(added))
        unknown = [
            one[victim] - {names[code] for code in mine if code >= 0} for victim, mine in zip(common, sets, strict=True)
        ]
        both = [a & b for a, b in zip(*others, strict=True)]
        assert all(rest <= possible for rest, possible in zip(unknown, both, strict=True))
        counts = sorted(map(len, both))
        assert row.joined_others.median == counts[(len(counts) - 1) // 2]
        least = sorted(min(len(a), len(b)) for a, b in zip(*others, strict=True))
        assert row.others.median == least[(len(least) - 1) // 2]
        shares = [len(rest) / len(possible) for rest, possible in zip(unknown, both, strict=True) if rest]
        assert row.joined_others.hers == pytest.approx(np.mean(shares) if shares else 0)
        assert row.others.hers <= row.joined_others.hers <= row.raw_others.hers
        assert row.below_k == 0
        raw = [
            any(plainly.support(records, {names[code] for code in mine if code >= 0}) < k for records in (one, two))
            for mine in sets
        ]
        assert row.raw_below_k == pytest.approx(np.mean(raw))


def test_releases_with_nothing_in_common() -> None:
    """No victims, no rows, and a table that still warns."""
    one, two = [["a", "b"]] * 6, [["c"]] * 6
    releases = [da.disassociate(records, k=2, m=2) for records in (one, two)]
    found = da.attack(releases[0], one, second=(releases[1], two))
    assert found.second is not None
    assert (found.second.victims, found.second.common, found.second.rows) == (0, 0, ())
    assert "DOES NOT COMPOSE" in repr(found)


def baskets(seed: int, size: int = 400) -> list[Record]:
    """Records that refine joins."""
    return list(zipf_bag(seed, size, tuple(f"t{number}" for number in range(60)), 1.2))


def test_the_same_state_is_the_same_attack() -> None:
    """Whatever the number of threads, from memory or from disk; another state draws others."""
    records = baskets(1)
    release, other = da.disassociate(records, k=3, m=2), da.disassociate(records[100:], k=4, m=2)
    options: dict[str, Any] = {"second": (other, records[100:]), "victims": 70, "examples": 3}
    found = da.attack(release, records, random_state=5, threads=1, **options)
    assert found == da.attack(release, records, random_state=5, threads=3, **options)
    assert found == da.attack(release, da.read(records), random_state=5, **options)
    assert found.linkage != da.attack(release, records, random_state=6, **options).linkage
    assert found.rejoining != da.attack(release, records, random_state=6, **options).rejoining


def test_order_decides_who_is_drawn_and_nothing_else() -> None:
    """With all records as victims shuffled ones give the same, but for terms known at random; some of it always."""
    for seed in range(12):
        records = baskets(seed, 150)
        shuffled = random.Random(seed).sample(records, len(records))
        release = da.disassociate(records, k=2 + seed % 3, m=1 + seed % 3)
        one, two = (da.attack(release, given, victims=1000) for given in (records, shuffled))
        for name in ("linkage", "exposure"):
            chosen = [[row for row in getattr(found, name) if row.strategy != "random"] for found in (one, two)]
            assert chosen[0] == chosen[1]
        assert (one.covers, one.rejoining) == (two.covers, two.rejoining)
        drawn = da.attack(release, shuffled, victims=30)
        assert drawn.covers == one.covers


def test_what_it_takes(tmp_path: Path) -> None:
    """Paths and Transactions, repeated terms, empty records; a frozen result."""
    rows = [*map(sorted, baskets(2, 60)), [], ["t1", "t1", "t2"]]
    (tmp_path / "x.dat").write_text("".join(" ".join(row) + "\n" for row in rows))
    release = da.disassociate(rows, k=2, m=2)
    release.save(tmp_path / "x.release")
    found = da.attack(str(tmp_path / "x.release"), str(tmp_path / "x.dat"))
    assert found == da.attack(tmp_path / "x.release", da.read(rows)) == da.attack(release, rows)
    assert found.records == 61
    assert isinstance(found, da.Attack)
    with pytest.raises(AttributeError):
        found.k = 3  # type: ignore[misc]
    assert not hasattr(found, "__dict__")


def test_extreme_parameters() -> None:
    """More terms than any record has, one leaf, one term, a curve of one point."""
    records = [frozenset(PLAIN[: 1 + number % 10]) for number in range(40)]
    for k, m in ((2, 60), (20, 3), (40, 1)):
        check_guarantee(da.attack(da.disassociate(records, k=k, m=m), records, most_terms=48))
    found = da.attack(da.disassociate([["a"]] * 3, k=2, m=1), [["a"]] * 3, most_terms=1)
    assert [(row.terms, row.release.least, row.raw.least) for row in found.linkage] == [(1, 3, 3)] * 3
    assert found.rejoining is None
    assert found.covers.leaf_share == found.covers.record_share == 1
    assert "nothing to guess" in repr(found)
    assert [row.victims for row in found.exposure] == [0, 0, 0]


def test_the_curve_and_the_victims_asked_for() -> None:
    """1 to most_terms, m + 3 by default; as many victims as there are at most."""
    records = baskets(3, 90)
    release = da.disassociate(records, k=3, m=2)
    found = da.attack(release, records, victims=20, most_terms=1)
    assert [row.terms for row in found.linkage] == [1, 1, 1]
    assert [row.terms for row in found.exposure] == [2, 2, 2]
    assert found.victims == 20
    default = da.attack(release, records)
    assert [row.terms for row in default.linkage] == [1, 2, 3, 4, 5] * 3
    assert default.victims == 90
    for strategy in ("random", "rarest"):
        rows = [row for row in default.linkage if row.strategy == strategy]
        for one, more in pairwise(rows):
            assert one.release.chance <= more.release.chance
            assert one.raw.chance <= more.raw.chance


def test_a_cover_is_found() -> None:
    """Case h1: whoever has one term is known to have the other, in every world, though the pair is rare."""
    records = [["madonna"]] * 2 + [["madonna", "playboy"]] * 2 + [["x"]] * 4
    release = da.disassociate(records, k=3, m=2, max_cluster_size=6)
    found = da.attack(release, records)
    assert found.covers.leaves == release.leaves
    assert next(row for row in found.linkage if row.strategy == "rarest").release.least >= 3


def test_the_steps_are_told() -> None:
    """A progress callback hears what is simulated."""
    heard: list[str] = []
    release = da.disassociate(SECRET, k=2, m=2)
    da.attack(release, SECRET, second=(release, SECRET), progress=heard.append)
    expected = ["reading", "random terms known", "rarest terms known", "worst terms known", "re-joining chunks"]
    assert heard == [*expected, "two releases"]


def test_nothing_of_the_data_is_shown() -> None:
    """Neither by the result nor by its examples; their terms are there for whoever asks."""
    release = da.disassociate(SECRET, k=2, m=2)
    found = da.attack(release, SECRET, second=(release, SECRET), examples=2)
    for text in (repr(found), repr(found.examples), found.to_text(), json.dumps(found.to_dict())):
        assert "SECRET" not in text
    assert ": SECRET" in found.to_text(show_values=True)
    assert max(map(len, found.to_text().splitlines())) <= 120
    shown: Any = found.to_dict(show_values=True)["examples"]
    for one, row in zip(found.examples, shown, strict=True):
        assert row == {"record": one.record, "candidates": one.candidates, "raw": one.raw, "terms": list(one.terms)}
        assert set(one.terms) <= set(SECRET[one.record - 1])
        assert one.raw == sum(set(one.terms) <= set(record) for record in SECRET)
        assert one.candidates >= 2
    worst = [row for row in found.linkage if row.strategy == "worst" and row.terms == 2]
    assert found.examples[0].candidates == worst[0].release.least
    assert da.attack(release, SECRET).examples == ()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"victims": 0}, "victims must be at least 1, not 0"),
    ({"most_terms": 0}, "most_terms must be at least 1, not 0"),
    ({"most_terms": 49}, "most_terms must be at most 48"),
    ({"confidence": 0}, "confidence must be a number above 0 and at most 1"),
    ({"confidence": 1.5}, "confidence must be a number above 0 and at most 1"),
    ({"confidence": float("nan")}, "confidence must be a number above 0 and at most 1"),
    ({"confidence": True}, "confidence must be a number above 0 and at most 1"),
    ({"random_state": -1}, "random_state must be at least 0, not -1"),
    ({"examples": -1}, "examples must be at least 0, not -1"),
    ({"threads": 0}, "threads must be at least 1, not 0"),
    ({"second": "x.release"}, "second must be a tuple of two things"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    """Refused before anything is read."""
    with pytest.raises(da.errors.ParameterError, match=message):
        da.attack("no such release", "no such file", **options)


OTHERS: list[tuple[list[list[str]], str]] = [
    (SECRET[:-1], "the release has 7 records, the original 6"),
    ([*SECRET[:-1], ["SECRETe"]], "the release has other terms than the original"),
    ([["SECRETa", "SECRETb", "SECRETc", "SECRETd"]] * 7, "a term is in more or fewer records of the original"),
]


@pytest.mark.parametrize(("records", "message"), OTHERS)
def test_not_the_original(records: list[list[str]], message: str) -> None:
    """Records that a release cannot be of, in one line without a term."""
    release = da.disassociate(SECRET, k=2, m=2)
    for original, second in ((records, None), (SECRET, (release, records))):
        with pytest.raises(da.errors.InputError) as error:
            da.attack(release, original, second=second)
        assert "SECRET" not in str(error.value)
        assert "\n" not in str(error.value)
        assert message in str(error.value).replace("second ", "")
        assert "give the records that it was made from" in str(error.value)


def test_not_the_original_though_all_counts_fit() -> None:
    """Terms of one leaf with terms of another."""
    records = [["a", "b"]] * 6 + [["c", "d"]] * 6
    release = da.disassociate(records, k=2, m=2, max_cluster_size=6)
    others = [["a", "c"]] * 6 + [["b", "d"]] * 6
    with pytest.raises(da.errors.InputError, match="a record of the original fits into no cluster"):
        da.attack(release, others)
    two = da.disassociate(others, k=2, m=2, max_cluster_size=6)
    with pytest.raises(da.errors.InputError, match="a record of the second original fits into no cluster"):
        da.attack(two, others, second=(release, others))


def test_releases_that_can_be_refuted() -> None:
    """Case a1, a leaf of one record: found, and said so."""
    records = [frozenset("a")] * 3 + [frozenset("b")]
    forest = (naive.Leaf(3, ((frozenset("a"),) * 3,), frozenset()), naive.Leaf(1, (), frozenset("b")))
    found = da.attack(lay(forest, 2, 1).release, records)
    assert found.refuted
    assert found.to_dict()["refuted"] is True
    assert "THE GUARANTEE DOES NOT HOLD" in repr(found)
    assert [row.release.least for row in found.linkage if row.terms == 1] == [1, 1, 1]


def test_not_a_release() -> None:
    """Something else where a release is asked for."""
    with pytest.raises(da.errors.ParameterError, match="attack takes a release, or the path of one"):
        da.attack(SECRET, SECRET)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="DISASSOCIATION_DATA names no folder of real data sets")
@pytest.mark.parametrize("name", ["BMS-WebView-2", "INFORMS-2005-ICD9"])
def test_real_data(name: str) -> None:
    """Real records: no adversary with m terms gets below k, and raw candidates are those of a reader of our own."""
    with gzip.open(FOLDER / f"{name}.dat.gz", "rt") as lines:
        records = [frozenset(line.split()) for line in lines if line.strip()]
    release = da.disassociate(records, k=5, m=2)
    found = da.attack(release, records, victims=5_000, examples=50)
    check_guarantee(found)
    for one in found.examples:
        assert one.raw == plainly.support(records, set(one.terms))
    assert found.rejoining is not None
    neighbours = next(guess for guess in found.rejoining.guesses if guess.knowledge == "neighbours")
    assert neighbours.auc is not None
    assert 0.55 < neighbours.auc < 1
