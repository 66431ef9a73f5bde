"""Where a release comes from: its parameters, and its two tables as batches that can be gone through again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from disassociation.errors import FormatError

__all__ = ["BATCH", "CLUSTERS", "SUBRECORDS", "Source", "of_tables"]

BATCH = 1 << 16
"""Rows looked at together."""

_TERMS = pa.list_(pa.string())
CLUSTERS = pa.schema([("cluster", pa.int64()), ("parent", pa.int64()), ("size", pa.int64()), ("terms", _TERMS)])
SUBRECORDS = pa.schema([("cluster", pa.int64()), ("chunk", pa.int32()), ("terms", _TERMS), ("count", pa.int64())])

Batches = Callable[[], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Source:
    """A release to be judged."""

    name: str  # for messages
    k: int
    m: int
    l: int | None  # noqa: E741
    max_confidence: float | None
    clusters: Batches
    subrecords: Batches
    counted: dict[str, int] | None  # what the manifest says of records, terms and clusters; None without manifest


def of_tables(release: Any) -> Source:
    """A release in memory: anything with k, m, l, max_confidence and two Arrow tables, clusters and subrecords."""
    name = "release"
    tables = {"clusters": release.clusters, "subrecords": release.subrecords}
    for table, schema in ((tables["clusters"], CLUSTERS), (tables["subrecords"], SUBRECORDS)):
        if not isinstance(table, pa.Table) or not has_schema(table.schema, schema):
            raise FormatError(f"{name}: other columns or types than the format has; give a release")
    return Source(
        name,
        release.k,
        release.m,
        release.l,
        release.max_confidence,
        lambda: iter(tables["clusters"].to_batches(max_chunksize=BATCH)),
        lambda: iter(tables["subrecords"].to_batches(max_chunksize=BATCH)),
        None,
    )


def has_schema(found: pa.Schema, wanted: pa.Schema) -> bool:
    """Whether columns have the names and types of the format, terms perhaps as dictionary codes."""
    return found.names == wanted.names and all(
        _plain(mine.type) == _plain(theirs.type) for mine, theirs in zip(found, wanted, strict=True)
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    return kind.value_type if pa.types.is_dictionary(kind) else kind
