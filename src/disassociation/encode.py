"""Terms to codes, by content only: a term's code is its rank in UTF-8 byte order, whatever was read first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from disassociation._kernels.occurrences import leading_bytes, settle
from disassociation._kernels.tokens import Codes
from disassociation._types import Ids, Offsets
from disassociation.errors import InputError
from disassociation.records import Transactions

__all__ = ["canonical_order", "only_used", "transactions"]

_BATCH = 1 << 17  # occurrences sorted together; their scratch space stays in the second-level cache


def transactions(codes: Codes, bounds: Offsets, names: pa.StringArray, *, source: str) -> Transactions:
    """Bring records with provisional codes into the canonical form.

    Both arrays are overwritten and become part of the result.

    Args:
        codes: (tokens,) indices into ``names``, repeats and any order allowed.
        bounds: (records + 1,) where each record begins in ``codes``, empty records allowed.
        names: (terms,) distinct, each occurring at least once, in any order.
        source: what to call the data in an error message.
    """
    if len(codes) == 0:
        if len(bounds) == 1:
            raise InputError(f"{source}: there are no records; give data with at least one")
        raise InputError(f"{source}: all {len(bounds) - 1:,} records are empty; give records that hold terms")
    order = canonical_order(names)
    longest = int(np.diff(bounds).max())
    room = min(len(codes), max(_BATCH, 8 * len(names), longest))
    kept = np.empty(2, np.int64)
    place, fill = np.empty(room, np.uint32), np.empty(min(len(bounds) - 1, max(room, _BATCH)), np.uint32)
    settle(codes, bounds, order.astype(np.uint32), place, fill, kept)
    occurrences, records = kept.tolist()
    return Transactions(
        offsets=bounds[: records + 1],
        items=codes[:occurrences].view(np.int32),
        vocabulary=names.take(pa.array(order)),
        repeated_tokens=len(codes) - occurrences,
        empty_records=len(bounds) - 1 - records,
    )


def canonical_order(names: pa.StringArray) -> Ids:
    """Sort distinct terms by their UTF-8 bytes: by the first eight as a number, and the few that share them in full.

    39,000 terms of five digits take 1.5 ms so, and 5.6 compared as texts.
    """
    _, offsets, text = names.buffers()
    bounds = np.frombuffer(offsets, np.int32)[names.offset : names.offset + len(names) + 1]
    content = np.frombuffer(text, np.uint8)[: bounds[-1]] if text else np.empty(0, np.uint8)
    heads = np.empty(len(names), np.uint64)
    leading_bytes(np.concatenate([content, np.zeros(8, np.uint8)]), bounds, heads)
    order = np.argsort(heads)
    same = heads[order[1:]] == heads[order[:-1]]
    if same.any():
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        several = order[tied]
        order[tied] = several[pc.array_sort_indices(names.take(pa.array(several))).to_numpy()]
    return order


def only_used(codes: Codes, names: pa.StringArray) -> tuple[Codes, pa.StringArray]:
    """Leave out the names that no code refers to, and renumber the codes."""
    used = np.zeros(len(names), np.bool_)
    used[codes] = True
    if used.all():
        return codes, names
    return (np.cumsum(used, dtype=np.uint32) - np.uint32(1))[codes], names.filter(pa.array(used))
