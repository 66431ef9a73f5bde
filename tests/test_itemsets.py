"""Frequent itemsets of records: the naive ones, in the documented order, and the table that holds them."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import disassociation as da
from disassociation.errors import ParameterError
from disassociation.itemsets import CodedItemsets, Itemsets, Wanted, frequent_itemsets, mine_records, wanted_itemsets
from naive.forest import Record
from naive.itemsets import Itemset, frequent, supports
from strategies import ODD, PLAIN, bags, zipf_bag

ANY = Wanted(1, 0, 1 << 19)


def pairs_of(found: Itemsets) -> list[tuple[Itemset, float]]:
    """Itemsets and counts, in order."""
    return [(tuple(row["itemsets"]), row["count"]) for row in found]


@settings(max_examples=300, deadline=None)
@given(
    bags(ODD, 14),
    st.one_of(st.none(), st.integers(1, 40), st.just(5000)),
    st.one_of(st.none(), st.integers(1, 8)),
    st.one_of(st.none(), st.integers(1, 4)),
)
def test_any_records(
    records: tuple[Record, ...], top: int | None, min_count: int | None, max_length: int | None
) -> None:
    """The same itemsets, counts and order as by counting everything; ties at the last place are cut alike."""
    if top is None and min_count is None:
        min_count = 1
    found = frequent_itemsets(records, top=top, min_count=min_count, max_length=max_length)
    assert pairs_of(found) == frequent(supports(records, max_length), least=min_count or 1, top=top)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("top", [1, 10, 100, 1000, None])
def test_larger_records(seed: int, top: int | None) -> None:
    """Many terms, so that the search goes through its larger branches; all supports and shares are right."""
    vocabulary = tuple(f"t{number}" for number in range(30))
    records = zipf_bag(seed, 300, vocabulary, 0.25)
    found = frequent_itemsets(records, top=top, min_count=3, max_length=5)
    assert pairs_of(found) == frequent(supports(records, 5), least=3, top=top)
    shares = found.to_arrow().column("support").to_pylist()
    assert shares == [count / len(records) for _, count in pairs_of(found)]


def test_weights_and_order_do_not_matter() -> None:
    """A record of weight three is three records; shuffling records changes nothing."""
    rng = random.Random(1)
    records = list(zipf_bag(5, 60, PLAIN, 0.4))
    data = da.read(records)
    weights = np.array([rng.randint(1, 4) for _ in records], np.int32)
    whole = [record for record, weight in zip(records, weights.tolist(), strict=True) for _ in range(weight)]
    rng.shuffle(whole)
    other = da.read(whole)
    one = mine_records(data.offsets, data.items, len(data.vocabulary), Wanted(2, 500, 9), weights=weights)
    two = mine_records(other.offsets, other.items, len(other.vocabulary), Wanted(2, 500, 9))
    assert data.vocabulary.equals(other.vocabulary)
    assert all(np.array_equal(getattr(one, name), getattr(two, name)) for name in CodedItemsets._fields)


def test_no_itemset_with_an_ancestor() -> None:
    """Spans of a walk keep a term and its ancestor apart, however far, and in either order of support."""
    # 0 is the parent of 1 and 2, 2 of 3; 4 is on its own
    spans = np.array([[0, 4], [1, 2], [2, 4], [3, 4], [4, 5]], np.int32)
    related = {(0, 1), (0, 2), (0, 3), (2, 3)}
    rng = random.Random(7)
    records = [sorted(rng.sample(range(5), rng.randint(1, 5))) for _ in range(200)]
    offsets = np.cumsum([0, *map(len, records)])
    items = np.array([code for record in records for code in record], np.int32)
    found = mine_records(offsets, items, 5, ANY, spans=spans)
    lists = np.split(found.items, found.offsets[1:-1])
    counts = {tuple(map(str, each.tolist())): int(count) for each, count in zip(lists, found.counts, strict=True)}
    naive = supports([{str(code) for code in record} for record in records])
    apart = {
        itemset: count
        for itemset, count in naive.items()
        if not any((int(a), int(b)) in related for a in itemset for b in itemset)
    }
    assert counts == apart


def test_many_equal_records_are_not_searched_through() -> None:
    """Records of 60 terms have more subsets than can be listed: the smaller of equal support come first."""
    record = [f"{number:02}" for number in range(60)]
    found = frequent_itemsets([record] * 3, top=100)
    expected = [*((term,) for term in record), *((record[0], term) for term in record[1:41])]
    assert pairs_of(found) == [(itemset, 3) for itemset in expected]


def test_one_record_and_no_itemset() -> None:
    """The smallest data there are, and a support that nothing has."""
    assert pairs_of(frequent_itemsets([["a", "b"]], top=9)) == [(("a",), 1), (("b",), 1), (("a", "b"), 1)]
    nothing = frequent_itemsets([["a"], ["b"]], min_count=2)
    assert len(nothing) == 0
    assert repr(nothing) == "<Itemsets: none>"
    assert nothing.to_arrow().schema == frequent_itemsets([["a"]], top=1).to_arrow().schema
    assert list(nothing) == []
    assert nothing.to_pandas().empty


@given(st.integers(1, 300), st.integers(1, 300), st.sampled_from([0.0, 1e-17, -1e-17]))
def test_a_share_is_taken_as_it_is_computed(count: int, records: int, shift: float) -> None:
    """The least count is the least whose share, computed, is not below what was asked for."""
    share = min(1.0, max(count / max(count, records) + shift, 1e-9))
    least = wanted_itemsets(records, min_support=share).least
    assert least / records >= share
    assert least == 1 or (least - 1) / records < share
    assert abs(Fraction(least) - Fraction(share) * records) < Fraction(1) + Fraction(1, 10**6)


def test_what_is_asked_for_is_checked() -> None:
    """Errors are one line and name the parameter."""
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "give top, min_support or min_count"),
        ({"min_support": 0.5, "min_count": 3}, "give one of them"),
        ({"top": 0}, "top must be at least 1"),
        ({"top": 10**9}, "top must be at most"),
        ({"min_count": 0}, "min_count must be at least 1"),
        ({"min_count": 1.5}, "min_count must be a whole number"),
        ({"min_support": 0.0}, "min_support must be a share"),
        ({"min_support": 1.5}, "min_support must be a share"),
        ({"min_support": float("nan")}, "min_support must be a share"),
        ({"min_support": True}, "min_support must be a share"),
        ({"top": 3, "max_length": 0}, "max_length must be at least 1"),
    ]
    for options, message in wrong:
        with pytest.raises(ParameterError, match=message) as caught:
            frequent_itemsets([["a"]], **options)
        assert "\n" not in str(caught.value)


def test_the_table_goes_everywhere() -> None:
    """Arrow, pandas, polars and DuckDB take it; pandas with frozen sets, as mlxtend wants them."""
    found = frequent_itemsets([["a", "b"], ["a"]], min_support=0.5)
    expected = {"support": [1.0, 0.5, 0.5], "itemsets": [["a"], ["b"], ["a", "b"]], "count": [2, 1, 1]}
    assert found.to_arrow().to_pydict() == expected
    assert pa.table(found).to_pydict() == expected
    assert pl.DataFrame(found).to_dict(as_series=False) == expected
    assert found.to_polars().to_dict(as_series=False) == expected
    frame = found.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["itemsets"].tolist() == [frozenset("a"), frozenset("b"), frozenset("ab")]
    mined = found.to_arrow()  # noqa: F841 - DuckDB finds it by its name
    assert duckdb.sql('select sum("count") from mined').fetchall() == [(4,)]
    assert found.sizes.tolist() == [1, 1, 2]
    assert repr(found) == "<Itemsets: 3 itemsets of 1 to 2 terms>"
    assert repr(frequent_itemsets([["a"]], top=1)) == "<Itemsets: 1 itemset of 1 term>"
