"""Batches of Arrow rows as arrays, terms as codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from disassociation.errors import FormatError

__all__ = ["Lexicon", "Lists", "whole_numbers"]


class Lists(NamedTuple):
    """Lists of terms of consecutive rows."""

    lengths: NDArray[np.int64]  # a missing list is empty
    missing: NDArray[np.bool_]
    codes: NDArray[np.int32]


class Lexicon:
    """Numbers terms, first as they come; once all have been met, by their UTF-8 bytes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._terms = pa.array([], pa.string())
        self._settled = False
        self._last: tuple[pa.Array, NDArray[np.int32]] | None = None

    @property
    def terms(self) -> pa.StringArray:
        """The terms by code."""
        return self._terms

    def settle(self) -> NDArray[np.int32]:
        """Number the terms in their canonical order; returns the new code of each old one."""
        order = pc.sort_indices(self._terms)
        places = np.empty(len(order), np.int32)
        places[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
        self._terms, self._settled, self._last = self._terms.take(order), True, None
        return places

    def read(self, column: pa.Array) -> Lists:
        """Take a column of lists apart."""
        lengths = pc.list_value_length(column)
        missing = lengths.is_null().to_numpy(zero_copy_only=False)
        values = column.flatten()
        if values.null_count:
            raise FormatError(f"{self._name}: a term is missing; get a fresh copy of the release")
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        numbers = self._numbers(values.dictionary)
        places = values.indices.to_numpy(zero_copy_only=False)
        if len(places) and not 0 <= places.min() <= places.max() < len(numbers):
            raise FormatError(f"{self._name}: a term is not in the file's dictionary; get a fresh copy of the release")
        codes = numbers[places] if len(places) else np.empty(0, np.int32)
        whole = lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        return Lists(whole, np.array(missing, np.bool_), codes)

    def _numbers(self, dictionary: pa.Array) -> NDArray[np.int32]:
        """The code of each entry of a dictionary, which is often the same from batch to batch."""
        if self._last is not None and self._last[0].equals(dictionary):
            return self._last[1]
        if not self._settled:
            try:
                dictionary.validate(full=True)
            except pa.ArrowInvalid as error:
                raise FormatError(
                    f"{self._name}: a term is not valid UTF-8; get a fresh copy of the release"
                ) from error
            self._terms = pc.unique(pa.concat_arrays([self._terms, dictionary.cast(pa.string())]))
        codes = pc.index_in(dictionary, self._terms)
        if codes.null_count:
            raise FormatError(f"{self._name}: changed while it was read; try again")
        numbers: NDArray[np.int32] = codes.to_numpy(zero_copy_only=False).astype(np.int32)
        self._last = (dictionary, numbers)
        return numbers


def whole_numbers(name: str, batch: pa.RecordBatch, column: str) -> NDArray[Any]:
    """A column of numbers without gaps."""
    values = batch.column(column)
    if values.null_count:
        raise FormatError(f"{name}: a value is missing in column {column}; get a fresh copy of the release")
    return np.array(values.to_numpy(zero_copy_only=False))
