"""A release as files: what is written and nothing else, whole or not at all, read back the same; and as an object."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import disassociation as da
from commands import contents
from disassociation import release_writer
from disassociation.errors import InputError, ParameterError
from strategies import ODD, PLAIN, Problem, nested_problems, problems, zipf_bag
from test_anonymize_properties import SLOW, release_of

FILES = ["README.md", "clusters.parquet", "manifest.json", "subrecords.parquet"]


NESTED: da.Release = release_of(Problem(zipf_bag(1, 90, tuple(f"t{i}" for i in range(20)), 1.2), 3, 2, 6))
OTHER: da.Release = release_of(Problem(zipf_bag(2, 60, ODD, 0.8), 2, 1, 5))
ALL_TERM_CHUNK: da.Release = release_of(Problem(tuple(frozenset(term) for term in PLAIN), 5, 2, 100))
DIVERSE: da.Release = release_of(Problem(zipf_bag(3, 80, PLAIN, 0.9), 3, 2, 9, frozenset("ij"), 4))


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where a release is to be saved, in an empty directory."""
    return tmp_path / "pos.release"


def names_in(folder: Path) -> list[str]:
    """What is in a directory."""
    return sorted(path.name for path in folder.iterdir())


def certain_counts(release: da.Release, with_term_chunks: bool = True) -> Counter[str]:
    """In how many records each term certainly is, record and shared chunks and perhaps term chunks counted."""
    counts: Counter[str] = Counter()
    for row in release.subrecords.to_pylist():
        counts.update(dict.fromkeys(row["terms"], row["count"]))
    for row in release.clusters.to_pylist() if with_term_chunks else ():
        counts.update(row["terms"] or ())
    return counts


def head(release: da.Release) -> dict[str, Any]:
    """What the manifest and the JSON export begin with."""
    sizes = [row["size"] for row in release.clusters.to_pylist() if row["terms"] is not None]
    head = {"format": "disassociation-release", "version": 1, "k": release.k, "m": release.m, "l": release.l}
    return head | {"max_confidence": None, "records": sum(sizes), "terms": len(certain_counts(release))}


# What is written


@pytest.mark.parametrize("release", [NESTED, OTHER, ALL_TERM_CHUNK, DIVERSE])
def test_a_release_is_four_files_and_the_manifest_says_what_is_documented_and_no_more(
    release: da.Release, target: Path
) -> None:
    release.save(target)
    assert sorted(contents(target.parent)) == ["pos.release", *(f"pos.release/{name}" for name in FILES)]
    files = {name: (target / name).read_bytes() for name in FILES if name != "manifest.json"}
    manifest = head(release) | {
        "clusters": release.clusters.num_rows,
        "files": {name: {"bytes": len(is_), "sha256": hashlib.sha256(is_).hexdigest()} for name, is_ in files.items()},
        "software": f"disassociation {da.__version__}",
    }
    assert (target / "manifest.json").read_text(encoding="utf-8") == json.dumps(manifest, indent=2) + "\n"


@pytest.mark.parametrize("release", [NESTED, ALL_TERM_CHUNK])
def test_parquet_files_have_the_documented_columns_and_no_other_metadata(release: da.Release, target: Path) -> None:
    release.save(target)
    texts = pa.list_(pa.field("element", pa.string()))
    types = {
        "clusters": {"cluster": pa.int64(), "parent": pa.int64(), "size": pa.int64(), "terms": texts},
        "subrecords": {"cluster": pa.int64(), "chunk": pa.int32(), "terms": texts, "count": pa.int64()},
    }
    for name, columns in types.items():
        file = pq.ParquetFile(target / f"{name}.parquet")
        assert file.schema_arrow.equals(pa.schema(columns), check_metadata=True)
        assert file.metadata.metadata is None
        table = file.read()
        assert table.to_pylist() == getattr(release, name).to_pylist()
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        assert {group.column(i).compression for group in groups for i in range(4)} <= {"ZSTD"}


