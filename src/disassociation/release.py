"""The published object: clusters and subrecords in canonical order, immutable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from disassociation._kernels.arrays import Forest

__all__ = ["CLUSTERS_SCHEMA", "SUBRECORDS_SCHEMA", "PublishedTables", "Release", "published_tables"]

_TERMS = pa.list_(pa.string())
CLUSTERS_SCHEMA = pa.schema(
    [
        pa.field("cluster", pa.int64(), nullable=False),
        pa.field("parent", pa.int64()),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("terms", _TERMS),
    ]
)
SUBRECORDS_SCHEMA = pa.schema(
    [
        pa.field("cluster", pa.int64(), nullable=False),
        pa.field("chunk", pa.int32(), nullable=False),
        pa.field("terms", _TERMS, nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A disassociated data set: what may be published, and nothing else.

    ``clusters`` and ``subrecords`` are its two tables as Arrow tables, exactly as they stand in the files.

    Examples:
        >>> import disassociation as da
        >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2, k=2, m=2)
        >>> release
        <Release: k=2, m=2; 5 records, 3 terms, 1 leaf, 0 joint clusters>
        >>> release.subrecords.to_pylist()[0]
        {'cluster': 0, 'chunk': 0, 'terms': ['bread', 'gin'], 'count': 2}
    """

    k: int
    m: int
    l: int | None  # noqa: E741
    max_confidence: float | None
    vocabulary: pa.StringArray  # the terms, in UTF-8 byte order
    forest: Forest  # everything else, in codes

    def __post_init__(self) -> None:
        for array in self._arrays:
            array.flags.writeable = False

    def __repr__(self) -> str:
        l = "" if self.l is None else f", l={self.l}"  # noqa: E741
        terms, joints = len(self.vocabulary), self.joint_clusters
        return (
            f"<Release: k={self.k}, m={self.m}{l}; {self.records:,} records, "
            f"{terms:,} term{'' if terms == 1 else 's'}, "
            f"{self.leaves:,} {'leaf' if self.leaves == 1 else 'leaves'}, "
            f"{joints:,} joint cluster{'' if joints == 1 else 's'}>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        return (
            (self.k, self.m, self.l, self.max_confidence) == (other.k, other.m, other.l, other.max_confidence)
            and self.vocabulary.equals(other.vocabulary)
            and all(np.array_equal(mine, theirs) for mine, theirs in zip(self._arrays, other._arrays, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return *self.forest[:4], *self.forest.rows

    @property
    def leaves(self) -> int:
        """How many leaves (clusters of records) there are; they are the first clusters."""
        return len(self.forest.term_offsets) - 1

    @property
    def joint_clusters(self) -> int:
        """How many joint clusters there are."""
        return len(self.forest.parents) - self.leaves

    @property
    def records(self) -> int:
        """How many records were published."""
        return int(self.forest.sizes[: self.leaves].sum())

    @cached_property
    def clusters(self) -> pa.Table:
        """One row a cluster, leaves first: ``cluster``, ``parent``, ``size``, ``terms`` (its term chunk, or null)."""
        return _decoded(clusters_table(self), CLUSTERS_SCHEMA)

    @cached_property
    def subrecords(self) -> pa.Table:
        """One row a distinct subrecord: ``cluster``, ``chunk``, ``terms``, ``count``."""
        return _decoded(subrecords_table(self), SUBRECORDS_SCHEMA)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the release as a directory, complete or not at all; refuses to replace one unless told to."""
        from disassociation.release_writer import write_release

        write_release(self, path, overwrite=overwrite)

    def to_json(self) -> Iterator[str]:
        """The release as one JSON document, in pieces; for people, not for programs."""
        from disassociation.release_writer import json_pieces

        return json_pieces(self)


class PublishedTables(NamedTuple):
    """A release as it is written and audited: its parameters, and its tables with terms as dictionary codes."""

    k: int
    m: int
    l: int | None  # noqa: E741
    max_confidence: float | None
    clusters: pa.Table
    subrecords: pa.Table


def published_tables(release: Release) -> PublishedTables:
    """What an auditor wants to see of a release in memory; nothing is copied but numbers."""
    return PublishedTables(
        release.k, release.m, release.l, release.max_confidence, clusters_table(release), subrecords_table(release)
    )


def clusters_table(release: Release) -> pa.Table:
    """The clusters with terms as dictionary codes, which is how they are written."""
    forest, leaves = release.forest, release.leaves
    clusters = len(forest.parents)
    offsets = np.concatenate([forest.term_offsets, np.full(clusters - leaves, forest.term_offsets[-1])])
    is_joint = pa.array(np.arange(clusters) >= leaves)
    parents = pa.array(forest.parents, mask=np.asarray(forest.parents < 0))
    return pa.table(
        {
            "cluster": pa.array(np.arange(clusters, dtype=np.int64)),
            "parent": parents,
            "size": pa.array(forest.sizes),
            "terms": _lists(offsets, forest.terms, release.vocabulary, is_joint),
        }
    )


def subrecords_table(release: Release) -> pa.Table:
    """The subrecords with terms as dictionary codes, which is how they are written."""
    rows = release.forest.rows
    return pa.table(
        {
            "cluster": pa.array(np.repeat(np.arange(len(rows.cluster_offsets) - 1), np.diff(rows.cluster_offsets))),
            "chunk": pa.array(rows.chunks),
            "terms": _lists(rows.offsets, rows.items, release.vocabulary),
            "count": pa.array(rows.counts.astype(np.int64)),
        }
    )


def _lists(offsets: Any, codes: Any, vocabulary: pa.StringArray, mask: pa.BooleanArray | None = None) -> pa.Array:
    """Lists of terms as lists of dictionary codes, nothing copied but the offsets."""
    values = pa.DictionaryArray.from_arrays(pa.array(codes), vocabulary)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values, mask=mask)


def _decoded(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The same table with terms as strings."""
    place = table.schema.get_field_index("terms")
    terms = table.column(place).combine_chunks()
    decoded = pa.ListArray.from_arrays(terms.offsets, terms.values.dictionary_decode(), mask=terms.is_null())
    return pa.table(table.set_column(place, "terms", decoded).columns, schema=schema)
