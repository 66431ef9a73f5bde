"""The paper's algorithms as it prints them, in plain sets, next to ours on the same few records.

``python -m benchmarks.literal [RECORDS]`` generates so many Quest records (3,000 unless told otherwise), runs the
oracle ``tests/naive/as_printed.py`` on them once, in plain Python, and ours; both up to the release in memory.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.reading import best
from disassociation.generators import generate_quest
from disassociation.params import Parameters
from disassociation.pipeline import make_release

RECORDS, SIZE = 3_000, 30

sys.path.append(str(Path(__file__).parents[1] / "tests"))


def seconds(records: int = RECORDS) -> tuple[float, float]:
    """Of the literal algorithms, and of ours by ``--method paper``."""
    from naive.as_printed import horpart, literal_paper

    data = generate_quest(records=records, terms=1_000, mean_length=10)
    bag = [frozenset(record) for record in data]
    start = time.perf_counter()
    literal_paper(horpart(bag, frozenset(), SIZE), 5, 2)
    literal = time.perf_counter() - start
    parameters = Parameters(k=5, m=2, max_cluster_size=SIZE, method="paper")
    return literal, best(lambda: make_release(data, parameters, threads=1), 3)


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    literal, ours = seconds(records)
    print(f"{records:,} records: as printed {literal:.2f} s, ours {ours:.4f} s, {literal / ours:,.0f} times faster")


if __name__ == "__main__":
    main()
