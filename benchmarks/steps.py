"""What each step of anonymizing costs, next to polars and DuckDB reading the same file and counting its items.

Measured from the file of records to the audited release on disk, in one process, warm, the best of some rounds for each
figure: wall time on one thread and on two, and processor time. `benchmarks/__main__.py` makes pages of it.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

# First of all that use polars: it sets POLARS_MAX_THREADS.
from benchmarks.reading import POLARS, best, duckdb_count, polars_eager  # isort: skip
from benchmarks.samples import Sample
from disassociation.formats import read
from disassociation.params import Parameters
from disassociation.pipeline import STEPS, make_release
from disassociation.release_writer import write_release

READ, WRITE, AUDIT, BEFORE, TOTAL = "read and encode", "write", "audit", "all but the audit", "total"
PARTS = (READ, *STEPS, WRITE, AUDIT)
ROWS = (*PARTS, BEFORE, TOTAL)

_PEAK = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); " + (
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


class Cost(NamedTuple):
    """Of one step."""

    wall: float
    processor: float


class Stopwatch:
    """What is spent in each named step, from the moment it is named to the moment the next is."""

    def __init__(self) -> None:
        self.costs: dict[str, Cost] = {}
        self._step, self._start = "", (0.0, 0.0)

    def __call__(self, step: str) -> None:
        now = time.perf_counter(), time.process_time()
        if self._step:
            self.costs[self._step] = Cost(now[0] - self._start[0], now[1] - self._start[1])
        self._step, self._start = step, now


def run_once(sample: Sample, threads: int = 1) -> dict[str, Cost]:
    """The cost of each step, from the file of records to the finished release on disk."""
    watch, whole = Stopwatch(), Stopwatch()
    whole(TOTAL)
    watch(READ)
    data = read(sample.path, format="fimi")
    release = make_release(data, Parameters(k=5, m=2), threads=threads, progress=watch)
    write_release(release, sample.path.with_suffix(".release"), overwrite=True, progress=watch)
    watch("")
    whole("")
    total, audit = whole.costs[TOTAL], watch.costs[AUDIT]
    before = Cost(total.wall - audit.wall, total.processor - audit.processor)
    return {**watch.costs, BEFORE: before, TOTAL: total}


def run_best(sample: Sample, rounds: int, threads: int = 1) -> dict[str, Cost]:
    """The fastest of some rounds, step by step; so is the total, which is a little more than the sum."""
    runs = [run_once(sample, threads) for _ in range(rounds)]
    return {step: Cost(min(run[step].wall for run in runs), min(run[step].processor for run in runs)) for step in ROWS}


@dataclass(frozen=True, slots=True)
class Measured:
    """All figures of one data set."""

    sample: Sample
    floors: dict[str, float]  # seconds of others that read the file and count its items
    one: dict[str, Cost]  # on one thread
    two: dict[str, Cost]
    peak: int  # bytes, of the command

    @classmethod
    def of(cls, sample: Sample, rounds: int) -> Measured:
        """Measure a data set."""
        path = str(sample.path)
        floors = {way.__name__: best(lambda way=way: way(path), rounds) for way in (*POLARS, duckdb_count)}  # type: ignore[misc]
        one, two = run_best(sample, rounds), run_best(sample, rounds, 2)
        return cls(sample, floors, one, two, peak_bytes(anonymize_command(sample)))

    def section(self) -> str:
        """As Markdown."""
        eager, total = self.floors[polars_eager.__name__], self.one[TOTAL].wall
        fastest = min(self.floors, key=self.floors.__getitem__)
        rows = [self._row(step, eager, total) for step in ROWS]
        head = ["step", "s", "processor s", "s, two threads", "times faster", "/ polars", "of the total"]
        floors = ", ".join(f"`{name}` {seconds:.3f} s" for name, seconds in self.floors.items())
        return (
            f"## {self.sample.name}\n\n{self.sample.occurrences:,} occurrences. Reading the file and counting its "
            f"items, on one thread: {floors}. The whole without the audit is {self.one[BEFORE].wall / eager:.2f} times "
            f"`{polars_eager.__name__}`, {self.one[BEFORE].wall / self.floors[fastest]:.2f} times `{fastest}`. Peak "
            f"memory of the command: {self.peak / 2**20:,.0f} MiB, {self.peak / self.sample.occurrences:.1f} bytes an "
            f"occurrence.\n\n{table(head, rows)}"
        )

    def _row(self, step: str, eager: float, total: float) -> list[str]:
        one, two = self.one[step], self.two[step]
        return [
            step,
            f"{one.wall:.3f}",
            f"{one.processor:.3f}",
            f"{two.wall:.3f}",
            f"{one.wall / two.wall:.2f}",
            f"{one.wall / eager:.2f}",
            f"{one.wall / total:.0%}",
        ]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table, all columns but the first right-aligned."""
    head = list(head)
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def command(*arguments: str) -> list[str]:
    """The command line, run by this interpreter."""
    return [sys.executable, "-m", "disassociation.cli", *arguments]


def anonymize_command(sample: Sample) -> list[str]:
    """Anonymizing a file on one thread, by the command line."""
    release = str(sample.path.with_suffix(".release"))
    return command("anonymize", str(sample.path), "-k", "5", "-m", "2", "-o", release, "--overwrite", "--threads", "1")


def peak_bytes(arguments: list[str]) -> int:
    """Peak memory of a command. A small process starts it: a child begins with its parent's peak as its own."""
    done = subprocess.run([sys.executable, "-c", _PEAK, *arguments], check=True, capture_output=True, text=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024)


def machine() -> str:
    """The machine, without its name, and the versions that matter."""
    info = Path("/proc/cpuinfo")
    models = (
        [line.split(": ")[1] for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    model = models[0] if models else platform.processor() or platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("disassociation", "numpy", "numba", "pyarrow", "polars", "duckdb")
    )
    return (
        f"{model}, {os.cpu_count()} processors, {memory / 2**30:.0f} GiB, "
        f"{platform.system()}; Python {platform.python_version()}, {packages}."
    )
