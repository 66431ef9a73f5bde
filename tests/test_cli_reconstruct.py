"""``disassociate reconstruct``: one file or several, all of them or none, one line for every mistake."""

from __future__ import annotations

import json
import resource
import signal
import time
from pathlib import Path
from unittest import mock

import pytest

import disassociation as da
from commands import Outcome, call, contents, run, start
from published import publish, write
from test_reconstruct import MIXED

SECRET = [["SECRETa", "SECRETb", "SECRETc"]] * 4 + [["SECRETa", "SECRETd"], ["SECRETb", "SECRETc"], ["SECRETd"]]


@pytest.fixture(autouse=True)
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> da.Release:
    """A directory with a release in it."""
    monkeypatch.chdir(tmp_path)
    made = da.disassociate(SECRET, k=2, m=2, max_cluster_size=4)
    made.save("in.release")
    return made


def drawn(*options: object) -> Outcome:
    """Run the command; it must not fail."""
    answer = call("reconstruct", "in.release", *options)
    assert answer.code == 0, answer.err
    return answer


def test_one_file(release: da.Release) -> None:
    """What Python draws by the same number."""
    answer = drawn("-o", "out.dat", "--random-state", 7)
    assert answer.out == b""
    expected = release.reconstruct(random_state=7)
    assert list(da.read("out.dat")) == list(expected)
    assert answer.err == f"out.dat: 7 records, 4 terms, {len(expected.items)} occurrences\n"


def test_several_files(release: da.Release) -> None:
    """Numbered from one, so that they sort; each is what its own number gives alone."""
    before = set(Path().iterdir())
    answer = drawn("-o", "out.csv.gz", "-n", 10, "--random-state", 3)
    names = [f"out-{i:02}.csv.gz" for i in range(1, 11)]
    assert sorted(path.name for path in set(Path().iterdir()) - before) == names
    for i, name in enumerate(names):
        assert list(da.read(name)) == list(release.reconstruct(random_state=3 + i))
    assert [line.partition(":")[0] for line in answer.err.splitlines()] == names
    drawn("-o", "one", "-n", 2, "--format", "json")
    assert Path("one-1").read_bytes().startswith(b"[")
    drawn("-o", "a.b.json", "-n", 2)
    assert Path("a.b-2.json").exists()


