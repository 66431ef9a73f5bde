"""How near expected supports come to the original: the models, and reconstructions averaged, on the same releases.

``python -m benchmarks.estimators DATA...`` anonymizes each file with the default settings (k = 5, m = 2) and writes a
table: tKd of the 1,000 most frequent itemsets and of the 1,000 most frequent pairs, and re of the pairs of five ranges
of terms. ``--generated`` adds data that no parameter of an estimator was chosen on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import disassociation as da
from disassociation import metrics
from disassociation.evaluation import evaluate
from disassociation.itemsets import CodedItemsets, Wanted, mine_records
from disassociation.metrics import Counted, coded, top_deviation
from disassociation.release_itemsets import mine_release
from disassociation.support import MODELS

TOP = 1_000
HEAD = ("data", "estimate", "tKd", "tKd, pairs", *(f"re {first}-{stop}" for first, stop in metrics.WINDOWS))


def pairs_of(found: CodedItemsets, top: int) -> CodedItemsets:
    """The first pairs among itemsets."""
    sizes = np.diff(found.offsets)
    chosen = np.flatnonzero(sizes == 2)[:top]
    items = np.stack([found.items[found.offsets[chosen] + place] for place in (0, 1)], axis=1)
    return CodedItemsets(2 * np.arange(len(chosen) + 1), items.ravel(), found.counts[chosen])


def top_pairs(records: Counted) -> CodedItemsets:
    """The pairs that most records hold."""
    wanted = Wanted(1, 4 * TOP, 2)
    return pairs_of(mine_records(records.offsets, records.items, int(records.items.max()) + 1, wanted), TOP)


def deviation_of_pairs(data: da.Transactions, release: da.Release, model: str) -> float:
    """TKd of pairs alone."""
    truth = top_pairs(coded(data, release.vocabulary))
    return top_deviation(truth, pairs_of(mine_release(release, Wanted(1, 4 * TOP, 2), model=model).itemsets, TOP))


def line(name: str, estimate: str, *figures: float | None) -> str:
    """A row of the table."""
    cells = (name, estimate, *("" if figure is None else f"{figure:.3f}" for figure in figures))
    return "| " + " | ".join(cells) + " |"


def rows(name: str, data: da.Transactions, reconstructions: int) -> Iterator[str]:
    """One data set: each model, what it expects, and the mean of reconstructions drawn by it."""
    release = da.disassociate(data, k=5, m=2)
    release.support(release.vocabulary[:2].to_pylist())  # what is compiled is loaded
    start = time.perf_counter()
    for model in MODELS:
        found = evaluate(data, release, reconstructions=reconstructions, model=model, top=TOP)
        (each,) = (each for each in found.expected if each.model == model)
        yield line(name, f"{model}, expected", each.tkd, deviation_of_pairs(data, release, model), *each.re)
        if found.averaged:
            most = found.averaged[-1]
            means = [spread and spread.mean for spread in most.re]
            yield line(name, f"{model}, mean of {most.reconstructions} drawn", most.tkd.mean, None, *means)
    print(f"{name}: {time.perf_counter() - start:.1f} s")


def seconds(release: da.Release, terms: int = TOP) -> tuple[float, float]:
    """How long it takes to fit the estimator, and then to expect all pairs of the most frequent terms."""
    from disassociation.estimator import fit_release

    support: NDArray[np.float64] = fit_release(release).alone
    codes = np.sort(np.argsort(-support, kind="stable")[:terms]).astype(np.int32)
    start = time.perf_counter()
    estimator = fit_release(release)
    between = time.perf_counter()
    estimator.expected_pairs(codes)
    return between - start, time.perf_counter() - between


def generated() -> Iterator[tuple[str, da.Transactions]]:
    """Data on which nothing was chosen."""
    yield "Quest, 100,000 records", da.generate_quest(records=100_000, terms=5_000, mean_length=10)
    yield "Quest, 1,000 terms", da.generate_quest(records=100_000, terms=1_000, mean_length=10, random_state=7)
    yield "POS stand-in, 100,000 records", da.generate_pos(records=100_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, help="files of records")
    parser.add_argument("--generated", action="store_true", help="generated data as well")
    parser.add_argument("--reconstructions", type=int, default=10, help="how many are averaged")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("estimators.md"))
    options = parser.parse_args()
    lines = [
        "# Estimates of supports\n",
        "k = 5, m = 2, default settings. Made by `python -m benchmarks.estimators`.\n",
    ]
    lines += ["| " + " | ".join(HEAD) + " |", "| --- | --- |" + " ---: |" * (len(HEAD) - 2)]
    sets = [(path.name.partition(".")[0], da.read(path)) for path in options.data]
    times = []
    for name, data in [*sets, *(generated() if options.generated else ())]:
        for row in rows(name, data, options.reconstructions):
            print(row, flush=True)
            lines.append(row)
        fitting, pairs = seconds(da.disassociate(data, k=5, m=2))
        times.append(f"* {name}: fitted in {fitting:.2f} s, all pairs of {TOP:,} terms in {pairs:.2f} s more")
    options.output.write_text("\n".join([*lines, "", *times, ""]), encoding="utf-8")
    print(f"written to {options.output.name}")


if __name__ == "__main__":
    main()
