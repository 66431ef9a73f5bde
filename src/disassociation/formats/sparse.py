"""A SciPy sparse matrix, a row a record and a column a term; SciPy itself is not needed for it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from disassociation import encode
from disassociation.errors import InputError
from disassociation.formats._collect import Collector
from disassociation.records import Transactions


def is_sparse(value: Any) -> bool:
    """Whether this is a sparse matrix or sparse array."""
    return hasattr(value, "tocsr") and hasattr(value, "shape")


def read_matrix(matrix: Any, labels: Iterable[Hashable] | None) -> Transactions:
    """Read the places that are not zero; without labels a term is the number of its column, from 0."""
    rows = matrix.tocsr()
    names = _texts(range(rows.shape[1]) if labels is None else labels, rows.shape[1])
    present = rows.data != 0
    places = np.concatenate([np.zeros(1, np.int64), np.cumsum(present, dtype=np.int64)])
    bounds = places[rows.indptr]
    codes = rows.indices[present].astype(np.uint32)
    used, names = encode.only_used(codes, names)
    return encode.transactions(used, bounds, names, source="matrix")


def _texts(labels: Iterable[Hashable], columns: int) -> pa.StringArray:
    texts = Collector("labels")
    for label in labels:
        texts.add([label])
    codes, _, names = texts.result()
    if len(codes) != columns:
        raise InputError(f"labels: there are {len(codes):,} for a matrix of {columns:,} columns; give one each")
    if len(names) != columns:
        raise InputError("labels: two are the same; give each column its own")
    return names
