"""Opening a release that is damaged or made to do harm: one line that says where, and shows no term of the data."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import disassociation as da
from hostile import FILES, HUGE, Table, build, check_refused, clusters, seal, subrecords, words


def test_what_is_not_damaged_is_opened(tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    (folder / "thesis.txt").write_text("Whatever else is in the directory is ignored.")
    release = da.open_release(folder)
    assert (release.clusters.to_pylist(), release.subrecords.to_pylist()) == (clusters(), subrecords())


# What cannot be: by what is said of it, and behind the number of the cluster if that is said.

CONTENT: dict[str, dict[str, Callable[[Table, Table], object]]] = {
    "holds no cluster": {"no rows": lambda c, s: [c.pop() for _ in range(6)] + [s.pop() for _ in range(9)]},
    "clusters are not numbered from 0 with the leaves first": {
        "the same number twice": lambda c, s: c[1].update(cluster=0),
        "a huge number": lambda c, s: c[5].update(cluster=HUGE),
        "a negative number": lambda c, s: c[0].update(cluster=-1),
        "numbers from 1": lambda c, s: [row.update(cluster=row["cluster"] + 1) for row in c],
        "numbers that fall": lambda c, s: c.reverse(),
        "a joint cluster among the leaves": lambda c, s: c[1].update(terms=None),
        "a leaf behind a joint cluster": lambda c, s: c[5].update(terms=[]),
    },
    "a joint cluster has fewer than two children": {
        "cluster 0: no leaves": lambda c, s: [row.update(terms=None, parent=None) for row in c],
        "cluster 4: one child": lambda c, s: (c[0].update(parent=5), c[4].update(size=4)),
        "cluster 4: no child": lambda c, s: [row.update(parent=5) for row in c[:2]],
    },
    "a parent is not a joint cluster that comes later": {
        "cluster 4: its own parent": lambda c, s: c[4].update(parent=4),
        "cluster 5: its child's child": lambda c, s: c[5].update(parent=4),
        "cluster 4: a parent before it": lambda c, s: c[4].update(parent=3),
        "cluster 0: a leaf for a parent": lambda c, s: c[0].update(parent=1),
        "cluster 0: a parent just out of range": lambda c, s: c[0].update(parent=6),
        "cluster 0: a parent far out of range": lambda c, s: c[0].update(parent=HUGE),
    },
    "a parent is negative": {
        "parent -1": lambda c, s: c[3].update(parent=-1),
        "parent -2^62": lambda c, s: c[3].update(parent=-HUGE),
    },
    "a size is not positive, or not the sum of the sizes below": {
        "cluster 3: size 0": lambda c, s: c[3].update(size=0),
        "cluster 3: size -2": lambda c, s: c[3].update(size=-2),
        "cluster 4: a leaf larger": lambda c, s: c[0].update(size=4),
        "cluster 5: a joint cluster smaller": lambda c, s: c[5].update(size=9),
        "cluster 0: size 2^41 and another -2^41": lambda c, s: (c[0].update(size=2**41), c[1].update(size=-(2**41))),
    },
    "the sizes of the leaves add up to too much": {
        "more than 2^40": lambda c, s: c[3].update(size=2**40),
        "0 in 64 bits": lambda c, s: [row.update(size=HUGE) for row in c[:4]],
        "-2 in 64 bits": lambda c, s: [row.update(size=2 * HUGE - 1) for row in c[:2]],
    },
    "subrecords are not in the order of their clusters": {
        "a cluster out of range": lambda c, s: s[8].update(cluster=6),
        "cluster -1": lambda c, s: s[0].update(cluster=-1),
        "clusters that fall": lambda c, s: s[3].update(cluster=2),
        # Each is greater than the one before, by less than 2^63, if that is reckoned in 64 bits.
        "clusters that overflow": lambda c, s: [
            row.update(cluster=x) for row, x in zip(s[1:5], (2**63 - 1, -(2**63), -1, 0), strict=True)
        ],
    },
    "terms of a list are not distinct and in order": {
        "cluster 2: a term chunk not in order": lambda c, s: c[2].update(terms=words("fe")),
        "cluster 2: a term chunk with a term twice": lambda c, s: c[2].update(terms=words("ee")),
        "cluster 0: a subrecord not in order": lambda c, s: s[1].update(terms=words("ba")),
        "cluster 2: a subrecord with a term twice": lambda c, s: s[5].update(terms=words("aa")),
    },
    "a subrecord or a leaf is empty": {
        "cluster 0: a subrecord": lambda c, s: s[0].update(terms=[]),
        "cluster 3: a leaf": lambda c, s: c[3].update(terms=[]),
    },
    "subrecords of a chunk are not distinct and in order": {
        "cluster 0: the same twice": lambda c, s: s[1].update(terms=words("a")),
        "cluster 1: not in order": lambda c, s: s.insert(3, s.pop(4)),
        "cluster 4: an extension before its prefix": lambda c, s: s.insert(6, s.pop(7)),
    },
    "a count is not positive, or larger than any cluster can hold": {
        "count 0": lambda c, s: s[0].update(count=0),
        "count -1": lambda c, s: s[0].update(count=-1),
        "count 2^31": lambda c, s: s[0].update(count=2**31),
        "1 in 32 bits": lambda c, s: s[0].update(count=2**32 + 1),
    },
    "chunks are not numbered from 0 in order of their first terms": {
        "cluster 2: from 1": lambda c, s: s[5].update(chunk=1),
        "cluster 0: from -1": lambda c, s: s[0].update(chunk=-1),
        "cluster 0: a gap": lambda c, s: s[2].update(chunk=2),
        "cluster 0: there and back": lambda c, s: (s[1].update(chunk=1, terms=words("b")), s[2].update(chunk=0)),
        "cluster 4: falling": lambda c, s: (s[6].update(terms=words("i")), s[7].update(chunk=1, terms=words("h"))),
        "cluster 5: no shared chunk": lambda c, s: s.pop(),
    },
    "a chunk has more subrecords than its cluster has records": {
        "cluster 0: one more": lambda c, s: s[1].update(count=3),
        "cluster 0: very many": lambda c, s: [row.update(count=2**31 - 1) for row in s],
    },
    "a term is in two chunks of a cluster": {
        "cluster 0: two record chunks": lambda c, s: s[2].update(terms=words("bc")),
        "cluster 4: two shared chunks": lambda c, s: s[7].update(chunk=1),
        "cluster 0: a record chunk and the term chunk": lambda c, s: c[0].update(terms=words("b")),
    },
    "a term is missing": {
        "in a term chunk": lambda c, s: c[2].update(terms=["SECRETe", None]),
        "in a subrecord": lambda c, s: s[1].update(terms=["SECRETa", None]),
    },
    "clusters.parquet: a value is missing in column": {
        "no number": lambda c, s: c[1].update(cluster=None),
        "no size": lambda c, s: c[1].update(size=None),
    },
    "subrecords.parquet: a value is missing in column": {
        "no owner": lambda c, s: s[1].update(cluster=None),
        "no chunk": lambda c, s: s[1].update(chunk=None),
        "no terms": lambda c, s: s[1].update(terms=None),
        "no count": lambda c, s: s[1].update(count=None),
    },
}  # fmt: skip
CASES = {
    name: ("".join(re.findall(r"^cluster \d+: ", name)) + says, change)
    for says, changes in CONTENT.items()
    for name, change in changes.items()
}


@pytest.mark.parametrize(("says", "change"), CASES.values(), ids=CASES)
def test_content_that_cannot_be(says: str, change: Callable[[Table, Table], object], tmp_path: Path) -> None:
    check_refused(build(tmp_path / "a", change), says)


# The manifest

MANIFESTS: dict[str, dict[str, Any]] = {
    "field is missing, of the wrong type or out of range": {
        "k": [1, 0, -2, True, "2", 2.0, None, [2], 10**30, float("nan"), ...],
        "m": [0, True, "1", None, 2**32, ...],
        "l": [1, False, "2", 2.5, ...],
        "max_confidence": [0, -0.5, 1.5, True, "0.5", float("nan"), float("inf"), ...],
        "records": [-1, True, 12.0, None, 2**41, HUGE, ...],
        "terms": [-1, True, None, 2**32, ...],
        "clusters": [-1, True, None, 10**4000, ...],
        "software": [1, None, ...],
        "files": [None, [], {}, "files", dict.fromkeys(FILES[1:]), dict.fromkeys([*FILES, "../SECRET"]), ...]
        + [dict.fromkeys([*FILES[:2], path]) for path in ("../subrecords.parquet", "/etc/passwd", "./README.md", "")],
    },
    "not the manifest of a disassociation release": {"format": ["SECRET", None, 1, ["disassociation-release"], ...]},
    "format version not known to this program": {"version": [2, 0, -1, True, "1", 1.0, None, 10**30, ...]},
    "size or hash of README.md is missing": {
        "README.md": [None, [], 7, {}, {"bytes": 11}, {"sha256": "0"}]
        + [{"bytes": size, "sha256": "0"} for size in (-1, True, 11.0, "11", 2**61, float("nan"), None)]
        + [{"bytes": 11, "sha256": sha256} for sha256 in (0, None, ["0"], True)],
    },
    "README.md: 11 bytes, not 12 as the manifest says": {"README.md": [{"bytes": 12, "sha256": "0"}]},
    "README.md: content is not what the manifest's SHA-256 says": {
        "README.md": [{"bytes": 11, "sha256": sha256} for sha256 in ("", "SECRET", "0" * 64, "é")],
    },
    "the manifest counts other records than the files hold": {"records": [0, 11, 13]},
    "the manifest counts other terms than the files hold": {"terms": [0, 9, 11]},
    "the manifest counts other clusters than the files hold": {"clusters": [0, 5, 7]},
}


@pytest.mark.parametrize("says", MANIFESTS)
def test_manifests_that_cannot_be(says: str, tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    path = folder / "manifest.json"
    whole = json.loads(path.read_text())
    for field, values in MANIFESTS[says].items():
        for value in values:
            part = {"files": whole["files"] | {field: value}} if field in FILES else {field: value}
            path.write_text(json.dumps({name: x for name, x in (whole | part).items() if x is not ...}))
            check_refused(folder, says)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not valid JSON"),
        (b"SECRET", "not valid JSON"),
        (b'{"format": "SECRET', "not valid JSON"),
        (b"\xff\xfe{\x00}\x00", "not valid JSON"),
        (b'{"format": "\xff"}', "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
        (b'{"a":' * 100_000, "not valid JSON"),
        (b'{"k": ' + b"9" * 100_000 + b"}", "not valid JSON"),
        (b"[]", "not the manifest"),
        (b'"disassociation-release"', "not the manifest"),
        (b"NaN", "not the manifest"),
        (b" " * 1_048_577, "far too large"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_manifests_that_are_none(content: bytes, says: str, tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    (folder / "manifest.json").write_bytes(content)
    check_refused(folder, f"/manifest.json: {says}")


# The directory


@pytest.mark.parametrize("name", ["manifest.json", *FILES])
def test_files_that_are_not_plain_files(name: str, tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    (folder / name).rename(tmp_path / name)
    check_refused(folder, f"/{name}: missing, or not a plain file")
    for make in (
        lambda path: path.symlink_to(tmp_path / name),
        lambda path: path.symlink_to("nowhere"),
        os.mkfifo,
        Path.mkdir,
    ):
        make(folder / name)
        check_refused(folder, f"/{name}: missing, or not a plain file")
        shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_not_what_the_manifest_says(name: str, tmp_path: Path) -> None:
    folder = build(tmp_path / "a")
    content = (folder / name).read_bytes()
    for other in (content[:-1], content + b" ", b""):
        (folder / name).write_bytes(other)
        check_refused(folder, f"/{name}: {len(other)} bytes, not {len(content)} as the manifest says")
    (folder / name).write_bytes(content[:-1] + b"?")
    check_refused(folder, f"/{name}: content is not what the manifest's SHA-256 says")
    (folder / name).write_bytes(content[: len(content) // 2])
    seal(folder)
    if name != "README.md":
        check_refused(folder, f"/{name}: not readable as Parquet")


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    folder = build(tmp_path / "a")
    monkeypatch.setattr(hashlib, "file_digest", fail)
    check_refused(folder, "/README.md: cannot be read (Input/output error)")


def test_what_is_no_release_directory(tmp_path: Path) -> None:
    check_refused(tmp_path / "a", ": not a release directory")
    check_refused(build(tmp_path / "a") / "manifest.json", ": not a release directory")
    check_refused(tmp_path, "/manifest.json: missing")
    check_refused(build(tmp_path / "a.partial"), ": an unfinished release")
