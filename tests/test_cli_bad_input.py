"""Bad files and bad options at the command line: code 2, one line with a remedy, no term in it, nothing written."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from commands import Outcome, call, contents, run, start

ROWS = b"SECRETa SECRETb\nSECRETa SECRETc\nSECRETa\nSECRETb SECRETc\n" * 5
CSV = b"who,what\n1,SECRETa\n1,SECRETb\n2,SECRETa\n"
ANONYMIZE = "anonymize in.dat -o out"
LONG = "anonymize in.csv -o out --format long --transaction-column who --item-column"


def parquet() -> bytes:
    """Twenty records as a Parquet file."""
    content = io.BytesIO()
    pq.write_table(pa.table({"items": [["SECRETa", "SECRETb"]] * 20}), content)
    return content.getvalue()


@dataclass(frozen=True)
class Bad:
    """A command, the files it finds, and what it must say: what is wrong, and behind it what to do."""

    name: str
    command: str
    wrong: str
    remedy: str
    files: dict[str, bytes] = field(default_factory=lambda: {"in.dat": ROWS})


def damaged(name: str, content: bytes, wrong: str, remedy: str, options: str = "") -> Bad:
    """A file that cannot be read, whatever is to be done with it."""
    told = f"{name}{wrong}" if wrong.startswith(":") else wrong
    return Bad(f"{name} {wrong}", f"anonymize {name} -o out {options}", told, remedy, {name: content})


def unused(options: str, wrong: str, remedy: str, **files: bytes) -> Bad:
    """A good file and a bad option."""
    named = {"in.dat": ROWS} | {name.replace("_", "."): content for name, content in files.items()}
    return Bad(options, f"{ANONYMIZE} {options}", wrong, remedy, named)


BAD = [
    damaged("in.dat", b"", ": the file is empty", "give one with records"),
    damaged("in.dat", b"\n \n", ": all 2 records are empty", "give records that hold terms"),
    damaged("in.dat", ROWS + b"SECRETd\xff\n", ":21: not valid UTF-8", "name the file's encoding with --encoding"),
    damaged("in.dat", ROWS + b"SECRETd\0\n", ":21: a NUL byte", "--encoding is needed"),
    damaged("in.dat", "SECRETa\n".encode("utf-16"), ": this is UTF-16 text", "--encoding utf-16"),
    damaged("in.csv", b'a,b\n"SECRETa,b\nc\n', ":2: unbalanced quotes", "double quotes that are text"),
    damaged("in.csv", b'a,b\nSECRETa"x",b\n', ":2: unbalanced quotes", "double quotes that are text"),
    damaged("in.dat.gz", gzip.compress(ROWS)[:-9], ": the compressed data are damaged", "make or fetch the file again"),
    damaged("in.dat.gz", b"\x1f\x8b" + ROWS, ": the compressed data are damaged", "make or fetch the file again"),
    damaged("in.zst", zstandard.compress(ROWS)[:-5], ": the compressed data are damaged", "fetch the file again"),
    damaged("in.parquet", parquet()[:-30], ": Arrow cannot read this table", "make it again"),
    damaged("in.parquet", parquet()[:90], ": Arrow cannot read this table", "make it again"),
    damaged("in.parquet", ROWS, ": not a Parquet file", "give --format or rename it"),
    damaged("in.json", b'{"SECRETa": ["b"]}', ": not an array of arrays", "make it one"),
    damaged("in.json", b'[["SECRETa"], {"SECRETb": 1}]', ": record 2: not an array", "make the file an array"),
    damaged("in.json", b'[["SECRETa"', ": not valid JSON", "repair it"),
    damaged("in.jsonl", b'["SECRETa"]\n["SECRETb", null]\n', ": record 2: a value of type NoneType", "make it a text"),
    damaged("in.jsonl", b'["SECRETa"]\n["SECRETb", true]\n', ": record 2: a value of type bool", "make it a text"),
    damaged("in.jsonl", b'["SECRETa"]\n"SECRETb"\n', ":2: neither an array nor an object", "make it an array of terms"),
    damaged("in.spmf", b"@ITEM=1=SECRETa\nSECRETb 1\n", ": an item is not a whole number", "give another --format"),
    damaged("in.spmf", b"1 -1 2 -1 -2\n", ": this is an SPMF sequence file", "convert it to transactions"),
    damaged("in.quest", b"1 1 2 10 20\n2 2 3 10\n", ":2: not as many items as the line says", "repair the line"),
    damaged("in.quest", b"1 1 1 SECRETa\n", ": an item is not a whole number", "give another --format"),
    damaged("in.dat", b"SECRETa\n" * 4, "4 records are too few", "lower them"),
    damaged("in.csv", CSV, "4 records are too few", "lower them", "-k 9"),
    damaged("in.txt", ROWS, "--encoding klingon: no such text encoding", "try utf-8", "--encoding klingon"),
    damaged("in.csv", ROWS, "--sep: a separator is one ASCII character", "try ','", "--sep ::"),
    Bad("column missing", f"{LONG} thing", "no column is called 'thing'", "check --transaction", {"in.csv": CSV}),
    Bad("column twice", f"{LONG} x", "more than one column is called 'x'", "check", {"in.csv": b"who,x,x\n1,2,3\n"}),
    Bad("no columns", "anonymize in.csv -o out --format long", "which column", "name them with", {"in.csv": CSV}),
    Bad("missing file", "anonymize no.dat -o out", "no.dat: no such file", "check the path"),
    Bad("directory", "anonymize folder -o out", "folder: this is a directory", "give a file"),
    Bad("file of two lines", "anonymize a\nb -o out", "a b: no such file", "check the path"),
    Bad("standard input", "anonymize - -o out", "stdin: the file is empty", "give one with records"),
    unused("-k 1", "k must be", "at least 2, not 1"),
    unused("-k 99999999999999999999", "k must be", "at most 2,147,483,647"),
    unused("-k few", "Invalid value for '-k'", "see disassociate --help"),
    unused("-k 21", "20 records are too few", "lower them"),
    unused("-m 0", "m must be", "at least 1, not 0"),
    unused("-m -3", "m must be", "at least 1, not -3"),
    unused("--max-cluster-size 4", "max_cluster_size is 4, but every cluster needs at least 5", "raise it to 10"),
    unused("--max-cluster-size 0", "max_cluster_size must be", "at least 1, not 0"),
    unused("--l 2", "l asks for diverse sensitive terms, but none are named", "name them, or leave l out"),
    unused("--l 1 --sensitive s", "l must be", "at least 2, not 1", s=b"SECRETa\n"),
    unused("--l 2 --sensitive s", "l is 2, but a sensitive term is in 15 of 20 records", "at most 1", s=b"SECRETa\n"),
    unused("--l 30 --sensitive s", "20 records are too few", "lower them", s=b"SECRETa\n"),
    unused("--l 9 --max-cluster-size 8 --sensitive s", "needs at least 9 records", "raise it to 18", s=b"SECRETa\n"),
    unused("--sensitive s", "every term is sensitive", "name fewer", s=b"SECRETa\nSECRETb\nSECRETc"),
    unused("--sensitive s", "s: names no term", "put one sensitive term on each line", s=b""),
    unused("--sensitive s", "s: names no term", "put one sensitive term on each line", s=b"\n\r\n"),
    unused("--sensitive s", "s:2: not valid UTF-8", "encoding", s=b"SECRETa\nSECRET\xe9\n"),
    unused("--sensitive s", "s:1: a NUL byte", "this is not text", s=b"SECRETa\0"),
    unused("--sensitive no", "no: no such file", "check the path"),
    unused("--sensitive folder", "folder: this is a directory", "give a file"),
    unused("--keep-together g.dat", "in two keep-together groups", "in one only", g_dat=b"SECRETa SECRETb\nSECRETb\n"),
    unused("--keep-together g.dat", "g.dat: the file is empty", "give one with records", g_dat=b""),
    unused("--keep-together no", "no: no such file", "check the path"),
    unused("--method fast", "unknown method", "choose one of default, paper"),
    unused("--format xml", "--format xml: no such format", "give one of auto, fimi"),
    unused("--format list", ":1: not valid JSON", "give --format"),
    unused("--format fimi --sep ,", "--sep: format fimi has no separator", "leave it out"),
    unused("--sep", "requires an argument", "see disassociate --help"),
    unused("--turbo", "No such option: --turbo", "see disassociate --help"),
    unused("more", "unexpected extra argument", "see disassociate --help"),
    unused("--threads 0", "threads must be", "at least 1, not 0"),
    unused("--threads 2000", "threads must be", "at most 1,024"),
    unused("--json --json-export -", "both want standard output", "name a file for the export"),
    unused("--json-export out", "one name for the release and for its export", "give them two"),
    unused("--json-export there.json", "there.json: exists already", "choose another name", there_json=b"{}"),
    unused("--json-export no/there.json", "no/there.json: cannot be written", "check the path"),
    Bad("no output named", "anonymize in.dat", "Missing option '-o'", "see disassociate --help"),
    Bad("no input named", "anonymize -o out", "Missing argument 'INPUT'", "see disassociate --help"),
    Bad("output exists", "anonymize in.dat -o folder", "folder: exists already", "choose another name"),
    Bad("output is a file", "anonymize in.dat -o in.dat --overwrite", "in.dat: not a release", "choose another name"),
    Bad("output has other files", "anonymize in.dat -o folder --overwrite", "folder: not a release", "another name"),
    Bad("output in no directory", "anonymize in.dat -o no/out", "no: no such directory", "create it first"),
    Bad("output without a name", "anonymize in.dat -o .", "not a name for a release", "give one such as"),
    Bad("output ends badly", "anonymize in.dat -o out.partial", "not a name for a release", "give one such as"),
    Bad("unknown command", "publish in.dat", "No such command 'publish'", "see disassociate --help"),
    Bad("unknown option of all", "--turbo", "No such option: --turbo", "see disassociate --help"),
    Bad("convert: missing file", "convert no.dat out.csv", "no.dat: no such file", "check the path"),
    Bad("convert: no format", "convert in.dat out.xyz", "the name does not tell the format", "give --format, one of"),
    Bad("convert: - has none", "convert in.dat -", "the name does not tell the format", "give --format, one of"),
    Bad("convert: unknown format", "convert in.dat out --to xml", "--format xml: no such format", "give one of auto"),
    Bad("convert: exists", "convert in.dat folder/file.csv", "exists already", "choose another name"),
    Bad("convert: a directory", "convert in.dat folder --to fimi", "folder: this is a directory", "give a file"),
    Bad("convert: in no directory", "convert in.dat no/out.csv", "no/out.csv: cannot be written", "check the path"),
    Bad("convert: a blank", "convert in.csv out.dat", "cannot hold a term", "format list", {"in.csv": b"SECRET b\n"}),
    Bad("convert: no number", "convert in.dat out.quest", "not a whole number", "use format spmf"),
    Bad("convert: - fails too", "convert in.dat - --to quest", "not a whole number", "use format spmf"),
    Bad("convert: bad end", "convert in.dat - --to json", ":20001: not valid", "en", {"in.dat": ROWS * 1000 + b"\xff"}),
    Bad("convert: table as text", "convert in.dat out.parquet --to json", "in format list only", "another name"),
    Bad("generate: no output", "generate quest --records 9", "Missing option '-o'", "see disassociate --help"),
    Bad("generate: what", "generate zipf -o out.dat", "No such command 'zipf'", "see disassociate --help"),
    Bad("generate: none", "generate quest -o out.dat --records 0", "records must be", "from 1 to 2,147,483,647"),
    Bad("generate: no terms", "generate quest -o out.dat --terms 0", "terms must be", "from 1 to 2,147,483,647"),
    Bad("generate: not a number", "generate quest -o out.dat --mean-length nan", "mean_length must", "from 1 to 1000"),
    Bad("generate: correlation", "generate quest -o out.dat --correlation 2", "correlation must be", "from 0 to 1"),
    Bad("generate: seed", "generate pos -o out.dat --random-state -1", "random_state must be", "0 or more"),
    Bad("generate: exists", "generate pos --records 9 -o in.dat", "in.dat: exists already", "choose another name"),
    Bad("generate: in no directory", "generate pos --records 9 -o no/out.dat", "cannot be written", "check the path"),
    Bad("generate: no format", "generate pos --records 9 -o out", "the name does not tell the format", "give --format"),
    Bad("demo: none", "demo -o out --records 0", "records must be", "from 1 to"),
    Bad("demo: too few", "demo -o out --records 4", "4 records are too few", "lower them"),
    Bad("demo: into a file", "demo -o in.dat --records 9", "in.dat: cannot be made a directory", "choose another"),
]  # fmt: skip


@contextmanager
def folder_with(bad: Bad, folder: Path) -> Iterator[None]:
    """Work in a folder that holds the files of a case, which must be as before afterwards, hidden names included."""
    (folder / "folder").mkdir()
    (folder / "folder" / "file.csv").write_bytes(b"SECRETa\n")
    for name, content in bad.files.items():
        (folder / name).write_bytes(content)
    before = contents(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield
    assert contents(folder) == before


def check(bad: Bad, answer: Outcome) -> None:
    """Hold an answer against the promises of the command line."""
    assert answer.code == 2
    assert answer.out == b""
    assert answer.err.startswith("disassociate: ")
    assert answer.err.count("\n") == 1
    assert answer.err.endswith("\n")
    assert len(answer.err) < 300
    assert "SECRET" not in answer.err
    assert "Traceback" not in answer.err
    assert "internal error" not in answer.err
    wrong, remedy = answer.err.find(bad.wrong), answer.err.find(bad.remedy)
    assert 0 <= wrong < remedy, answer.err


def named(bad: Bad) -> str:
    """What pytest calls a case."""
    return bad.name


def words(bad: Bad) -> list[str]:
    """The command as a shell hands it over."""
    return bad.command.split(" ")


@pytest.mark.parametrize("bad", BAD, ids=named)
def test_bad_input(bad: Bad, tmp_path: Path) -> None:
    """Each case in this process."""
    with folder_with(bad, tmp_path):
        check(bad, call(*filter(None, words(bad))))


@pytest.mark.parametrize("bad", BAD[2:78:15], ids=named)
def test_bad_input_in_a_process_of_its_own(bad: Bad, tmp_path: Path) -> None:
    """A few as a user meets them, with an interpreter's whole start and end around."""
    with folder_with(bad, tmp_path):
        check(bad, run(*filter(None, words(bad))))


