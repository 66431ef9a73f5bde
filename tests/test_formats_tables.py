"""Long and list files: CSV, Parquet, Arrow IPC, JSON lines; and telling formats apart."""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disassociation.errors import InputError
from disassociation.formats import read
from test_formats_oracle import assert_holds

RECORDS = [["milk", "bread"], ["milk"], ["bread", "gin", "milk"]]


def write_text(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.text(alphabet='ab ,"\n\té0', max_size=4)), min_size=1, max_size=30))
def test_long_is_what_polars_wrote(rows: list[tuple[int, str]]) -> None:
    frame = pl.DataFrame({"tid": [row[0] for row in rows], "x": 1.5, "item": [row[1] or None for row in rows]})
    content = io.BytesIO()
    frame.write_csv(content)
    records: dict[int, list[str]] = {}
    for record, term in rows:
        records.setdefault(record, []).extend([term] if term else [])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(content.getvalue())
        if any(records.values()):
            assert_holds(read(path), records.values())
        else:
            with pytest.raises(InputError, match="are empty"):
                read(path)


@pytest.mark.parametrize(
    ("text", "sep"),
    [
        ("order_id,product\n2,milk\n1,milk\n2,bread\n", None),
        ("order_id;product\n2;milk\n1;milk\n2;bread\n", None),
        ("order_id\tproduct\r\n2\tmilk\r\n1\tmilk\r\n2\tbread\r\n", None),
        ("order_id|product\n2|milk\n1|milk\n2|bread", "|"),
        ("\ufeffOrderID,when,Product Name\n2,x,milk\n1,x,milk\n2,x,bread\n", None),
        ('"order_id","product"\n"2","milk"\n"1","milk"\n"2","bread"\n', None),
    ],
)
def test_long_with_usual_names(text: str, sep: str | None, tmp_path: Path) -> None:
    said: list[str] = []
    path = write_text(tmp_path / "x.csv", text)
    assert_holds(read(path, sep=sep, notify=said.append), [["milk", "bread"], ["milk"]])
    assert said == [f"{path}: read as long"]


def test_long_with_named_columns(tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.csv", "who,what,why\nu,007,\nv,NA,z\nu,7,z\nw,,z\n")
    data = read(path, transaction="who", item="what")
    assert_holds(data, [["007", "7"], ["NA"], []])


def test_long_of_many_blocks(tmp_path: Path) -> None:
    rows = [(i % 5000, f"{'item' * 9}{i * 31 % 700}") for i in range(200_000)]
    records: dict[int, list[str]] = {}
    for record, term in rows:
        records.setdefault(record, []).append(term)
    path = write_text(tmp_path / "x.csv", "tid,item\n" + "".join(f'{a},"{b}"\n' for a, b in rows))
    assert_holds(read(path), records.values())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.int64()])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "stream.arrow", "feather", "parquet.gz"])
def test_binary_tables(kind: pa.DataType, suffix: str, tmp_path: Path) -> None:
    numbers = pa.types.is_integer(kind)
    terms = {"milk": 1, "bread": 22, "gin": 3}
    records: list[list[Any]] = [[terms[term] for term in record] for record in RECORDS] if numbers else RECORDS
    lists = pa.table({"n": [1, 2, 3], "items": pa.array(records, pa.list_(kind))})
    rows = [(number, term) for number, record in enumerate(records) for term in record]
    long = pa.table({"order": [row[0] for row in rows], "item": pa.array([row[1] for row in rows], kind)})
    for table, name in ((lists, "list"), (long, "long")):
        path = tmp_path / f"x.{suffix}"
        content = io.BytesIO()
        if "parquet" in suffix:
            pa.parquet.write_table(table, content, row_group_size=2)
        elif suffix == "feather":
            pa.feather.write_feather(table, content)
        elif suffix == "arrow":
            with pa.ipc.new_file(content, table.schema) as writer:
                writer.write_table(table, max_chunksize=2)
        else:
            with pa.ipc.new_stream(content, table.schema) as writer:
                writer.write_table(table, max_chunksize=2)
        path.write_bytes(gzip.compress(content.getvalue()) if suffix.endswith("gz") else content.getvalue())
        said: list[str] = []
        assert_holds(read(path, notify=said.append), [[str(term) for term in record] for record in records])
        assert said == [f"{path}: read as {name}"]
        assert_holds(read(path, format=name), [[str(term) for term in record] for record in records])


