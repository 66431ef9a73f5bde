"""``disassociate evaluate`` and ``disassociate itemsets``: a table or JSON, and one line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import disassociation as da
from commands import Outcome, call

SECRET = [["SECRETa", "SECRETb", "SECRETc"]] * 4 + [["SECRETa", "SECRETd"], ["SECRETb", "SECRETc"], ["SECRETd"]] * 2


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with records, a release of them and a hierarchy in it."""
    monkeypatch.chdir(tmp_path)
    Path("in.dat").write_text("".join(" ".join(record) + "\n" for record in SECRET))
    Path("tree.txt").write_text("".join(f"SECRET{letter};{'xy'[letter > 'b']};*\n" for letter in "abcd"))
    da.disassociate(SECRET, k=2, m=2).save("out.release")


def succeed(*options: object, stdin: bytes = b"") -> Outcome:
    """Run a command; it must not fail, and leave nothing behind."""
    before = set(Path().iterdir())
    answer = call(*options, stdin=stdin)
    assert answer.code == 0, answer.err
    assert set(Path().iterdir()) == before
    return answer


def test_a_table_of_measures() -> None:
    """What the result prints, and nothing of the data."""
    answer = succeed("evaluate", "in.dat", "out.release", "--reconstructions", 3, "--hierarchy", "tree.txt")
    found = da.evaluate(SECRET, "out.release", reconstructions=3, hierarchy="tree.txt")
    assert answer.out.decode() == f"{found!r}\n"
    assert "SECRET" not in answer.out.decode()
    assert answer.err == "in.dat: read as fimi\n"


def test_measures_for_programs() -> None:
    """One line of JSON, the same numbers; records from standard input."""
    options = ("--reconstructions", 2, "--random-state", 4, "--top", 6, "--json", "--format", "fimi")
    answer = succeed("evaluate", "-", "out.release", *options, stdin=Path("in.dat").read_bytes())
    assert answer.out.count(b"\n") == 1
    found = da.evaluate(SECRET, "out.release", reconstructions=2, random_state=4, top=6)
    assert json.loads(answer.out) == {"original": "-", "release": "out.release", **found.to_dict()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--reconstructions", -1), "reconstructions must be at least 0"),
        (("--top", 0), "top must be at least 1"),
        (("--hierarchy", "in.dat"), "the hierarchy lacks 4 of 4 terms"),
        (("--hierarchy", "nothing"), "nothing: no such file"),
        (("--random-state", -3), "random_state must be at least 0"),
    ],
)
def test_measures_that_cannot_be(options: tuple[object, ...], message: str) -> None:
    """One line, and no term in it."""
    answer = call("evaluate", "in.dat", "out.release", *options)
    assert (answer.code, answer.out) == (2, b"")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert "SECRET" not in answer.err


def test_a_list_of_itemsets() -> None:
    """In columns; terms that a terminal would not just show are quoted."""
    lines = succeed("itemsets", "out.release", "--top", 2).out.decode().splitlines()
    found = da.open_release("out.release").itemsets(top=2)
    assert lines[0] == "out.release: 2 itemsets by expected records, of 10"
    assert lines[1].split() == ["lower", "expected", "upper", "itemset"]
    assert [line.split(maxsplit=3)[3] for line in lines[2:]] == [", ".join(row["itemset"]) for row in found]
    da.disassociate([["a\x1b[2J", "b, c"]] * 3, k=2, m=2).save("odd.release")
    last = succeed("itemsets", "odd.release", "--min-count", 3, "--by", "lower").out.decode().splitlines()
    assert last[0] == "odd.release: 3 itemsets by certain records, of 3"
    assert last[-1].endswith('"a\\u001b[2J", b, c')


def test_itemsets_for_programs() -> None:
    """One object with all rows; a thousand itemsets unless something else is asked for."""
    result = json.loads(succeed("itemsets", "out.release", "--json").out)
    release = da.open_release("out.release")
    assert result["itemsets"] == list(release.itemsets(top=1000))
    assert (result["top"], result["records"], result["by"], result["model"]) == (
        1000,
        10,
        "expected",
        "empirical-bayes",
    )
    shares = json.loads(succeed("itemsets", "out.release", "--json", "--min-support", 0.3, "--max-length", 1).out)
    assert shares["itemsets"] == list(release.itemsets(min_support=0.3, max_length=1))
    assert shares["top"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--top", 0), "top must be at least 1"),
        (("--min-support", 2), "min_support must be a share"),
        (("--min-support", 0.5, "--min-count", 2), "give one of them"),
        (("--by", "luck"), "by must be 'expected' or 'lower'"),
        (("--model", "luck"), "unknown model"),
    ],
)
def test_itemsets_that_cannot_be(options: tuple[object, ...], message: str) -> None:
    """Said before the release is opened."""
    answer = call("itemsets", "nothing.release", *options)
    assert (answer.code, answer.out) == (2, b"")
    assert message in answer.err
    assert answer.err.count("\n") == 1
