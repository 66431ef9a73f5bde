"""Bad files: one line that says where and what to do, and nothing of what is in them."""

from __future__ import annotations

import gzip
import io
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

from disassociation.errors import DisassociationError, InputError, ParameterError
from disassociation.formats import read

LINES = b"SECRET other\n" * 3


def parquet(**columns: Any) -> bytes:
    content = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), content)
    return content.getvalue()


BAD: list[tuple[str, bytes, dict[str, Any], str]] = [
    # name, content, arguments, what the message must say after the path
    ("x.dat", b"", {}, ": the file is empty; "),
    ("x.dat.gz", gzip.compress(b""), {}, ": the file is empty; "),
    ("x.dat", b"\n \n\n", {}, ": all 3 records are empty; "),
    ("x.csv", b",,\n", {}, ": all 1 records are empty; "),
    ("x.dat", LINES + b"SECRET\xff\n", {}, ":4: not valid UTF-8; "),
    ("x.csv", LINES + b"SECRET\xc3", {}, ":4: not valid UTF-8; "),
    ("x.csv", b"tid,item\n1,SECRET\n1,\xe9\n", {}, ":3: not valid UTF-8; "),
    ("x.jsonl", b'["SECRET"]\n["\xe9"]\n', {}, ":2: not valid UTF-8; "),
    ("x.json", b'[["SECRET"],\n["\xe9"]]\n', {}, ":2: not valid UTF-8; "),
    ("x.dat", LINES * 40_000 + b"SECRET\xff\n", {}, ":120001: not valid UTF-8; "),
    ("x.dat", LINES * 40_000 + b"SECRET\0\n", {}, ":120001: a NUL byte; "),
    ("x.dat", LINES + b"SECRET\0\n", {}, ":4: a NUL byte; "),
    ("x.csv", b"SECRET,\0\n", {}, ":1: a NUL byte; "),
    ("x.dat", "SECRET a\n".encode("utf-16"), {}, ": this is UTF-16 text; read it with --encoding utf-16"),
    ("x.dat", b"SECRET\n\xff", {"encoding": "ascii"}, ":2: not valid UTF-8; "),
    ("x.dat", LINES + b"\x81\n", {"encoding": "cp1252"}, ":4: not valid cp1252; "),
    ("x.dat", b"SECRET", {"encoding": "utf-16"}, ""),
    ("x.csv", b'SECRET,"SECRET\nb\n', {}, ":1: unbalanced quotes "),
    ("x.csv", b'a\nb,SECRET"\n', {}, ":2: unbalanced quotes "),
    ("x.csv", b'a\n"SECRET"x\n', {}, ":2: unbalanced quotes "),
    ("x.csv", b'tid,item\n1,"SECRET\n2,b\n', {}, ":2: unbalanced quotes "),
    ("x.csv", b'tid,item\n1,SEC"RET\n', {}, ":2: unbalanced quotes "),
    ("x.csv", b'a,"' + b"SECRET" * 30_000 + b'"\n', {}, ":1: a field of more than 131,072 characters; "),
    ("x.csv", b"tid,item\n1," + b"SECRET" * 1_500_000 + b"\n", {}, ": a row is longer than 4 MiB; "),
    ("x.csv", b"a,SECRET\n1,2\n", {"format": "long"}, ": which column holds the record"),
    ("x.csv", b"tid,SECRET\n1,2\n", {"transaction": "tid", "item": "thing"}, ": no column is called 'thing'; "),
    ("x.csv", b"tid,item,item\n1,SECRET,2\n", {"transaction": "tid", "item": "item"}, ": more than one column"),
    ("x.csv", b"tid,item\n1,SECRET\n", {"transaction": "tid"}, ": only one column is named; "),
    ("x.csv", b"tid,item\n1,SECRET\n2\n", {}, ": row 3: not as many fields"),
    ("x.csv", b"tid,item\n1,SECRET\n,SECRET\n", {}, ": row 3: the record column is empty; "),
    ("x.csv", b"tid,item\n", {}, ": there are no records; "),
    ("x.csv", b"tid,item", {}, ": there are no records; "),
    ("x.csv", b"\n\n", {"format": "long"}, ": which column holds the record"),
    ("x.quest", b"1 1 1 5\n2 2 3 5 77\n", {}, ":2: not as many items as the line says; "),
    ("x.quest", b"1 1 1 5\nSECRET\n", {}, ":2: the line does not begin with three whole numbers; "),
    ("x.quest", b"1 1 1 SECRET\n", {}, ": an item is not a whole number; "),
    ("x.spmf", b"1 2\nSECRET\n", {}, ": an item is not a whole number; "),
    ("x.spmf", b"1 -1 2 -1 -2\n", {}, ": this is an SPMF sequence file "),
    ("x.spmf", b"@ITEM=1=SECRET\n@ITEM=2=SECRET\n1 2\n", {}, ": two item numbers have the same name; "),
    ("x.spmf", b"@ITEM=SECRET\n1 2\n", {}, ": an @ITEM line has no name; "),
    ("x.dat.gz", gzip.compress(LINES * 1000)[:-9], {}, ": the compressed data are damaged or cut short; "),
    ("x.dat.zst", zstandard.compress(LINES * 1000)[:-2], {}, ": the compressed data are damaged or cut short; "),
    ("x.dat.gz", gzip.compress(LINES) + b"SECRET", {}, ": the compressed data are damaged or cut short; "),
    ("x.parquet.gz", gzip.compress(parquet(a=[["a"]]))[:-9], {}, ": the compressed data are damaged or cut short; "),
    ("x.parquet", b"SECRET\n", {}, ": not a Parquet file"),
    ("x.arrow", b"SECRET\n", {}, ": not an Arrow file"),
    ("x.parquet", b"PAR1SECRETPAR1", {}, ": Arrow cannot read this table "),
    ("x.parquet", parquet(a=[["SECRET"]])[:-20], {}, ": Arrow cannot read this table "),
    ("x.arrow", b"ARROW1\0\0SECRET", {}, ": Arrow cannot read this table "),
    ("x.arrow", b"\xff\xff\xff\xffSECRET", {}, ": Arrow cannot read this table "),
    ("x.parquet", parquet(SECRET=[1]), {"format": "list"}, ": no column holds lists; "),
    ("x.parquet", parquet(SECRET=[1]), {}, ": which column holds the record"),
    ("x.parquet", parquet(a=[["SECRET"]], b=[["x"]]), {}, ": 2 columns hold lists; "),
    ("x.parquet", parquet(a=[["SECRET", None]]), {}, ": record 1: a missing value in the list; "),
    ("x.parquet", parquet(a=[["SECRET"]]), {"format": "fimi"}, ": this is a binary table, not text; "),
    ("x.json", b'[["SECRET"],]\n', {}, ": not valid JSON (column 13); "),
    ("x.json", b'[["SECRET"\n', {}, ": not valid JSON (line 2 column 1); "),
    ("x.json", b"[" * 100_000, {}, ": not valid JSON (too many brackets); "),
    ("x.json", b"[[NaN]]", {}, ": not valid JSON (a number that JSON does not have); "),
    ("x.json", b'{"SECRET": ["a"]}', {}, ": not an array of arrays; "),
    ("x.json", b'[["a"], "SECRET"]', {}, ": record 2: not an array; "),
    ("x.json", b'[["a"], ["SECRET", 1.5]]', {}, ": record 2: a value of type float cannot be a term; "),
    ("x.json", b'[["a"], [["SECRET"]]]', {}, ": record 2: a value cannot be hashed; "),
    ("x.json", b'[["a", "\\ud800SECRET"]]', {}, ": record 1: a term is not valid Unicode "),
    ("x.json", b'[["7"], [7]]', {}, ": record 2: a value has the same text as a different one"),
    ("x.json", b"[]", {}, ": there are no records; "),
    ("x.jsonl", b'["a"]\n["SECRET"\n', {}, ":2: not valid JSON (column 10); "),
    ("x.jsonl", b'["a"]\n"SECRET"\n', {}, ":2: neither an array nor an object"),
    ("x.jsonl", b'{"SECRET": [1], "b": [2]}\n', {}, ":1: an object with 2 arrays; "),
    ("x.jsonl", b'{"SECRET": 1}\n', {}, ":1: an object with 0 arrays; "),
    ("x.jsonl", b'["a"]\n[null]\n', {}, ": record 2: a value of type NoneType cannot be a term; "),
    ("x", b"SECRET;a b\n", {}, ": tokens split by blanks or by something else"),
    ("x", b"SECRET,a b\n", {}, ": tokens split by blanks or by something else"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "arguments", "problem"), BAD, ids=range(len(BAD)))
