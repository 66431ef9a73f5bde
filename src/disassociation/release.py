"""The published object: clusters and subrecords in canonical order, immutable."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from disassociation._kernels.arrays import Forest

if TYPE_CHECKING:
    from disassociation._kernels.ground import Ground
    from disassociation._kernels.law import Law
    from disassociation.estimator import Estimator
    from disassociation.explanation import Explanation
    from disassociation.itemsets import Itemsets
    from disassociation.records import Transactions
    from disassociation.support import Support

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

    def support(self, itemset: Iterable[Hashable], *, model: str = "empirical-bayes") -> Support:
        """How many records hold all terms of an itemset: at least, expected, at most (docs/estimates.md).

        A term that the release does not have is in no record. The first call lays the release out, which takes a
        second for a million records; later ones take less than a thousandth.

        Examples:
            >>> import disassociation as da
            >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2, k=2, m=2)
            >>> release.support({"bread", "gin"}).lower
            2
        """
        from disassociation.support import support_of

        return support_of(self, itemset, model)

    def explain(self, terms: Iterable[Hashable], *, model: str = "empirical-bayes") -> Explanation:
        """In which kinds of chunks a term or two terms ended, and why, as far as the release tells.

        :func:`disassociation.explain` takes the original as well, which tells the rest.

        Examples:
            >>> import disassociation as da
            >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2, k=2, m=2)
            >>> release.explain(["bread", "milk"]).places
            (Place(kind='record chunks', level=None, clusters=1, records=5, lower=3, upper=3),)
        """
        from disassociation.explanation import explain

        return explain(self, terms, model=model)

    def itemsets(
        self,
        *,
        top: int | None = None,
        min_support: float | None = None,
        min_count: int | None = None,
        max_length: int | None = None,
        by: str = "expected",
        model: str = "empirical-bayes",
    ) -> Itemsets:
        """Find frequent itemsets, with what is certain and what is expected of their supports; nothing is drawn.

        They come by falling expected support (to six digits behind the point; or by what is certain, with
        ``by="lower"``), those of the same by size, and those of the same size by their terms. Unless ``min_support`` or
        ``min_count`` says otherwise, one record at least is expected to hold each. The columns are ``itemset``,
        ``lower``, ``expected`` and ``upper``.

        Args:
            top: This many itemsets, or all if there are fewer.
            min_support: Only itemsets in at least this share of the records, above 0 and up to 1.
            min_count: Only itemsets in at least so many records. All three may be left out but one; with ``top``, one
                of the other two may be given as well.
            max_length: Only itemsets of up to so many terms.
            by: What itemsets are frequent by: "expected" or "lower".
            model: What expectations assume, as for :meth:`support`.

        Examples:
            >>> import disassociation as da
            >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2, k=2, m=2)
            >>> found = release.itemsets(top=2)
            >>> list(found)[1]
            {'itemset': ['milk'], 'lower': 3, 'expected': 3.0, 'upper': 3}
        """
        from disassociation.release_itemsets import itemsets_of

        return itemsets_of(
            self,
            top=top,
            min_support=min_support,
            min_count=min_count,
            max_length=max_length,
            by=by,
            model=model,
        )

    @cached_property
    def _ground(self) -> Ground:
        """The release laid out for counting."""
        from disassociation.support import lay_ground

        return lay_ground(self)

    @cached_property
    def _law(self) -> Law:
        """The law of the model "independent"."""
        from disassociation.support import find_law

        return find_law(self)

    @cached_property
    def _estimator(self) -> Estimator:
        """What the model "empirical-bayes" learns from the release."""
        from disassociation.estimator import fit_release

        return fit_release(self)

    def reconstruct(self, random_state: int = 0, model: str = "independent") -> Transactions:
        """Draw a possible original at random: records from which this very release could have been made.

        Records come in random order. The same ``random_state`` gives the same records, on every machine. The law they
        are drawn by is in docs/estimates.md; for several, ``disassociation.reconstruct.Originals`` does once what all
        draws have in common.

        Raises:
            GuaranteeError: The release does not keep its guarantee, and has no possible original.

        Examples:
            >>> import disassociation as da
            >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2, k=2, m=2)
            >>> release.reconstruct(random_state=1)
            <Transactions: 5 records, 3 terms, 10 occurrences>
        """
        from disassociation.reconstruct import Originals

        return Originals.of(self, model).draw(random_state)

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
