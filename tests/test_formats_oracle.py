"""What the readers should find, said slowly in plain Python; other test files import it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from disassociation.records import Transactions


def naive_fimi(content: bytes) -> list[list[str]]:
    """Every line a record, blanks between tokens."""
    return [[token for token in re.split(r"[ \t\v\f]", line) if token] for line in _lines(content)]


def naive_basket(content: bytes, sep: str) -> list[list[str]]:
    """Every line a record, separators between tokens; no quotes."""
    return [[token for token in line.split(sep) if token] for line in _lines(content)]


def _lines(content: bytes) -> list[str]:
    text = content.decode().removeprefix("\ufeff")
    lines = re.split(r"\r\n|\r|\n", text)
    return lines[:-1] if lines[-1] == "" else lines


def assert_holds(data: Transactions, records: Iterable[Sequence[str]]) -> None:
    """The data are these records: in this order, terms sorted by UTF-8, repeats and empty records counted."""
    wanted = list(records)
    data._check()
    assert list(data) == [tuple(sorted(set(record), key=str.encode)) for record in wanted if record]
    assert data.empty_records == sum(not record for record in wanted)
    assert data.repeated_tokens == sum(len(record) - len(set(record)) for record in wanted)


def test_naive_readers_on_literals() -> None:
    assert naive_fimi(b"a b\r\n\n b\ta ") == [["a", "b"], [], ["b", "a"]]
    assert naive_fimi(b"a\n\n") == [["a"], []]
    assert naive_basket(b"a b,,c\r,\n", ",") == [["a b", "c"], []]