@pytest.mark.parametrize("release", [NESTED, DIVERSE])
def test_the_data_card_says_what_is_promised(release: da.Release, target: Path) -> None:
    release.save(target)
    card = (target / "README.md").read_text(encoding="utf-8")
    l_name, l_value = ("", "") if release.l is None else (", l", f", {release.l}")
    assert f"\n| k, m{l_name} | {release.k}, {release.m}{l_value} |\n" in card
    assert f"\n| records | {release.records} |\n| distinct terms | {len(release.vocabulary)} |\n" in card
    assert f"knows up to {release.m} terms of a person cannot narrow her record down to fewer than {release.k}" in card
    assert (f"more than one in {release.l} of" in card) == (release.l is not None)
    assert "{" not in card
    assert not any(term in card for term in release.vocabulary.to_pylist() if len(term) > 1)


def test_what_the_data_card_shows_runs_and_finds_the_counts(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    NESTED.save(target)
    monkeypatch.chdir(target)
    blocks = re.findall(r"```(\w+)\n(.*?)```", Path("README.md").read_text(encoding="utf-8"), re.DOTALL)
    names = [re.search("DuckDB|polars|pandas|Spark|disassociation", text) for _, text in blocks]
    texts = {name[0]: text for name, (_, text) in zip(names, blocks, strict=True) if name}
    assert sorted(texts) == ["DuckDB", "Spark", "disassociation", "pandas", "polars"]
    assert {term: int(n) for term, n in duckdb.sql(texts["DuckDB"]).fetchall()} == certain_counts(NESTED)
    in_chunks = certain_counts(NESTED, with_term_chunks=False)
    assert dict(value_of(texts["polars"]).iter_rows()) == in_chunks
    assert value_of(texts["pandas"]).to_dict() == in_chunks
    assert value_of(texts["disassociation"] + "release") == NESTED


def value_of(code: str) -> Any:
    """Run some lines, of which the last is an expression; its value."""
    lines = code.strip().splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines[:-1]), names)
    return eval(lines[-1], names)


@pytest.mark.parametrize("release", [NESTED, OTHER, ALL_TERM_CHUNK, DIVERSE])
def test_the_json_export_has_the_same_content(release: da.Release) -> None:
    document = json.loads("".join(release.to_json()))
    clusters, subrecords = [], []
    for cluster in document.pop("clusters"):
        is_joint = "shared_chunks" in cluster
        chunks = cluster.pop("shared_chunks" if is_joint else "record_chunks")
        clusters.append(cluster)
        cluster["terms"] = None if is_joint else cluster.pop("term_chunk")
        for i, chunk in enumerate(chunks):
            subrecords += [{"cluster": cluster["cluster"], "chunk": i} | row for row in chunk]
    assert clusters == release.clusters.to_pylist()
    assert subrecords == release.subrecords.to_pylist()
    assert document == head(release)


# Saved, opened


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(problems() | nested_problems())
def test_what_is_opened_is_what_was_saved(problem: Problem) -> None:
    release = release_of(problem)
    with tempfile.TemporaryDirectory() as folder, mock.patch("os.fsync"):
        release.save(f"{folder}/a")
        opened = da.open_release(f"{folder}/a")
        assert opened == release
        assert (opened.clusters, opened.subrecords) == (release.clusters, release.subrecords)
        opened.save(f"{folder}/b")
        assert contents(Path(folder, "a")) == contents(Path(folder, "b"))


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(problems() | nested_problems(), st.integers(0, 2**32))
def test_shuffled_records_give_the_same_bytes(problem: Problem, seed: int) -> None:
    shuffled = random.Random(seed).sample(problem.records, len(problem.records))
    with tempfile.TemporaryDirectory() as folder, mock.patch("os.fsync"):
        release_of(problem).save(f"{folder}/a")
        release_of(dataclasses.replace(problem, records=tuple(shuffled))).save(f"{folder}/b")
        assert contents(Path(folder, "a")) == contents(Path(folder, "b"))


def test_a_release_of_more_rows_than_a_row_group_holds(target: Path) -> None:
    release = da.disassociate([[f"t{i % 3}"] for i in range(900_000)], k=2, m=1, max_cluster_size=3)
    release.save(target)
    assert pq.ParquetFile(target / "clusters.parquet").metadata.num_row_groups > 1
    assert da.open_release(target) == release


# Where a release may go


