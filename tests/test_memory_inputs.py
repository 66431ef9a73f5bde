"""Records that are in memory: iterables, and tables and matrices of every library we name."""

from __future__ import annotations

import datetime
import enum
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from disassociation.errors import InputError, ParameterError
from disassociation.formats import read
from test_formats_oracle import assert_holds

RECORDS = [["milk", "bread"], ["milk"], [], ["bread", "gin", "milk"]]
PAIRS = {
    "order": [3, 1, 3, 2, 4, 4, 4],
    "product": ["milk", "milk", "bread", None, "bread", "gin", "milk"],
    "n": [1] * 7,
}


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=3), max_size=6)))
def test_any_iterable_of_iterables(records: list[list[str]]) -> None:
    def generate() -> Iterator[Iterator[str]]:
        yield from map(iter, records)

    if any(records):
        assert_holds(read(records), records)
        assert_holds(read(generate()), records)
        assert_holds(read([tuple(record) for record in records]), records)
        assert list(read([set(record) for record in records])) == list(read(records))


def test_a_transactions_object_is_returned_unchanged() -> None:
    data = read(RECORDS)
    assert read(data) is data


def test_numbers_become_their_decimal_text() -> None:
    data = read([[7, np.int64(7), np.uint8(8), Size.SMALL], [10**30, -3], np.array([7, 8], np.int32)])
    assert list(data) == [("1", "7", "8"), ("-3", str(10**30)), ("7", "8")]
    assert data.repeated_tokens == 1


def test_texts_of_any_kind_are_the_same_term() -> None:
    assert list(read([["red", Colour.RED, np.str_("red")]])) == [("red",)]


def test_other_hashable_values_become_their_text() -> None:
    day, name, price = datetime.date(2020, 1, 2), uuid.UUID(int=5), Decimal("1.50")
    assert list(read([[day, name, price]])) == [tuple(sorted(map(str, [day, name, price])))]


@pytest.mark.parametrize("records", [[[7], ["7"]], [["7"], [7]], [[Decimal(7), 7]], [[np.int8(7), "7"]]])
def test_different_values_with_the_same_text_are_refused(records: list[list[Any]]) -> None:
    with pytest.raises(InputError, match="same text as a different one"):
        read(records)


