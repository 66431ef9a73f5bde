"""Frequent itemsets of a release: those that looking at every itemset finds, in the documented order."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import disassociation as da
from disassociation import release_itemsets
from disassociation.errors import ParameterError
from disassociation.release_itemsets import ORDERS
from disassociation.support import INDEPENDENT, MODELS, bounds_of, expected_of
from naive.forest import Record
from naive.itemsets import Itemset, frequent
from strategies import PLAIN, bags, zipf_bag

Row = tuple[Itemset, int, float, int]


def everything(release: da.Release, model: str = INDEPENDENT) -> list[Row]:
    """Every itemset with its supports, expectations rounded as they are compared."""
    terms = range(len(release.vocabulary))
    sets = [s for size in range(1, len(terms) + 1) for s in combinations(terms, size)]
    offsets = np.append(0, np.cumsum([len(s) for s in sets]))
    codes = np.array([code for s in sets for code in s], np.int32)
    lower, upper = bounds_of(release, offsets, codes)
    expected = np.round(expected_of(release, offsets, codes, model), 6)
    names = release.vocabulary.to_pylist()
    columns = (lower.tolist(), np.clip(expected, lower, upper).tolist(), upper.tolist())
    return [(tuple(names[c] for c in s), *row) for s, *row in zip(sets, *columns, strict=True)]


def rows_of(found: da.Itemsets) -> list[Row]:
    """The rows of a table."""
    return [(tuple(row["itemset"]), row["lower"], row["expected"], row["upper"]) for row in found]


def sought(rows: list[Row], by: str, least: float, top: int | None, longest: int | None) -> list[Row]:
    """What there is to find."""
    values = {row[0]: row[2] if by == "expected" else float(row[1]) for row in rows if len(row[0]) <= (longest or 99)}
    by_set = {row[0]: row for row in rows}
    return [by_set[itemset] for itemset, _ in frequent(values, least=least, top=top)]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    bags(PLAIN[:8], 30, least=4),
    st.sampled_from(ORDERS),
    st.one_of(st.none(), st.integers(1, 300)),
    st.one_of(st.none(), st.integers(1, 6)),
    st.one_of(st.none(), st.integers(1, 4)),
    st.integers(1, 2),
)
def test_any_release(
    records: tuple[Record, ...], by: str, top: int | None, min_count: int | None, longest: int | None, m: int
) -> None:
    """Nothing is missing, nothing is too much; by what is expected and by what is certain."""
    if top is None and min_count is None:
        min_count = 1
    release = da.disassociate(records, k=2, m=m)
    found = release.itemsets(top=top, min_count=min_count, max_length=longest, by=by, model=INDEPENDENT)
    expected = sought(everything(release), by, min_count or 1, top, longest)
    assert [row[0] for row in rows_of(found)] == [row[0] for row in expected]
    assert np.allclose([row[1:] for row in rows_of(found)], [row[1:] for row in expected], atol=2e-6, rtol=0)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bags(PLAIN[:7], 30, least=4), st.sampled_from(MODELS), st.integers(1, 5))
def test_any_model(records: tuple[Record, ...], model: str, least: int) -> None:
    """An itemset is listed if it and all its parts are expected often enough, whatever expects them."""
    release = da.disassociate(records, k=2, m=2)
    values = {row[0]: row[2] for row in everything(release, model)}
    listed: dict[Itemset, float] = {}
    for itemset, value in values.items():  # smaller ones first
        parts = [itemset[:place] + itemset[place + 1 :] for place in range(len(itemset))] if len(itemset) > 1 else []
        if value >= least and all(part in listed for part in parts):
            listed[itemset] = value
    found = {row[0]: row[2] for row in rows_of(release.itemsets(min_count=least, model=model))}
    assert found == pytest.approx(listed, abs=2e-6)


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("top", [None, 40])
def test_pairs_in_blocks(by: str, top: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """More terms than one matrix has room for, and more candidates than are evaluated at once, change nothing."""
    release = da.disassociate(zipf_bag(4, 120, tuple(f"t{number:02}" for number in range(40)), 1.2), k=3, m=2)
    whole = release.itemsets(top=top, min_count=2, by=by)
    monkeypatch.setattr(release_itemsets, "_BLOCK", 7)
    monkeypatch.setattr(release_itemsets, "_BATCH", 5)
    monkeypatch.setattr(release_itemsets, "_LARGE_BATCH", 5)
    assert len(whole) > 30
    for times in (0, 1 << 40):  # pairs one by one, or all of two blocks at once
        monkeypatch.setattr(release_itemsets, "_PAIRS", times)
        again = release.itemsets(top=top, min_count=2, by=by)
        assert whole.to_arrow().equals(again.to_arrow())


def test_a_share_need_not_be_a_whole_number_of_records() -> None:
    """2.5 expected records of 5 are half of them."""
    release = da.disassociate([["a", "b"]] * 2 + [["a"], ["a", "c"], ["c", "a"]], k=2, m=2)
    values = {row[0]: row[2] for row in everything(release)}
    for share in (0.1, 0.3, 0.5, 1.0):
        found = {row[0] for row in rows_of(release.itemsets(min_support=share))}
        assert found == {itemset for itemset, value in values.items() if value >= share * 5 - 1e-9}


def test_the_table_and_the_options() -> None:
    """Columns as the interface says; wrong options are refused in one line."""
    release = da.disassociate([["a", "b"]] * 3 + [["a"]], k=2, m=2)
    found = release.itemsets(top=1)
    assert found.to_arrow().column_names == ["itemset", "lower", "expected", "upper"]
    assert found.to_pandas()["itemset"].tolist() == [frozenset("a")]
    assert repr(found) == "<Itemsets: 1 itemset of 1 term>"
    assert len(release.itemsets(min_count=5)) == 0
    for options, message in (
        ({}, "give top, min_support or min_count"),
        ({"top": 3, "by": "upper"}, "by must be 'expected' or 'lower'"),
        ({"top": 3, "model": "none"}, "unknown model"),
    ):
        with pytest.raises(ParameterError, match=message):
            release.itemsets(**options)  # type: ignore[arg-type]
