"""Opening a release whose Parquet files hold something else, are damaged or unpack to far too much."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import disassociation as da
from disassociation.errors import FormatError
from hostile import FILES, TABLES, build, check_refused, seal, write

# Parquet files that hold something else

TEXTS = pa.list_(pa.string())
OTHER_TYPES: dict[str, tuple[str, dict[str, Any]]] = {
    "numbers of 32 bits": ("clusters", {"size": pa.int32()}),
    "numbers without sign": ("clusters", {"cluster": pa.uint64()}),
    "numbers as text": ("clusters", {"cluster": pa.string()}),
    "parents as floats": ("clusters", {"parent": pa.float64()}),
    "sizes as decimals": ("clusters", {"size": pa.decimal128(18, 0)}),
    "sizes as durations": ("clusters", {"size": pa.duration("ns")}),
    "chunks of 64 bits": ("subrecords", {"chunk": pa.int64()}),
    "counts of 32 bits": ("subrecords", {"count": pa.int32()}),
    "counts as true and false": ("subrecords", {"count": pa.bool_()}),
    "terms as numbers": ("clusters", {"terms": pa.list_(pa.int64())}),
    "terms as bytes": ("subrecords", {"terms": pa.list_(pa.binary())}),
    "one term": ("subrecords", {"terms": pa.string()}),
    "large lists": ("clusters", {"terms": pa.large_list(pa.string())}),
    "large texts": ("subrecords", {"terms": pa.list_(pa.large_string())}),
    "text views": ("subrecords", {"terms": pa.list_(pa.string_view())}),
    "lists of one length": ("subrecords", {"terms": pa.list_(pa.string(), 2)}),
    "lists of lists": ("clusters", {"terms": pa.list_(TEXTS)}),
    "a map": ("clusters", {"terms": pa.map_(pa.string(), pa.string())}),
    "a struct": ("clusters", {"terms": pa.struct({"list": TEXTS})}),
    "a column more": ("clusters", {"SECRET": pa.int64()}),
}
OTHER_COLUMNS: dict[str, tuple[str, list[str]]] = {
    "a column missing": ("clusters", ["cluster", "parent", "size"]),
    "another name": ("subrecords", ["cluster", "chunk", "SECRET", "count"]),
    "another order": ("subrecords", ["chunk", "cluster", "terms", "count"]),
    "a column twice": ("clusters", ["cluster", "parent", "size", "terms", "terms"]),
    "the other file": ("clusters", ["cluster", "chunk", "terms", "count"]),
    "no columns": ("clusters", []),
}


@pytest.mark.parametrize(("name", "types"), OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_columns_of_other_types(name: str, types: dict[str, Any], tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    write(folder, name, pa.schema(TABLES[name] | types).empty_table(), store_schema=True)
    seal(folder)
    check_refused(folder, f"/{name}.parquet: other columns or types than the format has")


@pytest.mark.parametrize(("name", "columns"), OTHER_COLUMNS.values(), ids=OTHER_COLUMNS)
def test_other_columns(name: str, columns: list[str], tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    types = TABLES["clusters"] | TABLES["subrecords"] | {"SECRET": TEXTS}
    write(folder, name, pa.schema([(column, types[column]) for column in columns]).empty_table())
    seal(folder)
    check_refused(folder, f"/{name}.parquet: other columns or types than the format has")


# Parquet files with wrong bytes

PATCHES: dict[str, tuple[bytes, bytes]] = {
    "term that is not UTF-8": (b"SECRETb", b"SECRET\xff"),
    "term cut within a character": (b"SECRETb", b"SECRET\xc3"),
    "term of half a pair": (b"SECRETb", b"SECR\xed\xa0\x80"),
    "column name that is not UTF-8": (b"count", b"coun\xff"),
    "dictionary shorter than codes": (b"\x4c\x15\x0c", b"\x4c\x15\x0a"),  # 6 and 5 terms, zigzag encoded
    "levels that do not fit the schema": (b"\x25\x02\x18\x05count", b"\x25\x00\x18\x05count"),  # may be null or not
    "codec that is none": (b"\x05count\x15\x00", b"\x05count\x15\x70"),
    "fewer values than rows": (b"\x05count\x15\x00\x16\x12", b"\x05count\x15\x00\x16\x10"),
    "values without end": (b"\x05count\x15\x00\x16\x12", b"\x05count\x15\x00\x16\x92"),
    "no magic at the end": (b"PAR1", b"PAR2"),
    "encrypted": (b"PAR1", b"PARE"),
    "nothing at all": (b"", b""),
}


@pytest.mark.parametrize(("old", "new"), PATCHES.values(), ids=PATCHES)
def test_parquet_files_with_wrong_bytes(old: bytes, new: bytes, tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    content = (folder / "subrecords.parquet").read_bytes()
    assert old in content
    (folder / "subrecords.parquet").write_bytes(content.replace(old, new) if old else b"")
    seal(folder)
    check_refused(folder, "/subrecords.parquet: not readable as Parquet with texts in UTF-8")


def test_any_bytes_changed(tmp_path: Path) -> None:
    """Whatever a few wrong bytes make of a file, it is refused or is a release; Arrow never takes the process down."""
    folder = build(tmp_path / "a")
    manifest = json.loads((folder / "manifest.json").read_text())
    chance = random.Random(7)
    for _ in range(300):
        file = folder / chance.choice(FILES[1:])
        content = file.read_bytes()
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 3)):
            damaged[-chance.randint(1, chance.choice([700, len(content)]))] = chance.randrange(256)
        file.write_bytes(damaged)
        seal(folder, manifest)
        try:
            release = da.open_release(folder)
        except FormatError:
            check_refused(folder, "")
        else:
            release.clusters.validate(full=True)
            release.subrecords.validate(full=True)
        file.write_bytes(content)


# Parquet files that are small and unpack to much


POOL = pa.proxy_memory_pool(pa.default_memory_pool())
"""What is allocated from it must be gone before it is."""


def check_refused_at_once(folder: Path, says: str) -> None:
    """Opening takes less than 16 MiB, of Arrow's memory and of Python's together."""
    usual = pa.default_memory_pool()
    pa.set_memory_pool(POOL)
    tracemalloc.start()
    try:
        check_refused(folder, says)
        assert tracemalloc.get_traced_memory()[1] + POOL.max_memory() < 1 << 24
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)


def long_list(values: int) -> pa.Table:
    """A subrecord that is the same term over and over."""
    codes = pa.DictionaryArray.from_arrays(np.zeros(values, np.int8), ["SECRETa"])
    lists = pa.ListArray.from_arrays(pa.array([0, values], pa.int32()), codes)
    return pa.table([pa.array([0]), pa.array([0], pa.int32()), lists, pa.array([1])], list(TABLES["subrecords"]))


def test_a_hundred_million_values_in_a_small_file(tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    table = long_list(4_000_000)
    with pq.ParquetWriter(folder / "subrecords.parquet", table.schema, compression="zstd", store_schema=False) as file:
        for _ in range(25):
            file.write_table(table)
    seal(folder)
    assert (folder / "subrecords.parquet").stat().st_size < 50_000
    check_refused_at_once(folder, "/subrecords.parquet: unpacks to far more than its size")


def test_a_term_of_hundreds_of_megabytes_of_zeros(tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    size = 300_000_000
    term = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, size], np.int32)), pa.py_buffer(bytes(size)))
    lists = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), term)
    table = long_list(1).set_column(2, "terms", lists)
    write(folder, "subrecords", table, compression="zstd", use_dictionary=False, write_statistics=False)
    seal(folder)
    check_refused_at_once(folder, "/subrecords.parquet: unpacks to far more than its size")


def test_a_long_term_many_times(tmp_path: Path) -> None:
    """A megabyte once in the file and ten thousand times in the table takes ten thousand small numbers."""
    folder = build(tmp_path / "a")
    codes = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int8), ["SECRET" * 200_000])
    lists = pa.ListArray.from_arrays(pa.array([0, 10_000], pa.int32()), codes)
    write(folder, "subrecords", long_list(1).set_column(2, "terms", lists), use_compliant_nested_type=False)
    seal(folder)
    check_refused_at_once(folder, "cluster 0: terms of a list are not distinct and in order")


@pytest.mark.parametrize("said", [1, 2**31 - 1, 2**40])
def test_a_footer_that_lies_about_how_many_values_there_are(said: int, tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    write(folder, "subrecords", long_list(5_000_000))
    content = (folder / "subrecords.parquet").read_bytes()
    before, after = content.split(b"\x07element\x15\x00\x16" + varint(5_000_000))
    length = int.from_bytes(content[-8:-4], "little") + len(varint(said)) - len(varint(5_000_000))
    lying = before + b"\x07element\x15\x00\x16" + varint(said) + after[:-8] + length.to_bytes(4, "little") + b"PAR1"
    (folder / "subrecords.parquet").write_bytes(lying)
    seal(folder)
    check_refused_at_once(folder, "/subrecords.parquet: not readable as Parquet")


def varint(number: int) -> bytes:
    """A number as it stands in a footer: zigzag, seven bits a byte."""
    number *= 2
    groups = [number >> shift & 127 for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


# Files that other programs wrote


@pytest.mark.parametrize(
    "options",
    [
        {"use_dictionary": False, "compression": "snappy"},
        {"use_compliant_nested_type": False, "store_schema": True},
        {"data_page_version": "2.0", "row_group_size": 2, "version": "1.0"},
    ],
    ids=str,
)
def test_files_written_otherwise_are_the_same_release(options: dict[str, Any], tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    release = da.open_release(folder)
    for name in TABLES:
        write(folder, name, getattr(release, name), **options)
    seal(folder)
    assert da.open_release(folder) == release


def test_files_written_by_duckdb_are_the_same_release(tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    release = da.open_release(folder)
    for name in TABLES:
        file = folder / f"{name}.parquet"
        duckdb.sql(f"COPY (SELECT * FROM read_parquet('{file.rename(file.with_suffix('.old'))}')) TO '{file}'")
    seal(folder)
    assert da.open_release(folder) == release
