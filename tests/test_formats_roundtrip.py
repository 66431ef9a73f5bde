"""Writing and reading again gives the same, in every format that takes the terms."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from disassociation.errors import ParameterError
from disassociation.formats import FORMATS, read, write
from disassociation.records import Transactions

WORDS = st.one_of(
    st.integers(0, 30).map(str),
    st.text(max_size=12),
    st.text(alphabet=' ,;"\t\r\n\\[]{}=#@%-1\ufeff\x00\x85\u2028é', max_size=6),
    st.sampled_from(["NA", "null", "", "007", "NaN", "1:2", "-1", "@ITEM=1=x", "a longer term with blanks"]),
)
PLAIN = st.text(alphabet="abcé19", min_size=1, max_size=12)
NUMBERS = st.integers(0, 10**20).map(str)
RECORDS = st.one_of(
    *(st.lists(st.lists(kind, min_size=1, max_size=6), min_size=1, max_size=12) for kind in (WORDS, PLAIN, NUMBERS))
)
NAMES = ["fimi x.dat", "basket x.csv", "basket x.tsv", "long x.csv", "list x.jsonl", "list x.parquet", "list x.arrow",
         "spmf x.txt", "quest x.dat", "json x.json"]  # fmt: skip


def same(one: Transactions, other: Transactions) -> bool:
    codes = np.array_equal(one.offsets, other.offsets) and np.array_equal(one.items, other.items)
    return codes and one.vocabulary.to_pylist() == list(map(str, other.vocabulary.to_pylist()))


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("target", NAMES)
@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=RECORDS, sep=st.sampled_from([None, None, ";", "|", " "]))
def test_round_trip(target: str, compression: str, tmp_path: Path, records: list[list[str]], sep: str | None) -> None:
    format_name, name = target.split()
    data = read(records)
    sep = sep if format_name in ("basket", "long") else None
    path = tmp_path / (name + compression)
    try:
        write(data, path, format=format_name, sep=sep, overwrite=True)
    except ParameterError as error:
        message = str(error)
    else:
        back = read(path, format=format_name, sep=sep)
        back._check()
        assert same(data, back)
        assert (back.repeated_tokens, back.empty_records) == (0, 0)
        return
    assert f"format {format_name}: cannot hold" in message
    assert "\n" not in message
    refused_everywhere = {"list", "json"}
    assert format_name not in refused_everywhere


@pytest.mark.parametrize("target", NAMES)
def test_every_format_takes_plain_numbers_and_is_told_by_its_name(target: str, tmp_path: Path) -> None:
    format_name, name = target.split()
    data = read([[7, 12], [7], [12, 3, 100]])
    write(data, tmp_path / name, format=format_name)
    said: list[str] = []
    back = read(tmp_path / name, notify=said.append)
    if format_name != "quest":  # which looks like fimi
        assert same(data, back)
        assert said == [f"{tmp_path / name}: read as {format_name}"]


def test_an_existing_file_stays_unless_allowed(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_text("precious\n")
    data = read([["a"]])
    with pytest.raises(ParameterError, match="exists already"):
        write(data, path)
    assert path.read_text() == "precious\n"
    write(data, path, overwrite=True)
    assert path.read_text() == "a\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x.dat"]


def test_a_refused_or_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=r"format fimi: cannot hold a term .* use format list"):
        write(read([["a b"]]), tmp_path / "x.dat")
    with pytest.raises(ParameterError, match=r"format quest: .* use format spmf"):
        write(read([["a"]]), tmp_path / "x.quest")

    def interrupted(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(read([["a"]]), tmp_path / "x.dat")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_the_file_has_the_usual_mode(tmp_path: Path) -> None:
    write(read([["a"]]), tmp_path / "x.dat")
    (tmp_path / "usual").touch()
    assert stat.S_IMODE((tmp_path / "x.dat").stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


@pytest.mark.parametrize("format_name", FORMATS)
def test_standard_output_stays_open(format_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(out))
    write(read([["1", "2"], ["2"]]), "-", format=format_name)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(out.getvalue())))
    assert list(read("-", format=format_name)) == [("1", "2"), ("2",)]


@pytest.mark.parametrize(
    ("target", "format_name", "problem"),
    [
        ("-", "auto", "does not tell the format"),
        ("x.xyz", "auto", "does not tell the format"),
        ("x.dat", "xml", "no such format"),
        ("x.parquet", "fimi", "format list only"),
        (".", "fimi", "a directory"),
        ("missing/x.dat", "fimi", "cannot be written"),
    ],
)
def test_impossible_targets(target: str, format_name: str, problem: str, tmp_path: Path) -> None:
    name = target if target == "-" else str(tmp_path / target)
    with pytest.raises(ParameterError, match=problem):
        write(read([["a"]]), name, format=format_name)


def test_only_transactions_are_written(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="read them first"):
        write([["a"]], tmp_path / "x.dat")  # type: ignore[arg-type]


def test_what_is_written_is_plain(tmp_path: Path) -> None:
    data = read([["milk", "a, b", 'say "x"'], ["7"]])
    wanted = {
        "basket x.csv": '"a, b",milk,"say ""x"""\n7\n',
        "long x.csv": 'transaction,item\n1,"a, b"\n1,milk\n1,"say ""x"""\n2,7\n',
        "list x.jsonl": '["a, b", "milk", "say \\"x\\""]\n["7"]\n',
        "json x.json": '[\n["a, b", "milk", "say \\"x\\""],\n["7"]\n]\n',
        "spmf x.spmf": '@CONVERTED_FROM_TEXT\n@ITEM=1=7\n@ITEM=2=a, b\n@ITEM=3=milk\n@ITEM=4=say "x"\n2 3 4\n1\n',
    }
    for target, text in wanted.items():
        format_name, name = target.split()
        write(data, tmp_path / name, format=format_name, overwrite=True)
        assert (tmp_path / name).read_text() == text
    write(read([[2, 10], [2]]), tmp_path / "x.quest")
    assert (tmp_path / "x.quest").read_text() == "1 1 2 10 2\n2 2 1 2\n"
