"""What each step of anonymizing costs, next to polars reading the same file and counting its items.

``python -m benchmarks.steps`` measures on one thread, in one process, warm, and writes a page of tables: the steps on
two generated data sets, how the whole grows from 100,000 records to a million (ten million with ``--large``), peak
memory, and start-up. ``--quick`` does the same on a tenth of the data in a minute; its figures are not to be quoted.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

# First of all that use polars: it sets POLARS_MAX_THREADS.
from benchmarks.reading import POLARS, best, polars_eager  # isort: skip
import pyarrow as pa

from disassociation.formats import read, write
from disassociation.generators import generate_pos, generate_quest
from disassociation.generators.pos import RECORDS as POS_RECORDS
from disassociation.params import Parameters
from disassociation.pipeline import STEPS, make_release
from disassociation.records import Transactions
from disassociation.release_writer import write_release

READ, WRITE, AUDIT, BEFORE, TOTAL = "read and encode", "write", "audit", "all but the audit", "total"
ROWS = (READ, *STEPS, WRITE, AUDIT, BEFORE, TOTAL)
SIZES = (None, 30)
"""The cluster sizes measured: the default, and that of the method ``paper``."""

_PEAK = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); " + (
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """How much to measure."""

    records: int = 1_000_000
    pos_records: int = POS_RECORDS
    scaling: tuple[int, ...] = (100_000, 1_000_000)
    rounds: int = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """A generated data set in a file."""

    name: str
    path: Path
    records: int
    occurrences: int


class Stopwatch:
    """Seconds spent in each named step, from the moment it is named to the moment the next is."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._step, self._start = "", 0.0

    def __call__(self, step: str) -> None:
        now = time.perf_counter()
        if self._step:
            self.seconds[self._step] = now - self._start
        self._step, self._start = step, now


def save(data: Transactions, name: str, path: Path) -> Sample:
    """Write generated records, one a line."""
    write(data, path, format="fimi", overwrite=True)
    return Sample(name, path, len(data), len(data.items))


def quest(folder: Path, records: int) -> Sample:
    """Quest data with the paper's parameters: 5,000 terms, 10 a record."""
    path = folder / f"quest-{records}.dat"
    return save(generate_quest(records=records, terms=5_000, mean_length=10), f"Quest, {records:,} records", path)


def pos(folder: Path, records: int) -> Sample:
    """The stand-in for the BMS-POS data."""
    return save(generate_pos(records=records), f"POS stand-in, {records:,} records", folder / "pos.dat")


def run_once(sample: Sample, size: int | None) -> dict[str, float]:
    """Seconds of each step, from the file of records to the finished release on disk."""
    watch = Stopwatch()
    start = time.perf_counter()
    watch(READ)
    data = read(sample.path, format="fimi")
    release = make_release(data, Parameters(k=5, m=2, max_cluster_size=size), threads=1, progress=watch)
    write_release(release, sample.path.with_suffix(".release"), overwrite=True, progress=watch)
    watch("")
    total = time.perf_counter() - start
    return {**watch.seconds, BEFORE: total - watch.seconds[AUDIT], TOTAL: total}


