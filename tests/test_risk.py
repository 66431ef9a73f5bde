"""``risk``: the same as counting every set, honest where not everything is looked at, silent about the terms."""

from __future__ import annotations

import gzip
import json
import random
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

import disassociation as da
from disassociation.exposure import _rare_levels
from disassociation.exposure._tallies import Tally, estimate
from naive.forest import Bag
from naive.risk import Smallest, rare_count, smallest_rare
from strategies import ODD, PLAIN, bags, zipf_bag
from test_real_data import FOLDER

SECRET = [["SECRETa", "SECRETb", "SECRETc"]] * 4 + [["SECRETa", "SECRETd"], ["SECRETb", "SECRETc"], ["SECRETd"]]
BAGS = st.sampled_from([PLAIN, ODD]).flatmap(lambda terms: bags(terms, 40))
SMALL = st.tuples(BAGS, st.integers(2, 6), st.integers(1, 4))


def limits(work: int = 0, sample_work: int = 0, words: int = 1 << 20) -> AbstractContextManager[Any]:
    """Less work than usual is affordable; nothing at all, but searching records one by one."""
    return mock.patch.multiple(_rare_levels, MOST_WORK=work, MOST_SAMPLE_WORK=sample_work, WORD_BUDGET=words)


def curve(answers: list[Smallest | None], m: int) -> list[int]:
    """The number of records pinned down by up to 1, 2, ..., m terms."""
    return [sum(answer is not None and answer.size <= size for answer in answers) for size in range(1, m + 1)]


def counts(found: da.Risk) -> list[list[int]]:
    """The numbers of records pinned down, and of unique ones."""
    return [[level.pinned.count for level in found.levels], [level.unique.count for level in found.levels]]


def check_exact(found: da.Risk, records: Bag) -> None:
    """All numbers are counts, and the naive ones."""
    answers = smallest_rare(records, found.k, found.m)
    assert counts(found) == [curve(answers, found.m), curve(smallest_rare(records, 2, found.m), found.m)]
    assert found.exact
    assert (found.records, found.terms) == (len(records), len(frozenset().union(*records)))
    for level in found.levels:
        for tally in (level.pinned, level.unique):
            assert tally.low == tally.count == tally.high
            assert tally.share == tally.count / len(records)
    sizes = [answer.size if answer else found.m + 1 for answer in answers]
    assert list(found.smallest) == [sizes.count(size) for size in range(1, found.m + 2)]


def check_rare_sets(found: da.Risk, records: Bag) -> None:
    """Rare terms and pairs are counted, larger sets only where there are none."""
    longest = max(map(len, records))
    for level in found.levels:
        if level.terms <= 2 or level.terms > longest:
            assert level.rare_sets == rare_count(records, found.k, level.terms)
        else:
            assert level.rare_sets is None


def check_examples(found: da.Risk, records: Bag) -> None:
    """Every record that is pinned down, the worst first, each with one of its rarest smallest sets."""
    answers = smallest_rare(records, found.k, found.m)
    expected = [(answer.size, answer.support, number) for number, answer in enumerate(answers, 1) if answer]
    assert [(one.size, one.support, one.record) for one in found.examples] == sorted(expected)
    for one in found.examples:
        answer = answers[one.record - 1]
        assert answer is not None
        assert frozenset(one.terms) in answer.sets
        assert list(one.terms) == sorted(one.terms, key=str.encode)


@settings(max_examples=800, deadline=None)
@given(SMALL)
def test_small_inputs(problem: tuple[Bag, int, int]) -> None:
    """Up to 40 records over 10 terms: every number and every example."""
    records, k, m = problem
    found = da.risk(records, k=k, m=m, examples=len(records))
    check_exact(found, records)
    check_rare_sets(found, records)
    check_examples(found, records)


@pytest.mark.parametrize("seed", range(6))
def test_larger_inputs(seed: int) -> None:
    """Terms in more than 64 records, sparse and dense."""
    vocabulary = tuple(f"t{number}" for number in range(40))
    records = zipf_bag(seed, 700, vocabulary, (0.8, 2.0, 5.0)[seed % 3])
    found = da.risk(records, k=2 + seed, m=3, examples=1000)
    check_exact(found, records)
    check_rare_sets(found, records)
    check_examples(found, records)
    with limits(words=1 << 30):
        one_by_one = da.risk(records, k=2 + seed, m=3, sample=1000)
    check_exact(one_by_one, records)


