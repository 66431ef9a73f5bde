"""What comes out goes into other tools as it is: Arrow tables in memory, Parquet files on disk, the same in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import disassociation as da
from disassociation.release import CLUSTERS_SCHEMA, SUBRECORDS_SCHEMA

RELEASE = da.disassociate(da.generate_pos(random_state=5, records=300), k=3, m=2)
NAMES = ("clusters", "subrecords")


def plain(value: Any) -> Any:
    """A value of any tool as Python has it; what is missing is None."""
    if isinstance(value, (list, np.ndarray)):
        return [plain(one) for one in value]
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value


def expected(name: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in getattr(RELEASE, name).to_pylist()]


def test_the_tables_have_what_they_should() -> None:
    """Some of everything, so that the tests below see it: joint clusters, and parents and none."""
    assert RELEASE.joint_clusters > 0
    assert {row["terms"] is None for row in RELEASE.clusters.to_pylist()} == {False, True}
    assert {row["parent"] is None for row in RELEASE.clusters.to_pylist()} == {False, True}


@pytest.mark.parametrize("name", NAMES)
def test_tables_in_memory(name: str) -> None:
    """Taken by polars, pandas, DuckDB and pyarrow, with the types of the specification and no value changed."""
    table = getattr(RELEASE, name)
    assert table.schema == {"clusters": CLUSTERS_SCHEMA, "subrecords": SUBRECORDS_SCHEMA}[name]
    for frame in (pl.from_arrow(table), pl.DataFrame(table)):
        assert frame.rows() == expected(name)
        assert frame.schema["terms"] == pl.List(pl.String)
    pandas = table.to_pandas()
    assert [tuple(map(plain, row)) for row in pandas.itertuples(index=False)] == expected(name)
    assert duckdb.from_arrow(table).fetchall() == expected(name)
    assert pa.table(pl.from_arrow(table)).num_rows == table.num_rows


@pytest.mark.parametrize("name", NAMES)
def test_tables_in_files(name: str, tmp_path: Path) -> None:
    """The same values read from the files, by programs that know nothing of the format."""
    RELEASE.save(tmp_path / "x.release")
    path = tmp_path / "x.release" / f"{name}.parquet"
    assert pq.read_table(path).to_pylist() == getattr(RELEASE, name).to_pylist()
    assert pl.read_parquet(path).rows() == expected(name)
    assert pl.scan_parquet(path).collect().rows() == expected(name)
    assert duckdb.read_parquet(str(path)).fetchall() == expected(name)
    rows = [tuple(map(plain, row)) for row in pd.read_parquet(path).itertuples(index=False)]
    assert rows == expected(name)


def test_one_table_goes_in_without_a_word() -> None:
    """Itemsets and records are one table each, and are taken for it; a release is two, and is not."""
    itemsets = RELEASE.itemsets(top=20)
    drawn = RELEASE.reconstruct()
    for result in (itemsets, drawn):
        table = result.to_arrow()
        assert pa.table(result).equals(table)
        assert pl.DataFrame(result).rows() == [tuple(row.values()) for row in table.to_pylist()]
        assert duckdb.from_arrow(table).fetchall() == [tuple(row.values()) for row in table.to_pylist()]
    assert list(da.read(pa.table(drawn))) == list(drawn)
    assert itemsets.to_pandas()["itemset"].map(type).eq(frozenset).all()
    assert pl.DataFrame(itemsets).equals(itemsets.to_polars())
    assert not hasattr(RELEASE, "__arrow_c_stream__")


def test_a_support_is_a_row() -> None:
    """Supports are named tuples, so many of them are a table of three columns."""
    supports = [RELEASE.support([term]) for term in RELEASE.vocabulary.to_pylist()[:5]]
    assert pl.DataFrame(supports, orient="row").columns == ["lower", "expected", "upper"]
    assert list(pd.DataFrame(supports).columns) == ["lower", "expected", "upper"]
    assert pd.DataFrame(supports)["lower"].tolist() == [support.lower for support in supports]
