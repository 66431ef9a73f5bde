"""The records that a release is said to be of, taken from any library that speaks Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from disassociation.auditor.kernels_records import Sets, as_sets, distinct_sets, hashes_of
from disassociation.errors import InputError

__all__ = ["GivenRecords", "read_records"]

_ROWS_AT_ONCE = 1 << 18
_TEXT = pa.large_string()
_FIX = "give the records that da.read returns"


class GivenRecords(NamedTuple):
    """The records that are not empty, terms as the release's codes, -1 for one that the release has not."""

    starts: NDArray[np.int64]  # (records + 1,)
    items: NDArray[np.int32]
    unknown: pa.Array  # the terms that the release has not, each once

    def distinct(self) -> Sets:
        """The records as sets, in an order that their contents decide; equal ones are one."""
        order = np.argsort(hashes_of(self.starts, self.items), kind="stable")
        found: Sets = distinct_sets(self.starts, self.items, order)
        return found


def read_records(original: Any, terms: pa.StringArray) -> GivenRecords:
    """Read every record once; those without a term are left out, and a term twice in a record counts once."""
    known = terms.cast(_TEXT)
    lengths, codes = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    unknown = [pa.array([], _TEXT)]
    for column in _columns(original):
        values = column.flatten()
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        names = values.dictionary.cast(_TEXT)
        if values.null_count or names.null_count:
            raise InputError("original: a term is missing; leave such entries out")
        numbers = pc.index_in(names, known)
        here = values.indices.to_numpy(zero_copy_only=False)
        used = pa.array(np.unique(here))
        unknown.append(names.take(used).filter(numbers.take(used).is_null()))
        places = numbers.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        codes.append(places[here] if len(here) else codes[0])
        lengths.append(pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    missing = pc.unique(pa.concat_arrays(unknown))
    sets, items = as_sets(starts, np.concatenate(codes))
    return GivenRecords(sets, items, missing)


def _columns(original: Any) -> Iterator[Any]:
    """The records as Arrow lists of text, some at a time."""
    if hasattr(original, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(original)
        if len(reader.schema) != 1 or not _is_list_of_text(reader.schema[0].type):
            raise InputError(f"original: not one column of lists of text; {_FIX}")
        for batch in reader:
            for first in range(0, len(batch), _ROWS_AT_ONCE):
                yield batch.column(0).slice(first, _ROWS_AT_ONCE)
        return
    if isinstance(original, str | bytes) or not isinstance(original, Iterable):
        raise InputError(f"original: neither a table that speaks Arrow nor records; {_FIX}")
    records = iter(original)
    while some := [_as_record(record) for record in islice(records, _ROWS_AT_ONCE)]:
        yield pa.array(some, pa.large_list(_TEXT))


def _as_record(record: Any) -> list[str]:
    if isinstance(record, str | bytes) or not isinstance(record, Iterable):
        raise InputError(f"original: a record is not a collection of terms; {_FIX}")
    terms = list(record)
    if not all(isinstance(term, str) for term in terms):
        raise InputError(f"original: a term is not text; {_FIX}")
    return terms


def _is_list_of_text(kind: pa.DataType) -> bool:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    value = kind.value_type.value_type if pa.types.is_dictionary(kind.value_type) else kind.value_type
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value))
