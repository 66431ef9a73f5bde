"""Supports: bounds that hold in every possible world, and the exact expectation of the independent law."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import event, given, settings
from numpy.typing import NDArray

import disassociation as da
import naive
import worlds
from disassociation import release_reader, support
from disassociation._types import Offsets, Terms
from disassociation.errors import GuaranteeError, ParameterError
from disassociation.placement import WHOLE, Mixed, place_chunks
from disassociation.release import Release
from disassociation.support import (
    INDEPENDENT,
    Support,
    bounds_of,
    bounds_of_pairs,
    codes_of,
    expected_of,
    expected_of_pairs,
)
from naive import support as plainly
from naive.attack import Place
from naive.forest import Forest, Joint, Leaf, Record, joints, leaves
from published import publish
from strategies import PLAIN, Published, random_parts, releases, sound_releases, zipf_bag
from test_real_data import FOLDER, records_of

CLOSE = 1e-9


def near(lower: int, expected: float, upper: int, error: float = 1e-6) -> Any:
    """A support with an expected number that is only as good as doubles are, or as the grid of a mixed chunk is."""
    return pytest.approx((lower, expected, upper), abs=error)


def bag(*rows: str) -> tuple[Record, ...]:
    return tuple(map(frozenset, rows))


def without_idle_joints(forest: Forest) -> Forest:
    """Joint clusters that share nothing dissolved: no release has them, and they change no world."""
    found: list[naive.Cluster] = []
    for cluster in forest:
        if isinstance(cluster, Joint):
            below = without_idle_joints(cluster.children)
            found += [Joint(below, cluster.shared_chunks)] if cluster.shared_chunks else below
        else:
            found.append(cluster)
    return tuple(found)


class Opened(NamedTuple):
    """A release as ours and as the oracle's, clusters in the same order; the latter's are named by their numbers."""

    release: Release
    forest: Forest

    def shares(self, place: Place, position: int, part: Record) -> Fraction:
        """Of a mixed chunk, what the expected numbers of its subrecords come to in a leaf."""
        _, joint_id, chunk = place.name
        joint = next(joint for joint in joints(self.forest) if id(joint) == joint_id)
        placement = place_chunks(self.release)
        number = placement.layout.offsets[int(joint.name)] + chunk
        mixed = next(one for one in placement.mixed if one.chunk == number)
        at = placement.layout.starts[int(leaves(self.forest)[position].name)]
        kind = next((kind for kind, start, stop in mixed.spans.tolist() if start <= at < stop), None)
        if kind is None:
            return Fraction(0)
        return sum((self._share(mixed, row, kind, part) for row in range(len(mixed.pattern_of))), Fraction(0))

    def _share(self, mixed: Mixed, row: int, kind: int, part: Record) -> Fraction:
        subrecord = self.release.subrecords.slice(mixed.first + row, 1).to_pylist()[0]
        if not part <= set(subrecord["terms"]):
            return Fraction(0)
        pattern = mixed.pattern_of[row]
        moved = Fraction(subrecord["count"] * int(mixed.parts[pattern, kind]), WHOLE)
        return moved / int(mixed.amounts[pattern]) / int(mixed.rooms[kind])


def opened(forest: Forest, k: int = 2, m: int = 2) -> Opened:
    """A forest of the oracle, published and opened."""
    tables = publish(without_idle_joints(forest), k, m)
    vocabulary, coded = release_reader._forest(Path("release"), tables.clusters, tables.subrecords)
    same = naive.forest_of_rows(tables.clusters.to_pylist(), tables.subrecords.to_pylist())
    return Opened(Release(k, m, None, None, vocabulary, coded), same)


def subsets(terms: str, most: int = 9) -> list[Record]:
    return [frozenset(some) for size in range(1, most + 1) for some in combinations(terms, size)]


def coded(release: Release, itemsets: list[Record]) -> tuple[np.ndarray, np.ndarray]:
    """Itemsets for a batch."""
    codes = [codes_of(release, itemset) for itemset in itemsets]
    offsets = np.cumsum([0, *map(len, codes)]).astype(np.int64)
    return offsets, np.concatenate([np.empty(0, np.int32), *codes])


def all_pairs(release: Release) -> list[Record]:
    """Of its terms, by first and second, a term with itself too."""
    names = release.vocabulary.to_pylist()
    return [frozenset({one, other}) for one in names for other in names]


def check_bounds(both: Opened, itemsets: list[Record]) -> list[tuple[int, int]]:
    """Ours are those of the recursion in plain sets; those of pairs at once as well."""
    lower, upper = bounds_of(both.release, *coded(both.release, itemsets))
    found = list(zip(lower.tolist(), upper.tolist(), strict=True))
    assert found == [plainly.bounds(both.forest, itemset) for itemset in itemsets]
    pairs = bounds_of_pairs(both.release, np.arange(len(both.release.vocabulary), dtype=np.int32))
    singly = bounds_of(both.release, *coded(both.release, all_pairs(both.release)))
    assert [bound.ravel().tolist() for bound in pairs] == [bound.tolist() for bound in singly]
    return found


def is_lawful(forest: Forest) -> bool:
    """Whether every chunk has room, if there is no mixed one, and every leaf without a term chunk can be filled."""
    return all(
        leaf.term_chunk or sum(min(len(chunk), leaf.n) for chunk in leaf.record_chunks) >= leaf.n
        for leaf in leaves(forest)
    )


def both_ways(release: Release, offsets: Offsets, codes: Terms) -> Iterator[NDArray[np.float64]]:
    """Expectations itemset by itemset, and of all of a size together, whatever is faster."""
    for walk in (0, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(support, "_WALK", walk)
            yield expected_of(release, offsets, codes, INDEPENDENT)


def check_expectation(both: Opened, itemsets: list[Record], bounds: list[tuple[int, int]]) -> None:
    """Ours is that in fractions, one itemset, many or pairs at once, and never out of bounds."""
    exact = [plainly.expected(both.forest, itemset, both.shares) for itemset in itemsets]
    for ours in both_ways(both.release, *coded(both.release, itemsets)):
        assert np.allclose(ours, np.array(exact, np.float64), rtol=CLOSE, atol=CLOSE)
    assert all(lower <= value <= upper for value, (lower, upper) in zip(exact, bounds, strict=True))
    terms = len(both.release.vocabulary)
    pairs = expected_of_pairs(both.release, np.arange(terms, dtype=np.int32), INDEPENDENT)
    singly = expected_of(both.release, *coded(both.release, all_pairs(both.release)), INDEPENDENT)
    assert np.allclose(pairs.ravel(), singly, rtol=CLOSE, atol=CLOSE)


def has_no_bare_leaf(published: Published) -> bool:
    """The format has none without a chunk."""
    return all(leaf.record_chunks or leaf.term_chunk for leaf in leaves(published.forest))


TINY = (
    releases(max_leaves=3, max_n=2, terms=3)
    | releases(max_leaves=2, max_n=3, terms=3)
    | sound_releases(max_leaves=3, max_n=2, terms=3)
).filter(has_no_bare_leaf)
SMALL = (
    releases(max_leaves=4, max_n=5, terms=5)
    | sound_releases(max_leaves=5, terms=5)
    | sound_releases(k=3, max_n=5, max_leaves=3, terms=4)
).filter(has_no_bare_leaf)


@settings(max_examples=1800, deadline=None)
@given(TINY)
def test_bounds_hold_in_every_world(published: Published) -> None:
    """Of tiny releases, all enumerated; the same as by the recursion in plain sets."""
    both = opened(published.forest)
    itemsets = subsets("abc")
    every = [[frozenset(row) for leaf in world for row in leaf] for world in worlds.every_world(both.forest)]
    assert every
    loose = 0
    for itemset, (lower, upper) in zip(itemsets, check_bounds(both, itemsets), strict=True):
        supports = [plainly.support(world, itemset) for world in every]
        assert lower <= min(supports)
        assert max(supports) <= upper
        loose += (lower, upper) != (min(supports), max(supports))
    event(f"{loose} of {len(itemsets)} bounds not attained")


@settings(max_examples=300, deadline=None)
@given(releases(max_leaves=1, max_n=3, terms=3))
def test_bounds_of_a_leaf_are_attained(published: Published) -> None:
    """By some worlds of a leaf whose term chunk has a term beside those asked for."""
    (leaf,) = leaves(published.forest)
    leaf = Leaf(leaf.n, leaf.record_chunks, leaf.term_chunk | {"z"})
    both = opened((leaf,))
    every = [[frozenset(row) for row in world] for (world,) in worlds.every_world(both.forest)]
    itemsets = subsets("abc")
    for itemset, bounds in zip(itemsets, check_bounds(both, itemsets), strict=True):
        supports = [plainly.support(world, itemset) for world in every]
        assert bounds == (min(supports), max(supports))


@settings(max_examples=600, deadline=None)
@given(SMALL)
def test_small_releases(published: Published) -> None:
    """Larger ones, with mixed chunks and tight leaves: bounds and expectation as in plain sets; the truth within."""
    both = opened(published.forest)
    itemsets = subsets("abcde", 4)
    bounds = check_bounds(both, itemsets)
    original = [record for leaf in published.original for record in leaf]
    for itemset, (lower, upper) in zip(itemsets, bounds, strict=True):
        assert lower <= plainly.support(original, itemset) <= upper
    try:
        mixed = len(place_chunks(both.release).mixed)
    except GuaranteeError:
        event("not lawful")
        assert not is_lawful(both.forest)
        with pytest.raises(GuaranteeError):
            both.release.support({"a", "b"}, model=INDEPENDENT)
        return
    assert is_lawful(both.forest)
    event(f"{min(mixed, 1)} or more mixed chunks")
    check_expectation(both, itemsets, bounds)


@settings(max_examples=400, deadline=None)
@given(TINY)
def test_the_expectation_is_that_of_the_law(published: Published) -> None:
    """Every outcome of tiny releases without mixed chunks, with its chance."""
    both = opened(published.forest)
    try:
        placement = place_chunks(both.release)
    except GuaranteeError:
        return
    if placement.mixed:
        return
    outcomes = plainly.law(both.forest)
    assert sum(outcomes.values()) == 1
    every = worlds.every_world(both.forest)
    for world in outcomes:
        assert tuple(tuple(sorted(tuple(sorted(row)) for row in leaf)) for leaf in world) in every
    itemsets = subsets("abc")
    exact = [
        sum(chance * sum(plainly.support(leaf, itemset) for leaf in world) for world, chance in outcomes.items())
        for itemset in itemsets
    ]
    assert exact == [plainly.expected(both.forest, itemset, both.shares) for itemset in itemsets]
    ours = expected_of(both.release, *coded(both.release, itemsets), INDEPENDENT)
    assert np.allclose(ours, np.array(exact, np.float64), rtol=CLOSE, atol=CLOSE)


def ours(seeds: range) -> Iterator[tuple[Opened, list[Record], random.Random]]:
    """Small releases of our own making, with nested joint clusters, and their originals."""
    for seed in seeds:
        chance = random.Random(seed)
        k, m = chance.choice([2, 2, 3]), chance.choice([1, 2, 3])
        parts = [part for part in random_parts(seed) if len(part) >= k]
        if parts:
            forest, _ = naive.anonymize_leaves(parts, k, m)
            yield opened(forest, k, m), [record for part in parts for record in part], chance


def test_releases_of_ours() -> None:
    """The truth is within the bounds, and expectations are those in fractions."""
    nested = 0
    for both, original, chance in ours(range(250)):
        nested += any(isinstance(child, Joint) for joint in joints(both.forest) for child in joint.children)
        itemsets = chance.sample(subsets("".join(PLAIN[:9]), 4), 12)
        itemsets += [frozenset(chance.sample(sorted(record), chance.randint(1, len(record)))) for record in original]
        bounds = check_bounds(both, itemsets)
        for itemset, (lower, upper) in zip(itemsets, bounds, strict=True):
            assert lower <= plainly.support(original, itemset) <= upper
        check_expectation(both, itemsets[:15], bounds[:15])
    assert nested > 25


def test_parts_of_one_leaf() -> None:
    """Together in a chunk, in two chunks, with a term chunk, within one: the formulas by hand."""
    leaf = Leaf(4, (bag("ab", "ab", "a"), bag("c", "c", "c")), frozenset("xy"))
    release = opened((leaf,)).release
    assert release.support(["ab"], model=INDEPENDENT) == Support(0, 0.0, 0)  # no such term
    assert release.support({"a", "b"}, model=INDEPENDENT) == Support(2, 2.0, 2)
    assert release.support({"a", "c"}, model=INDEPENDENT) == Support(2, 9 / 4, 3)
    assert release.support({"a", "b", "c"}, model=INDEPENDENT) == Support(1, 6 / 4, 2)
    assert release.support({"c", "x"}, model=INDEPENDENT) == Support(0, 3 / 4, 3)
    assert release.support({"x", "y"}, model=INDEPENDENT) == Support(0, 1 / 4, 4)
    empty = 1 / 4 * 1 / 4 * (3 / 4) ** 2
    assert release.support({"x"}, model=INDEPENDENT) == Support(1, 1 + 4 * empty / 2, 4)
    assert release.support([], model=INDEPENDENT) == Support(4, 4.0, 4)


def test_a_leaf_that_its_chunks_fill() -> None:
    """Two chunks of three in four records without a term chunk meet on two, less than they would at random."""
    release = opened((Leaf(4, (bag("a", "a", "ab"), bag("c", "c", "cd")), frozenset()),)).release
    assert release.support({"a", "c"}, model=INDEPENDENT) == Support(2, 2.0, 3)
    assert release.support({"b", "c"}, model=INDEPENDENT).expected == pytest.approx(2 / 3)
    three = opened((Leaf(3, (bag("a", "a"), bag("b", "b"), bag("c", "c")), frozenset()),))
    # 24 of 27 placements leave no record out; in 6 of these each record has two, in 18 one of the pairs is whole.
    assert three.release.support({"a", "b"}, model=INDEPENDENT).expected == pytest.approx((6 * 1 + 18 * 4 / 3) / 24)
    assert three.release.support({"a", "b", "c"}, model=INDEPENDENT).expected == pytest.approx(18 / 24)


def test_shared_chunks() -> None:
    """A term of one has room in some leaves only, and counts where it can be had."""
    low = Leaf(2, (bag("a", "a"),), frozenset("y"))
    high = Leaf(3, (bag("c", "c", "c"),), frozenset("z"))
    release = opened((Joint((low, high), (bag("a", "a"), bag("b", "b", "b"))),)).release
    assert release.support({"a"}, model=INDEPENDENT) == Support(4, 4.0, 4)
    assert release.support({"a", "c"}, model=INDEPENDENT) == Support(2, 2.0, 2)
    assert release.support({"b"}, model=INDEPENDENT) == Support(3, 3.0, 3)
    assert release.support({"a", "b"}, model=INDEPENDENT) == near(2, 2 * 3 / 5 + 2 * 3 / 5, 3)
    assert release.support({"b", "c"}, model=INDEPENDENT) == near(1, 3 * 3 / 5, 3)
    assert release.support({"b", "z"}, model=INDEPENDENT) == near(0, 3 / 5, 3)


def test_a_mixed_chunk() -> None:
    """`a` is closed to the first leaf, so `ab` is in the second, and `b` on each of the five records alike."""
    low = Leaf(2, (bag("a", "a"),), frozenset("y"))
    high = Leaf(3, (bag("c", "c", "c"),), frozenset("z"))
    release = opened((Joint((low, high), (bag("ab", "ab", "b"),)),)).release
    assert release.support({"a", "b"}, model=INDEPENDENT) == near(2, 2 + 2 / 5, 4, 1e-3)
    assert release.support({"b", "c"}, model=INDEPENDENT).expected == pytest.approx(2 + 3 / 5, abs=1e-3)
    assert release.support({"b", "y"}, model=INDEPENDENT).expected == pytest.approx(1 / 5, abs=1e-3)


def test_terms_that_are_not_there() -> None:
    """In no record, whatever else is asked for; numbers stand for their text."""
    release = da.disassociate([[1, 2]] * 3 + [[2, 30]] * 3, k=2, m=2)
    assert (
        release.support({1, 2}, model=INDEPENDENT)
        == release.support({"1", "2"}, model=INDEPENDENT)
        == Support(3, 3.0, 3)
    )
    for strange in ("9", "", "~", "\ud800", "1 "):
        assert (
            release.support({strange}, model=INDEPENDENT)
            == release.support({strange, "2"}, model=INDEPENDENT)
            == Support(0, 0.0, 0)
        )
    assert (
        release.support(["2", "2", 2], model=INDEPENDENT)
        == release.support({"2"}, model=INDEPENDENT)
        == Support(6, 6.0, 6)
    )


def test_a_batch() -> None:
    """Of any sizes at once, none at all too."""
    release = da.disassociate([["a", "b"]] * 3 + [["b", "c"]] * 2 + [["d"]], k=2, m=2)
    offsets, codes = coded(release, [frozenset(), frozenset("ab"), frozenset("q"), frozenset("abc"), frozenset("d")])
    assert offsets.tolist() == [0, 0, 2, 3, 6, 7]
    lower, upper = bounds_of(release, offsets, codes)
    one_by_one = [
        release.support(itemset, model=INDEPENDENT) for itemset in (["a", "b"], ["q"], ["a", "b", "c"], ["d"])
    ]
    assert [*zip(lower.tolist()[1:], upper.tolist()[1:], strict=True)] == [(s.lower, s.upper) for s in one_by_one]
    assert expected_of(release, offsets, codes, INDEPENDENT).tolist()[1:] == [each.expected for each in one_by_one]
    assert (lower[0], upper[0], expected_of(release, offsets, codes, INDEPENDENT)[0]) == (6, 6, 6.0)
    assert expected_of(release, offsets[:1], codes[:0], INDEPENDENT).shape == (0,)
    assert expected_of_pairs(release, codes[:0], INDEPENDENT).shape == (0, 0)
    assert bounds_of_pairs(release, codes[:0])[1].shape == (0, 0)
    some = np.array([0, 2], np.int32)
    every = bounds_of_pairs(release, np.arange(4, dtype=np.int32))
    for pairs, whole in zip(bounds_of_pairs(release, some), every, strict=True):
        assert pairs.tolist() == whole[np.ix_(some, some)].tolist()


@pytest.mark.parametrize("largest", [6, 40, 150])
def test_many_itemsets_at_once(largest: int) -> None:
    """In small leaves and in those whose subrecords are too many for the bits of a word; some itemsets twice."""
    release = da.disassociate(zipf_bag(largest, 600, PLAIN[:12], 1.3), k=3, m=2, max_cluster_size=largest)
    sets = [some for size in range(1, 5) for some in combinations(range(len(release.vocabulary)), size)]
    sets += [(-1, 2), (-1, 2, 5), *sets[::7], ()]
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    codes = np.array([code for some in sets for code in some], np.int32)
    singly, together = both_ways(release, offsets, codes)
    assert release.joint_clusters > 0 or largest == 150
    assert (release.forest.sizes[: release.leaves].max() > 64) == (largest == 150)
    assert together == pytest.approx(singly, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("offsets", "codes"),
    [([], []), ([0, 2], [1]), ([1, 2], [1, 2]), ([0, 2, 1, 3], [0, 1, 2]), ([0, 2], [1, 1]), ([0, 2], [1, 0])],
)
def test_itemsets_that_are_none(offsets: list[int], codes: list[int]) -> None:
    """What kernels would stumble over is refused."""
    release = da.disassociate([["a", "b", "c"]] * 3, k=2, m=2)
    for count in (bounds_of, expected_of):
        with pytest.raises(ParameterError, match="rise"):
            count(release, np.array(offsets), np.array(codes))


def test_codes_that_are_none() -> None:
    """Places outside the vocabulary."""
    release = da.disassociate([["a", "b"]] * 3, k=2, m=2)
    for code in (-2, 2):
        with pytest.raises(ParameterError, match="vocabulary"):
            bounds_of(release, np.array([0, 1]), np.array([code]))
    for count in (expected_of_pairs, bounds_of_pairs):
        for code in (-2, -1, 2):
            with pytest.raises(ParameterError, match="vocabulary"):
                count(release, np.array([code]))


def test_what_is_not_understood() -> None:
    """One line that shows no term."""
    release = da.disassociate([["secret", "b"]] * 3, k=2, m=2)
    with pytest.raises(ParameterError, match="not a single text"):
        release.support("secret")
    with pytest.raises(ParameterError, match="unknown model; choose one of independent"):
        release.support({"secret"}, model="secret")


def test_releases_without_a_possible_original() -> None:
    """There is nothing to expect of them."""
    crowded = opened(
        (Joint((Leaf(2, (bag("a", "a"),), frozenset("x")), Leaf(2, (), frozenset("y"))), (bag("a", "a", "a"),)),)
    )
    unfilled = opened((Leaf(3, (bag("a", "a"),), frozenset()),))
    for both in (crowded, unfilled):
        with pytest.raises(GuaranteeError, match="audit it"):
            both.release.support({"a"}, model=INDEPENDENT)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="DISASSOCIATION_DATA names no folder of real data sets")
def test_real_data() -> None:
    """On pairs of frequent terms and itemsets out of records the truth is within the bounds."""
    records = [frozenset(record) for record in records_of("BMS-WebView-1")]
    data = da.read([sorted(record) for record in records])
    release = da.disassociate(data, k=5, m=2)
    top = np.sort(np.argsort(-data.supports, kind="stable")[:60]).astype(np.int32)
    names = release.vocabulary.to_pylist()
    itemsets = [frozenset(names[code] for code in pair) for pair in combinations(top.tolist(), 2)]
    chance = random.Random(1)
    long = [sorted(record) for record in records if len(record) > 2]
    itemsets += [frozenset(chance.sample(record, min(len(record), chance.randint(3, 6)))) for record in long[:400]]
    offsets, codes = coded(release, itemsets)
    lower, upper = bounds_of(release, offsets, codes)
    expected = expected_of(release, offsets, codes, INDEPENDENT)
    holders = {name: {i for i, record in enumerate(records) if name in record} for name in frozenset().union(*itemsets)}
    true = np.array([len(set.intersection(*(holders[name] for name in itemset))) for itemset in itemsets])
    assert ((lower <= true) & (true <= upper)).all()
    assert ((lower - CLOSE <= expected) & (expected <= upper + CLOSE)).all()
    above, number = np.triu_indices(60, 1), 60 * 59 // 2
    assert np.allclose(expected_of_pairs(release, top, INDEPENDENT)[above], expected[:number])
    for pairs, singly in zip(bounds_of_pairs(release, top), (lower, upper), strict=True):
        assert pairs[above].tolist() == singly[:number].tolist()
    assert [len(itemset) for itemset in itemsets] == [stop - start for start, stop in pairwise(offsets.tolist())]