@settings(max_examples=500, deadline=None)
@given(SMALL, st.sampled_from([0, 30, 300, 3000]), st.sampled_from([0, 300]))
def test_every_way_of_searching_finds_the_same(problem: tuple[Bag, int, int], work: int, sample_work: int) -> None:
    """All sets together as far as that is affordable, then those of a sample of everything, then one by one."""
    records, k, m = problem
    with limits(work, sample_work):
        found = da.risk(records, k=k, m=m, examples=len(records))
    check_exact(found, records)
    check_examples(found, records)


@settings(max_examples=500, deadline=None)
@given(SMALL, st.integers(0, 400), st.integers(0, 3000))
def test_searches_that_are_given_up(problem: tuple[Bag, int, int], words: int, work: int) -> None:
    """They are counted, and the interval has room for both answers: with all records searched it is never wrong."""
    records, k, m = problem
    with limits(work, 0, words):
        found = da.risk(records, k=k, m=m, examples=len(records))
    pinned_curve, unique_curve = (curve(smallest_rare(records, below, m), m) for below in (k, 2))
    for level, pinned, unique in zip(found.levels, pinned_curve, unique_curve, strict=True):
        for tally, truth in ((level.pinned, pinned), (level.unique, unique)):
            assert tally.low == tally.count <= truth <= tally.high == tally.low + tally.undecided
            assert tally.searched == tally.open
            assert tally.exact == (tally.undecided == 0)
    assert found.exact == ("estimated" not in repr(found))
    check_what_examples_claim(found, records)


def check_what_examples_claim(found: da.Risk, records: Bag) -> None:
    """An example need not be the worst, but what it says is true."""
    for one in found.examples:
        if one.terms:
            assert one.size == len(one.terms)
            assert one.support == sum(frozenset(one.terms) <= record for record in records) < found.k
            assert frozenset(one.terms) <= records[one.record - 1]


def test_a_heavy_record() -> None:
    """A record of 200 terms and four known terms: given up within the budget, and said so."""
    chance = random.Random(5)
    vocabulary = [f"t{number}" for number in range(220)]
    records = [chance.sample(vocabulary, 200) for _ in range(60)] + [["x", "y"]] * 5
    with limits(words=1 << 16):
        found = da.risk(records, k=5, m=4)
    assert counts(found)[0][:2] == [0, 0]
    tally = found.levels[3].pinned
    assert (tally.low, tally.undecided, tally.high) == (0, 60, 60)
    assert "(60 undecided)" in repr(found)
    assert not found.exact


