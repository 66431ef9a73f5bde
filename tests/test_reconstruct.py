"""Reconstructions against the possible-worlds oracle: always a world, drawn by the law that the documentation gives."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import disassociation as da
import naive
import worlds
from disassociation._kernels.arrays import Forest, Rows
from disassociation.placement import WHOLE, Mixed, place_chunks
from disassociation.reconstruct import Originals
from disassociation.support import INDEPENDENT, MODELS
from naive.conditions import g2
from published import publish, write
from strategies import Published, bags, leaf_parts, random_parts, releases, sound_releases
from worlds.brute import World
from worlds.scene import set_up

Leaves = list[list[naive.Record]]
F = frozenset


def release_of(forest: naive.Forest, folder: Path) -> da.Release:
    """A forest of the oracle as a release, by way of files."""
    target = folder / "release"
    for path in target.glob("*"):
        path.unlink()
    if target.exists():
        target.rmdir()
    return da.open_release(write(publish(forest, 2, 2), target))


def forest_of(release: da.Release) -> naive.Forest:
    """A release as a forest of the oracle."""
    return naive.forest_of_rows(release.clusters.to_pylist(), release.subrecords.to_pylist())


def world_of(originals: Originals, forest: naive.Forest, random_state: int) -> Leaves:
    """A reconstruction as the records of each leaf, in the order of ``naive.leaves``."""
    bounds, items = originals.leaf_by_leaf(random_state)
    names = originals.release.vocabulary.to_pylist()
    codes = items.tolist()
    records = [frozenset(names[code] for code in codes[a:b]) for a, b in pairwise(bounds)]
    assert sum(map(len, records)) == len(codes), "a term twice on a record"
    sizes = originals.release.forest.sizes[: originals.release.leaves]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return [records[starts[int(leaf.name)] : starts[int(leaf.name) + 1]] for leaf in naive.leaves(forest)]


def key_of(world: Sequence[Sequence[naive.Record]]) -> World:
    """A world as the oracle writes it."""
    return tuple(tuple(sorted(tuple(sorted(record)) for record in leaf)) for leaf in world)


def bag_of(data: da.Transactions) -> Counter[naive.Record]:
    """Records without their order."""
    return Counter(map(frozenset, data))


def has_chunks(forest: naive.Forest) -> bool:
    """Whether each cluster has something to publish, which the format asks for."""
    joints = list(naive.joints(forest))
    return all(joint.shared_chunks for joint in joints) and all(
        leaf.record_chunks or leaf.term_chunk for leaf in naive.leaves(forest)
    )


def check(release: da.Release, seeds: Sequence[int]) -> None:
    """Each reconstruction is a world, and the records returned are those of the world in another order."""
    forest = forest_of(release)
    for model, seed in product(MODELS, seeds):
        world = world_of(Originals.of(release, model), forest, seed)
        assert worlds.faults_of_world(forest, world) == []
        data = release.reconstruct(seed, model)
        data._check()
        assert data.vocabulary == release.vocabulary
        assert bag_of(data) == Counter(record for leaf in world for record in leaf)


def fillable(forest: naive.Forest) -> bool:
    """Whether each leaf can be filled by its own chunks, which is what the law asks for."""
    return all(leaf.term_chunk or sum(map(len, leaf.record_chunks)) >= leaf.n for leaf in naive.leaves(forest))


@settings(max_examples=800, deadline=None)
@given(
    releases() | sound_releases() | releases(max_leaves=4, max_n=5, terms=5) | sound_releases(max_leaves=5, max_n=5),
    st.integers(0, 2**70),
)
def test_reconstructions_are_worlds(tmp_path_factory: pytest.TempPathFactory, published: Published, seed: int) -> None:
    """Random small releases: nested joint clusters, conflicts, leaves without a term chunk; or the one error."""
    assume(has_chunks(published.forest))
    release = release_of(published.forest, tmp_path_factory.getbasetemp())
    if not fillable(published.forest):
        event("cannot be filled")
        with pytest.raises(da.errors.GuaranteeError, match="audit it"):
            release.reconstruct(seed)
        return
    placement = place_chunks(release)
    event(f"mixed: {bool(placement.mixed)}, tight: {bool(placement.layout.is_tight.any())}")
    check(release, [seed, seed + 1])


@settings(max_examples=200, deadline=None)
@given(leaf_parts() | st.integers(0, 2**32).map(random_parts), st.integers(2, 3), st.integers(1, 3), st.integers(0, 99))
def test_reconstructions_of_what_the_method_makes(
    tmp_path_factory: pytest.TempPathFactory, parts: list[naive.Bag], k: int, m: int, seed: int
) -> None:
    """Leaves partitioned and refined: shared chunks of terms that other leaves below have elsewhere."""
    parts = [part for part in parts if len(part) >= k]
    assume(parts)
    forest, _ = naive.anonymize_leaves(parts, k, m)
    assert not list(g2(forest, k, m))
    check(release_of(forest, tmp_path_factory.getbasetemp()), [seed])


@settings(max_examples=200, deadline=None)
@given(bags(("a", "b", "c", "d"), 12, least=4), st.integers(2, 3), st.integers(0, 99))
def test_reconstructions_of_anonymized_records(records: tuple[naive.Record, ...], k: int, seed: int) -> None:
    """Whole runs; and the tiniest of these by a list of all worlds."""
    release = da.disassociate(records, k=k, m=2, max_cluster_size=2 * k)
    check(release, [seed])
    if len(records) <= 5 and release.leaves == 1:
        forest = forest_of(release)
        assert key_of(world_of(Originals.of(release), forest, seed)) in worlds.every_world(forest)


MIXED = naive.Joint(
    (
        naive.Leaf(3, ((F("a"), F("a"), F("a")),), F("x"), "0"),
        naive.Leaf(4, ((F("b"), F("b")),), F("y"), "1"),
        naive.Leaf(3, (), F("z"), "2"),
    ),
    ((F("a"), F("ac"), F("b"), F("c"), F("c"), F("c")),),
)
OVERFULL = naive.Joint(  # spread evenly, {a} and {c} would be 22 / 7 on the three records of the second leaf
    (
        naive.Leaf(5, ((F("a"), F("a")),), F("x"), "0"),
        naive.Leaf(3, ((F("b"), F("b")),), F("y"), "1"),
        naive.Leaf(4, (), F("z"), "2"),
    ),
    ((*[F("a")] * 5, *[F("c")] * 4, F("b")),),
)
NESTED = naive.Joint(
    (
        naive.Joint((naive.Leaf(2, ((F("x"), F("x")),), F("p"), "0"), naive.Leaf(2, (), F("y"), "1")), ((F("a"),),)),
        naive.Leaf(2, ((F("d"), F("d")),), F("z"), "2"),
    ),
    ((F("x"), F("x")), (F("d"),)),
)
TIGHT = naive.Leaf(4, ((F("a"), F("a"), F("ab")), (F("c"), F("d"))), F(), "0")
TIGHTER = naive.Leaf(4, ((F("a"), F("b")), (F("c"),), (F("d"), F("e"))), F(), "0")
SPARSE = naive.Leaf(3, ((F("a"),),), F("xy"), "0")
UNDER = naive.Joint((naive.Leaf(2, ((F("a"),), (F("b"),)), F(), "0"), SPARSE), ((F("s"), F("st"), F("s")),))


@pytest.mark.parametrize(
    "cluster", [NESTED, TIGHT, TIGHTER, SPARSE, UNDER], ids=["nested", "tight", "tighter", "sparse", "under"]
)
def test_worlds_are_as_likely_as_the_law_says(cluster: naive.Cluster, tmp_path: Path) -> None:
    """20,000 reconstructions against the probability of each world, found by enumeration: chi-square."""
    release = release_of((cluster,), tmp_path)
    forest = forest_of(release)
    law = worlds.law_of_worlds(forest)
    assert sum(law.values()) == 1
    draws = 20_000
    originals = Originals.of(release)
    seen = Counter(key_of(world_of(originals, forest, seed)) for seed in range(draws))
    assert seen.keys() <= law.keys()
    rare = {world for world, chance in law.items() if draws * chance < 10}
    cells = [(seen[world], float(draws * chance)) for world, chance in law.items() if world not in rare]
    cells.append((sum(seen[world] for world in rare), float(draws * sum(law[world] for world in rare))))
    statistic = sum((found - expected) ** 2 / expected for found, expected in cells if expected)
    freedom = len(cells) - (2 if not rare else 1)
    assert chi2.sf(statistic, freedom) > 1e-5, (statistic, freedom)
    if len(law) < 2_000:
        assert law.keys() <= worlds.every_world(forest)


def placed_on_average(release: da.Release, forest: naive.Forest, draws: int) -> dict[tuple[naive.Record, int], float]:
    """How many of each subrecord of the only shared chunk are in each leaf, over many reconstructions."""
    scene, originals = set_up(forest), Originals.of(release)
    totals: defaultdict[tuple[naive.Record, int], float] = defaultdict(float)
    for seed in range(draws):
        for position, records in enumerate(world_of(originals, forest, seed)):
            for record in records:
                part = (scene.parts(position, record) or {}).get(("shared", 0))
                if part is not None:
                    totals[part, position] += 1 / draws
    return dict(totals)


def test_mixed_chunks_are_spread_evenly(tmp_path: Path) -> None:
    """As many of each subrecord in each leaf as its share of the records that may have it; each alike in the leaf."""
    release = release_of((MIXED,), tmp_path)
    forest = forest_of(release)
    expected = worlds.even_shares(forest, 0)
    assert expected is not None
    draws = 20_000
    found = placed_on_average(release, forest, draws)
    assert found.keys() <= expected.keys()
    for cell, amount in expected.items():
        deviation = 1.5 / draws**0.5  # a number of at most six between the same two whole ones in most draws
        assert abs(found.get(cell, 0) - amount) < 5 * deviation, cell


def test_mixed_chunks_that_cannot_be_spread_evenly(tmp_path: Path) -> None:
    """As evenly as there is room: the full leaf is full in every reconstruction, and no subrecord is shut out."""
    release = release_of((OVERFULL,), tmp_path)
    forest = forest_of(release)
    assert worlds.even_shares(forest, 0) is None
    (case,) = place_chunks(release).mixed
    assert (case.parts.sum(axis=0) <= case.rooms * WHOLE).all()
    assert (case.parts.sum(axis=0) == case.rooms * WHOLE).any()
    assert sorted((case.parts % WHOLE > 0).sum(axis=1).tolist()) == [2, 2, 3]
    found = placed_on_average(release, forest, 10_000)
    check_expected(case, release, forest, found, 10_000)


def check_expected(
    case: Mixed, release: da.Release, forest: naive.Forest, found: dict[tuple[naive.Record, int], float], draws: int
) -> None:
    """What ``Mixed.expected`` says of rows and leaves against what was drawn."""
    layout = place_chunks(release).layout
    rows = release.subrecords.to_pylist()
    for position, leaf in enumerate(naive.leaves(forest)):
        place = int(layout.starts[int(leaf.name)])
        kinds = [kind for kind, start, stop in case.spans.tolist() if start <= place < stop]
        for number, pattern in enumerate(case.pattern_of.tolist()):
            row = rows[case.first + number]
            share = row["count"] / int(case.amounts[pattern])
            expected = case.expected[pattern, kinds[0]] * share * leaf.n / int(case.rooms[kinds[0]]) if kinds else 0.0
            assert abs(found.get((frozenset(row["terms"]), position), 0.0) - expected) < 7.5 / draws**0.5


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_any_mixed_chunk_finds_room(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Joint clusters whose leaves refuse terms at random, many filled to the brim: a world exactly if there is one."""
    chance = random.Random(seed)
    refused = [F(term for term in "abcd" if chance.random() < 0.4) for _ in range(chance.randint(2, 5))]
    sizes = [chance.randint(1, 4) for _ in refused]
    below = tuple(
        naive.Leaf(n, ((forbidden,),) if forbidden else (), F([f"y{i}"]), str(i))
        for i, (n, forbidden) in enumerate(zip(sizes, refused, strict=True))
    )
    wanted = chance.randint(2, sum(sizes)) if chance.random() < 0.5 else sum(sizes)
    bag = [F(term for term in "abcd" if chance.random() < 0.4) or F("d") for _ in range(wanted)]
    forest = (naive.Joint(below, (tuple(bag),)),)
    release = release_of(forest, tmp_path_factory.getbasetemp())
    possible = worlds.is_possible(forest_of(release))
    event(f"possible: {possible}")
    if possible:
        for case in place_chunks(release).mixed:
            assert (case.parts.sum(axis=1) == case.amounts * WHOLE).all()
            assert (case.parts.sum(axis=0) <= case.rooms * WHOLE).all()
            assert (case.parts >= 0).all()
        check(release, range(3))
    else:
        with pytest.raises(da.errors.GuaranteeError, match=r"no room for a shared chunk .* audit it"):
            release.reconstruct()