@pytest.mark.parametrize("bad", [case for case in BAD if case.command.startswith(ANONYMIZE)][::4], ids=named)
def test_no_json_of_a_failure(bad: Bad, tmp_path: Path) -> None:
    """With --json, too, standard output stays empty."""
    with folder_with(bad, tmp_path):
        check(bad, call(*filter(None, words(bad)), "--json"))


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    """Permissions are an error like any other."""
    (tmp_path / "in.dat").write_bytes(ROWS)
    (tmp_path / "in.dat").chmod(0)
    if os.access(tmp_path / "in.dat", os.R_OK):
        pytest.skip("this user may read everything")
    answer = call("anonymize", tmp_path / "in.dat", "-o", tmp_path / "out")
    assert answer.code == 2
    assert "no permission to read it; change the file's mode" in answer.err


def test_names_that_are_not_text(tmp_path: Path) -> None:
    """A file name in no encoding can be told of."""
    answer = run("anonymize", os.fsdecode(b"\xff.dat"), "-o", "out", cwd=tmp_path)
    assert answer.code == 2
    assert answer.err == "disassociate: \\udcff.dat: no such file; check the path\n"


def test_a_full_disk(tmp_path: Path) -> None:
    """What cannot be written to standard output is told in one line."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "in.dat").write_bytes(ROWS)
    with Path("/dev/full").open("wb") as full:
        process = start(["convert", tmp_path / "in.dat", "-", "--to", "json"], stdout=full)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err.count(b"\n") == 1
    assert b"No space left on device" in err
