"""The possible-worlds oracle: what a release leaves open, decided exactly (definitions: docs/guarantee.md).

Three ways to the same answer, checked against each other: ``every_world`` enumerates, ``records_with`` asks a maximum
flow, ``records_anywhere`` an integer programme. Releases have to meet S1; nothing else is assumed of them.
"""

from worlds.brute import every_world, most_records
from worlds.exact import counterexample, holds_for, holds_guarantee, is_possible, records_with
from worlds.programme import records_anywhere

__all__ = [
    "counterexample",
    "every_world",
    "holds_for",
    "holds_guarantee",
    "is_possible",
    "most_records",
    "records_anywhere",
    "records_with",
]
