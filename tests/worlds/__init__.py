"""The possible-worlds oracle: what a release leaves open, decided exactly (definitions: docs/guarantee.md).

Three ways to the same answer, checked against each other: ``every_world`` enumerates, ``records_with`` asks a maximum
flow, ``records_anywhere`` an integer programme. Releases have to meet S1; nothing else is assumed of them.
``faults_of_world`` tells a world from what is none, ``law_of_worlds`` how likely each is to be drawn.
"""

from worlds.brute import every_world, most_records
from worlds.exact import counterexample, holds_for, holds_guarantee, is_possible, records_with
from worlds.law import even_shares, is_mixed, law_of_worlds
from worlds.member import faults_of_world
from worlds.programme import records_anywhere

__all__ = [
    "counterexample",
    "even_shares",
    "every_world",
    "faults_of_world",
    "holds_for",
    "holds_guarantee",
    "is_mixed",
    "is_possible",
    "law_of_worlds",
    "most_records",
    "records_anywhere",
    "records_with",
]
