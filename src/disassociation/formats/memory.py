"""Records that are in memory already."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from disassociation.formats._collect import Collector
from disassociation.records import Transactions


def read(source: Iterable[Iterable[Hashable]]) -> Transactions:
    """Read any iterable of iterables of hashable values."""
    records = Collector("data")
    for record in source:
        records.add(record)
    return records.transactions()
