"""Possible originals under the model "empirical-bayes": how many records have a hidden term, and which together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

import disassociation as da
from disassociation._kernels.associating import draw_copies, length_class, ratios_of
from disassociation.association import find_association
from disassociation.estimator import EDGES, fit
from disassociation.metrics import coded
from disassociation.reconstruct import Originals
from disassociation.support import EMPIRICAL_BAYES, INDEPENDENT, expected_of, expected_of_pairs


@pytest.fixture(scope="module")
def release() -> da.Release:
    """Patterns that records share are hidden in it."""
    return da.disassociate(da.generate_quest(records=20_000, terms=500, mean_length=8, random_state=3), k=5, m=2)


def mean_pairs(release: da.Release, model: str, codes: NDArray[np.int32], draws: int) -> NDArray[np.float64]:
    """The average supports of pairs of terms over reconstructions; of each term on the diagonal."""
    totals, originals = np.zeros((len(codes), len(codes))), Originals.of(release, model)
    rank = np.full(len(release.vocabulary), -1)
    rank[codes] = np.arange(len(codes))
    for number in range(draws):
        world = coded(originals.draw(number), release.vocabulary)
        held = np.zeros((len(world.offsets) - 1, len(codes)), np.float32)
        owners = np.repeat(np.arange(len(held)), np.diff(world.offsets))
        chosen = rank[world.items] >= 0
        held[owners[chosen], rank[world.items[chosen]]] = 1
        totals += held.T @ held
    return totals / draws


def test_means_are_what_is_expected(release: da.Release) -> None:
    """Terms on their own; pairs altogether, and each nearer to what is expected of it than to independence."""
    codes = np.sort(np.argsort(-fit(release).alone, kind="stable")[:200]).astype(np.int32)
    expected, means = expected_of_pairs(release, codes), mean_pairs(release, EMPIRICAL_BAYES, codes, 20)
    assert np.diag(means) == pytest.approx(np.diag(expected), rel=0.02)
    assert np.diag(means).sum() == pytest.approx(np.diag(expected).sum(), rel=0.002)
    above = np.triu_indices(len(codes), 1)
    assert means[above].sum() == pytest.approx(expected[above].sum(), rel=0.03)
    independent = expected_of_pairs(release, codes, INDEPENDENT)[above]
    nearer = np.abs(means[above] - expected[above]).sum() / np.abs(independent - expected[above]).sum()
    assert nearer < 0.4


def test_larger_itemsets_are_drawn_together(release: da.Release) -> None:
    """Of the triples whose expectation differs most from independence, most of the difference is in the draws."""
    codes = np.argsort(-fit(release).alone, kind="stable")[:40].astype(np.int32)
    triples = np.array([sorted(codes[list(places)].tolist()) for places in combinations(range(40), 3)], np.int32)
    offsets = 3 * np.arange(len(triples) + 1)
    expected, plain = (expected_of(release, offsets, triples.ravel(), m) for m in (EMPIRICAL_BAYES, INDEPENDENT))
    chosen = np.argsort(plain - expected)[:50]
    world = [coded(Originals.of(release, EMPIRICAL_BAYES).draw(n), release.vocabulary) for n in range(10)]
    found = np.zeros(len(chosen))
    for each in world:
        records = [set(each.items[a:b].tolist()) for a, b in zip(each.offsets[:-1], each.offsets[1:], strict=True)]
        found += [sum(triple <= record for record in records) for triple in map(set, triples[chosen].tolist())]
    found /= len(world)
    gained = (found - plain[chosen]).sum() / (expected[chosen] - plain[chosen]).sum()
    assert 0.6 < gained < 1.2


def test_copies_are_as_many_as_expected() -> None:
    """The mean of what is drawn is the count, up to the most there can be, and one is always drawn."""
    counts = np.array([1.0, 1.2, 1.7, 2.4, 3.5, 4.0, 4.7, 2.0, 1.5])
    offsets, sizes = np.array([0, 7, 9]), np.array([9, 2])
    ratios = ratios_of(counts, offsets, sizes, 4)
    most = np.minimum(counts, [4] * 7 + [2] * 2)
    drawn = np.array([draw_copies(np.uint64(key), offsets, sizes, ratios, 4) for key in range(20_000)])
    assert drawn.min() == 1
    assert (drawn.max(axis=0) <= [4] * 7 + [2] * 2).all()
    assert drawn.mean(axis=0) == pytest.approx(most, abs=0.03)
    assert (drawn[:, 0] == 1).all()
    assert (drawn[:, 5] == 4).all()


def test_classes_of_lengths() -> None:
    """Those of the sample are those of the kernel."""
    lengths = np.arange(1, 600)
    classes = [length_class.py_func(length) for length in lengths.tolist()]  # type: ignore[attr-defined]
    assert classes == np.ceil(np.log2(lengths)).astype(int).tolist()


def test_classes_of_chance(release: da.Release) -> None:
    """The class of two terms, which the kernel finds without a search, is that of how often they meet by chance."""
    levels = find_association(fit(release)).affinity.levels
    weights = np.bincount(release.forest.terms, minlength=len(levels)) / release.leaves**0.5
    one, other = np.triu_indices(len(levels), 1)
    found = np.clip(np.ceil(levels[one] + levels[other]), 0, len(EDGES)).astype(int)
    assert np.mean(found != np.searchsorted(EDGES, weights[one] * weights[other])) < 1e-4  # but for rounding
    assert len(np.unique(found)) > 5


def test_pulls_may_be_of_any_strength(release: da.Release) -> None:
    """Where a record draws a term beyond all measure, the next copy is on another record yet."""
    found, copies = find_association(fit(release)), []
    for strength in (0.0, 1000.0, -1000.0, 1e6):
        common = np.full_like(found.affinity.common, strength)
        affinity = found.affinity._replace(logs=np.full_like(found.affinity.logs, strength), common=common)
        affinity = affinity._replace(powers=np.ones_like(affinity.powers))
        drawn = replace(Originals.of(release, EMPIRICAL_BAYES), association=replace(found, affinity=affinity))
        bounds, codes = drawn.leaf_by_leaf(1)
        begins = np.zeros(len(codes), np.bool_)
        begins[bounds[:-1]] = True
        assert (begins[1:] | (np.diff(codes) > 0)).all()  # no record has a term twice
        copies.append(len(codes))
    assert max(copies) < 1.1 * min(copies)  # they differ only in what fills records that are empty


def test_lifts_are_weakened_where_there_are_many_terms(release: da.Release) -> None:
    """Powers fall with the length of term chunks; nothing of it depends on chance."""
    powers = find_association(fit(release)).affinity.powers
    assert 0 < powers[-1] < powers[2] <= powers[1] <= 1
    assert np.array_equal(powers, find_association(fit(release)).affinity.powers)


def test_releases_without_term_chunks() -> None:
    """There is nothing to learn, and nothing is drawn differently."""
    release = da.disassociate([["a", "b"]] * 4 + [["a", "c"]] * 4, k=3, m=2)
    assert sorted(map(sorted, release.reconstruct(model=EMPIRICAL_BAYES))) == [["a", "b"]] * 4 + [["a", "c"]] * 4
