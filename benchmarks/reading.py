"""How long reading takes, next to the fastest way polars has of counting the same file's items.

Both do it on one thread, in the same process, warm; the best of five counts. Run with files of one record a line,
tokens split by single blanks: ``python -m benchmarks.reading FILE...``; without a file it makes two like those of
the paper (Quest, 1M records of about 10 of 5,000 terms; and 515,597 records of about 6.5 of 1,657 terms).
"""

from __future__ import annotations

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

from disassociation.formats import read

ROUNDS = 5


def polars_eager(path: str) -> Any:
    lines = pl.read_csv(path, has_header=False, separator="\x01", schema={"line": pl.String}, quote_char=None)
    return lines.select(pl.col("line").str.split(" ").explode()).group_by("line").len()


def polars_lazy(path: str) -> Any:
    lines = pl.scan_csv(path, has_header=False, separator="\x01", schema={"line": pl.String}, quote_char=None)
    return lines.select(pl.col("line").str.split(" ").explode().value_counts()).collect()


def polars_streaming(path: str) -> Any:
    lines = pl.scan_csv(path, has_header=False, separator="\x01", schema={"line": pl.String}, quote_char=None)
    return lines.select(pl.col("line").str.split(" ").explode()).group_by("line").len().collect(engine="streaming")


def polars_lines(path: str) -> Any:
    lines = pl.scan_lines(path, name="line")
    return lines.select(pl.col("line").str.split(" ").explode()).group_by("line").len().collect(engine="streaming")


def duckdb_count(path: str) -> Any:
    with duckdb.connect(config={"threads": 1}) as connection:
        return connection.execute(
            "SELECT term, count(*) FROM (SELECT unnest(string_split(line, ' ')) AS term FROM read_csv(?, header=false, "
            "delim='\x01', quote='', escape='', columns={'line': 'VARCHAR'})) GROUP BY term",
            [path],
        ).fetchall()


POLARS: list[Callable[[str], Any]] = [polars_eager, polars_lazy, polars_streaming, polars_lines]


def best(job: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Seconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(path: str, format_name: str) -> str:
    """Time one file; one line of a table."""
    ours = best(lambda: read(path, format=format_name))
    theirs = {way.__name__: best(lambda way=way: way(path)) for way in POLARS}  # type: ignore[misc]
    way = min(theirs, key=theirs.__getitem__)
    data = read(path, format=format_name)
    assert len(POLARS[0](path)) in (len(data.vocabulary), len(data.vocabulary) + 1)
    name = Path(path).name
    return f"{name:28}{len(data.items):12,}{1e3 * ours:9.1f}{1e3 * theirs[way]:9.1f} {way:18}{ours / theirs[way]:5.2f}"


def synthetic(path: Path, records: int, mean: float, terms: int, skew: float) -> str:
    """Write records of Poisson length, terms drawn with weights of a power law, sorted by number."""
    rng = np.random.default_rng(0)
    weights = np.arange(1, terms + 1) ** -skew
    lengths = np.maximum(rng.poisson(mean, records), 1)
    drawn = rng.permutation(terms)[np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(lengths.sum()))]
    ends = np.cumsum(lengths).tolist()
    pieces = zip([0, *ends], ends, strict=False)
    path.write_text("".join(" ".join(map(str, np.unique(drawn[a:b]).tolist())) + "\n" for a, b in pieces))
    return str(path)


def main() -> None:
    paths = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if not paths:
            paths = [
                synthetic(Path(folder) / "quest-1m.dat", 1_000_000, 10, 5000, 0.5),
                synthetic(Path(folder) / "pos-size.dat", 515_597, 6.5, 1657, 0.8),
            ]
        print(f"{'file':28}{'tokens':>12}{'ms':>9}{'polars':>9} {'its fastest way':18}ratio")
        for path in paths:
            print(compare(path, "fimi"), flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,} MiB, polars included")


if __name__ == "__main__":
    main()
