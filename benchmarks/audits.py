"""What an audit costs, next to making the release that is audited.

``python -m benchmarks.audits FILE...`` anonymizes each file of records (k = 5, m = 2) and audits what was written, on
one thread, in one process, warm, and prints a table: the best of five rounds of each, their ratio, and the peak memory
of ``disassociate audit`` in a process of its own. Without a file it makes Quest data of a million records.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

# First of all that use polars: it sets POLARS_MAX_THREADS.
from benchmarks.reading import best  # isort: skip
import pyarrow as pa

from benchmarks.samples import Sample, quest
from benchmarks.steps import command, machine, peak_bytes, run_once, table
from disassociation.auditor.auditing import audit
from disassociation.formats import read, write

ROUNDS = 5


def plain_copy(path: Path, folder: Path) -> Sample:
    """The records as a plain file, so that nothing is unpacked while we look at the clock."""
    data = read(path)
    copy = folder / path.name.partition(".")[0]
    write(data, copy, format="fimi")
    return Sample(path.name.partition(".")[0], copy, len(data), len(data.items))


def row(sample: Sample) -> list[str]:
    """One line of the table."""
    making = [run_once(sample) for _ in range(ROUNDS)]
    release = sample.path.with_suffix(".release")
    seconds = best(lambda: audit(release), ROUNDS)
    found = audit(release)
    total, before = (min(run[step].wall for run in making) for step in ("total", "all but the audit"))
    peak = peak_bytes(command("audit", str(release)))
    return [
        sample.name,
        f"{sample.records:,}",
        "holds" if found.holds else "REFUTED",
        f"{seconds:.3f}",
        f"{before:.3f}",
        f"{seconds / before:.2f}",
        f"{seconds / total:.2f}",
        f"{peak / 2**20:,.0f}",
    ]


def main() -> None:
    pa.set_cpu_count(1)
    head = ["data", "records", "verdict", "s, audit", "s, anonymize", "ratio", "audit included", "MiB, audit"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_once(quest(folder, 1_000))  # compiled code is loaded before anything is timed
        samples = [plain_copy(Path(path), folder) for path in sys.argv[1:]] or [quest(folder, 1_000_000)]
        print(f"{machine()}\n\n{table(head, map(row, samples))}", end="")


if __name__ == "__main__":
    main()
