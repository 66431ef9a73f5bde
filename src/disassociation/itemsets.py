"""Frequent itemsets of records, exactly: the best so many, or all from some support on."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from disassociation._kernels.mining import mine
from disassociation._kernels.ranked import Ranked, rank_terms, weighted_supports
from disassociation._types import Ids, Offsets, Terms
from disassociation.errors import ParameterError
from disassociation.formats import read
from disassociation.params import require_whole

__all__ = [
    "CodedItemsets",
    "Itemsets",
    "Wanted",
    "frequent_itemsets",
    "in_order",
    "mine_records",
    "named",
    "wanted_itemsets",
]

_MOST_WANTED = 100_000_000
_LONGEST = (1 << 20) - 1  # what a key has room for; nobody can list all subsets of a record that long
_ALL = np.empty(0, np.int32)  # weights of records that stand for one each
_NO_HIERARCHY = np.empty((0, 2), np.int32)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Itemsets:
    """A table of itemsets, backed by Arrow and immutable; any library that speaks Arrow takes it as it is.

    Those of records, made by :func:`frequent_itemsets`, have the columns of mlxtend, ``support`` (a share of the
    records) and ``itemsets`` (the terms in UTF-8 byte order), and ``count``, the number of records. Those of a release
    have ``itemset``, ``lower``, ``expected`` and ``upper``.

    Examples:
        >>> import disassociation as da
        >>> found = da.frequent_itemsets([["bread", "milk"], ["bread", "milk", "gin"], ["gin"]], min_count=2)
        >>> found
        <Itemsets: 4 itemsets of 1 to 2 terms>
        >>> found.to_arrow().column_names
        ['support', 'itemsets', 'count']
        >>> [row["itemsets"] for row in found]
        [['bread'], ['gin'], ['milk'], ['bread', 'milk']]
    """

    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.table.to_batches(max_chunksize=1 << 14):
            yield from batch.to_pylist()

    def __repr__(self) -> str:
        if not len(self):
            return "<Itemsets: none>"
        sizes = self.sizes
        least, most = int(sizes.min()), int(sizes.max())
        some = f"{len(self):,} itemset{'' if len(self) == 1 else 's'}"
        return f"<Itemsets: {some} of {least if least == most else f'{least} to {most}'} term{'s' * (most > 1)}>"

    @property
    def sizes(self) -> Ids:
        """How many terms each itemset has."""
        lists = self.table.column(self._name_of_sets).combine_chunks()
        return np.asarray(lists.value_lengths().to_numpy(zero_copy_only=False), np.int64)

    @property
    def _name_of_sets(self) -> str:
        return "itemsets" if "itemsets" in self.table.column_names else "itemset"

    def to_arrow(self) -> pa.Table:
        """The table itself."""
        return self.table

    def to_pandas(self) -> Any:
        """A pandas frame, itemsets as frozen sets: what ``mlxtend.frequent_patterns.association_rules`` takes."""
        frame = self.table.to_pandas()
        frame[self._name_of_sets] = frame[self._name_of_sets].map(frozenset)
        return frame

    def to_polars(self) -> Any:
        """A polars frame, itemsets as lists; nothing is copied. Needs polars to be installed."""
        return importlib.import_module("polars").from_arrow(self.table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the table to any Arrow-speaking library (polars, pandas, DuckDB, pyarrow)."""
        return self.table.__arrow_c_stream__(requested_schema)


class Wanted(NamedTuple):
    """Which itemsets are asked for."""

    least: float  # records that have to hold one
    top: int  # how many at most; 0 for all
    longest: int  # terms that one may have


class CodedItemsets(NamedTuple):
    """Itemsets in codes: by falling count, then by size, then by codes."""

    offsets: Offsets  # (itemsets + 1,) where each begins in `items`
    items: Terms  # codes, rising within an itemset
    counts: Ids  # (itemsets,) records, or their weight


def frequent_itemsets(
    data: Any,
    *,
    top: int | None = None,
    min_support: float | None = None,
    min_count: int | None = None,
    max_length: int | None = None,
) -> Itemsets:
    """Find the itemsets that most records hold, with their exact supports.

    Itemsets come by falling count, those of the same count by size, and those of the same size by their terms in UTF-8
    byte order; ``top`` takes the first so many in that order, so ties at the last place are cut by content only. The
    order of the records never matters. The best 1,000 itemsets of a million records of ten terms take half a second.

    Args:
        data: Transactions, or anything :func:`disassociation.read` takes: a path, an iterable of iterables, a frame.
        top: This many itemsets, or all if there are fewer.
        min_support: Only itemsets in at least this share of the records, above 0 and up to 1.
        min_count: Only itemsets in at least so many records. All three may be left out but one; with ``top``, one of
            the other two may be given as well.
        max_length: Only itemsets of up to so many terms.

    Examples:
        >>> import disassociation as da
        >>> data = da.read([["bread", "milk"], ["bread", "milk", "gin"], ["bread"]])
        >>> found = da.frequent_itemsets(data, top=3)
        >>> [(row["itemsets"], row["count"]) for row in found]
        [(['bread'], 3), (['milk'], 2), (['bread', 'milk'], 2)]
        >>> len(da.frequent_itemsets(data, min_support=0.5, max_length=1))
        2
    """
    data = read(data)
    wanted = wanted_itemsets(len(data), top=top, min_support=min_support, min_count=min_count, max_length=max_length)
    found = mine_records(data.offsets, data.items, len(data.vocabulary), wanted)
    columns = {
        "support": pa.array(found.counts / len(data)),
        "itemsets": named(found, data.vocabulary),
        "count": pa.array(found.counts),
    }
    return Itemsets(pa.table(columns))


