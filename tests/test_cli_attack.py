"""``disassociate attack``: tables or JSON, nothing of the data in them, one line for every mistake."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import disassociation as da
import naive
from commands import Outcome, call, contents
from published import publish, write

SECRET = [["SECRETa", "SECRETb", "SECRETc"]] * 4 + [["SECRETa", "SECRETd"], ["SECRETb", "SECRETc"], ["SECRETd"]]
OTHER = [*SECRET[:5], ["SECRETe", "SECRETa"], ["SECRETe"]]
ATTACK = ("attack", "a.release", "--original", "a.dat")
SECOND = ("--second", "b.release", "--second-original", "b.dat")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with two files of records, and releases of them."""
    monkeypatch.chdir(tmp_path)
    for name, records in (("a", SECRET), ("b", OTHER)):
        Path(f"{name}.dat").write_text("".join(" ".join(record) + "\n" for record in records))
        da.disassociate(records, k=2, m=2).save(f"{name}.release")


def run_attack(*options: object, stdin: bytes = b"") -> Outcome:
    """Run the command; it must not fail, nor change a file or leave one behind."""
    before = contents(Path())
    answer = call(*options, stdin=stdin)
    assert answer.code == 0, answer.err
    assert contents(Path()) == before
    return answer


def test_tables_for_people() -> None:
    """What the result prints, not too wide; the terms of examples only if asked for."""
    answer = run_attack(*ATTACK, "--examples", 2)
    release = da.open_release("a.release")
    found = da.attack(release, SECRET, examples=2)
    assert answer.out.decode() == f"{found!r}\n"
    assert answer.err == "a.dat: read as fimi\n"
    assert b"SECRET" not in answer.out
    text = answer.out.decode()
    assert [line.split(":")[0] for line in text.splitlines() if line[:4].isupper()] == [
        "LINKAGE",
        "EXPOSURE",
        "RE-JOINING",
    ]
    assert max(map(len, text.splitlines())) <= 120
    shown = run_attack(*ATTACK, "--examples", 2, "--show-values").out.decode()
    assert shown == found.to_text(show_values=True) + "\n"
    assert sum("SECRET" in line for line in shown.splitlines()) == 2


def test_an_object_for_programs() -> None:
    """One line of JSON, the same numbers; terms only if asked for."""
    options = ("--victims", 5, "--most-terms", 2, "--confidence", 0.5, "--random-state", 3, "--threads", 1)
    answer = run_attack(*ATTACK, *options, "--examples", 1, "--json")
    assert answer.out.count(b"\n") == 1
    assert b"SECRET" not in answer.out
    result = json.loads(answer.out)
    release = da.open_release("a.release")
    found = da.attack(release, SECRET, victims=5, most_terms=2, confidence=0.5, random_state=3, examples=1)
    assert result == {
        "release": "a.release",
        "original": "a.dat",
        **json.loads(json.dumps(found.to_dict())),
    }
    assert [row["terms"] for row in result["linkage"]] == [1, 2] * 3
    assert result["linkage"][0]["release"].keys() == {"least", "low", "median", "below_k", "chance"}
    assert result["second"] is None
    shown = json.loads(run_attack(*ATTACK, *options, "--examples", 1, "--json", "--show-values").out)
    assert shown["examples"][0]["terms"] == list(found.examples[0].terms)


def test_two_releases() -> None:
    """The second with its original; the warning comes first."""
    found = da.attack("a.release", SECRET, second=("b.release", OTHER))
    answer = run_attack(*ATTACK, *SECOND)
    assert answer.out.decode() == f"{found!r}\n"
    assert answer.err.splitlines() == ["a.dat: read as fimi", "b.dat: read as fimi"]
    assert b"k^m-ANONYMITY DOES NOT COMPOSE" in answer.out
    result = json.loads(run_attack(*ATTACK, *SECOND, "--json").out)
    assert (result["second_release"], result["second_original"]) == ("b.release", "b.dat")
    assert result["second"]["common"] == 5
    assert len(result["second"]["rows"]) == 6


