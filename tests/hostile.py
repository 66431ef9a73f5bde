"""A small release made by hand, to be damaged: its tables changed, or its files, with a manifest that fits or not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import disassociation as da
from disassociation.auditor.auditing import audit
from disassociation.errors import FormatError

Table = list[dict[str, Any]]
TABLES = {
    "clusters": {"cluster": pa.int64(), "parent": pa.int64(), "size": pa.int64(), "terms": pa.list_(pa.string())},
    "subrecords": {"cluster": pa.int64(), "chunk": pa.int32(), "terms": pa.list_(pa.string()), "count": pa.int64()},
}
FILES = ("README.md", "clusters.parquet", "subrecords.parquet")
HUGE = 2**62


def words(letters: str | None) -> list[str] | None:
    return None if letters is None else [f"SECRET{letter}" for letter in letters]


def clusters() -> Table:
    """Two leaves in a joint cluster that is in another, with a third leaf; a fourth stands alone."""
    rows = [(4, 3, "d"), (4, 4, ""), (5, 3, "ef"), (None, 2, "g"), (5, 7, None), (None, 10, None)]
    return [
        {"cluster": i, "parent": parent, "size": size, "terms": words(letters)}
        for i, (parent, size, letters) in enumerate(rows)
    ]


def subrecords() -> Table:
    """Rows 0 to 2 are of leaf 0, 3 and 4 of leaf 1, 5 of leaf 2, 6 and 7 of the inner joint cluster, 8 of the outer."""
    rows = [(0, 0, "a", 1), (0, 0, "ab", 2), (0, 1, "c", 3), (1, 0, "a", 2), (1, 0, "b", 2), (2, 0, "ac", 3)]
    rows += [(4, 0, "h", 2), (4, 0, "hi", 1), (5, 0, "j", 4)]
    return [
        {"cluster": cluster, "chunk": chunk, "terms": words(letters), "count": count}
        for cluster, chunk, letters, count in rows
    ]


def build(folder: Path, change: Callable[[Table, Table], object] = lambda c, s: None) -> Path:
    """Write the release, its tables changed, with a manifest that fits."""
    folder.mkdir()
    tables = {"clusters": clusters(), "subrecords": subrecords()}
    change(*tables.values())
    for name, rows in tables.items():
        write(folder, name, pa.Table.from_pylist(rows, pa.schema(TABLES[name])))
    (folder / "README.md").write_text("A release.\n")
    leaves = [row for row in tables["clusters"] if row["terms"] is not None]
    terms = {term for rows in tables.values() for row in rows for term in row["terms"] or ()}
    manifest: dict[str, Any] = {"format": "disassociation-release", "version": 1, "k": 2, "m": 1, "l": None}
    manifest |= {
        "max_confidence": None,
        "records": min(2**40, sum(row["size"] or 0 for row in leaves)),
        "terms": len(terms),
    }
    manifest |= {"clusters": len(tables["clusters"]), "files": {}, "software": "by hand"}
    seal(folder, manifest)
    return folder


def write(folder: Path, name: str, table: pa.Table, **options: Any) -> None:
    """A Parquet file, not compressed so that it can be patched."""
    options = {"compression": "none", "store_schema": False} | options
    pq.write_table(table, folder / f"{name}.parquet", **options)


def seal(folder: Path, manifest: dict[str, Any] | None = None) -> None:
    """Write a manifest, or the one that is there, with the sizes and hashes that the files have now."""
    manifest = manifest or json.loads((folder / "manifest.json").read_text())
    for name in FILES:
        content = (folder / name).read_bytes()
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def check_not_accepted(folder: Path) -> None:
    """The auditor, too, refuses to read it, in one line that shows no term, or reads it and does not accept it."""
    try:
        found = audit(folder)
    except FormatError as error:
        message = str(error)
        assert message.startswith(str(folder))
        assert "\n" not in message
        assert "SECRET" not in message
    else:
        assert not found.holds
        assert not any("SECRET" in str(violation) for violation in found.violations)


def check_refused(folder: Path, says: str) -> None:
    """Opening says what is wrong, in one line that shows no term."""
    check_not_accepted(folder)
    with pytest.raises(FormatError) as caught:
        da.open_release(folder)
    message = str(caught.value)
    assert message.startswith(str(folder))
    assert says in message.removeprefix(str(folder))
    assert "\n" not in message
    assert "SECRET" not in message
