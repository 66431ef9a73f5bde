"""FIMI and basket files: the byte parser against a naive one, at block sizes that cut everywhere."""

from __future__ import annotations

import csv
import gzip
import io
import random
import sys
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from disassociation.errors import InputError
from disassociation.formats import _bytes, _tokens, basket, fimi, read
from disassociation.formats._options import Options
from disassociation.formats._quotes import StrictQuotes
from disassociation.records import Transactions
from test_formats_oracle import assert_holds, naive_basket, naive_fimi

PIECES = st.sampled_from(
    [b"a", b"b", b"7", b"07", b"12345678", b"123456789", b"a-token-of-more-than-sixteen-bytes", "é".encode(),
     "日本語の".encode(), b"\x01", b"\x7f", b",", b";", b" ", b"  ", b"\t", b"\v", b"\f", b"\n", b"\n\n",
     b"\r\n", b"\r", b"\xef\xbb\xbf"]
)  # fmt: skip
CONTENT = st.lists(PIECES, max_size=60).map(b"".join)


class Dribble(io.RawIOBase):
    """Bytes that come a few at a time."""

    def __init__(self, content: bytes, size: int) -> None:
        self._content = io.BytesIO(content)
        self._size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        some = self._content.read(min(self._size, len(buffer)))
        buffer[: len(some)] = some
        return len(some)


def read_blocks(reader: object, content: bytes, block: int, sep: str | None = None) -> Transactions | None:
    """Read in blocks of this size; None if there is nothing in it."""
    stream = _bytes.Stream(Dribble(content, max(1, block - 1)), "test")
    with mock.patch.object(_bytes, "BLOCK", block):
        try:
            return reader(stream, Options(sep=sep))  # type: ignore[operator,no-any-return]
        except InputError as error:
            if "are empty" in str(error) or "no records" in str(error):
                return None
            raise


@settings(deadline=None)
@given(CONTENT, st.integers(1, 40))
def test_fimi_is_what_the_naive_reader_reads(content: bytes, block: int) -> None:
    data = read_blocks(fimi.read, content, block)
    wanted = naive_fimi(content)
    if data is None:
        assert not any(wanted)
    else:
        assert_holds(data, wanted)


@settings(deadline=None)
@given(CONTENT, st.integers(1, 40), st.sampled_from([",", ";", " ", "\t"]))
def test_basket_is_what_the_naive_reader_reads(content: bytes, block: int, sep: str) -> None:
    data = read_blocks(basket.read, content, block, sep)
    wanted = naive_basket(content, sep)
    if data is None:
        assert not any(wanted)
    else:
        assert_holds(data, wanted)


FIELD = st.lists(st.sampled_from(["a", "b c", '"', ",", "\n", "\r\n", "é", "0"]), max_size=6).map("".join)


@settings(deadline=None)
@given(st.lists(st.lists(FIELD, max_size=5), min_size=1), st.integers(1, 40), st.sampled_from(["\n", "\r\n"]))
def test_quoted_basket_is_what_the_csv_module_wrote(rows: list[list[str]], block: int, end: str) -> None:
    rows = [row for row in rows if row]  # the module writes a row without fields as a line without bytes
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows(rows)
    data = read_blocks(basket.read, out.getvalue().encode(), block)
    wanted = [[token for token in row if token] for row in rows]
    if data is None:
        assert not any(wanted)
    else:
        assert_holds(data, wanted)


@settings(deadline=None)
@given(st.text(alphabet='a",\n\r;', max_size=12), st.integers(1, 5))
def test_quotes_are_refused_wherever_the_chunks_end(text: str, size: int) -> None:
    def outcome(chunk: int) -> str:
        stream = StrictQuotes(_bytes.Stream(Dribble(text.encode(), chunk), "test"), ",")
        got = b""
        view = bytearray(chunk)
        try:
            while count := stream.readinto(view):
                got += view[:count]
        except InputError as error:
            return str(error)
        assert got == text.encode()
        return "fine"

    assert outcome(size) == outcome(1000)
    if outcome(size) == "fine" and "\r" not in text:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,"b', 1),
        ('a\n"b\nc\n', 2),
        ('a"b"', 1),
        ('"a"b', 1),
        ('"a""', 1),
        ('x\n"a\nb" ,c', 3),
        ('""a', 1),
        ('a,b""', 1),
    ],
)
def test_unbalanced_quotes_are_refused_with_their_line(text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"x.csv:{line}: unbalanced quotes"):
        read(path, format="basket")


