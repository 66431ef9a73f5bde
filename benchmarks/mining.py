"""How long the 1,000 most frequent itemsets take, next to the fastest public miner there is for Python.

``python -m benchmarks.mining FILE...`` reads each file of records and mines it on one thread, in one process, warm; the
best of three rounds counts. Without a file it makes Quest data of a million records and the POS stand-in. The release
of the same records (k = 5, m = 2) is mined as well, laid out beforehand. Next to ours run the five miners
of pyfim (Christian Borgelt's, in C) if it is installed: ``python3 -m pip install pyfim``. They are given the records as
lists of numbers, ready, and the support of the last of the itemsets, which they cannot find out themselves; the answers
are compared. Others are far behind: mlxtend's fpgrowth took 27 times as long as the fastest of these on a million Quest
records; PAMI and efficient-apriori took more than 15 times as long on half a million.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.reading import best
from benchmarks.samples import POS_RECORDS, pos, quest
from benchmarks.steps import machine, table
from disassociation.formats import read
from disassociation.itemsets import frequent_itemsets
from disassociation.pipeline import disassociate
from disassociation.records import Transactions

TOP, ROUNDS = 1000, 3
HEAD = ("data", "records", "itemsets", "least", "s, release", "s, ours", "fastest public miner", "s", "ratio")
MINERS = ("apriori", "eclat", "fpgrowth", "relim", "sam")


def public_miners() -> dict[str, Callable[..., Any]]:
    """What is installed."""
    if importlib.util.find_spec("fim") is None:
        return {}
    fim = importlib.import_module("fim")
    return {name: getattr(fim, name) for name in MINERS}


def row(path: Path) -> list[str]:
    """One line of the table."""
    data = read(path)
    found = frequent_itemsets(data, top=TOP)
    counts = found.to_arrow().column("count").to_pylist()
    ours = best(lambda: frequent_itemsets(data, top=TOP), ROUNDS)
    release = disassociate(data, k=5, m=2)
    release.itemsets(top=TOP)  # lays it out
    of_release = best(lambda: release.itemsets(top=TOP), ROUNDS)
    theirs = times_of_others(data, counts)
    cells = [path.name, f"{len(data):,}", f"{len(found):,}", f"{counts[-1]:,}", f"{of_release:.3f}", f"{ours:.3f}"]
    if not theirs:
        return [*cells, "pyfim is not installed", "", ""]
    fastest = min(theirs, key=theirs.__getitem__)
    return [*cells, f"pyfim {fastest}", f"{theirs[fastest]:.3f}", f"{ours / theirs[fastest]:.2f}"]


def times_of_others(data: Transactions, counts: list[int]) -> dict[str, float]:
    """Seconds of each miner that is there; all must find what we found, and ties of the last."""
    bounds, items = data.offsets.tolist(), data.items.tolist()
    records = [items[start:stop] for start, stop in pairwise(bounds)]
    seconds = {}
    for name, mine in public_miners().items():
        answer = mine(records, target="s", supp=-counts[-1], zmin=1, report="a")
        assert sorted((count for _, count in answer), reverse=True)[: len(counts)] == counts
        seconds[name] = best(lambda mine=mine: mine(records, target="s", supp=-counts[-1], zmin=1), ROUNDS)  # type: ignore[misc]
    return seconds


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        made = (quest(Path(name), 1_000_000), pos(Path(name), POS_RECORDS)) if len(sys.argv) == 1 else ()
        paths = [*map(Path, sys.argv[1:]), *(sample.path for sample in made)]
        print(f"{machine()}\n\n{table(HEAD, map(row, paths))}", end="")


if __name__ == "__main__":
    main()
