"""A forest of the oracle as a published release, in memory or as files, made without the code that makes releases."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import naive
from naive.order import in_canonical_order

TERMS = pa.list_(pa.string())
CLUSTERS = pa.schema([("cluster", pa.int64()), ("parent", pa.int64()), ("size", pa.int64()), ("terms", TERMS)])
SUBRECORDS = pa.schema([("cluster", pa.int64()), ("chunk", pa.int32()), ("terms", TERMS), ("count", pa.int64())])
Row = dict[str, Any]


class Published(NamedTuple):
    """What the auditor wants of a release in memory."""

    k: int
    m: int
    l: int | None  # noqa: E741
    max_confidence: float | None
    clusters: pa.Table
    subrecords: pa.Table


def rows_of(forest: naive.Forest) -> tuple[list[Row], list[Row]]:
    """The rows of both tables, in canonical order."""
    clusters: list[Row] = []
    subrecords: list[Row] = []

    def add(cluster: naive.Cluster, parent: int | None) -> int:
        number = len(clusters)
        leaf = isinstance(cluster, naive.Leaf)
        clusters.append({"cluster": number, "parent": parent, "size": 0, "terms": None})
        if isinstance(cluster, naive.Leaf):
            clusters[number] |= {"size": cluster.n, "terms": list(cluster.term_chunk)}
            chunks = cluster.record_chunks
        else:
            clusters[number]["size"] = sum(add(child, number) for child in cluster.children)
            chunks = cluster.shared_chunks
        for chunk, bag in enumerate(chunks):
            for row, count in Counter(bag).items():
                subrecords.append({"cluster": number, "chunk": chunk, "terms": list(row), "count": count})
        assert leaf == (clusters[number]["terms"] is not None)
        size: int = clusters[number]["size"]
        return size

    for root in forest:
        add(root, None)
    return in_canonical_order(clusters, subrecords)


def publish(forest: naive.Forest, k: int, m: int, l: int | None = None) -> Published:  # noqa: E741
    """The release in memory."""
    return tables(*rows_of(forest), k, m, l)


def tables(clusters: list[Row], subrecords: list[Row], k: int, m: int, l: int | None = None) -> Published:  # noqa: E741
    """Rows as they are, in order or not."""
    return Published(
        k,
        m,
        l,
        None,
        pa.Table.from_pylist(clusters, CLUSTERS),
        pa.Table.from_pylist(subrecords, SUBRECORDS),
    )


def write(release: Published, folder: Path) -> Path:
    """The release as files."""
    folder.mkdir()
    pq.write_table(release.clusters, folder / "clusters.parquet")
    pq.write_table(release.subrecords, folder / "subrecords.parquet")
    (folder / "README.md").write_text("a release\n")
    rows = release.clusters.to_pylist()
    terms = {
        term
        for table in (release.clusters, release.subrecords)
        for row in table.to_pylist()
        for term in row["terms"] or ()
    }
    names = ("README.md", "clusters.parquet", "subrecords.parquet")
    manifest = {
        "format": "disassociation-release",
        "version": 1,
        "k": release.k,
        "m": release.m,
        "l": release.l,
        "max_confidence": release.max_confidence,
        "records": sum(row["size"] for row in rows if row["terms"] is not None),
        "terms": len(terms),
        "clusters": len(rows),
        "files": {name: entry(folder / name) for name in names},
        "software": "tests",
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def entry(path: Path) -> dict[str, object]:
    """What a manifest says of a file."""
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