def wanted_itemsets(
    records: int,
    *,
    top: int | None = None,
    min_support: float | None = None,
    min_count: int | None = None,
    max_length: int | None = None,
) -> Wanted:
    """Check what is asked for; a share becomes the least count whose share is not below it."""
    if top is None and min_support is None and min_count is None:
        raise ParameterError("how many itemsets are wanted is not said; give top, min_support or min_count")
    if min_support is not None and min_count is not None:
        raise ParameterError("min_support and min_count say the same thing in two ways; give one of them")
    if top is not None:
        require_whole("top", top, 1, _MOST_WANTED)
    if max_length is not None:
        require_whole("max_length", max_length, 1)
    least = 1
    if min_count is not None:
        require_whole("min_count", min_count, 1)
        least = int(min_count)
    if min_support is not None:
        least = _least_count(min_support, records)
    return Wanted(least, int(top or 0), min(int(max_length or _LONGEST), _LONGEST))


def _least_count(share: float, records: int) -> int:
    """The least count whose share of the records, as it is computed, is not below the one asked for."""
    if isinstance(share, bool) or not isinstance(share, (int, float, np.number)) or not 0 < share <= 1:
        raise ParameterError("min_support must be a share of the records, above 0 and at most 1; or give min_count")
    least = max(1, math.ceil(share * records))
    if least > 1 and (least - 1) / records >= share:
        least -= 1
    return least if least / records >= share else least + 1


def mine_records(
    offsets: Offsets,
    items: Terms,
    terms: int,
    wanted: Wanted,
    *,
    weights: NDArray[np.int32] = _ALL,
    spans: NDArray[np.int32] = _NO_HIERARCHY,
) -> CodedItemsets:
    """Mine records in codes.

    Args:
        offsets: (records + 1,) where each record begins in ``items``.
        items: codes below ``terms``, in any order, distinct within a record.
        terms: how many codes there are.
        wanted: which itemsets to find.
        weights: (records,) how many records each one stands for, if not one.
        spans: (terms, 2) where the walk of a hierarchy enters and leaves each term; no itemset will hold a term and
            its ancestor.
    """
    supports = np.zeros(terms, np.int64)
    if len(weights):
        weighted_supports(offsets, items, weights, supports)
    else:
        supports += np.bincount(items, minlength=terms)
    order = np.argsort(-supports, kind="stable")
    least = math.ceil(wanted.least)
    if 0 < wanted.top <= terms:
        least = max(least, int(supports[order[wanted.top - 1]]))
    codes = order[: np.searchsorted(-supports[order], -least, side="right")].astype(np.int32)
    rank_of = np.full(terms, -1, np.int32)
    rank_of[codes] = np.arange(len(codes))
    bounds, ranked, begins, postings = rank_terms(offsets, items, rank_of, len(codes))
    weights = np.array(weights)  # what a kernel takes in a tuple has to be writable
    found = mine(
        Ranked(bounds, ranked, weights, begins, postings),
        supports[codes],
        spans[codes] if len(spans) else spans,
        least,
        wanted.top,
        wanted.longest,
    )
    return in_order(found.ends, codes[found.ranks], found.keys >> 20, wanted.top)


def in_order(ends: Ids, items: Terms, counts: Ids, top: int) -> CodedItemsets:
    """Sort itemsets, and the terms of each; drop what comes after the last one wanted."""
    sizes = np.diff(ends, prepend=0)
    longest = int(sizes.max(initial=0))
    last = np.iinfo(np.int32).max  # behind all terms
    padded = np.full((len(sizes), longest), last, np.int32)
    padded[np.arange(longest) < sizes[:, None]] = items
    padded.sort(axis=1)
    order = np.lexsort((*padded.T[::-1], sizes, -counts))
    if top:
        order = order[:top]
    padded = padded[order]
    return CodedItemsets(np.append(0, np.cumsum(sizes[order])), padded[padded != last], counts[order])


def named(found: CodedItemsets, vocabulary: pa.StringArray) -> pa.Array:
    """Itemsets as lists of terms."""
    return pa.LargeListArray.from_arrays(pa.array(found.offsets), vocabulary.take(pa.array(found.items)))