def test_it_reads_as_anonymize_does() -> None:
    """Standard input, compressed, columns and separators; repeated terms and empty records are counted."""
    table = run_attack(*ATTACK).out
    stdin = gzip.compress(b"\n" + Path("a.dat").read_bytes().replace(b"SECRETd", b"SECRETd SECRETd"))
    answer = run_attack("attack", "a.release", "--original", "-", stdin=stdin)
    assert answer.out == table
    assert "2 repeated tokens counted once" in answer.err
    assert "1 empty record" in answer.err
    rows = [f"{number};{term}" for number, record in enumerate(SECRET) for term in record]
    Path("long.csv").write_text("\n".join(["who;what", *rows]))
    columns = ("--transaction-column", "who", "--item-column", "what")
    assert run_attack(*ATTACK[:3], "long.csv", "--format", "long", "--sep", ";", *columns).out == table


def test_help_has_an_example() -> None:
    """A line that can be copied."""
    answer = run_attack("attack", "--help")
    assert "disassociate attack pos.release --original pos.dat" in " ".join(answer.out.decode().split())


def test_a_release_that_is_refuted(tmp_path: Path) -> None:
    """Code 1, whatever is printed."""
    forest = (naive.Leaf(3, ((frozenset("a"),) * 3,), frozenset()), naive.Leaf(1, (), frozenset("b")))
    write(publish(forest, 2, 1), tmp_path / "unsafe.release")
    Path("unsafe.dat").write_text("a\na\na\nb\n")
    answer = call("attack", "unsafe.release", "--original", "unsafe.dat")
    assert answer.code == 1
    assert "THE GUARANTEE DOES NOT HOLD" in answer.out.decode()
    answer = call("attack", "unsafe.release", "--original", "unsafe.dat", "--json")
    assert (answer.code, json.loads(answer.out)["refuted"]) == (1, True)


WRONG = [
    ("a.release", "Missing option"),
    ("a.release --original a.dat --victims 0", "victims must be at least 1, not 0"),
    ("a.release --original a.dat --most-terms 0", "most_terms must be at least 1, not 0"),
    ("a.release --original a.dat --confidence 2", "confidence must be a number above 0 and at most 1"),
    ("a.release --original a.dat --random-state -1", "random_state must be at least 0, not -1"),
    ("a.release --original a.dat --examples -1", "examples must be at least 0, not -1"),
    ("a.release --original a.dat --threads 0", "threads must be at least 1, not 0"),
    ("a.release --original a.dat --show-values", "ask for some with --examples"),
    ("a.release --original a.dat --second b.release", "--second and --second-original go together"),
    ("a.release --original a.dat --second-original b.dat", "--second and --second-original go together"),
    ("a.release --original - --second b.release --second-original -", "only one of --original and --second-original"),
    ("a.release --original a.dat --sep ::", "--sep: a separator is one ASCII character"),
    ("a.release --original no.dat", "no.dat: no such file"),
    ("a.release --original empty.dat", "empty.dat: the file is empty"),
    ("no.release --original a.dat", "no.release: not a release directory"),
    ("a.dat --original a.dat", "a.dat: not a release directory"),
    ("a.release --original b.dat", "the release has other terms than the original"),
    ("a.release --original short.dat", "the release has 7 records, the original 1"),
    ("a.release --original a.dat --second b.release --second-original a.dat", "other terms than the second original"),
    ("a.release --original a.dat --turbo", "No such option: --turbo"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_usage(options: str, message: str) -> None:
    """Code 2 and one line, which shows no term."""
    Path("empty.dat").touch()
    Path("short.dat").write_text("SECRETa SECRETb\n")
    answer = call("attack", *options.split())
    assert (answer.code, answer.out) == (2, b"")
    assert answer.err.count("\n") == 1
    assert message in answer.err
    assert "SECRET" not in answer.err