def test_quotes_after_many_unquoted_blocks(tmp_path: Path) -> None:
    plain = [["alpha", f"b{i}"] for i in range(500)]
    path = tmp_path / "x.csv"
    path.write_text("".join(",".join(row) + "\n" for row in plain) + 'alpha,"x, y"\n')
    with mock.patch.object(_bytes, "BLOCK", 100):
        assert_holds(read(path, format="basket"), [*plain, ["alpha", "x, y"]])
    path.write_text(path.read_text() + '"open\n')
    with pytest.raises(InputError, match=r"x\.csv:502: unbalanced"):
        read(path, format="basket")


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 40])
def test_many_terms_of_every_length(length: int, tmp_path: Path) -> None:
    """More terms than any table begins with, so that everything grows; and again, so that each is found."""
    rng = random.Random(length)
    alphabet = "".join(map(chr, range(33, 127)))
    terms = ["".join(rng.choices(alphabet, k=length)) for _ in range(70_000)]
    records = [terms[i : i + 7] for i in range(0, 70_000, 7)] + [terms[i::7000] for i in range(7000)]
    path = tmp_path / "x.dat"
    path.write_text("".join(" ".join(record) + "\n" for record in records))
    assert_holds(read(path), records)


def test_terms_that_share_a_slot_and_a_key() -> None:
    """With the multiplier 0 every token has the same slot, and every long one the same key."""
    records = [[f"t{i}", f"a-rather-long-token-{i}", f"a-rather-long-token-{i + 1}"] for i in range(300)]
    content = "".join(" ".join(record) + "\n" for record in records).encode()
    tokens = _tokens.Tokenizer(0x20, "test")
    tokens._table.multiplier[0] = 0
    tokens.feed(_bytes.padded(content))
    codes, bounds, names = tokens.result()
    texts = names.to_pylist()
    assert [[texts[code] for code in codes[a:b]] for a, b in pairwise(bounds)] == records
    assert len(set(texts)) == len(texts)


def test_more_text_than_arrow_can_address(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_text("a-long-enough-token another-token\n")
    with mock.patch.object(_tokens, "_MOST_TEXT", 20), pytest.raises(InputError, match="distinct terms exceed"):
        read(path)


def test_a_record_of_a_million_tokens(tmp_path: Path) -> None:
    tokens = [str(i * 7919 % 300_007) for i in range(1_000_000)]
    path = tmp_path / "x.dat"
    path.write_text(" ".join(tokens) + "\na b\n")
    data = read(path)
    data._check()
    assert np.diff(data.offsets).tolist() == [300_007, 2]
    assert data.repeated_tokens == 1_000_000 - 300_007


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("name", ["x.dat", "x.dat.gz", "x.dat.zst"])
def test_compression_is_seen_in_the_bytes_not_the_name(compress: object, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(compress(b"a b\n") + compress(b"c"))  # type: ignore[operator]
    assert list(read(path, format="fimi")) == [("a", "b"), ("c",)]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "shift_jis"]
)
def test_encodings(encoding: str, tmp_path: Path) -> None:
    word = "日本" if encoding == "shift_jis" else "Käse"
    lines = [[word, "b"], ["b", f"{word}{word}"]] * 10_000
    path = tmp_path / "x.dat"
    path.write_bytes("".join(" ".join(line) + "\n" for line in lines).encode(encoding))
    assert_holds(read(path, encoding=encoding), lines)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a b\nb\n"))))
    assert list(read("-", notify=said.append)) == [("a", "b"), ("b",)]
    assert said == ["stdin: read as fimi"]
    assert not sys.stdin.closed
    assert not sys.stdin.buffer.closed


def test_tokens_stay_exactly_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("007,7, 7,7 ,NA,null,1e3,TRUE,\x0b\n")
    assert sorted(next(iter(read(path)))) == sorted(["007", "7", " 7", "7 ", "NA", "null", "1e3", "TRUE", "\x0b"])
