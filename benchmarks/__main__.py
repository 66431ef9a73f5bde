"""All that is said of speed, measured by one command: ``python -m benchmarks``.

Generates data, measures the steps of anonymizing on each kind next to polars and DuckDB, growth from 100,000 to ten
million records (``--records N`` to stop earlier), mining next to the fastest public miner that is installed, the
paper's algorithms in plain Python on a small slice, and start-up; and writes the page ``docs/benchmarks.md`` with its
pictures. ``--quick`` does the same on a tenth of the data; its figures are not to be quoted. Files of records given as
arguments are measured as well. The other modules of this folder measure one thing each.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

# First of all that use polars: it sets POLARS_MAX_THREADS.
from benchmarks.reading import best  # isort: skip
import pyarrow as pa

from benchmarks import literal, mining
from benchmarks.audits import plain_copy
from benchmarks.plots import plot_growth, plot_steps
from benchmarks.samples import SAMPLES, Sample, quest
from benchmarks.steps import TOTAL, Measured, anonymize_command, command, machine, run_best, run_once, table

GROWTH = (100_000, 1_000_000, 4_000_000, 10_000_000)
ROUNDS = 5
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def measure_samples(folder: Path, share: int, given: list[Path], rounds: int) -> Iterator[Measured]:
    """The steps on each kind of data."""
    for generate, records in SAMPLES.values():
        yield measure(generate(folder, records // share), rounds)
    for path in given:
        yield measure(plain_copy(path, folder), rounds)


def measure(sample: Sample, rounds: int) -> Measured:
    """One data set, whose file is not needed any more."""
    found = Measured.of(sample, rounds)
    sample.path.unlink()
    print(found.section(), flush=True)
    return found


def grow(folder: Path, most: int, rounds: int) -> list[tuple[int, float]]:
    """Seconds for Quest data of growing size."""
    points = []
    for records in (size for size in GROWTH if size <= most):
        sample = quest(folder, records)
        # Beyond half a minute a run does not need company to be a measurement.
        points.append((records, run_best(sample, rounds if records <= 1_000_000 else 2)[TOTAL].wall))
        sample.path.unlink()
        print(*points[-1], flush=True)
    return points


def growth_section(points: list[tuple[int, float]]) -> str:
    """As Markdown."""
    rows = []
    for place, (records, seconds) in enumerate(points):
        tenth = next((other for size, other in points[:place] if 10 * size == records), None)
        micro = 1e6 * seconds / records
        rows.append([f"{records:,}", f"{seconds:.2f}", f"{micro:.2f}", f"{seconds / tenth:.1f}" if tenth else ""])
    head = ["records", "s, total", "microseconds a record", "times a tenth of them"]
    return f"## Growth\n\n![Seconds by records](benchmarks-growth.svg)\n\n{table(head, rows)}"


def mining_section(folder: Path, share: int) -> str:
    """The 1,000 most frequent itemsets."""
    paths = [generate(folder, records // share).path for generate, records in (SAMPLES["quest"], SAMPLES["pos"])]
    return f"## The 1,000 most frequent itemsets\n\n{table(mining.HEAD, map(mining.row, paths))}"


def other_section(folder: Path, rounds: int) -> str:
    """Start-up, and plain Python."""
    small = quest(folder, 1_000)
    cases = {"`disassociate --help`": command("--help"), "`anonymize` of 1,000 records": anonymize_command(small)}
    rows = [
        [name, f"{best(lambda words=words: subprocess.run(words, check=True, capture_output=True), rounds):.2f}"]  # type: ignore[misc]
        for name, words in cases.items()
    ]
    plain, ours = literal.seconds()
    return (
        f"## Start-up, warm\n\n{table(['command', 's'], rows)}\n## The algorithms as printed\n\nThe paper's three "
        f"algorithms, line by line in plain Python, take {plain:.1f} s for {literal.RECORDS:,} Quest records (1,000 "
        f"terms, clusters of up to {literal.SIZE}); `--method paper` takes {ours:.4f} s: "
        f"{plain / ours:,.0f} times less.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, help="files of records to measure as well")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, the best of two rounds")
    parser.add_argument("--records", type=int, default=GROWTH[-1], help="growth up to so many; ten million take 8 GB")
    parser.add_argument("--output", type=Path, default=PAGE, help="where the page goes")
    options = parser.parse_args()
    share, rounds = (10, 2) if options.quick else (1, ROUNDS)
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_once(quest(folder, 1_000))  # compiled code is loaded before anything is timed
        measured = list(measure_samples(folder, share, options.data, rounds))
        points = grow(folder, options.records // share, rounds)
        sections = [growth_section(points), mining_section(folder, share), other_section(folder, rounds)]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    plot_steps(measured, options.output.with_name("benchmarks-steps.svg"))
    plot_growth(points, options.output.with_name("benchmarks-growth.svg"))
    head = (
        "# What it costs\n\nk = 5, m = 2, from a file of records to an audited release on disk, in one process, warm; "
        f"the best of {rounds} rounds for each figure. `/ polars` are multiples of the time polars takes, on one "
        "thread, to read the same file and count its items (`polars_eager`). Made by `python -m benchmarks`.\n\n"
        f"{machine()}\n\n![Steps by data set](benchmarks-steps.svg)\n"
    )
    options.output.write_text("\n".join([head, *(each.section() for each in measured), *sections]), encoding="utf-8")
    print(f"written to {options.output.name}")


if __name__ == "__main__":
    main()
