"""``disassociate risk``: a table or JSON, nothing of the data in it, one line for every mistake."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import disassociation as da
from commands import Outcome, call

SECRET = [["SECRETa", "SECRETb", "SECRETc"]] * 4 + [["SECRETa", "SECRETd"], ["SECRETb", "SECRETc"], ["SECRETd"]]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with records in it."""
    monkeypatch.chdir(tmp_path)
    Path("in.dat").write_text("".join(" ".join(record) + "\n" for record in SECRET))


def run_risk(*options: object, stdin: bytes = b"") -> Outcome:
    """Run the command; it must not fail, and leave nothing behind."""
    before = set(Path().iterdir())
    answer = call("risk", *options, stdin=stdin)
    assert answer.code == 0, answer.err
    assert set(Path().iterdir()) == before
    return answer


def test_a_table_for_people() -> None:
    """What the result prints; the terms of examples only if asked for."""
    answer = run_risk("in.dat", "-k", 3, "--examples", 2)
    found = da.risk(SECRET, k=3, m=2, examples=2)
    assert answer.out.decode() == f"{found!r}\n"
    assert answer.err == "in.dat: read as fimi\n"
    assert answer.out.decode().splitlines()[-2:] == [
        "record 5: 1 term in 2 records",
        "record 7: 1 term in 2 records",
    ]
    shown = run_risk("in.dat", "-k", 3, "--examples", 2, "--show-values").out.decode()
    assert shown.splitlines()[-1] == "record 7: 1 term in 2 records: SECRETd"


def test_an_object_for_programs() -> None:
    """One line of JSON, the same numbers; terms only if asked for."""
    answer = run_risk("in.dat", "-k", 3, "-m", 3, "--json", "--examples", 1, "--sample", 2, "--random-state", 4)
    assert answer.out.count(b"\n") == 1
    assert b"SECRET" not in answer.out
    result = json.loads(answer.out)
    found = da.risk(SECRET, k=3, m=3, examples=1, sample=2, random_state=4)
    assert result == {"input": "in.dat", **found.to_dict()}
    assert result["smallest"] == {"1": 2, "2": 0, "3": 0, "none": 5}
    assert [level["terms"] for level in result["levels"]] == [1, 2, 3]
    assert result["levels"][0]["rare_sets"] == 1
    shown = json.loads(run_risk("in.dat", "-k", 3, "--json", "--examples", 1, "--show-values").out)
    assert shown["examples"][0]["terms"] == ["SECRETd"]


def test_it_reads_as_anonymize_does() -> None:
    """Standard input, compressed, columns and separators."""
    table = run_risk("in.dat").out
    assert run_risk("-", stdin=gzip.compress(Path("in.dat").read_bytes())).out == table
    rows = [f"{number};{term}" for number, record in enumerate(SECRET) for term in record]
    Path("long.csv").write_text("\n".join(["who;what", *rows]))
    columns = ("--transaction-column", "who", "--item-column", "what")
    assert run_risk("long.csv", "--format", "long", "--sep", ";", *columns).out == table


WRONG = [
    ("in.dat -k 1", "k must be at least 2, not 1"),
    ("in.dat -m 0", "m must be at least 1, not 0"),
    ("in.dat --sample 0", "sample must be at least 1, not 0"),
    ("in.dat --examples -1", "examples must be at least 0, not -1"),
    ("in.dat --show-values", "ask for some with --examples"),
    ("in.dat --threads 0", "threads must be at least 1, not 0"),
    ("in.dat --random-state -1", "random_state must be at least 0, not -1"),
    ("in.dat --sep ::", "--sep: a separator is one ASCII character"),
    ("no.dat", "no.dat: no such file"),
    ("empty.dat", "empty.dat: the file is empty"),
    ("in.dat --turbo", "No such option: --turbo"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_usage(options: str, message: str) -> None:
    """Code 2 and one line, which shows no term."""
    Path("empty.dat").touch()
    answer = call("risk", *options.split())
    assert (answer.code, answer.out) == (2, b"")
    assert answer.err.count("\n") == 1
    assert message in answer.err
    assert "SECRET" not in answer.err
