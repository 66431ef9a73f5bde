"""The command line when all goes well: what is written, what is printed and where, and what the codes say."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

import disassociation as da
from commands import Outcome, call, contents, run, start
from disassociation.formats import FORMATS

SEED = 7


def make_rows() -> list[list[str]]:
    """Records that refine joins, with some terms together more often than others; numbers, for every format."""
    chance = random.Random(SEED)
    weights = [1 / (term + 1) for term in range(60)]
    return [sorted(set(chance.choices([str(t) for t in range(60)], weights, k=6))) for _ in range(400)]


RECORDS = make_rows()
ROWS = "".join(" ".join(record) + "\n" for record in RECORDS).encode()
TERMS = len({term for record in RECORDS for term in record})
SAID = "{}: read as fimi\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a directory to work in, with the records in a file."""
    (tmp_path / "in.dat").write_bytes(ROWS)
    (tmp_path / "sensitive").write_text("39\n51\r\nnot in the data\n")
    (tmp_path / "groups.dat").write_text("8 9\n10 11 12\n")
    monkeypatch.chdir(tmp_path)


def succeed(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run a command that must not fail."""
    answer = call(*arguments, stdin=stdin)
    assert answer.code == 0, answer.err
    return answer


def test_a_summary_for_people() -> None:
    """A title, and a value for each of six names; remarks are on the other stream."""
    answer = succeed("anonymize", "in.dat", "-o", "out")
    release = da.open_release("out")
    title, *lines = answer.out.decode().splitlines()
    assert title == "out: a release of 400 records, audited"
    values = {line[2:13].strip(): line[13:] for line in lines}
    assert list(values) == ["guarantee", "terms", "clusters", "in chunks", "audit", "time"]
    assert values["guarantee"] == "k = 5 candidates for whoever knows up to m = 2 terms"
    assert values["terms"] == f"{len(release.vocabulary)}, all of them kept"
    assert values["clusters"].startswith(f"{release.leaves} leaves of ")
    assert values["clusters"].endswith(f" records, {release.joint_clusters} joint clusters")
    assert release.joint_clusters > 0
    kept = sum(row["count"] * len(row["terms"]) for row in release.subrecords.to_pylist())
    assert values["in chunks"].startswith(f"{kept:,} of {sum(map(len, RECORDS)):,} term occurrences (")
    assert re.fullmatch(r"\d+\.\d+ s", values["time"])
    assert answer.err == SAID.format("in.dat")


def test_a_summary_for_programs() -> None:
    """With --json one object on one line, with the same members always."""
    answer = succeed("anonymize", "in.dat", "-o", "out", "--json", "-k", 3, "-m", "3")
    assert answer.out.count(b"\n") == 1
    result = json.loads(answer.out)
    release = da.open_release("out")
    assert result.pop("seconds") >= 0
    assert result == {
        "release": "out",
        "records": 400,
        "terms": len(release.vocabulary),
        "occurrences": sum(map(len, RECORDS)),
        "repeated_tokens": 0,
        "empty_records": 0,
        "k": 3,
        "m": 3,
        "l": None,
        "leaves": release.leaves,
        "joint_clusters": release.joint_clusters,
        "occurrences_in_chunks": sum(row["count"] * len(row["terms"]) for row in release.subrecords.to_pylist()),
    }
    assert answer.err == SAID.format("in.dat")


OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "-k 3 -m 1": {"k": 3, "m": 1},
    "-m 4": {"m": 4},
    "--no-refine": {"refine": False},
    "--method paper": {"method": "paper"},
    "--max-cluster-size 40": {"max_cluster_size": 40},
    "--sensitive sensitive": {"sensitive": ["39", "51"]},
    "--sensitive sensitive --l 20": {"sensitive": ["39", "51"], "l": 20},
    "--keep-together groups.dat": {"keep_together": [["8", "9"], ["10", "11", "12"]]},
}


def test_options_do_what_they_do_in_python() -> None:
    """Each makes the release that its parameter makes, and another than the others do."""
    releases = []
    for number, (options, parameters) in enumerate(OPTIONS.items()):
        succeed("anonymize", "in.dat", "-o", f"out{number}", *options.split())
        releases.append(da.open_release(f"out{number}"))
        assert releases[-1] == da.disassociate(RECORDS, **parameters), options
    assert not any(one == other for one, other in itertools.combinations(releases, 2))


@pytest.mark.parametrize("options", ["--threads 1", "--threads 2", "--threads 7", "--json", "--json-export x.json"])
def test_options_that_change_no_release(options: str) -> None:
    """The same files, byte for byte, however many threads there are and whatever is printed."""
    succeed("anonymize", "in.dat", "-o", "plain")
    succeed("anonymize", "in.dat", "-o", "other", *options.split())
    assert contents(Path("plain")) == contents(Path("other"))


def test_sensitive_terms_stay_alone() -> None:
    """They are in term chunks only, and the summary and the release say l; how many there are is remarked."""
    answer = succeed("anonymize", "in.dat", "-o", "out", "--sensitive", "sensitive", "--l", 20)
    release = da.open_release("out")
    assert release.l == 20
    assert b"m = 2 terms; sensitive terms in at most 1 of 20\n" in answer.out
    assert not any({"39", "51"} & set(row["terms"]) for row in release.subrecords.to_pylist())
    assert answer.err == SAID.format("in.dat") + "sensitive: 2 of 3 sensitive terms are in the data\n"


def test_standard_input() -> None:
    """The same release as from a file, compressed or not; several ways in, and nothing else is read from it."""
    succeed("anonymize", "in.dat", "-o", "out")
    for number, stdin in enumerate([ROWS, gzip.compress(ROWS), zstandard.compress(ROWS)]):
        answer = succeed("anonymize", "-", "-o", f"out{number}", stdin=stdin)
        assert answer.err == SAID.format("stdin")
        assert contents(Path(f"out{number}")) == contents(Path("out"))


def test_side_files_from_standard_input() -> None:
    """Sensitive terms can come that way as well."""
    answer = succeed("anonymize", "in.dat", "-o", "out", "--sensitive", "-", stdin=b"39\n51\n")
    assert da.open_release("out") == da.disassociate(RECORDS, sensitive=["39", "51"])
    assert answer.err.endswith("2 of 2 sensitive terms are in the data\n")


def test_the_json_export() -> None:
    """A document for people: in a file beside the usual summary, or on standard output instead of it."""
    to_file = succeed("anonymize", "in.dat", "-o", "out", "--json-export", "out.json")
    text = "".join(da.open_release("out").to_json())
    assert Path("out.json").read_text(encoding="utf-8") == text
    assert to_file.out.startswith(b"out: a release of 400 records")
    to_stdout = succeed("anonymize", "in.dat", "-o", "out2", "--json-export", "-")
    assert to_stdout.out.decode() == text
    assert json.loads(text)["records"] == 400
    assert to_stdout.err == SAID.format("in.dat")
    succeed("anonymize", "in.dat", "-o", "out3", "--json-export", "out.json.gz", "--json")
    assert gzip.decompress(Path("out.json.gz").read_bytes()).decode() == text


def test_overwriting() -> None:
    """An older release and export give way if asked to; nothing of them is left, nor anything temporary."""
    succeed("anonymize", "in.dat", "-o", "out", "--json-export", "out.json", "-k", 3)
    older = contents(Path("out"))
    options = ("anonymize", "in.dat", "-o", "out", "--json-export", "out.json")
    assert call(*options).code == 2
    assert contents(Path("out")) == older
    succeed(*options, "--overwrite")
    assert da.open_release("out").k == 5
    assert json.loads(Path("out.json").read_bytes())["k"] == 5
    assert {path.name for path in Path().iterdir()} == {"in.dat", "sensitive", "groups.dat", "out", "out.json"}


REMARKS = [
    ("x.csv", b"a,b\na\n" * 3, "", "x.csv: read as basket\n"),
    ("x.csv", b"basket,item\n1,a\n1,b\n2,a\n3,a\n4,b\n5,b\n", "", "x.csv: read as long\n"),
    ("x.jsonl", b'["a"]\n' * 5, "", "x.jsonl: read as list\n"),
    ("x", b"a\na\n" * 3, "", "x: read as fimi\n"),
    ("x.txt", b"a;b\n" * 5, "--sep ;", "x.txt: read as basket\n"),
    ("x.dat", b"a a b\n" * 5, "", "x.dat: read as fimi\n5 repeated tokens counted once\n"),
    ("x.dat", b"a b\n\n" * 1200, "", "x.dat: read as fimi\n1,200 empty records left out\n"),
    ("x.dat", b"a a\n\n" * 5, "--format fimi", "5 repeated tokens counted once\n5 empty records left out\n"),
    ("x.dat", b"a,b\n" * 5, "--format basket", ""),
    ("x.txt", b"caf\xe9\n" * 5, "--encoding latin-1", "x.txt: read as fimi\n"),
]


@pytest.mark.parametrize(("name", "content", "options", "remarks"), REMARKS)
def test_remarks(name: str, content: bytes, options: str, remarks: str) -> None:
    """What was taken for granted or left out is said, on the stream that no program reads as a result."""
    Path(name).write_bytes(content)
    answer = succeed("anonymize", name, "-o", "out", "--json", *options.split())
    assert answer.err == remarks
    result = json.loads(answer.out)
    assert remarks.count("repeated") == bool(result["repeated_tokens"])
    assert remarks.count("empty") == bool(result["empty_records"])


def test_columns_that_are_named() -> None:
    """A table whose columns have other names than the usual."""
    lines = ["what;who", *(f"{term};{number}" for number, record in enumerate(RECORDS) for term in record)]
    Path("x.csv").write_text("\n".join(lines))
    named = ("--transaction-column", "who", "--item-column", "what")
    succeed("anonymize", "in.dat", "-o", "out")
    assert succeed("anonymize", "x.csv", "-o", "out2", *named).err == SAID.format("x.csv").replace("fimi", "long")
    assert contents(Path("out")) == contents(Path("out2"))


FILES = ["fimi x.dat", "basket x.csv", "basket x.tsv", "long y.csv", "list x.jsonl", "list x.parquet", "list x.arrow",
         "spmf x.spmf", "quest x.quest", "json x.json"]  # fmt: skip


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("source", FILES)
def test_convert_from_every_format_to_every_format(source: str, compression: str) -> None:
    """And back to where it came from: the same records in the same order."""
    assert {file.split()[0] for file in FILES} == set(FORMATS)
    form, name = source.split()
    answer = succeed("convert", "in.dat", f"1{name}{compression}", "--to", form)
    assert answer.out == b""
    assert answer.err == SAID.format("in.dat") + f"1{name}{compression}: 400 records, {TERMS} terms\n"
    for target in FILES:
        to, other = target.split()
        succeed("convert", f"1{name}{compression}", f"2{other}{compression}", "--format", form, "--to", to)
        succeed("convert", f"2{other}{compression}", f"3{other}.dat", "--format", to)
        assert Path(f"3{other}.dat").read_bytes() == Path("in.dat").read_bytes()
        assert list(da.read(f"2{other}{compression}", format=to)) == [tuple(record) for record in RECORDS]


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "list"])
def test_convert_between_standard_streams(form: str) -> None:
    """As a filter among others; what is told of it is on the stream for remarks."""
    there = succeed("convert", "-", "-", "--to", form, stdin=gzip.compress(ROWS))
    assert there.err == SAID.format("stdin") + f"stdout: 400 records, {TERMS} terms\n"
    succeed("convert", "in.dat", "x", "--to", form)
    assert Path("x").read_bytes() == there.out
    assert succeed("convert", "-", "-", "--format", form, "--to", "fimi", stdin=there.out).out == ROWS


def test_convert_with_separators_encodings_and_columns() -> None:
    """What is read one way is written another."""
    Path("x.txt").write_bytes("Käse;Öl\nÖl;Öl\n\n".encode("latin-1"))
    answer = succeed("convert", "x.txt", "x.csv", "--sep", ";", "--encoding", "latin-1", "--to-sep", "|")
    assert Path("x.csv").read_text(encoding="utf-8") == "Käse|Öl\nÖl\n"
    assert answer.err.splitlines() == [
        "x.txt: read as basket",
        "1 repeated tokens counted once",
        "1 empty records left out",
        "x.csv: 2 records, 2 terms",
    ]
    Path("y.csv").write_text("who,n,what\n1,7,Öl\n1,8,Käse\n2,9,Öl\n", encoding="utf-8")
    columns = ("--transaction-column", "who", "--item-column", "what")
    assert succeed("convert", "y.csv", "-", "--to", "json", *columns).out.decode().split("\n")[1:3] == [
        '["Käse", "Öl"],',
        '["Öl"]',
    ]
    assert call("convert", "x.txt", "x.csv").code == 2
    succeed("convert", "in.dat", "x.csv", "--overwrite")
    assert Path("x.csv").read_bytes() == ROWS.replace(b" ", b",")


GENERATED: dict[str, Callable[[int], da.Transactions]] = {
    "quest --records 700 --terms 90 --mean-length 5 --patterns 40 --pattern-length 3 --correlation 0.5": lambda state: (
        da.generate_quest(700, 90, 5, 40, 3, 0.5, random_state=state)
    ),
    "pos --records 700": lambda state: da.generate_pos(records=700, random_state=state),
}


@pytest.mark.parametrize("command", GENERATED)
def test_generate(command: str) -> None:
    """The records that Python makes of the same numbers: the same again, others for another seed."""
    for name, state in (("a.dat", 0), ("b.dat", 0), ("c.dat", 1)):
        answer = succeed("generate", *command.split(), "-o", name, "--random-state", state)
        data = GENERATED[command](state)
        assert list(da.read(name)) == list(data)
        assert answer.out == b""
        assert answer.err == f"{name}: 700 records, {len(data.vocabulary)} terms, {len(data.items):,} occurrences\n"
    assert Path("a.dat").read_bytes() == Path("b.dat").read_bytes() != Path("c.dat").read_bytes()
    printed = succeed("generate", *command.split(), "-o", "-", "--format", "json").out
    assert [tuple(record) for record in json.loads(printed)] == list(da.read("a.dat"))
    assert call("generate", *command.split(), "-o", "a.dat").code == 2
    succeed("generate", *command.split(), "-o", "a.dat", "--overwrite", "--format", "spmf")
    assert list(da.read("a.dat")) == list(da.read("b.dat"))


def test_the_demonstration() -> None:
    """Data, a release of them and ten lines at most; a second time as well."""
    for _ in range(2):
        answer = succeed("demo", "--output", "some/where", "--records", "300")
        assert answer.err == ""
        assert answer.out.count(b"\n") <= 10
        assert answer.out.startswith(b"some/where/baskets.release: a release of 300 records, audited\n")
        assert b"The generated data: some/where/baskets.csv. A cluster of the release:\n" in answer.out
        assert {path.name for path in Path("some/where").iterdir()} == {"baskets.csv", "baskets.release"}
        assert da.open_release("some/where/baskets.release") == da.disassociate("some/where/baskets.csv", k=5, m=2)


def test_version_and_help() -> None:
    """The version alone; help where it is asked for, and where nothing is, which is wrong usage."""
    assert call("--version") == Outcome(0, f"disassociate {da.__version__}\n".encode(), "")
    for arguments in ([], ["generate"]):
        helped = call(*arguments, "--help")
        assert (helped.code, helped.err) == (0, "")
        alone = call(*arguments)
        assert (alone.code, alone.out.strip(), alone.err) == (2, helped.out.strip(), "")
        assert call(*arguments, "-h") == helped
        assert b"COMMAND" in helped.out
    for command in ("anonymize", "convert", "demo", "generate"):
        assert command.encode() in call("--help").out


def test_a_release_that_fails_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code for a guarantee that does not hold is one of its own; nothing is written or printed."""

    def fail(*arguments: object, **options: object) -> None:
        raise da.errors.GuaranteeError("G1: cluster 3, chunk 0: an itemset is too rare")

    monkeypatch.setattr("disassociation.pipeline.make_release", fail)
    before = contents(Path())
    answer = call("anonymize", "in.dat", "-o", "out", "--json", "--json-export", "x.json")
    assert (answer.code, answer.out) == (1, b"")
    assert answer.err == "disassociate: G1: cluster 3, chunk 0: an itemset is too rare\n"
    assert contents(Path()) == before


def test_in_a_process_of_its_own() -> None:
    """The whole of it once, as a shell starts it."""
    answer = run("anonymize", "-", "-o", "out", "--json", stdin=ROWS)
    assert answer.code == 0
    assert json.loads(answer.out)["records"] == 400
    assert answer.err == SAID.format("stdin")
    assert da.open_release("out") == da.disassociate(RECORDS)


def test_a_reader_that_goes_away() -> None:
    """As `head` does: no traceback, no complaint, and the code that a shell gives any such program."""
    Path("large.dat").write_bytes(ROWS * 100)
    process = start(["convert", "large.dat", "-", "--to", "json"])
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"[\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=120) == 141


HELP = ("", "--help", "--version", "anonymize --help")


@pytest.mark.parametrize("options", ["convert in.dat - --to json", "anonymize in.dat -o out --json", *HELP])
def test_a_reader_that_was_never_there(options: str) -> None:
    """The same when even the first byte is unwanted; a release that was asked for is in place all the same."""
    reading, writing = os.pipe()
    os.close(reading)
    process = start(options.split(), stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (141, b"")
    assert Path("out").exists() == options.startswith("anonymize in.dat")
