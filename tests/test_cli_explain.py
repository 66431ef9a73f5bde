"""``disassociate explain``: a table for people, an object for programs, no term but those asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import disassociation as da
from commands import Outcome, call

RECORDS = ["SECRETa SECRETb"] * 5 + ["SECRETa SECRETc"] * 2 + ["SECRETb SECRETc", "SECRETd"]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with a release, and what it was made from."""
    monkeypatch.chdir(tmp_path)
    Path("x.txt").write_text("\n".join(RECORDS) + "\n")
    da.disassociate([row.split() for row in RECORDS], k=3, m=2).save("x.release")


def explain(*options: object) -> Outcome:
    """Run the command; it must not fail."""
    answer = call("explain", "x.release", *options)
    assert answer.code == 0, answer.err
    return answer


def test_a_term_for_people() -> None:
    """Where it is, what is expected, and why."""
    answer = explain("SECRETd")
    assert answer.err == ""
    assert answer.out.decode().splitlines() == [
        "9 records, k = 3, m = 2; records with the term: at least 1, expected 1.67, at most 9",
        "where it is  clusters  records  at least  at most",
        "term chunks         1        9         1        9",
        "expected elsewhere than in one record or shared chunk: 1.67",
        "why, as far as the release tells (~: more than one reason is possible):",
        "  ~ 1 cluster: in its term chunk: fewer than k of their records hold it, unless it is sensitive or was moved "
        "there because too little is in record chunks (G2)",
        "    1 cluster: still there: joined with no other cluster (too little in common, Equation 1, too many records "
        "together, or no refining)",
    ]


def test_who_is_sensitive() -> None:
    """Told that, less is left open."""
    Path("one.txt").write_text("SECRETd\n")
    assert (
        "    1 cluster: in its term chunk: it is sensitive"
        in explain("SECRETd", "--sensitive", "one.txt").out.decode().splitlines()
    )
    Path("one.txt").write_text("another\n")
    assert "unless" not in explain("SECRETd", "--sensitive", "one.txt").out.decode()


def test_a_pair_with_the_original() -> None:
    """What keeps it apart, and other settings."""
    out = explain("SECRETa", "SECRETc", "--original", "x.txt", "--format", "basket", "--sep", " ", "--what-if")
    text = out.out.decode()
    assert "two record chunks" in text
    assert "1 cluster: apart in two record chunks: 1 to k - 1 of their records hold both; 2" in text
    assert "SECRET" not in text
    assert "elsewhere\n3  2            10" in text


def test_for_programs() -> None:
    """What Python gives."""
    answer = explain("SECRETb", "SECRETa", "--original", "x.txt", "--format", "fimi", "--json")
    assert answer.out.count(b"\n") == 1
    found = json.loads(answer.out)
    assert found.pop("release") == "x.release"
    data = da.read("x.txt", format="fimi")
    assert found == json.loads(
        json.dumps(da.explain(da.open_release("x.release"), ["SECRETa", "SECRETb"], original=data).to_dict())
    )
    assert [known["kind"] for known in found["known"]] == ["together"]


def test_parameters_that_it_was_made_with() -> None:
    """Sensitive terms, groups and cluster size are needed to make it again, and enough."""
    Path("sensitive.txt").write_text("SECRETc\n")
    Path("groups.txt").write_text("SECRETa SECRETb\n")
    made = ("-k", 3, "-m", 1, "--l", 3, "--sensitive", "sensitive.txt", "--max-cluster-size", 6, "--no-refine")
    files = ("--format", "fimi", "--keep-together", "groups.txt")
    assert call("anonymize", "x.txt", "-o", "y.release", *made, *files).code == 0
    options = ("--original", "x.txt", *made[6:], *files)
    answer = call("explain", "y.release", "SECRETc", *options, "--sensitive", "sensitive.txt")
    assert answer.code == 0, answer.err
    assert "kept in the term chunk: it is sensitive; 3" in answer.out.decode()
    answer = call("explain", "y.release", "SECRETc", "--original", "x.txt", "--format", "fimi")
    assert (answer.code, answer.out) == (2, b"")
    assert "needs its sensitive terms" in answer.err


def test_a_term_that_is_not_there() -> None:
    """A remark, and no more than that it is nowhere."""
    answer = explain("SECRET!")
    assert answer.err == "1 of the terms is not in the release\n"
    assert answer.out.decode().count("\n") == 1


WRONG = [
    ("x.release", "Missing argument"),
    ("no.release SECRETa", "no.release: not a release directory"),
    ("x.release SECRETa SECRETb SECRETc", "one term or two"),
    ("x.release SECRETa --what-if", "need --original"),
    ("x.release SECRETa --model SECRETb", "unknown model"),
    ("x.release SECRETa --original x.txt --format fimi --max-cluster-size 3", "do not make this release"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_usage(options: str, message: str) -> None:
    """Code 2 and one line, which shows no term."""
    answer = call("explain", *options.split())
    assert (answer.code, answer.out) == (2, b"")
    assert answer.err.count("\n") == 1
    assert message in answer.err
    assert "SECRET" not in answer.err