def put(file: Path, text: str = "years of work", beside: Path | None = None) -> None:
    """A file of somebody's, perhaps in a release."""
    if beside:
        NESTED.save(beside)
    if file.name == "thesis.txt" and file.parent.name == "README.md":
        file.parent.unlink()
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def link(path: Path, to: str) -> None:
    """A symbolic link, beside a release."""
    NESTED.save(path.with_name("real"))
    path.symlink_to(to)


OTHERS: dict[str, Callable[[Path], None]] = {
    "directory of files": lambda path: put(path / "thesis.txt"),
    "release and a file": lambda path: put(path / "thesis.txt", beside=path),
    "release and a directory": lambda path: put(path / "README.md" / "thesis.txt", beside=path),
    "manifest of something else": lambda path: put(path / "manifest.json", '{"format": "thesis"}'),
    "manifest that is none": lambda path: put(path / "manifest.json", "[" * 100_000),
    "no manifest": lambda path: put(path / "README.md"),
    "file": put,
    "link to a release": lambda path: link(path, "real"),
    "link to nothing": lambda path: link(path, "nowhere"),
}
OURS: dict[str, Callable[[Path], None]] = {"release": NESTED.save, "empty directory": Path.mkdir}
NOTHING: dict[str, Callable[[Path], None]] = {"nothing": lambda _: None}


@pytest.mark.parametrize("there", (OTHERS | OURS).values(), ids=OTHERS | OURS)
def test_nothing_is_replaced_unasked(there: Callable[[Path], None], target: Path) -> None:
    there(target)
    before = contents(target.parent)
    with pytest.raises(ParameterError, match="exists already; choose another name, or ask to overwrite"):
        OTHER.save(target)
    assert contents(target.parent) == before


@pytest.mark.parametrize("there", OTHERS.values(), ids=OTHERS)
def test_only_releases_and_empty_directories_are_replaced_when_asked(
    there: Callable[[Path], None], target: Path
) -> None:
    there(target)
    before = contents(target.parent)
    with pytest.raises(ParameterError, match="not a release and nothing else, so not replaced"):
        OTHER.save(target, overwrite=True)
    assert contents(target.parent) == before


@pytest.mark.parametrize("there", (OURS | NOTHING).values(), ids=OURS | NOTHING)
@pytest.mark.parametrize("can_swap", [True, False])
def test_releases_and_empty_directories_are_replaced_when_asked(
    there: Callable[[Path], None], can_swap: bool, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there(target)
    if not can_swap:
        monkeypatch.setattr(release_writer, "_exchange", lambda *_: False)
    OTHER.save(str(target), overwrite=True)
    assert da.open_release(target) == OTHER
    assert names_in(target.parent) == ["pos.release"]


@pytest.mark.parametrize("name", ["", ".", "..", "pos.partial", ".pos.release.1-2.partial", "pos\0"])
def test_names_that_cannot_be_a_release(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="not a name for a release"):
        NESTED.save(f"{tmp_path}/{name}" if name.strip(".") else name)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("name", ["no/pos.release", "file/pos.release", "p" * 300])
def test_places_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError):
        NESTED.save(tmp_path / name)
    assert contents(tmp_path) == {"file": b""}


# Whole or not at all


