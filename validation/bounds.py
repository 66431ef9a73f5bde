"""Whether true supports are within their bounds, and how far off expectations are.

Run ``python -m validation.bounds FOLDER``.

For each data set in the folder (NAME.dat.gz): every pair of the 500 most frequent terms, and 10,000 itemsets each of
three and four terms, half of them out of records, half drawn from the 500. Exit code 1 if one true support is out.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import disassociation as da
from disassociation.support import INDEPENDENT, bounds_of, bounds_of_pairs, expected_of, expected_of_pairs

NAMES = ("BMS-WebView-1", "BMS-WebView-2", "retail", "Instacart-train")
FREQUENT, DRAWN = 500, 10_000

Codes = NDArray[np.int32]


def itemsets_of(size: int, records: list[list[int]], frequent: list[int], seed: int) -> Codes:
    """Itemsets of one size, (DRAWN, size), terms rising."""
    chance = np.random.default_rng([seed, size])
    long = [record for record in records if len(record) >= size]
    found = [
        sorted(chance.choice(long[number] if i % 2 else frequent, size, replace=False).tolist())
        for i, number in enumerate(chance.integers(len(long), size=DRAWN))
    ]
    return np.array(found, np.int32)


def true_supports(itemsets: Codes, records: list[list[int]]) -> NDArray[np.int64]:
    """Counted in the records themselves, with nothing of the package."""
    holders: dict[int, set[int]] = {code: set() for code in itemsets.ravel().tolist()}
    for number, record in enumerate(records):
        for code in record:
            if code in holders:
                holders[code].add(number)
    rows = (sorted((holders[code] for code in itemset), key=len) for itemset in itemsets.tolist())
    return np.array([len(row[0].intersection(*row[1:])) for row in rows], np.int64)


def check(release: da.Release, itemsets: Codes, records: list[list[int]]) -> tuple[str, int]:
    """One line of figures, and how many true supports are out of bounds."""
    offsets = np.arange(len(itemsets) + 1) * itemsets.shape[1]
    start = time.perf_counter()
    lower, upper = bounds_of(release, offsets, itemsets.ravel())
    middle = time.perf_counter()
    expected = expected_of(release, offsets, itemsets.ravel(), INDEPENDENT)
    end = time.perf_counter()
    true = true_supports(itemsets, records)
    wrong = int(((true < lower) | (true > upper)).sum())
    outside = int(((expected < lower - 1e-6) | (expected > upper + 1e-6)).sum())
    error = np.abs(expected - true).sum() / max(true.sum(), 1)
    means = (f"{name} {values.mean():.2f}" for name, values in (("lower", lower), ("true", true), ("upper", upper)))
    rates = len(itemsets) / (middle - start), len(itemsets) / (end - middle)
    line = (
        f"  size {itemsets.shape[1]}: {len(itemsets):>7,} itemsets, {wrong} out of bounds, {outside} expected ones; "
        f"means: {', '.join(means)}, expected {expected.mean():.2f}; exact {(lower == upper).mean():.1%}, "
        f"|expected - true| / true {error:.3f}; {rates[0]:,.0f} bounds and {rates[1]:,.0f} expectations a second"
    )
    return line, wrong


def validate(path: Path, k: int, m: int) -> int:
    """Check one data set; returns how many true supports are out of bounds."""
    with gzip.open(path, "rt") as lines:
        texts = [set(line.split()) for line in lines]
    release = da.disassociate(path, k=k, m=m)
    code_of = {name: code for code, name in enumerate(release.vocabulary.to_pylist())}
    records = [sorted(code_of[text] for text in record) for record in texts]
    counts = np.bincount(np.concatenate([np.array(record, np.int64) for record in records]), minlength=len(code_of))
    frequent = np.sort(np.argsort(-counts, kind="stable")[:FREQUENT]).astype(np.int32)
    pairs = np.array(list(combinations(frequent.tolist(), 2)), np.int32)
    print(f"{path.name}: {release!r}")
    start = time.perf_counter()
    matrix = expected_of_pairs(release, frequent, INDEPENDENT)
    print(f"  all {FREQUENT} x {FREQUENT} pairs at once, with laying out: {time.perf_counter() - start:.2f} s")
    one_by_one = expected_of(release, np.arange(len(pairs) + 1) * 2, pairs.ravel(), INDEPENDENT)
    assert np.allclose(matrix[np.triu_indices(len(frequent), 1)], one_by_one, rtol=1e-9, atol=1e-9)
    bounds = bounds_of(release, np.arange(len(pairs) + 1) * 2, pairs.ravel())
    for all_at_once, singly in zip(bounds_of_pairs(release, frequent), bounds, strict=True):
        assert np.array_equal(all_at_once[np.triu_indices(len(frequent), 1)], singly)
    wrong = 0
    for itemsets in (pairs, *(itemsets_of(size, records, frequent.tolist(), k) for size in (3, 4))):
        line, here = check(release, itemsets, records)
        print(line, flush=True)
        wrong += here
    return wrong


def main() -> None:
    """Check all data sets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("-m", type=int, default=2)
    options = parser.parse_args()
    wrong = sum(validate(options.folder / f"{name}.dat.gz", options.k, options.m) for name in NAMES)
    print(f"{wrong} true supports out of bounds")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
