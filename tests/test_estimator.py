"""The model "empirical-bayes": ours is the oracle's, nothing is out of bounds, and it is better than independence."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import disassociation as da
from disassociation import estimator, support
from disassociation.errors import GuaranteeError
from disassociation.estimator import Estimator, fit, fit_release
from disassociation.release import Release
from disassociation.support import EMPIRICAL_BAYES, INDEPENDENT, bounds_of, expected_of, expected_of_pairs
from naive.estimator import EDGES, GRID, Estimate
from naive.forest import leaves
from strategies import Published, releases, zipf_bag
from test_support import opened

NAMES = tuple("abcdefghijklmno")


def release_of(seed: int, size: int, density: float = 0.6, terms: int = 15, **options: Any) -> Release:
    """A small release with leaves of a few records; the seed is part of the test's name."""
    records = [sorted(record) for record in zipf_bag(seed, size, NAMES[:terms], density)]
    return da.disassociate(records, **{"k": 3, "m": 2, **options})


def all_terms(release: Release) -> NDArray[np.int32]:
    return np.arange(len(release.vocabulary), dtype=np.int32)


def batch(release: Release, size: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """All itemsets of a size."""
    found = np.array(list(combinations(range(len(release.vocabulary)), size)), np.int32).reshape(-1, size)
    return size * np.arange(len(found) + 1), found.ravel()


def is_plain(release: Release) -> bool:
    """Whether the oracle's law is the release's."""
    return bool((release._law.ratios_from < 0).all() and not release._ground.scene.is_mixed.any())


CASES: list[tuple[int, int, dict[str, Any]]] = [
    *((seed, 120, {"k": 3}) for seed in range(4)),
    *((seed, 200, {"k": 4}) for seed in range(4, 8)),
    *((seed, 90, {"k": 2, "max_cluster_size": 6}) for seed in range(8, 10)),
    (10, 150, {"k": 5, "m": 1}),
    (11, 150, {"k": 3, "m": 3, "refine": False}),
    (12, 150, {"k": 3, "sensitive": ["c", "d"], "l": 2}),
    (13, 12, {"k": 5, "max_cluster_size": 50}),
    (14, 300, {"k": 3, "max_cluster_size": 30}),
]


@pytest.mark.parametrize(("seed", "size", "options"), CASES)
def test_ours_is_the_oracles(seed: int, size: int, options: dict[str, Any]) -> None:
    release = release_of(seed, size, **options)
    if not is_plain(release):
        release = release_of(seed, size, **{**options, "refine": False})
    names = release.vocabulary.to_pylist()
    plain = Estimate(release.clusters.to_pylist(), release.subrecords.to_pylist(), release.k)
    ours = fit(release)
    for bin_, weights in enumerate(plain.weights):
        assert np.allclose(ours.learned.weights[bin_], weights, rtol=1e-7, atol=1e-9), bin_
    chance = random.Random(seed)
    for length in (1, 2, 3, 4):
        offsets, codes = batch(release, length)
        chosen = chance.sample(range(len(offsets) - 1), min(len(offsets) - 1, 100))
        lower, upper = bounds_of(release, offsets, codes)
        found = ours.expected(offsets, codes)
        for number in chosen:
            itemset = [names[code] for code in codes[offsets[number] : offsets[number + 1]]]
            if length > 1 and any((release._law.ratios_from >= 0).tolist()):
                continue  # a leaf that is filled in a special way: test_support has that law
            expected = min(max(plain.expected(itemset), lower[number]), upper[number])
            assert found[number] == pytest.approx(expected, rel=1e-9, abs=1e-9), itemset


def test_the_oracle_has_the_same_parameters() -> None:
    assert pytest.approx(GRID) == estimator.GRID.tolist()
    assert pytest.approx(EDGES) == estimator.EDGES.tolist()


def test_cases_are_what_they_are_for() -> None:
    """Some have shared chunks, and most are compared in full."""
    releases = [release_of(seed, size, **options) for seed, size, options in CASES]
    assert sum(release.joint_clusters > 0 for release in releases) >= 4
    assert sum(map(is_plain, releases)) >= 8
    assert any(release.leaves == 1 for release in releases)


@pytest.mark.parametrize("seed", range(6))
def test_pairs_are_itemsets_of_two(seed: int) -> None:
    """Whether all at once or one by one, in specially filled leaves as well; and the diagonal is single terms."""
    release = release_of(seed, 150, k=2 + seed % 3, density=0.4 + 0.2 * (seed % 4))
    ours, terms = fit(release), len(release.vocabulary)
    pairs = ours.expected_pairs(all_terms(release))
    assert np.array_equal(pairs, pairs.T)
    within = np.clip(pairs[np.triu_indices(terms, 1)], *bounds_of(release, *batch(release, 2)))
    assert np.allclose(within, ours.expected(*batch(release, 2)), rtol=1e-9, atol=1e-9)
    assert np.allclose(np.diag(pairs), ours.expected(*batch(release, 1)), rtol=1e-9, atol=1e-9)
    some = np.sort(np.random.default_rng(seed).choice(terms, 6, replace=False)).astype(np.int32)
    assert np.allclose(ours.expected_pairs(some), pairs[np.ix_(some, some)], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_expected_out_of_bounds(seed: int) -> None:
    release = release_of(seed, 200, density=0.5 + 0.3 * seed)
    for size in (1, 2, 3):
        offsets, codes = batch(release, size)
        lower, upper = bounds_of(release, offsets, codes)
        found = fit(release).expected(offsets, codes)
        assert (found >= lower).all()
        assert (found <= upper).all()


@settings(max_examples=150, deadline=None)
@given(published=releases(max_leaves=4, least_n=1))
def test_any_release_has_expectations(published: Published) -> None:
    """Leaves of one record, mixed chunks, joint clusters of all kinds: nothing fails, nothing is out of bounds."""
    if not all(leaf.term_chunk or leaf.record_chunks for leaf in leaves(published.forest)):
        return  # the format has none without a chunk
    release = opened(published.forest).release
    try:
        ours = fit(release)
    except GuaranteeError:  # the release has no possible original
        return
    for size in (1, 2, 3):
        offsets, codes = batch(release, size)
        lower, upper = bounds_of(release, offsets, codes)
        found = ours.expected(offsets, codes)
        assert ((lower <= found) & (found <= upper)).all()
        if size > 1:
            check_both_ways(release, codes.reshape(-1, size))
    pairs = ours.expected_pairs(all_terms(release))
    assert np.isfinite(pairs).all()
    assert (pairs >= 0).all()


def test_published_counts_stay() -> None:
    """What is known is not estimated: without term chunks, and within one chunk."""
    release = da.disassociate([["a", "b"]] * 4 + [["a", "c"]] * 4, k=3, m=2)
    assert not any(release.clusters["terms"].to_pylist())
    for itemset, count in (({"a"}, 8), ({"a", "b"}, 4), ({"b", "c"}, 0), ({"a", "b", "c"}, 0)):
        assert release.support(itemset, model=EMPIRICAL_BAYES).expected == count


def test_the_model_by_its_name() -> None:
    """Supports, batches and pairs under the model are the estimator's; unknown terms and the empty itemset too."""
    release = release_of(1, 120)
    offsets, codes = batch(release, 3)
    assert np.array_equal(expected_of(release, offsets, codes, EMPIRICAL_BAYES), fit(release).expected(offsets, codes))
    pairs = expected_of_pairs(release, all_terms(release), EMPIRICAL_BAYES)
    assert release.support({"d", "h"}, model=EMPIRICAL_BAYES).expected == pytest.approx(pairs[3, 7])
    assert release.support({"d", "none"}, model=EMPIRICAL_BAYES) == (0, 0.0, 0)
    assert release.support(set(), model=EMPIRICAL_BAYES) == (120, 120.0, 120)
    nothing = fit(release).expected(np.array([0]), np.empty(0, np.int32))
    assert nothing.shape == (0,)


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Itemsets are taken in batches to bound memory; each comes out as it does alone."""
    release = release_of(2, 150)
    offsets, codes = batch(release, 3)
    whole = fit(release).expected(offsets, codes)
    monkeypatch.setattr(estimator, "BATCH", 100)
    assert np.allclose(fit(release).expected(offsets, codes), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_together_is_one_by_one(seed: int) -> None:
    """Leaf by leaf or itemset by itemset, with shared chunks and without, the same; for large leaves, too."""
    options = {"max_cluster_size": 100} if seed > 5 else {}
    release = release_of(seed, 250, k=2 + seed % 3, density=0.3 + 0.2 * (seed % 4), **options)
    assert not release._ground.scene.is_mixed.any()
    assert seed < 6 or release._ground.sizes.max() >= 64
    for length in (2, 3, 4, 5):
        itemsets = np.random.default_rng(seed).permutation(batch(release, length)[1].reshape(-1, length))[:500]
        check_both_ways(release, itemsets)


def check_both_ways(release: Release, itemsets: NDArray[np.int32]) -> None:
    """What is expected of itemsets of one size comes out the same, whatever is faster; independence is that of 2.5."""
    found = []
    for walk in (0, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(support, "_WALK", walk)
            found.append(fit(release)._coupled(itemsets))
    assert np.allclose(found[0], found[1], rtol=1e-9, atol=1e-12)
    offsets = itemsets.shape[1] * np.arange(len(itemsets) + 1)
    plain = expected_of(release, offsets, itemsets.ravel(), INDEPENDENT)
    assert np.allclose(found[0][1], plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_sure_to_be_less_stays_less(seed: int) -> None:
    """Bounds need not be known of what is not wanted; what is wanted is as exact as ever."""
    release = release_of(seed, 200, density=0.5 + 0.2 * seed)
    for size in (1, 2, 3):
        offsets, codes = batch(release, size)
        whole = fit(release).expected(offsets, codes)
        for least in np.quantile(whole, [0.1, 0.5, 0.9]):
            found = fit(release).expected(offsets, codes, least)
            assert np.array_equal(found[whole >= least], whole[whole >= least])
            assert (found[whole < least] < least).all()


def same(one: Estimator, other: Estimator) -> bool:
    pairs: list[tuple[Any, Any]] = [
        (one.counts, other.counts),
        (one.alone, other.alone),
        *zip(one.learned, other.learned, strict=True),
    ]
    return all(np.array_equal(mine, theirs) for mine, theirs in pairs)


def test_order_of_records_does_not_matter() -> None:
    """Nor does fitting twice; and what is learned cannot be changed."""
    records = [sorted(record) for record in zipf_bag(5, 300, NAMES, 0.6)]
    shuffled = records.copy()
    random.Random(1).shuffle(shuffled)
    one, other = (da.disassociate(data, k=3, m=2) for data in (records, shuffled))
    assert same(fit(one), fit(other))
    assert same(fit(one), fit_release(one))
    assert fit(one) is fit(one)
    with pytest.raises(ValueError, match="read-only"):
        fit(one).counts[0] = 1


def relative_errors(data: da.Transactions, release: Release, ranks: slice) -> list[float]:
    """The paper's re of the pairs of some terms: independent, then empirical Bayes."""
    codes = np.sort(np.argsort(-data.supports, kind="stable")[ranks]).astype(np.int32)
    rank = np.full(len(data.vocabulary), -1)
    rank[codes] = np.arange(len(codes))
    truth = np.zeros((len(codes), len(codes)))
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        held = rank[data.items[start:stop]]
        held = held[held >= 0]
        truth[np.ix_(held, held)] += 1
    above = np.triu_indices(len(codes), 1)
    found = []
    for model in ("independent", EMPIRICAL_BAYES):
        expected, actual = expected_of_pairs(release, codes, model)[above], truth[above]
        some = expected + actual > 0
        found.append(float(np.mean(2 * np.abs(expected - actual)[some] / (expected + actual)[some])))
    return found


@pytest.mark.parametrize("refine", [True, False])
def test_better_than_independence(refine: bool) -> None:
    """On generated data: pairs of the most frequent terms, and where data have clear patterns of less frequent ones."""
    quest = da.generate_quest(records=20_000, terms=500, mean_length=8, random_state=3)
    independent, ours = relative_errors(quest, da.disassociate(quest, k=5, m=2, refine=refine), slice(0, 20))
    assert ours < 0.8 * independent
    pos = da.generate_pos(records=20_000, random_state=3)
    release = da.disassociate(pos, k=5, m=2, refine=refine)
    for ranks in (slice(0, 20), slice(100, 120), slice(200, 220)):
        independent, ours = relative_errors(pos, release, ranks)
        assert ours < 0.9 * independent
