"""``disassociate support``: three numbers for people or programs, one line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import disassociation as da
import naive
from commands import Outcome, call
from published import publish, write

RECORDS = [["SECRETa", "SECRETb"]] * 3 + [["SECRETb", "SECRETc"]] * 2 + [["SECRETb", "SECRETd"]]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with a release in it."""
    monkeypatch.chdir(tmp_path)
    da.disassociate(RECORDS, k=3, m=2).save("x.release")


def count(*options: object) -> Outcome:
    """Run the command; it must not fail."""
    answer = call("support", "x.release", *options)
    assert answer.code == 0, answer.err
    return answer


def test_for_people() -> None:
    """The three numbers; a term twice is one term."""
    answer = count("SECRETb", "SECRETc", "SECRETb")
    found = da.open_release("x.release").support({"SECRETb", "SECRETc"})
    assert (found.lower, found.upper) == (1, 6)
    assert answer.err == ""
    assert answer.out.decode().splitlines() == [
        "x.release: records with 2 terms, of 6",
        "  at least  1",
        f"  expected  {found.expected:.2f}",
        "  at most   6",
    ]


def test_for_programs() -> None:
    """One object, the same numbers."""
    answer = count("SECRETb", "SECRETa", "--model", "independent", "--json")
    assert answer.out.count(b"\n") == 1
    assert json.loads(answer.out) == {
        "release": "x.release",
        "itemset": ["SECRETa", "SECRETb"],
        "unknown_terms": 0,
        "records": 6,
        "model": "independent",
        "lower": 3,
        "expected": 3.0,
        "upper": 3,
    }


def test_a_term_that_is_not_there() -> None:
    """In no record; that it may be a slip is said, but not what was asked for."""
    answer = count("SECRETb", "SECRET!")
    assert "at most   0" in answer.out.decode()
    assert answer.err == "1 of the terms is not in the release\n"
    answer = count("SECRETy", "SECRETz", "--json")
    assert answer.err == "2 of the terms are not in the release\n"
    found = json.loads(answer.out)
    assert [found[name] for name in ("unknown_terms", "lower", "expected", "upper")] == [2, 0, 0.0, 0]


WRONG = [
    ("x.release", "Missing argument"),
    ("no.release SECRETa", "no.release: not a release directory"),
    ("x.release SECRETa --model SECRETb", "unknown model; choose one of independent"),
    ("x.release SECRETa --turbo", "No such option: --turbo"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_usage(options: str, message: str) -> None:
    """Code 2 and one line, which shows no term."""
    answer = call("support", *options.split())
    assert (answer.code, answer.out) == (2, b"")
    assert answer.err.count("\n") == 1
    assert message in answer.err
    assert "SECRET" not in answer.err


def test_a_release_without_a_possible_original() -> None:
    """A leaf with a record that nothing fills breaks the guarantee: code 1, and what to do."""
    unfilled = naive.Leaf(3, ((frozenset(["SECRETa"]),) * 2,), frozenset())
    write(publish((unfilled,), 2, 1), Path("bad.release"))
    answer = call("support", "bad.release", "SECRETa")
    assert (answer.code, answer.out) == (1, b"")
    assert answer.err == (
        "disassociate: cluster 0: a record would be empty in what this release could have been made from, "
        "so it breaks its guarantee; audit it (disassociate audit)\n"
    )