def run_best(sample: Sample, size: int | None, rounds: int) -> dict[str, float]:
    """The fastest of some rounds, step by step; so is the total, which is a little more than the sum."""
    runs = [run_once(sample, size) for _ in range(rounds)]
    return {step: min(run[step] for run in runs) for step in ROWS}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table, all columns but the first right-aligned."""
    head = list(head)
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def steps_section(sample: Sample, rounds: int) -> str:
    """One data set: polars two ways, then our steps for each cluster size."""
    path = str(sample.path)
    eager = best(lambda: polars_eager(path), rounds)
    others = {way.__name__: best(lambda way=way: way(path), rounds) for way in POLARS if way is not polars_eager}  # type: ignore[misc]
    fastest = min(others, key=others.__getitem__)
    runs = [run_best(sample, size, rounds) for size in SIZES]
    head = ["step"]
    for size in SIZES:
        head += [f"s, {'default size' if size is None else f'max size {size}'}", "/ eager", "/ fastest"]
    rows = [[step, *(cell for run in runs for cell in _cells(run[step], eager, others[fastest]))] for step in ROWS]
    return (
        f"## {sample.name}\n\n{sample.occurrences:,} occurrences. Polars reads the file and counts its items in "
        f"{eager:.3f} s eagerly (`{polars_eager.__name__}`), and in {others[fastest]:.3f} s the fastest other way "
        f"(`{fastest}`).\n\n{table(head, rows)}"
    )


def _cells(seconds: float, *others: float) -> list[str]:
    return [f"{seconds:.3f}", *(f"{seconds / other:.2f}" for other in others)]


def scaling_section(folder: Path, scope: Scope) -> str:
    """The total for Quest data of growing size, and its growth from one to the next."""
    rows, before = [], None
    for records in scope.scaling:
        sample = quest(folder, records)
        # Beyond a minute a run does not need company to be a measurement.
        seconds = run_best(sample, None, scope.rounds if records <= 1_000_000 else 1)[TOTAL]
        rows.append([f"{records:,}", f"{seconds:.2f}", "" if before is None else f"{seconds / before:.1f}"])
        before = seconds
        sample.path.unlink()
    return f"## Growth, Quest\n\n{table(['records', 's, total', 'times the one before'], rows)}"


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


def memory_section(samples: Iterable[Sample]) -> str:
    """Peak memory of the command, also by occurrence of a term in the data; the least data show what is fixed."""
    rows = []
    for sample in samples:
        peak = peak_bytes(anonymize_command(sample))
        rows.append([sample.name, f"{peak / 2**20:,.0f}", f"{peak / sample.occurrences:.1f}"])
    return f"## Peak memory of `disassociate anonymize`\n\n{table(['data', 'MiB', 'bytes an occurrence'], rows)}"


def start_section(folder: Path, rounds: int) -> str:
    """What a user waits for even when there is nothing to do."""
    small = quest(folder, 1_000)
    cases = {"`disassociate --help`": command("--help"), "`anonymize` of 1,000 records": anonymize_command(small)}
    rows = []
    for name, arguments in cases.items():
        seconds = best(lambda: subprocess.run(arguments, check=True, capture_output=True), rounds)  # noqa: B023
        rows.append([name, f"{seconds:.2f}"])
    return f"## Start-up, warm\n\n{table(['command', 's'], rows)}"


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
        f"{name} {version(name)}" for name in ("disassociation", "numpy", "numba", "pyarrow", "polars")
    )
    return (
        f"{model}, {os.cpu_count()} processors, {memory / 2**30:.0f} GiB, "
        f"{platform.system()}; Python {platform.python_version()}, {packages}."
    )


def sections(folder: Path, scope: Scope) -> Iterable[Callable[[], str]]:
    """The parts of the page, each measured when it is called."""
    samples = [quest(folder, scope.records), pos(folder, scope.pos_records)]
    for sample in samples:
        yield lambda sample=sample: steps_section(sample, scope.rounds)  # type: ignore[misc]
    yield lambda: memory_section([quest(folder, 1_000), *samples])
    yield lambda: scaling_section(folder, scope)
    yield lambda: start_section(folder, scope.rounds)


def page(folder: Path, scope: Scope) -> str:
    """Measure everything; the page as Markdown."""
    run_once(quest(folder, 1_000), None)  # compiled code is loaded before anything is timed
    parts = [
        "# What the steps cost\n",
        f"k = 5, m = 2, one thread, one process, warm; the best of {scope.rounds} rounds for each figure. `/ eager` "
        "and `/ fastest` are multiples of the time polars takes, on one thread, to read the same file and count its "
        f"items. Made by `python -m benchmarks.steps`.\n\n{machine()}\n",
    ]
    for section in sections(folder, scope):
        parts.append(section())
        print(parts[-1], flush=True)
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, the best of two rounds")
    parser.add_argument("--large", action="store_true", help="growth up to ten million records; takes 8 GB and minutes")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("steps.md"), help="where the page goes")
    options = parser.parse_args()
    scope = Scope(100_000, 50_000, (10_000, 100_000), 2) if options.quick else Scope()
    if options.large:
        scope = Scope(scope.records, scope.pos_records, (*scope.scaling, 10 * scope.scaling[-1]), scope.rounds)
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        text = page(Path(folder), scope)
    options.output.write_text(text, encoding="utf-8")
    print(f"written to {options.output.name}")


if __name__ == "__main__":
    main()