@settings(max_examples=200, deadline=None)
@given(SMALL, st.integers(0, 3000), st.integers(0, 300), st.integers(0, 2**31 - 1))
def test_neither_order_nor_threads_matter(problem: tuple[Bag, int, int], work: int, words: int, seed: int) -> None:
    """The same numbers, samples and what was given up included."""
    records, k, m = problem
    shuffled = list(records)
    random.Random(seed).shuffle(shuffled)
    with limits(work, work // 4, words):
        answers = [
            da.risk(given, k=k, m=m, sample=5, random_state=seed, threads=threads)
            for given, threads in ((records, 1), (shuffled, 3))
        ]
    assert answers[0] == answers[1]


def test_intervals_contain_the_truth() -> None:
    """In 95 % of samples, of different sizes; and estimates are right on average."""
    vocabulary = tuple(f"t{number}" for number in range(30))
    data = da.read(zipf_bag(3, 600, vocabulary, 2.5))
    truth = da.risk(data, k=4, m=4)
    for which in ("pinned", "unique"):
        right, errors = 0, []
        for seed in range(300):
            found = da.risk(data, k=4, m=4, sample=(40, 80, 160)[seed % 3], random_state=seed, threads=1)
            for level in (2, 3):
                tally = getattr(found.levels[level], which)
                actual = getattr(truth.levels[level], which)
                assert tally.searched < tally.open
                assert not tally.exact
                right += tally.low <= actual.count <= tally.high
                errors.append(tally.count - actual.count)
        assert 0.93 <= right / 600 <= 0.99
        assert abs(sum(errors)) / 600 < 5  # the mean of so many has a standard deviation of 1.5


def test_a_sample_of_everything_is_exact() -> None:
    """Nothing is estimated where there is nothing left to draw from."""
    records = zipf_bag(8, 300, PLAIN, 1.5)
    check_exact(da.risk(records, k=4, m=4, sample=300), records)


@pytest.mark.parametrize(("found", "searched"), [(0, 50), (3, 50), (25, 50), (50, 50), (700, 1000)])
def test_intervals_are_wilson_intervals(found: int, searched: int) -> None:
    """As SciPy computes them, where the sample is small beside what it is drawn from."""
    population = 10**9
    tally = estimate(2 * population, 7, population, searched, found, 0)
    expected = binomtest(found, searched).proportion_ci(0.95, "wilson")
    assert (tally.low - 7) / population == pytest.approx(expected.low, abs=1e-5)
    assert (tally.high - 7) / population == pytest.approx(expected.high, abs=1e-5)
    assert tally.count == 7 + round(population * found / searched)


def test_what_is_known_bounds_an_interval() -> None:
    """Records that were searched are not in doubt."""
    for found in range(9):
        for undecided in range(9 - found):
            tally = estimate(10, 0, 9, 8, found, undecided)
            assert found <= tally.low <= tally.count <= tally.high <= 9 - (8 - found - undecided)
    assert estimate(10, 4, 6, 0, 0, 0) == Tally(4, 4, 10, 10, 6, 0)


def test_what_it_takes_and_what_it_is(tmp_path: Path) -> None:
    """A path, a frame or records; a frozen result."""
    (tmp_path / "x.dat").write_text("a b\na b\na\nb\n")
    found = da.risk(str(tmp_path / "x.dat"), k=2, m=2)
    assert found == da.risk(da.read([["a", "b"]] * 2 + [["a"], ["b"]]), k=2, m=2)
    assert isinstance(found, da.Risk)
    with pytest.raises(AttributeError):
        found.k = 3  # type: ignore[misc]
    assert not hasattr(found, "__dict__")


def test_the_steps_are_told() -> None:
    """A progress callback hears what is looked at."""
    heard: list[str] = []
    da.risk(SECRET, k=3, m=3, progress=heard.append)
    assert heard[0] == "sets of 2 terms, 0 %"
    assert any(step.startswith("sets of 3 terms") for step in heard)
    with limits():
        da.risk(SECRET, k=2, m=3, progress=heard.append)
    assert heard[-1].startswith("records one by one")


def test_nothing_of_the_data_is_shown() -> None:
    """Neither by the result nor by its examples; their terms are there for whoever asks."""
    found = da.risk(SECRET, k=3, m=2, examples=5)
    assert found.examples[0].terms == ("SECRETd",)
    for text in (repr(found), repr(found.examples), found.to_text(), json.dumps(found.to_dict())):
        assert "SECRET" not in text
    assert "SECRETd" in found.to_text(show_values=True)
    assert found.to_dict(show_values=True)["examples"] == [
        {"record": 5, "size": 1, "support": 2, "terms": ["SECRETd"]},
        {"record": 7, "size": 1, "support": 2, "terms": ["SECRETd"]},
    ]
    assert da.risk(SECRET, k=3, m=2).examples == ()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"k": 1}, "k must be at least 2, not 1"),
    ({"k": "5"}, "k must be a whole number"),
    ({"m": 0}, "m must be at least 1, not 0"),
    ({"m": 101}, "m must be at most 100"),
    ({"sample": 0}, "sample must be at least 1, not 0"),
    ({"random_state": -1}, "random_state must be at least 0, not -1"),
    ({"examples": -1}, "examples must be at least 0, not -1"),
    ({"threads": 0}, "threads must be at least 1, not 0"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    """Refused before anything is read."""
    with pytest.raises(da.errors.ParameterError, match=message):
        da.risk("no such file", **options)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="DISASSOCIATION_DATA names no folder of real data sets")
@pytest.mark.parametrize(
    ("name", "k", "m"), [("BMS-WebView-1", 5, 2), ("BMS-WebView-2", 5, 2), ("INFORMS-2005-ICD9", 3, 4)]
)
def test_real_data(name: str, k: int, m: int) -> None:
    """Real records, read without our reader; shuffled ones and a sample of all give the same."""
    with gzip.open(FOLDER / f"{name}.dat.gz", "rt") as lines:
        records = tuple(frozenset(line.split()) for line in lines if line.strip())
    found = da.risk(records, k=k, m=m)
    check_exact(found, records)
    shuffled = random.Random(name).sample(records, len(records))
    assert da.risk(shuffled, k=k, m=m) == found
    assert counts(da.risk(records, k=k, m=m, sample=len(records))) == counts(found)