def test_a_large_mixed_chunk(tmp_path: Path) -> None:
    """Hundreds of leaves that refuse one or two of twenty terms each."""
    chance = random.Random(5)
    terms = [f"t{i:02}" for i in range(20)]
    below = tuple(naive.Leaf(6, ((F(chance.sample(terms, 2)),) * 6,), F([f"y{i % 7}"]), str(i)) for i in range(300))
    bag = tuple(F(chance.sample(terms, 3)) for _ in range(1_500))
    check(release_of((naive.Joint(below, (bag,)),), tmp_path), range(3))


@pytest.fixture(scope="module")
def large() -> da.Release:
    """A release of twenty thousand records with everything in it that the method makes."""
    return da.disassociate(da.generate_quest(records=20_000, terms=1_000, random_state=3), k=5, m=2)


def test_large_releases(large: da.Release) -> None:
    """Projected back on all domains, the reconstruction gives the release again."""
    assert large.joint_clusters > 100
    check(large, [0, 7])
    wide = da.disassociate(da.generate_pos(records=5_000), k=5, m=2, max_cluster_size=200)
    check(wide, [1])
    unrefined = da.disassociate(da.generate_pos(records=3_000), k=5, m=2, refine=False)
    assert unrefined.joint_clusters == 0
    check(unrefined, [1])


