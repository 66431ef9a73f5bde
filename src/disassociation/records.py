"""Records in memory: sets of terms as offsets and codes, with the vocabulary that names the codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from disassociation._types import Offsets, Terms

__all__ = ["Transactions"]


@dataclass(frozen=True, slots=True, eq=False)
class Transactions:
    """Records, each a non-empty set of terms; immutable.

    Terms are strings, numbered by their rank in UTF-8 byte order, so codes depend on content only. Records keep the
    order they were read in; nothing published ever depends on it.

    Examples:
        >>> import disassociation as da
        >>> data = da.read([["bread", "milk"], ["milk", "milk"], []])
        >>> data
        <Transactions: 2 records, 2 terms, 3 occurrences>
        >>> list(data)
        [('bread', 'milk'), ('milk',)]
        >>> data.repeated_tokens, data.empty_records
        (1, 1)
    """

    offsets: Offsets  # (records + 1,) where each record begins in `items`
    items: Terms  # (occurrences,) codes, strictly rising within a record
    vocabulary: pa.StringArray  # (terms,) distinct, in UTF-8 byte order, each occurring at least once
    repeated_tokens: int = 0  # tokens dropped because their record already held the term
    empty_records: int = 0  # records dropped because they held no term

    def __post_init__(self) -> None:
        for array in (self.offsets, self.items):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        names = self.vocabulary.to_pylist()
        for start, stop in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield tuple(names[code] for code in self.items[start:stop].tolist())

    def __repr__(self) -> str:
        return f"<Transactions: {len(self):,} records, {len(self.vocabulary):,} terms, {len(self.items):,} occurrences>"

    @property
    def supports(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """In how many records each term of the vocabulary occurs."""
        return np.bincount(self.items, minlength=len(self.vocabulary)).astype(np.int64)

    def to_arrow(self) -> pa.Table:
        """One row a record, one column ``items`` of type ``list<string>``."""
        values = self.vocabulary.take(pa.array(self.items))
        return pa.table({"items": pa.LargeListArray.from_arrays(pa.array(self.offsets), values)})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the records to any Arrow-speaking library (polars, pandas, DuckDB, pyarrow)."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _check(self) -> None:
        """Assert every invariant; for tests and debugging."""
        assert self.offsets[0] == 0
        assert self.offsets[-1] == len(self.items)
        assert (np.diff(self.offsets) > 0).all(), "an empty record"
        rising = np.diff(self.items.astype(np.int64)) > 0
        boundaries = self.offsets[1:-1] - 1
        rising[boundaries] = True
        assert rising.all(), "terms of a record not strictly rising"
        names = [name.encode() for name in self.vocabulary.to_pylist()]
        assert names == sorted(set(names)), "vocabulary not in canonical order"
        assert (self.supports > 0).all() if len(names) else True, "a term that never occurs"