def test_bad_files(name: str, content: bytes, arguments: dict[str, Any], problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path, **arguments)
    message = str(caught.value)
    assert message.startswith(f"{path}{problem}")
    assert "\n" not in message
    assert "SECRET" not in message
    assert ";" in message, "it does not say what to do"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "a traceback would show the data"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"format": "xml"}, "no such format"),
        ({"encoding": "klingon"}, "no such text encoding"),
        ({"encoding": "hex"}, "no such text encoding"),
        ({"format": "fimi", "sep": ","}, "no separator to choose"),
        ({"format": "list", "transaction": "a"}, "has no columns"),
        ({"sep": "::"}, "one ASCII character"),
        ({"sep": ""}, "one ASCII character"),
        ({"sep": "é"}, "one ASCII character"),
        ({"sep": '"'}, "one ASCII character"),
        ({"sep": "\n"}, "one ASCII character"),
    ],
)
def test_impossible_options(arguments: dict[str, Any], problem: str, tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_bytes(LINES)
    with pytest.raises(ParameterError, match=problem):
        read(tmp_path / "x.dat", **arguments)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/x.dat: no such file; ")):
        read(tmp_path / "x.dat")
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}: this is a directory; ")):
        read(tmp_path)
    with pytest.raises(InputError, match="cannot be opened"):
        read("x\0y")


def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(LINES)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(InputError, match="no permission to read it"):
        read(path)


def test_nothing_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(InputError, match=r"^stdin: the file is empty"):
        read("-")


def test_an_error_of_the_source_itself_is_not_ours() -> None:
    def broken() -> Any:
        yield ["a"]
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        read(broken())


def test_every_error_is_of_this_package() -> None:
    assert issubclass(InputError, DisassociationError)
