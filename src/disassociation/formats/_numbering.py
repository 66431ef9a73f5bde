"""Values of Arrow columns to numbers, portion by portion, each distinct value looked at once a portion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from disassociation._kernels.tokens import Codes
from disassociation._types import Ids
from disassociation.errors import InputError


class Numbering:
    """Numbers texts, and what has only one text, in the order they come."""

    def __init__(self, source: str, *, whole: bool = True) -> None:
        """Numbers terms; if not ``whole``, record identifiers, for which any kind of number will do."""
        self._source = source
        self._whole = whole
        self._codes: dict[str, int] = {}
        self._dictionary: pa.Array | None = None  # the last one that was read
        self._numbers = np.empty(0, np.uint32)  # and the number of each of its values

    def __len__(self) -> int:
        return len(self._codes)

    def of(self, column: pa.Array) -> Codes:
        """Return one number for each value of a column that is not null."""
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        read_texts = self._reader(kind)
        if pa.types.is_null(kind):
            return np.empty(0, np.uint32)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        if self._dictionary is None or not encoded.dictionary.equals(self._dictionary):  # portions often share theirs
            codes = self._codes
            numbers = [codes.setdefault(text, len(codes)) for text in read_texts(encoded.dictionary)]
            self._dictionary, self._numbers = encoded.dictionary, np.array(numbers, np.uint32)
        places: Ids = encoded.indices.drop_null().to_numpy(zero_copy_only=False)
        return self._numbers[places]

    def names(self) -> pa.StringArray:
        """Every text so far, in the order of its number; with a dictionary, some may not occur."""
        return pa.array(list(self._codes), pa.string())

    def _reader(self, kind: pa.DataType) -> Callable[[pa.Array], list[Any]]:
        """How to make texts of values of this type."""
        types = pa.types
        if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind):
            return lambda values: values.to_pylist()
        if types.is_integer(kind):
            return lambda values: [str(value) for value in values.to_pylist()]
        if types.is_temporal(kind) or types.is_decimal(kind) or (types.is_floating(kind) and not self._whole):
            return lambda values: pc.cast(values, pa.string()).to_pylist()
        name = str(kind).split("<")[0]  # without the names of what is inside
        what = "terms" if self._whole else "record numbers"
        raise InputError(f"{self._source}: a column of type {name} cannot hold {what}; make it text or whole numbers")


def without_hidden_nulls(column: pa.Array) -> pa.Array:
    """Make a null inside a dictionary a null like any other."""
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        return column.dictionary_decode()
    return column
