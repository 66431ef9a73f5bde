"""Hierarchies: read from files, checked, and walked."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from disassociation.errors import InputError, ParameterError
from disassociation.hierarchy import Hierarchy, read_hierarchy

SECRET = "SECRET;food;*\nmilk;food;*\n\ngin;gin;drink;*\r\nsalt;*\n"


def test_a_file_is_read(tmp_path: Path) -> None:
    """A line a leaf, compressed or not; empty lines and names twice in a row are skipped over."""
    (tmp_path / "tree.txt.gz").write_bytes(gzip.compress(SECRET.encode()))
    tree = read_hierarchy(tmp_path / "tree.txt.gz")
    assert tree.parents == {"SECRET": "food", "milk": "food", "food": "*", "gin": "drink", "drink": "*", "salt": "*"}
    assert repr(tree) == "<Hierarchy: 7 nodes>"


def test_lines_go_up_to_below_the_root() -> None:
    """Only nodes that terms are under; those below a node are a range."""
    tree = Hierarchy.of_lines([line.rstrip("\r").split(";") for line in SECRET.split("\n") if line])
    lines = tree.lines_of(pa.array(["food", "gin", "milk", "salt"]))
    names = lines.names.to_pylist()
    assert names == ["drink", "food", "gin", "milk", "salt"]
    bounds = lines.offsets.tolist()
    ways = [[names[code] for code in lines.nodes[a:b]] for a, b in pairwise(bounds)]
    assert ways == [["food"], ["gin", "drink"], ["milk", "food"], ["salt"]]
    enter, leave = lines.spans.T.tolist()
    below = {
        (one, other)
        for one, first, last in zip(names, enter, leave, strict=True)
        for other, place in zip(names, enter, strict=True)
        if first <= place < last
    }
    assert below == {*((name, name) for name in names), ("drink", "gin"), ("food", "milk")}


def test_a_root_may_be_a_term() -> None:
    """Then it is on its own line, and above nobody."""
    lines = Hierarchy.of_lines([["a", "*"]]).lines_of(pa.array(["*", "a"]))
    assert lines.names.to_pylist() == ["*", "a"]
    assert lines.nodes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SECRET;x;*\nSECRET;y;*\n", "line 2: a node has another parent"),
        ("a;x;*\nb;x;+\n", "line 2: a node has another parent"),
        ("SECRET;x;SECRET\n", "line 1: a node is above itself"),
        ("a;b;*\nc;a;d;*\n", "line 2: a node has another parent"),
        ("a;b;*\nc;a\n", "line 2: ends at a node that has a parent"),
        ("a;b\nb;a\n", "line 2: ends at a node that has a parent"),
        ("\n\n", "the file is empty"),
    ],
)
def test_what_is_no_tree(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the file and the line, and nothing of what is in it."""
    monkeypatch.chdir(tmp_path)
    path = Path("tree.txt")
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_hierarchy(path)
    assert str(caught.value).startswith("tree.txt: ")
    assert "SECRET" not in str(caught.value)


def test_a_term_that_is_missing() -> None:
    """How many, not which."""
    with pytest.raises(ParameterError, match="lacks 1 of 2 terms") as caught:
        Hierarchy.of_lines([["a", "*"]]).lines_of(pa.array(["SECRET", "a"]))
    assert "SECRET" not in str(caught.value)
