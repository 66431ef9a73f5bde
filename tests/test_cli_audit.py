"""``disassociate audit --original``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import call
from disassociation.auditor import undecided
from published import write
from test_auditor_original import ALIKE, ALIKE_RECORDS

LINES = ["secret bread", "secret bread", "secret", "bread milk", "milk", "milk bread"] * 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file of records and the release made of it."""
    (tmp_path / "data.dat").write_text("\n".join(LINES) + "\n")
    assert call("anonymize", tmp_path / "data.dat", "-k", 2, "-m", 2, "-o", tmp_path / "release").code == 0
    return tmp_path


def test_its_own_records(folder: Path) -> None:
    """S0 holds, and what is reached is told; from stdin too."""
    answer = call("audit", folder / "release", "--original", folder / "data.dat")
    assert answer.code == 0
    text = answer.out.decode()
    assert "  S0     holds     the release is one of the original" in text
    assert "with the original, divided as it can be:" in text
    assert "secret" not in text
    piped = call("audit", folder / "release", "--original", "-", stdin=(folder / "data.dat").read_bytes())
    assert (piped.code, piped.out) == (0, answer.out)


def test_as_json(folder: Path) -> None:
    """One object, with the condition and the numbers."""
    answer = call("audit", folder / "release", "--original", folder / "data.dat", "--json")
    found = json.loads(answer.out)
    assert (answer.code, found["holds"], found["conditions"]["S0"]) == (0, True, True)
    assert found["reached"]["grouping"] == "found"
    assert found["reached"]["forced_records"] <= len(LINES)
    assert json.loads(call("audit", folder / "release", "--json").out)["reached"] is None


@pytest.mark.parametrize("lines", [LINES[:-1], [*LINES[:-1], "secret milk"], [*LINES[:-1], "secret strange"]])
def test_other_records(folder: Path, lines: list[str]) -> None:
    """Refused with exit code 1; terms are shown only if asked for."""
    (folder / "other.dat").write_text("\n".join(lines) + "\n")
    answer = call("audit", folder / "release", "--original", folder / "other.dat")
    assert answer.code == 1
    text = answer.out.decode()
    assert text.splitlines()[0].endswith("the guarantee holds, BUT THIS IS NO RELEASE OF THE GIVEN RECORDS")
    assert "  S0     VIOLATED" in text
    assert "secret" not in text
    assert "strange" not in text
    found = json.loads(call("audit", folder / "release", "--original", folder / "other.dat", "--json").out)
    assert found["conditions"]["S0"] is False
    assert found["reached"]["grouping"] == "none exists"
    assert "itemset" not in found["violations"][0]


def test_other_formats(folder: Path) -> None:
    """The original is read like any records."""
    (folder / "data.csv").write_text("\n".join(line.replace(" ", ";") for line in LINES) + "\n")
    arguments = ("--format", "basket", "--sep", ";")
    assert call("audit", folder / "release", "--original", folder / "data.csv", *arguments).code == 0


def test_an_original_that_cannot_be_read(folder: Path) -> None:
    """Exit code 2 and one line."""
    (folder / "broken.dat").write_bytes(b"secret \xff\n")
    for name in ("broken.dat", "nothing.dat"):
        answer = call("audit", folder / "release", "--original", folder / name)
        assert (answer.code, answer.out) == (2, b"")
        assert answer.err.count("\n") == 1
        assert "secret" not in answer.err


def test_what_is_too_hard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said; the exit code is that of the release alone."""
    monkeypatch.setattr(undecided, "_WORK", 0)
    release = write(ALIKE, tmp_path / "release")
    (tmp_path / "data.dat").write_text("".join(" ".join(record) + "\n" for record in ALIKE_RECORDS))
    answer = call("audit", release, "--original", tmp_path / "data.dat")
    assert answer.code == call("audit", release).code
    assert b"S0     not decided: too hard to find out" in answer.out
    assert b"with the original" not in answer.out