@pytest.mark.parametrize(
    "value",
    [1.0, 0.5, None, True, False, (1, 2), frozenset({1}), b"a", 1j, np.float32(1), np.bool_(True), float("nan")],
)
def test_values_that_are_no_terms_are_refused_with_the_record(value: object) -> None:
    for records in ([["a"], ["b", value]], [[1, 0, 7], [value]]):
        with pytest.raises(InputError, match=r"^data: record 2: a value of type .* cannot be a term"):
            read(records)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ([["a"], "bread milk"], "record 2: it is one text"),
        (["bread", "milk"], "record 1: it is one text"),
        ({"a": ["b"]}, "record 1: it is one text"),
        (b"bread", "record 1: it is not a list"),
        ([1, 2], "record 1: it is not a list"),
        ([["a"], [["b"]]], "record 2: a value cannot be hashed"),
        ([["a"], [{"b": 1}]], "record 2: a value cannot be hashed"),
        ([["\ud800"]], "record 1: .* not valid Unicode"),
        (5, "neither a path"),
        (None, "neither a path"),
        ([], "no records"),
        ([[], []], "all 2 records are empty"),
    ],
)
def test_what_is_not_records_is_refused(source: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(source)


def list_tables() -> list[Any]:
    lists = pa.array(RECORDS, pa.list_(pa.string()))
    frame = pl.DataFrame({"id": [1, 2, 3, 4], "items": RECORDS})
    return [
        pa.table({"id": [1, 2, 3, 4], "items": lists}),
        pa.table({"items": pa.chunked_array([lists[:1], lists[1:]])}),
        pa.record_batch({"items": lists}),
        pa.RecordBatchReader.from_batches(pa.schema({"items": lists.type}), [pa.record_batch({"items": lists})]),
        pa.table({"items": lists}).slice(0),
        lists,
        pa.chunked_array([lists]),
        frame,
        frame["items"],
        frame.with_columns(pl.col("items").cast(pl.List(pl.Categorical))),
        pd.DataFrame({"items": RECORDS}),
        pd.DataFrame({"items": RECORDS}, index=["w", "x", "y", "z"]),
        pd.Series(RECORDS, name="items"),
        duckdb.sql("SELECT * FROM (VALUES (['milk','bread']), (['milk']), ([]), (['bread','gin','milk'])) AS t(items)"),
        *(pa.table({"items": pa.array(RECORDS, kind)}) for kind in (
            pa.large_list(pa.large_string()), pa.list_view(pa.string()), pa.list_(pa.string_view()),
            pa.list_(pa.dictionary(pa.int8(), pa.string())),
        )),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(18))
def test_a_column_of_lists(place: int) -> None:
    assert_holds(read(list_tables()[place]), RECORDS)


def test_lists_of_numbers_and_missing_lists() -> None:
    lists = pa.array([[7, 12], None, [7]], pa.list_(pa.int16()))
    data = read(pa.table({"items": lists}).slice(1))
    assert (list(data), data.empty_records) == ([("7",)], 1)
    assert list(read(pa.table({"x": pa.array([[1, 2]], pa.list_(pa.int64(), 2))}))) == [("1", "2")]


def long_tables() -> list[Any]:
    frame = pl.DataFrame(PAIRS)
    return [
        pa.table(PAIRS),
        frame,
        frame.with_columns(pl.col("product").cast(pl.Categorical), pl.col("order").cast(pl.String)),
        pd.DataFrame(PAIRS),
        pd.DataFrame(PAIRS).astype({"product": "category", "order": "float64"}),
        duckdb.from_arrow(pa.table(PAIRS)),
        pa.table(PAIRS).set_column(0, "order", pa.array([datetime.datetime(2020, 1, day) for day in PAIRS["order"]])),  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize("place", range(7))
def test_a_row_an_occurrence_in_any_order(place: int) -> None:
    data = read(long_tables()[place], transaction="order", item="product")
    assert_holds(data, [["milk", "bread"], ["milk"], [], ["bread", "gin", "milk"]])
    assert list(read(long_tables()[place])) == list(data)  # the names are usual ones


def test_integer_items_and_nulls_inside_a_dictionary() -> None:
    table = pa.table({"r": [1, 1, 2], "i": pa.array([5, 7, 5], pa.uint8())})
    assert list(read(table, transaction="r", item="i")) == [("5", "7"), ("5",)]
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", None, "unused but for one"]))
    table = pa.table({"r": [1, 1, 2, 3], "i": coded}).slice(0, 2)
    assert list(read(table, transaction="r", item="i")) == [("a",)]


def one_hot() -> dict[str, list[bool]]:
    terms = sorted({term for record in RECORDS for term in record} | {"never"})
    return {term: [term in record for record in RECORDS] for term in terms}


@pytest.mark.parametrize(
    "table",
    [
        pa.table(one_hot()),
        pl.DataFrame(one_hot()),
        pd.DataFrame(one_hot()),
        pd.DataFrame(one_hot(), index=["w", "x", "y", "z"]),
        pa.concat_tables([pa.table(one_hot()).slice(0, 1), pa.table(one_hot()).slice(1)]),
    ],
    ids=["arrow", "polars", "pandas", "index", "chunks"],
)
def test_a_boolean_frame(table: Any) -> None:
    assert_holds(read(table), RECORDS)


@pytest.mark.parametrize(
    "make", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array", "coo_array", "lil_array"]
)
@pytest.mark.parametrize("kind", [np.int8, np.float64, np.bool_])
def test_a_sparse_matrix(make: str, kind: type) -> None:
    frame = one_hot()
    matrix = getattr(scipy.sparse, make)(np.array(list(frame.values()), kind).T)
    before = matrix.copy()
    assert_holds(read((matrix, list(frame))), RECORDS)
    assert_holds(read(matrix, labels=iter(frame)), RECORDS)
    numbers = {term: str(place) for place, term in enumerate(frame)}
    assert_holds(read((matrix, None)), [[numbers[term] for term in record] for record in RECORDS])
    assert (matrix != before).nnz == 0


def test_explicit_zeros_of_a_sparse_matrix_are_absent() -> None:
    matrix = scipy.sparse.csr_array((np.array([1, 0, 2]), np.array([0, 1, 1]), np.array([0, 2, 3])), (2, 2))
    assert_holds(read((matrix, ["a", "b"])), [["a"], ["b"]])


MATRIX = scipy.sparse.csr_array(np.eye(2))


@pytest.mark.parametrize(
    ("source", "arguments", "problem"),
    [
        ((MATRIX, ["a"]), {}, "1 for a matrix of 2 columns"),
        ((MATRIX, ["a", "a"]), {}, "two are the same"),
        ((MATRIX, ["a", 1.5]), {}, "cannot be a term"),
        (pa.table({"a": [[1]], "b": [[1]]}), {}, "2 columns hold lists"),
        (pa.table({"a": [["x"]]}), {"item": "b"}, "no column is called 'b'"),
        (pa.table({"a": [1]}), {"item": "a"}, "holds no lists"),
        (pa.table({"a": [1]}), {"transaction": "a"}, "no item column"),
        (pa.table({"a": [1], "b": ["x"]}), {}, "is not clear"),
        (pa.table({"order": [1, None], "item": ["x", "y"]}), {}, "row 2: the record column is empty"),
        (pa.table({"order": [1, 2], "item": [0.5, 1.5]}), {}, "type double cannot hold terms"),
        (pa.table({"order": [1, 2], "item": [True, False]}), {}, "type bool cannot hold terms"),
        (pa.table({"order": [1, 2], "item": [b"a", b"b"]}), {}, "type binary cannot hold terms"),
        (pa.table({"a": [["x"], ["y", None]]}), {}, "record 2: a missing value"),
        (pa.table({"a": [[["x"]]]}), {}, "type list cannot hold terms"),
        (pa.table({"a": [[0.5]]}), {}, "type double cannot hold terms"),
        (pa.table({"a": [True, None]}), {}, "missing values"),
        (pa.table({"a": pa.array([], pa.list_(pa.string()))}), {}, "no records"),
        (pa.table({}), {}, "is not clear"),
        (pa.Table.from_arrays([pa.array([[1]]), pa.array([[1]])], ["a", "a"]), {"item": "a"}, "more than one column"),
        (pd.DataFrame({"order": [1, 2], "item": ["secret", 5]}), {}, "Arrow cannot read this table"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_read(source: Any, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read(source, **arguments)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_labels_go_with_a_sparse_matrix() -> None:
    with pytest.raises(ParameterError, match="sparse matrix only"):
        read([["a"]], labels=["a"])