STEPS: list[tuple[Any, str, int]] = [
    *((release_writer, "_write_parquet", nth) for nth in (1, 2)),
    (release_writer, "data_card", 1),
    *((release_writer, "_flushed", nth) for nth in (1, 2, 3, 4)),
    (json, "dumps", 1),
    (os, "fsync", 3),
    (release_writer, "_put_in_place", 1),
    (release_writer, "_flush_directory", 1),
    (Path, "write_text", 2),
    *((Path, "rename", nth) for nth in (1, 2)),  # the second only if there is an older release
]


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()], ids=repr
)
@pytest.mark.parametrize(
    ("owner", "name", "nth", "overwrite"),
    [(*step, overwrite) for step in STEPS for overwrite in (True, False) if step != STEPS[-1] or overwrite],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_failure_on_the_way_leaves_what_was_there(
    owner: Any,
    name: str,
    nth: int,
    overwrite: bool,
    error: BaseException,
    target: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if overwrite:
        NESTED.save(target)
    before = contents(target.parent)
    real, calls = getattr(owner, name), 0

    def failing(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == nth:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, failing)
    monkeypatch.setattr(release_writer, "_exchange", lambda *_: False)
    with pytest.raises(InputError if isinstance(error, OSError) else type(error)) as caught:
        OTHER.save(target, overwrite=overwrite)
    monkeypatch.undo()
    assert contents(target.parent) == before
    if isinstance(error, OSError):
        assert str(caught.value) == f"{target}: cannot be written (No space left on device); nothing was published"


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_leftovers_of_dead_processes_are_removed_and_those_of_live_ones_kept(target: Path, dead: int) -> None:
    live = os.getppid()
    kept = [
        f".pos.release.{live}-0123abcd.partial",
        f".pos.release.{'9' * 10}-0123abcd.partial",  # no number of a process
        f".pos.release.x{dead}-0123abcd.partial",
        f".pos.release.{dead}-0123abcd.partially",
        f".pos.release.{dead}-07.{live}-0123abcd.partial",  # of pos.release.YEAR-MONTH, being written
        f".pos2release.{dead}-0123abcd.partial",
        f".pos.release.{dead}-0123abcd-old.partial",  # the release that is missing
    ]
    for name in [*kept, f".pos.release.{dead}-0123abcd.partial"]:
        put(target.parent / name / "clusters.parquet", "half of it")
    NESTED.save(target)
    assert names_in(target.parent) == sorted([*kept, "pos.release"])
    NESTED.save(target, overwrite=True)
    assert names_in(target.parent) == sorted([*kept[:-1], "pos.release"])


@pytest.mark.parametrize("name", ["p*s", "[p]os", "p.s", "(", "\\", "p\ns"])
def test_names_with_signs_are_no_patterns(name: str, tmp_path: Path, dead: int) -> None:
    others = tmp_path / f".pos.{dead}-0123abcd.partial"
    others.mkdir()
    (tmp_path / f".{name}.{dead}-0123abcd.partial").mkdir()
    NESTED.save(tmp_path / name)
    assert names_in(tmp_path) == sorted([name, others.name])


# As an object


@pytest.mark.parametrize("release", [NESTED, OTHER, ALL_TERM_CHUNK])
def test_a_release_cannot_be_changed(release: da.Release) -> None:
    arrays: list[Any] = [*release.forest[:4], *release.forest.rows]
    assert not any(array.flags.writeable for array in [*arrays, release.clusters["size"].to_numpy()])
    with pytest.raises(ValueError, match="read-only"):
        arrays[0][0] = 0
    for name in [*(field.name for field in dataclasses.fields(release)), "records", "clusters", "more"]:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(release, name, None)


def test_releases_are_equal_if_all_that_is_published_is() -> None:
    assert copy.deepcopy(NESTED) == NESTED
    assert NESTED not in (OTHER, "a release", None)
    changes: list[dict[str, Any]] = [{name: 9} for name in ("k", "m", "l", "max_confidence")]
    changes.append({"vocabulary": pa.array([*NESTED.vocabulary.to_pylist()[:-1], "u"])})
    for name in ("parents", "sizes", "terms"):
        array = getattr(NESTED.forest, name).copy()
        array[0] += 1
        changes.append({"forest": NESTED.forest._replace(**{name: array})})
    for change in changes:
        assert dataclasses.replace(NESTED, **change) != NESTED
    with pytest.raises(TypeError, match="unhashable"):
        hash(NESTED)


def test_what_a_release_is_printed_as() -> None:
    assert re.fullmatch(r"<Release: k=3, m=2; 90 records, 20 terms, \d+ leaves, \d+ joint clusters>", repr(NESTED))
    assert repr(ALL_TERM_CHUNK) == "<Release: k=5, m=2; 10 records, 10 terms, 1 leaf, 0 joint clusters>"
    assert repr(DIVERSE).startswith("<Release: k=3, m=2, l=4; 80 records, ")
    many = da.disassociate([["a"]] * 1_234, k=2, m=1, max_cluster_size=2_000)
    assert repr(many) == "<Release: k=2, m=1; 1,234 records, 1 term, 1 leaf, 0 joint clusters>"