def digest(data: da.Transactions) -> str:
    """Records in their order, as a hash."""
    return hashlib.sha256(repr(list(data)).encode()).hexdigest()[:16]


def test_the_same_number_gives_the_same_records(large: da.Release, tmp_path: Path) -> None:
    """Whatever was drawn before, from memory or files; another number gives others; and so on other machines."""
    large.save(tmp_path / "release")
    first = digest(large.reconstruct())
    assert digest(large.reconstruct(random_state=0, model="independent")) == first
    assert digest(large.reconstruct(random_state=np.int64(0))) == first  # type: ignore[arg-type]
    assert digest(da.open_release(tmp_path / "release").reconstruct()) == first
    others = {digest(large.reconstruct(seed)) for seed in (1, 2, 2**63, 2**64, 2**64 + 1, 2**200)}
    assert len(others | {first}) == 7


def test_the_numbers_are_the_same_on_every_machine(tmp_path: Path) -> None:
    """What these releases gave when this was written."""
    found = {name: digest(release_of((cluster,), tmp_path).reconstruct(2012)) for name, cluster in GOLDEN.items()}
    assert found == GOLDEN_DIGESTS


def test_threads_do_not_matter(large: da.Release) -> None:
    """Drawn at the same time from the same release."""
    originals = Originals.of(large)
    one_by_one = [digest(originals.draw(seed)) for seed in range(6)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda seed: digest(originals.draw(seed)), range(6))) == one_by_one


