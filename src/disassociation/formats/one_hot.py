"""A table of booleans, a column a term: read column by column, never as a whole matrix."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from disassociation import encode
from disassociation._kernels.occurrences import gather
from disassociation._kernels.tokens import Codes
from disassociation._types import Offsets
from disassociation.errors import InputError
from disassociation.formats._tables import Table
from disassociation.records import Transactions


def read_columns(table: Table, columns: tuple[str, ...]) -> Transactions:
    """Read a record a row: the names of the columns that are true."""
    if len(set(columns)) < len(columns):
        raise InputError(f"{table.name}: two columns have the same name; rename one")
    codes: list[Codes] = []
    sizes: list[Offsets] = []
    for batch in table.batches(columns):
        some, bounds = _read_batch(batch, table.name)
        codes.append(some)
        sizes.append(np.diff(bounds))
    bounds = np.concatenate([np.zeros(1, np.int64), *sizes]).cumsum()
    all_codes = np.concatenate(codes) if codes else np.empty(0, np.uint32)
    used, names = encode.only_used(all_codes, pa.array(columns, pa.string()))
    return encode.transactions(used, bounds, names, source=table.name)


def _read_batch(batch: pa.RecordBatch, source: str) -> tuple[Codes, Offsets]:
    rows = []
    for column in batch.columns:
        if column.null_count:
            raise InputError(f"{source}: a boolean column has missing values; fill them with false")
        rows.append(np.flatnonzero(column.to_numpy(zero_copy_only=False)).astype(np.uint32))
    lengths = [len(some) for some in rows]
    at = np.concatenate(rows)
    return by_row(at, np.repeat(np.arange(len(rows), dtype=np.uint32), lengths), batch.num_rows)


def by_row(rows: Codes, codes: Codes, count: int) -> tuple[Codes, Offsets]:
    """Bring codes that come with their row number, in any order, into the order of ``count`` rows."""
    bounds = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=bounds[1:])
    gathered = np.empty(len(codes), np.uint32)
    gather(rows, codes, bounds[:-1].copy(), gathered)
    return gathered, bounds