def test_columns_can_be_chosen_from_several(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(pa.table({"a": [["x"]], "b": [["y"]], "c.d": [["z"]]}), path)
    assert list(read(path, item="b")) == [("y",)]
    assert list(read(path, item="c.d")) == [("z",)]


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ('["b", "a", "b"]', None),
        ('{"id": 5, "items": ["b", "a", "b"]}', None),
        ('{"x": ["c"], "y": ["b", "a", "b"]}', "y"),
    ],
)
def test_json_lines(line: str, item: str | None, tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.jsonl", f"{line}\r\n\n  {line}")
    data = read(path, item=item)
    assert_holds(data, [["b", "a", "b"]] * 2)


def test_json_values(tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.json", '[["\\u00e9", 12345678901234567890, ""], []]')
    assert_holds(read(path), [["é", "12345678901234567890", ""], []])


def test_spmf(tmp_path: Path) -> None:
    text = "# made by hand\n@CONVERTED_FROM_TEXT\n@ITEM=1=apple pie\n@ITEM=2=a=b\t\n1 2\n%x\n\n3 1\n"
    path = write_text(tmp_path / "x.txt", text)
    said: list[str] = []
    assert_holds(read(path, notify=said.append), [["apple pie", "a=b\t"], [], ["3", "apple pie"]])
    assert said == [f"{path}: read as spmf"]


def test_quest(tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.dat", "1 1 2 5 007\n2 2 0\n\n3 3 01 5\r\n")
    assert_holds(read(path, format="quest"), [["5", "007"], [], ["5"]])


@pytest.mark.parametrize(
    ("name", "content", "format_name"),
    [
        ("x", "1 2\n3\n", "fimi"),
        ("x", "a\nb\n", "fimi"),
        ("x", "a,b\nc\n", "basket"),
        ("x", '["a"]\n["b"]\n', "list"),
        ("x", ' [\n["a"], ["b"]]\n', "json"),
        ("x", '{"items": ["a"]}\n', "list"),
        ("x", "tid,item\n1,a\n", "long"),
        ("x", "@CONVERTED_FROM_TEXT\n@ITEM=1=a\n1\n", "spmf"),
        ("x.DAT", "a,b\n", "fimi"),
        ("x.txt", "a;b c\n", "fimi"),
        ("x.csv", "a,b\nc\n", "basket"),
        ("x.csv", "a b\nc\n", "basket"),
        ("x.tsv", "a\tb\nc\n", "basket"),
        ("x.tsv", "tid\titem\n1\ta\n", "long"),
        ("x.json", '[["a"]]', "json"),
        ("x.ndjson", '["a"]', "list"),
    ],
)
def test_formats_are_told_apart(name: str, content: str, format_name: str, tmp_path: Path) -> None:
    said: list[str] = []
    path = write_text(tmp_path / name, content)
    read(path, notify=said.append)
    assert said == [f"{path}: read as {format_name}"]
    said.clear()
    read(str(path), format=format_name, notify=said.append)
    assert said == []
    path.with_name(f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    read(path.with_name(f"{name}.gz"), notify=said.append)
    assert said == [f"{path}.gz: read as {format_name}"]


def test_what_is_named_decides(tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.txt", "a;b\n1;2 3\n")
    assert list(read(path)) == [("a;b",), ("1;2", "3")]
    assert list(read(path, sep=";")) == [("a", "b"), ("1", "2 3")]
    assert list(read(path, transaction="a", item="b")) == [("2 3",)]