def test_the_order_of_records_says_nothing(tmp_path: Path) -> None:
    """Records come in random order: where one stands does not tell its leaf, nor what is beside it."""
    below = tuple(naive.Leaf(2, ((F([f"a{i}"]), F([f"b{i}"])),), F(), str(i)) for i in range(2))
    originals = Originals.of(release_of(below, tmp_path))
    draws = 12_000
    seen = Counter(tuple(originals.draw(seed)) for seed in range(draws))
    assert len(seen) == 24
    statistic = sum((count - draws / 24) ** 2 / (draws / 24) for count in seen.values())
    assert chi2.sf(statistic, 23) > 1e-5


def test_what_was_drawn_cannot_be_changed(large: da.Release) -> None:
    """Like all records."""
    data = large.reconstruct()
    with pytest.raises(ValueError, match="read-only"):
        data.items[0] = 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"random_state": -1}, "random_state must be at least 0, not -1"),
        ({"random_state": 0.5}, "random_state must be a whole number, not a float"),
        ({"random_state": True}, "random_state must be a whole number, not a bool"),
        ({"model": "guess"}, "unknown model; choose one of independent, empirical-bayes"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    """One line each."""
    release = da.disassociate([["a"], ["a"]], k=2, m=1)
    with pytest.raises(da.errors.ParameterError, match=f"^{message}$"):
        release.reconstruct(**options)


def test_releases_that_break_their_guarantee(tmp_path: Path) -> None:
    """A leaf that nothing fills, a shared chunk too large for the leaves that may take it, one that fits nowhere."""
    unfilled = naive.Leaf(3, ((F("a"),), (F("b"),)), F(), "0")
    crowded = naive.Joint(
        (naive.Leaf(2, ((F("a"),),), F("x"), "0"), naive.Leaf(2, (), F("y"), "1")), ((F("a"), F("a"), F("a")),)
    )
    nowhere = naive.Joint(
        (naive.Leaf(2, ((F("a"),),), F("x"), "0"), naive.Leaf(2, ((F("b"),),), F("y"), "1")), ((F("ab"), F("c")),)
    )
    expected: list[tuple[naive.Cluster, str]] = [
        (unfilled, "cluster 0: a record would be empty"),
        (crowded, "cluster 2: no room for a shared chunk"),
        (nowhere, "cluster 2: no room for a shared chunk"),
    ]
    for cluster, reason in expected:
        release = release_of((cluster,), tmp_path)
        with pytest.raises(da.errors.GuaranteeError, match=rf"^{reason} in what .* audit it \(disassociate audit\)$"):
            release.reconstruct()
        assert not da.audit(release).holds


@pytest.mark.parametrize("leaf_size", [1 << 25, 1 << 18])
def test_releases_with_too_many_ways(leaf_size: int) -> None:
    """A few bytes that would take hours, or gigabytes: refused at once."""
    counts = np.full(3, leaf_size // 2, np.int32)
    huge = Forest(
        np.array([-1]),
        np.array([leaf_size]),
        np.array([0, 0]),
        np.array([], np.int32),
        Rows(np.array([0, 3]), np.arange(3, dtype=np.int32), counts, np.arange(4), np.arange(3, dtype=np.int32)),
    )
    release = da.Release(2, 1, None, None, pa.array(["a", "b", "c"]), huge)
    with pytest.raises(da.errors.ParameterError, match="in too many ways to be counted"):
        release.reconstruct()


def test_cases_of_the_guarantee_page(tmp_path: Path) -> None:
    """Where the shared chunks conflict in the ways that the page tells of."""
    from test_cases import CASES, released

    for case in CASES.values():
        if case.release is None or not worlds.is_possible(released(case)) or not fillable(released(case)):
            continue
        release = release_of(released(case), tmp_path)
        check(release, range(5))


@pytest.mark.parametrize("name", ["nested", "tight", "tighter", "under"])
def test_expected_supports_are_those_of_the_law(name: str, tmp_path: Path) -> None:
    """The closed form of ``Release.support`` against the average over all worlds, each as likely as the law says."""
    release = release_of((GOLDEN[name],), tmp_path)
    totals: defaultdict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for world, chance in worlds.law_of_worlds(forest_of(release)).items():
        for itemset, count in itemsets_in(row for leaf in world for row in leaf).items():
            totals[itemset] += chance * count
    for size in (1, 2, 3):
        for itemset in combinations(release.vocabulary.to_pylist(), size):
            assert release.support(itemset, model=INDEPENDENT).expected == pytest.approx(
                float(totals[itemset]), abs=1e-9
            ), itemset


@pytest.mark.parametrize("name", ["mixed", "overfull"])
def test_average_supports_are_those_expected(name: str, tmp_path: Path) -> None:
    """The same where worlds are too many: the average over 20,000 reconstructions, within five deviations."""
    release = release_of((GOLDEN[name],), tmp_path)
    originals, draws = Originals.of(release), 20_000
    totals: Counter[tuple[str, ...]] = Counter()
    squares: Counter[tuple[str, ...]] = Counter()
    for seed in range(draws):
        found = itemsets_in(originals.draw(seed))
        totals.update(found)
        squares.update({itemset: count**2 for itemset, count in found.items()})
    for size in (1, 2, 3):
        for itemset in combinations(release.vocabulary.to_pylist(), size):
            mean = totals[itemset] / draws
            deviation = max(squares[itemset] / draws - mean**2, 0) ** 0.5 / draws**0.5
            assert abs(release.support(itemset, model=INDEPENDENT).expected - mean) <= 5 * deviation + 2e-4, itemset


def itemsets_in(records: Iterable[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    """How many records hold each itemset of up to three terms, given and named by terms that rise."""
    return Counter(itemset for record in records for size in (1, 2, 3) for itemset in combinations(record, size))


GOLDEN: dict[str, naive.Cluster] = {
    "mixed": MIXED,
    "overfull": OVERFULL,
    "nested": NESTED,
    "tight": TIGHT,
    "tighter": TIGHTER,
    "under": UNDER,
}
GOLDEN_DIGESTS = {
    "mixed": "05749e56d22c53ed",
    "overfull": "47b47802c4bad63a",
    "nested": "fbe24b07c60803e6",
    "tight": "bb2976e31e9ba8af",
    "tighter": "a717cb069640f329",
    "under": "7f62588b46f175bb",
}
