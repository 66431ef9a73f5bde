"""Generalization hierarchies: trees whose leaves are terms, read from a file with a line for each leaf."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike, fsdecode
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from disassociation._types import Offsets, Terms
from disassociation.errors import InputError, ParameterError
from disassociation.formats._bytes import as_text, open_stream

__all__ = ["Hierarchy", "Lines", "read_hierarchy"]


class Lines(NamedTuple):
    """What the terms of a vocabulary become when records are extended by ancestors."""

    offsets: Offsets  # (terms + 1,) where each term's line begins in `nodes`
    nodes: Terms  # the term and its ancestors up to below the root
    spans: NDArray[np.int32]  # (all nodes, 2) where a walk of the tree enters and leaves each node
    names: pa.StringArray  # (all nodes,) in UTF-8 byte order


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hierarchy:
    """Which node is right above which; made by :func:`read_hierarchy`, or from lines with :meth:`of_lines`.

    Examples:
        >>> from disassociation.hierarchy import Hierarchy
        >>> Hierarchy.of_lines([["bread", "food", "*"], ["milk", "food", "*"], ["gin", "drink", "*"]])
        <Hierarchy: 6 nodes>
    """

    parents: dict[str, str]  # of all nodes that have one

    @classmethod
    def of_lines(cls, lines: Iterable[list[str]], source: str = "hierarchy") -> Hierarchy:
        """A tree from the way up of each leaf; a name twice in a row is one node.

        Raises:
            InputError: A node has two parents, or is above itself.
        """
        parents: dict[str, str] = {}
        for number, line in enumerate(lines, 1):
            steps = [name for place, name in enumerate(line) if place == 0 or name != line[place - 1]]
            if len(set(steps)) < len(steps):
                raise InputError(f"{source}: line {number}: a node is above itself; each line goes from a leaf up")
            for below, above in pairwise(steps):
                if parents.setdefault(below, above) != above:
                    raise InputError(f"{source}: line {number}: a node has another parent here than on a line before")
            if steps[-1] in parents:
                raise InputError(f"{source}: line {number}: ends at a node that has a parent; end it at the root")
        return cls(parents)

    def __repr__(self) -> str:
        return f"<Hierarchy: {len({*self.parents, *self.parents.values()}):,} nodes>"

    def lines_of(self, vocabulary: pa.StringArray) -> Lines:
        """The lines of some terms, in codes of the nodes that are on any of them; the root is on none.

        Raises:
            ParameterError: The hierarchy lacks some of the terms.
        """
        terms = vocabulary.to_pylist()
        known = {*self.parents, *self.parents.values()}
        missing = sum(term not in known for term in terms)
        if missing:
            raise ParameterError(f"the hierarchy lacks {missing:,} of {len(terms):,} terms; add a line for each")
        lines = [self._up_from(term) for term in terms]
        found = pa.array(sorted({node for line in lines for node in line}, key=str.encode), pa.string())
        flat = pa.array([node for line in lines for node in line], pa.string())
        codes = pc.index_in(flat, found).to_numpy(zero_copy_only=False).astype(np.int32)
        offsets = np.cumsum([0, *map(len, lines)], dtype=np.int64)
        return Lines(offsets, codes, _spans(lines, found.to_pylist()), found)

    def _up_from(self, term: str) -> list[str]:
        line, node = [term], self.parents.get(term)
        while node is not None:
            above = self.parents.get(node)
            if above is not None:
                line.append(node)
            node = above
        return line


def _spans(lines: list[list[str]], nodes: list[str]) -> NDArray[np.int32]:
    """Number the ways down from the top in order: those through a node are then a range."""
    ways = {tuple(line[place:][::-1]): line[place] for line in lines for place in range(len(line))}
    order = sorted(ways)
    enter = {ways[way]: place for place, way in enumerate(order)}
    size = dict.fromkeys(nodes, 0)
    for way in order:
        for node in way:
            size[node] += 1
    return np.array([[enter[node], enter[node] + size[node]] for node in nodes], np.int32).reshape(-1, 2)


def read_hierarchy(path: str | PathLike[str], *, sep: str = ";") -> Hierarchy:
    """Read a hierarchy: a line for each leaf, from the leaf up to the root, as in ``bread;food;*``.

    Compressed files are recognised. Empty lines are skipped.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from disassociation.hierarchy import read_hierarchy
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "tree.txt")
        ...     _ = path.write_text("bread;food;*\\nmilk;food;*\\n")
        ...     read_hierarchy(path)
        <Hierarchy: 4 nodes>
    """
    name = fsdecode(path)
    with open_stream(name) as stream:
        text = as_text(stream, "utf-8").readall().decode()
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if not any(lines):
        raise InputError(f"{name}: the file is empty; give a line for each leaf, from the leaf up to the root")
    return Hierarchy.of_lines(([*line.split(sep)] for line in lines if line), name)
