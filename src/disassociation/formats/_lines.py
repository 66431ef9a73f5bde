"""Writing text: which terms a format cannot hold, and joining those it can."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import BinaryIO

import pyarrow.compute as pc

from disassociation.errors import ParameterError
from disassociation.records import Transactions

_TOGETHER = 4096  # records joined before they are written


def refuse_terms(data: Transactions, pattern: str, format_name: str, what: str, instead: str) -> None:
    """Raise an error if a term matches ``pattern`` (RE2), which ``what`` says in words."""
    refused = pc.sum(pc.match_substring_regex(data.vocabulary, pattern)).as_py()
    if refused:
        raise ParameterError(
            f"format {format_name}: cannot hold a term {what}, and {refused:,} are so; use format {instead}"
        )


def write_lines(sink: BinaryIO, data: Transactions, names: Sequence[str], sep: str) -> None:
    """Write a line a record: the names of its terms, joined."""
    offsets = data.offsets.tolist()
    for first in range(0, len(data), _TOGETHER):
        last = min(first + _TOGETHER, len(data))
        start = offsets[first]
        tokens = [names[code] for code in data.items[start : offsets[last]].tolist()]
        bounds = offsets[first : last + 1]
        lines = [sep.join(tokens[low - start : high - start]) for low, high in pairwise(bounds)]
        sink.write(("\n".join(lines) + "\n").encode())
