"""Whether what is expected under each model is what its reconstructions hold on average.

Run ``python -m validation.laws FILE...``.

Of each file of records a release is made (k = 5, m = 2), 200 possible originals are drawn by each model, and the mean
support of itemsets in them is compared with what is expected. Itemsets of two to four terms are drawn out of one
reconstruction that is not among these, as many of each kind: held in one record chunk somewhere, in shared chunks, in
term chunks only. For the model "independent" no mean may be further off than four standard errors, nor with
2,000 other draws if it is by chance; exit code 1 otherwise.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import disassociation as da
from disassociation.metrics import coded
from disassociation.reconstruct import Originals
from disassociation.support import INDEPENDENT, MODELS, expected_of

DRAWS, MORE, OF_EACH_KIND, ERRORS, RARE = 200, 2_000, 150, 4.0, 25
MOST_TRIES = 200_000
Floats = NDArray[np.float64]
KINDS = ("record chunks", "shared chunks", "term chunks")


def kind_of_terms(release: da.Release) -> NDArray[np.int64]:
    """0 for terms that are in some record chunk, 1 for others in some shared chunk, 2 for the rest."""
    rows, kinds = release.forest.rows, np.full(len(release.vocabulary), 2)
    first = rows.offsets[rows.cluster_offsets[release.leaves]]
    kinds[rows.items[first:]] = 1
    kinds[rows.items[:first]] = 0
    return kinds


def itemsets_of(release: da.Release) -> dict[str, list[tuple[int, ...]]]:
    """As many itemsets of each kind: the kind of that of their terms which is in the rarest kind of chunks."""
    world = coded(release.reconstruct(DRAWS), release.vocabulary)
    kinds, chance = kind_of_terms(release), np.random.default_rng(2012)
    found: dict[str, dict[tuple[int, ...], None]] = defaultdict(dict)
    for _ in range(MOST_TRIES):
        record = int(chance.integers(len(world.offsets) - 1))
        terms = world.items[world.offsets[record] : world.offsets[record + 1]]
        size = int(chance.integers(2, 5))
        if len(terms) >= size:
            itemset = tuple(sorted(chance.choice(terms, size, replace=False).tolist()))
            kind = KINDS[int(kinds[list(itemset)].max())]
            if len(found[kind]) < OF_EACH_KIND:
                found[kind][itemset] = None
        if sum(map(len, found.values())) == len(KINDS) * OF_EACH_KIND:
            break
    return {kind: list(found[kind]) for kind in KINDS if found[kind]}


def supports(data: da.Transactions, release: da.Release, itemsets: list[tuple[int, ...]]) -> NDArray[np.int64]:
    """Counted in the records themselves."""
    world = coded(data, release.vocabulary)
    owners = np.repeat(np.arange(len(world.offsets) - 1), np.diff(world.offsets))
    order = np.argsort(world.items, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(world.items, minlength=len(release.vocabulary)))])
    held = {}
    for term in {term for itemset in itemsets for term in itemset}:
        held[term] = owners[order[ends[term] : ends[term + 1]]]
    found = []
    for itemset in itemsets:
        records = held[itemset[0]]
        for term in itemset[1:]:
            records = np.intersect1d(records, held[term], assume_unique=True)
        found.append(len(records))
    return np.array(found, np.int64)


def distances(originals: Originals, itemsets: list[tuple[int, ...]], expected: Floats, numbers: range) -> list[Floats]:
    """The means over some reconstructions, and how many standard errors they are off."""
    drawn = np.array([supports(originals.draw(number), originals.release, itemsets) for number in numbers])
    means, errors = drawn.mean(axis=0), drawn.std(axis=0, ddof=1) / len(numbers) ** 0.5
    # Of a rare itemset the draws that hold it are too few to tell the deviation from.
    is_rare = expected * len(numbers) < RARE
    errors = np.where(is_rare, np.maximum(errors, np.sqrt(expected.clip(0) / len(numbers))), errors)
    errors = np.maximum(errors, 2 / len(numbers))  # nor of one that is nearly always the same
    return [means, np.abs(means - expected) / errors]


def compare(release: da.Release, model: str) -> int:
    """Print a line for each kind of itemsets; returns how many means are too far off, and again with more draws."""
    by_kind = itemsets_of(release)
    itemsets = [itemset for kind in by_kind for itemset in by_kind[kind]]
    offsets = np.concatenate([[0], np.cumsum([len(itemset) for itemset in itemsets])])
    expected = expected_of(release, offsets, np.concatenate(itemsets).astype(np.int32), model)
    originals = Originals.of(release, model)
    start = time.perf_counter()
    means, off = distances(originals, itemsets, expected, range(DRAWS))
    seconds = time.perf_counter() - start
    first = 0
    for kind, some in by_kind.items():
        part = slice(first, first + len(some))
        first += len(some)
        ratio = means[part].sum() / max(expected[part].sum(), 1e-9)
        print(
            f"  {model:15} {kind:13} {len(some)} itemsets: {(off[part] <= ERRORS).mean():.1%} within {ERRORS:.0f} "
            f"standard errors, furthest {off[part].max():.2f}; means / expected, summed: {ratio:.3f}"
        )
    print(f"  {DRAWS} reconstructions, counted, in {seconds:.0f} s", flush=True)
    suspects = np.flatnonzero(off > ERRORS) if model == INDEPENDENT else np.empty(0, np.int64)
    if len(suspects) == 0:
        return 0
    # Of so many itemsets one may be off by chance; then it is not with other draws.
    chosen = [itemsets[number] for number in suspects.tolist()]
    _, again = distances(originals, chosen, expected[suspects], range(2 * DRAWS, 2 * DRAWS + MORE))
    print(f"  {len(suspects)} of them with {MORE:,} other draws: furthest {again.max():.2f}")
    return int((again > ERRORS).sum())


def main() -> None:
    """Check all files."""
    wrong = 0
    for path in sys.argv[1:]:
        release = da.disassociate(da.read(path), k=5, m=2)
        print(f"{Path(path).name}: {release!r}")
        wrong += sum(compare(release, model) for model in MODELS)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