FORMATS = {
    "fimi": "x.dat",
    "basket": "x.csv",
    "long": "x.long",
    "list": "x.parquet",
    "spmf": "x.spmf",
    "json": "x.json",
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(format: str, release: da.Release) -> None:  # noqa: A002
    """Read back, it is what was drawn."""
    drawn("-o", FORMATS[format], "--format", format)
    columns = {"transaction": "transaction", "item": "item"} if format == "long" else {}
    found = da.read(FORMATS[format], format=format, **columns)  # type: ignore[arg-type]
    assert list(found) == list(release.reconstruct())


def test_standard_output() -> None:
    """One data set, and nothing else."""
    drawn("-o", "out.csv", "--sep", ";")
    assert b";" in Path("out.csv").read_bytes()
    answer = drawn("-o", "-", "--format", "basket", "--sep", ";")
    assert answer.out == Path("out.csv").read_bytes()
    assert answer.err.startswith("stdout: 7 records")


def test_an_object_for_programs(release: da.Release) -> None:
    """Which file has what, and no term."""
    answer = drawn("-o", "out.dat", "-n", 2, "--json", "--random-state", 5, "--model", "independent")
    assert b"SECRET" not in answer.out
    data = [release.reconstruct(5 + i) for i in range(2)]
    assert json.loads(answer.out) == {
        "release": "in.release",
        "model": "independent",
        "data_sets": [
            {
                "file": f"out-{i + 1}.dat",
                "random_state": 5 + i,
                "records": 7,
                "terms": 4,
                "occurrences": len(data[i].items),
            }
            for i in range(2)
        ],
    }


def test_files_that_are_there() -> None:
    """They are replaced only if that is asked for; and if one is there, none is written."""
    Path("out-2.dat").write_text("mine")
    before = contents(Path())
    for options in (("-o", "out.dat", "-n", 3), ("-o", "out-2.dat")):
        answer = call("reconstruct", "in.release", *options)
        assert answer.code == 2
        assert "out-2.dat: exists already" in answer.err
        assert contents(Path()) == before
    drawn("-o", "out.dat", "-n", 3, "--overwrite")
    assert Path("out-2.dat").read_text() != "mine"
    assert {path.name for path in Path().iterdir()} == {"in.release", "out-1.dat", "out-2.dat", "out-3.dat"}


WRONG = [
    ("in.release -o out.dat -n 0", "-n must be at least 1, not 0"),
    ("in.release -o out.dat --random-state -1", "random_state must be at least 0, not -1"),
    ("in.release -o out.dat --model guess", "unknown model; choose one of independent, empirical-bayes"),
    ("in.release -o - -n 2", "-o -: stdout takes one data set and nothing else; give a file"),
    ("in.release -o - --format json --json", "-o -: stdout takes one data set and nothing else; give a file"),
    ("in.release -o - ", "the name does not tell the format"),
    ("in.release -o out -n 2", "out-1: the name does not tell the format"),
    ("in.release -o out.dat --format long -n 2 --sep ::", "--sep: a separator is one ASCII character"),
    ("in.release -o no/out.dat", "no/out.dat: cannot be written"),
    ("in.release -o no/out.dat -n 2", "no: cannot be written (No such file or directory); check the path"),
    ("in.release -o folder", "the name does not tell the format"),
    ("in.release", "Missing option"),
    ("no.release -o out.dat", "no.release: "),
    ("broken -o out.dat", "cluster 0: a record would be empty in what this release could have been made from"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_usage(options: str, message: str, tmp_path: Path) -> None:
    """One line, which shows no term, and nothing is left; code 1 only if the guarantee does not hold."""
    import naive

    leaf = naive.Leaf(3, ((frozenset(["SECRETa"]),), (frozenset(["SECRETb"]),)), frozenset())
    write(publish((leaf,), 2, 2), tmp_path / "broken")
    (tmp_path / "folder").mkdir()
    before = contents(Path())
    answer = call("reconstruct", *options.split())
    assert (answer.code, answer.out) == (1 if "broken" in options else 2, b"")
    assert answer.err.count("\n") == 1
    assert message in answer.err
    assert "SECRET" not in answer.err
    assert ".partial" not in answer.err
    assert contents(Path()) == before


def test_terms_that_a_format_cannot_hold(tmp_path: Path) -> None:
    """The message speaks of the file that was asked for, not of where it was to be written first."""
    da.disassociate([["SECRET a", "b"]] * 4, k=2, m=2).save("blanks.release")
    before = contents(Path())
    for options in (("-n", 2), ()):
        answer = call("reconstruct", "blanks.release", "-o", "out.dat", *options)
        assert answer.code == 2
        assert ".partial" not in answer.err
        assert "SECRET" not in answer.err
        assert contents(Path()) == before


def test_a_file_that_cannot_be_put_in_place() -> None:
    """Those already there are taken back."""
    before = contents(Path())
    replace = Path.replace

    def fail_at_the_third(self: Path, target: str) -> Path:
        if str(target) == "out-3.dat":
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    with mock.patch.object(Path, "replace", fail_at_the_third):
        answer = call("reconstruct", "in.release", "-o", "out.dat", "-n", 4)
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "out-3.dat: No space left on device" in answer.err
    assert contents(Path()) == before


def test_a_disk_that_fills_up() -> None:
    """Nothing is left of any of the files."""
    before = contents(Path())
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))  # noqa: E731
    answer = run("reconstruct", "in.release", "-o", "out.dat", "-n", 3, preexec_fn=limit)
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert contents(Path()) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping(number: signal.Signals, tmp_path: Path) -> None:
    """Between two of many files."""
    before = contents(Path())
    process = start(["reconstruct", "in.release", "-o", "out.dat", "-n", 100_000])
    while process.poll() is None and not list(tmp_path.glob(".out*.partial/*.dat")):
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"disassociate: stopped; no partial output is left\n")
    assert contents(Path()) == before


def test_releases_of_others(tmp_path: Path) -> None:
    """With shared chunks that this program would not make."""
    write(publish((MIXED,), 2, 2), tmp_path / "mixed.release")
    assert call("reconstruct", "mixed.release", "-o", "out.dat").code == 0
    assert len(da.read("out.dat")) == 10
