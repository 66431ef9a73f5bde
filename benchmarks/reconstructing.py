"""What a reconstruction costs, next to making the release that it is drawn from.

``python -m benchmarks.reconstructing FILE...`` anonymizes each file of records (k = 5, m = 2) and draws possible
originals of it, on one thread, in one process, warm, and prints a table: the best of five rounds of each, and the peak
memory of ``disassociate reconstruct`` in a process of its own. Without a file it makes Quest data of a million records
and the stand-in for BMS-POS. That a reconstruction gives the release again when it is projected back is the business
of ``tests/test_reconstruct.py``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

# First of all that use polars: it sets POLARS_MAX_THREADS.
from benchmarks.reading import best  # isort: skip
import pyarrow as pa

from benchmarks.audits import plain_copy
from benchmarks.samples import POS_RECORDS, Sample, pos, quest
from benchmarks.steps import command, machine, peak_bytes, run_once, table
from disassociation.formats import read
from disassociation.params import Parameters
from disassociation.pipeline import make_release
from disassociation.reconstruct import Originals

ROUNDS = 5


def row(sample: Sample) -> list[str]:
    """One line of the table."""
    data = read(sample.path, format="fimi")
    run_once(sample)
    path = sample.path.with_suffix(".release")
    making = best(lambda: make_release(data, Parameters(k=5, m=2), threads=1), ROUNDS)
    release = make_release(data, Parameters(k=5, m=2), threads=1)
    originals = Originals.of(release)
    whole, again = best(release.reconstruct, ROUNDS), best(originals.draw, ROUNDS)
    target = str(sample.path.with_suffix(".possible"))
    peak = peak_bytes(command("reconstruct", str(path), "-o", target, "--format", "fimi", "--overwrite"))
    return [
        sample.name,
        f"{sample.records:,}",
        f"{making:.3f}",
        f"{whole:.3f}",
        f"{whole / making:.2f}",
        f"{again:.3f}",
        f"{peak / 2**20:,.0f}",
    ]


def main() -> None:
    pa.set_cpu_count(1)
    head = ["data", "records", "s, make_release", "s, reconstruct", "ratio", "s, each further", "MiB, command"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        row(quest(folder, 1_000))  # compiled code is loaded before anything is timed
        samples = [plain_copy(Path(path), folder) for path in sys.argv[1:]] or [
            quest(folder, 1_000_000),
            pos(folder, POS_RECORDS),
        ]
        print(f"{machine()}\n\n{table(head, map(row, samples))}", end="")


if __name__ == "__main__":
    main()
