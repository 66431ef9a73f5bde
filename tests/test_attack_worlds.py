"""What attacks count, leaf by leaf: as the possible worlds have it, or as fractions and plain sets say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import disassociation as da
import naive
import worlds
from disassociation import release_reader
from disassociation._kernels.availability import lay_out
from disassociation._kernels.candidates import count_candidates
from disassociation._kernels.inference import learned_terms
from disassociation._kernels.other_terms import possible_terms
from disassociation._kernels.raw_records import posting_lists
from disassociation._kernels.scene import Scene
from disassociation._kernels.term_pairs import count_meetings, join_pairs
from disassociation.exposure.known_terms import known_sets
from disassociation.exposure.learned import count_covers
from disassociation.exposure.rejoin import area_under_curve, top_share
from disassociation.release import Release
from naive import attack as plainly
from naive.forest import Forest, Record, joints, leaves
from published import publish
from strategies import Published, random_parts, releases, sound_releases
from worlds.exact import can_hold
from worlds.scene import set_up


class Laid(NamedTuple):
    """A release three times: as ours, laid out, and as the oracle's, clusters in the same order."""

    release: Release
    scene: Scene
    forest: Forest
    names: list[str]

    def codes(self, known: Record, chance: random.Random) -> list[int]:
        """Terms in any order."""
        found = [self.names.index(term) for term in known]
        chance.shuffle(found)
        return found

    def possible_leaves(self, known: Record) -> list[bool]:
        """Which leaves hold the terms in some world."""
        scene = set_up(self.forest)
        return [can_hold(scene, leaf, known, 1) for leaf in range(len(scene.leaves))]


def without_idle_joints(forest: Forest) -> Forest:
    """Joint clusters that share nothing dissolved: no release has them, and they change no world."""
    found: list[naive.Cluster] = []
    for cluster in forest:
        if isinstance(cluster, naive.Joint):
            below = without_idle_joints(cluster.children)
            found += [naive.Joint(below, cluster.shared_chunks)] if cluster.shared_chunks else below
        else:
            found.append(cluster)
    return tuple(found)


def lay(forest: Forest, k: int, m: int) -> Laid:
    """A forest of the oracle, published."""
    tables = publish(forest, k, m)
    vocabulary, coded = release_reader._forest(Path("release"), tables.clusters, tables.subrecords)
    release = Release(k, m, None, None, vocabulary, coded)
    same = naive.forest_of_rows(tables.clusters.to_pylist(), tables.subrecords.to_pylist())
    return Laid(release, lay_out(coded, len(vocabulary)), same, vocabulary.to_pylist())


class Small(NamedTuple):
    """A small release of ours, with nested joint clusters and terms in chunks of their own because they conflict."""

    laid: Laid
    records: list[Record]
    chance: random.Random


def small_releases(seeds: range) -> Iterator[Small]:
    """One for each seed that has a leaf large enough."""
    for seed in seeds:
        chance = random.Random(seed)
        k, m = chance.choice([2, 2, 3]), chance.choice([1, 2, 3])
        parts = [part for part in random_parts(seed) if len(part) >= k]
        if parts:
            forest, _ = naive.anonymize_leaves(parts, k, m)
            yield Small(lay(forest, k, m), [record for part in parts for record in part], chance)


def some_of(record: Record, chance: random.Random) -> Record:
    """One or more terms of a record."""
    return frozenset(chance.sample(sorted(record), chance.randint(1, len(record))))


@pytest.mark.parametrize("part", range(4))
def test_candidates_are_those_of_possible_worlds(part: int) -> None:
    """In leaves exactly; in all never more than in a world, and hardly ever fewer; for up to m terms k or more."""
    asked = fewer = nested = 0
    for small in small_releases(range(part * 120, (part + 1) * 120)):
        laid, k = small.laid, small.laid.release.k
        nested += sum(1 for _ in joints(laid.forest)) > 1
        for _ in range(3):
            known = some_of(small.chance.choice(small.records), small.chance)
            sets = np.array([[laid.codes(known, small.chance)]], np.int32)
            candidates, fewest, guess = count_candidates(laid.scene, sets)
            counts = [worlds.records_with(laid.forest, leaf, known) for leaf in range(len(leaves(laid.forest)))]
            assert fewest[0, 0] == min(count for count in counts if count)
            most = worlds.records_anywhere(laid.forest, known)
            assert most is not None
            assert candidates[0, 0] <= most
            assert 1 / candidates[0, 0] <= guess[0, 0] + 1e-9 or candidates[0, 0] < sum(counts)
            assert guess[0, 0] <= 1 / fewest[0, 0] + 1e-9
            if len(known) <= laid.release.m:
                assert fewest[0, 0] >= k
            asked += 1
            fewer += candidates[0, 0] < most
    assert asked > 250
    assert fewer <= asked / 100
    assert nested > 30


@pytest.mark.parametrize(("shared", "most"), [("a", 2), ("c", 3)])
def test_what_can_fill_a_leaf_without_a_term_chunk(shared: str, most: int) -> None:
    """A shared subrecord that may be there leaves one of the leaf's own for a target; one that may not does not."""
    chunks = ((frozenset("a"),) * 3, (frozenset("b"),) * 3)
    below = (naive.Leaf(4, chunks, frozenset()), naive.Leaf(4, ((frozenset("x"),) * 4,), frozenset("y")))
    laid = lay((naive.Joint(below, ((frozenset(shared),) * 2,)),), 2, 2)
    candidates, fewest, _ = count_candidates(laid.scene, np.array([[[0, 1]]], np.int32))
    assert laid.names[:2] == ["a", "b"]
    counts = [worlds.records_with(laid.forest, leaf, frozenset("ab")) for leaf in range(2)]
    assert sorted(counts) == [0, most]
    assert candidates[0, 0] == fewest[0, 0] == most


FOREIGN = st.tuples(
    sound_releases(k=2, max_leaves=4, max_n=3, terms=4)
    | sound_releases(k=2, max_leaves=3, max_n=4, terms=5)
    | releases(max_leaves=3, max_n=4, terms=4, least_n=2),
    st.integers(0, 2**32),
)
"""Releases that others may have made, with conflicts inside shared chunks and leaves that only these can fill."""


def foreign(published: Published, seed: int) -> tuple[Laid, list[Record], Record, random.Random]:
    """Such a release, the records it is of, and some terms of one."""
    chance = random.Random(seed)
    records = [record for rows in published.original for record in rows]
    assume(all(leaf.record_chunks or leaf.term_chunk for leaf in leaves(published.forest)))  # as in every release
    return lay(without_idle_joints(published.forest), 2, 2), records, some_of(chance.choice(records), chance), chance


@settings(max_examples=1000, deadline=None)
@given(FOREIGN)
def test_candidates_under_conflicts(drawn: tuple[Published, int]) -> None:
    """Each chunk by itself, as documented; so never fewer than any world has in a leaf."""
    laid, _, known, chance = foreign(*drawn)
    candidates, fewest, _ = count_candidates(laid.scene, np.array([[laid.codes(known, chance)]], np.int32))
    rows = list(zip(leaves(laid.forest), plainly.sources(laid.forest), strict=True))
    counts = [plainly.most_in_leaf(leaf, here, known) for leaf, here in rows]
    assert fewest[0, 0] == min(count for count in counts if count)
    assert max(counts) <= candidates[0, 0] <= sum(counts)
    for leaf, count in enumerate(counts):
        assert count >= worlds.records_with(laid.forest, leaf, known)


@settings(max_examples=500, deadline=None)
@given(FOREIGN, st.sampled_from(["0.3", "0.5", "0.9", "1"]))
def test_what_follows_under_conflicts(drawn: tuple[Published, int], least: str) -> None:
    """The same confidence in fractions; what is certain holds of every record with the known terms."""
    laid, records, known, chance = foreign(*drawn)
    codes = np.array([laid.codes(known, chance)], np.int32)
    _, terms = learned_terms(laid.scene, codes, len(laid.names), float(least))
    rows = list(zip(leaves(laid.forest), plainly.sources(laid.forest), strict=True))

    def possible(some: Record) -> list[bool]:
        return [plainly.most_in_leaf(leaf, here, some) > 0 for leaf, here in rows]

    found = {laid.names[term] for term in terms}
    assert found == followers(laid, known, Fraction(least), possible)
    others = {laid.names[term] for term in possible_terms(laid.scene, codes, len(laid.names))[1]}
    for record in records:
        if known <= record:
            assert record - known <= others
            assert least != "1" or found <= record


def test_the_worst_terms_are_the_worst() -> None:
    """Of records of up to four terms no other set of that size leaves fewer candidates, nor any one term of others."""
    for small in small_releases(range(300, 360)):
        laid = small.laid
        data = da.read(small.records)
        known = known_sets("worst", laid.scene, data, np.arange(len(data)), 4, 0, 1)
        for record, rows in zip(small.records, known, strict=True):
            codes = [laid.names.index(term) for term in record]
            for size in range(1, min(len(record), 4) + 1):
                chosen = rows[size - 1][:size]
                assert set(chosen.tolist()) <= set(codes)
                others = [list(terms) for terms in combinations(codes, size)]
                counts = count_candidates(laid.scene, np.array([others], np.int32))[0][0]
                total = count_candidates(laid.scene, chosen[None, None, :])[0][0, 0]
                assert total == counts.min() if len(record) <= 4 or size == 1 else total >= counts.min()
            for size in range(len(record) + 1, 5):
                assert sorted(rows[size - 1]) == sorted([*codes, *[-1] * (4 - len(codes))])


def followers(laid: Laid, known: Record, least: Fraction, possible: Callable[[Record], list[bool]]) -> frozenset[str]:
    """What follows from the known terms in a release, in fractions, given which leaves can hold some terms."""
    is_there = possible(known)
    found = set()
    for term in frozenset(laid.names) - known:
        both = possible(known | {term})
        if plainly.confidence(laid.forest, known, term, is_there, both) >= least:
            found.add(term)
    return frozenset(found)


def test_what_follows() -> None:
    """The terms with a confidence, and those that every candidate has, as fractions have them; covers too."""
    found_any = 0
    for small in small_releases(range(400, 560)):
        laid = small.laid
        for least in ("0.3", "0.5", "0.9", "1"):
            known = some_of(small.chance.choice(small.records), small.chance)
            codes = np.array([laid.codes(known, small.chance)], np.int32)
            _, terms = learned_terms(laid.scene, codes, len(laid.names), float(least))
            expected = followers(laid, known, Fraction(least), laid.possible_leaves)
            assert {laid.names[term] for term in terms} == expected, (small.records, known, least)
            found_any += bool(expected)
        covered = [plainly.is_covered(laid.forest, leaf) for leaf in range(len(leaves(laid.forest)))]
        covers = count_covers(laid.release, laid.scene)
        assert covers.leaves == sum(covered)
        sizes = [leaf.n for leaf, is_there in zip(leaves(laid.forest), covered, strict=True) if is_there]
        assert covers.records == sum(sizes)
    assert found_any > 100


def test_what_may_be() -> None:
    """Every term that some world has beside the known ones, and hardly any other."""
    asked = more = 0
    for small in small_releases(range(600, 720)):
        laid, scene = small.laid, set_up(small.laid.forest)
        known = some_of(small.chance.choice(small.records), small.chance)
        codes = np.array([laid.codes(known, small.chance)], np.int32)
        offsets, terms = possible_terms(laid.scene, codes, len(laid.names))
        assert offsets.tolist() == [0, len(terms)]
        expected = {
            term
            for term in frozenset(laid.names) - known
            if any(can_hold(scene, leaf, known | {term}, 1) for leaf in range(len(scene.leaves)))
        }
        found = {laid.names[term] for term in terms}
        assert found >= expected
        asked += 1
        more += found > expected
    assert more <= asked / 20


def test_pairs_of_a_term_chunk() -> None:
    """Whether they may have been together, and how often they meet, by looking at all records and leaves."""
    seen = {True: 0, False: 0}
    for small in small_releases(range(800, 900)):
        laid, data = small.laid, da.read(small.records)
        forest, terms = laid.release.forest, len(laid.names)
        chunks = [frozenset(row["terms"]) for row in laid.release.clusters.to_pylist() if row["terms"] is not None]
        positions = np.argsort(laid.scene.leaf_at)
        here = {leaf.name: found for leaf, found in zip(leaves(laid.forest), plainly.sources(laid.forest), strict=True)}
        pairs = [(leaf, pair) for leaf, chunk in enumerate(chunks) for pair in combinations(sorted(chunk), 2)]
        if not pairs:
            continue
        drawn = np.array([[laid.names.index(term) for term in pair] for _, pair in pairs], np.int32)
        at = positions[[leaf for leaf, _ in pairs]]
        postings = posting_lists(data.offsets, data.items, terms)
        supports, together = join_pairs(laid.scene, data.offsets, data.items, postings, at, drawn)
        in_chunks = posting_lists(forest.term_offsets, forest.terms, terms)
        meetings, accidents = count_meetings(in_chunks, len(chunks), drawn, 2)
        for i, (leaf, pair) in enumerate(pairs):
            assert supports[i] == plainly.support(small.records, frozenset(pair))
            assert together[i] == plainly.may_be_together(small.records, here[str(leaf)], frozenset(pair))
            count, by_chance = plainly.meetings(chunks, pair, 2)
            assert meetings[i] == count
            assert accidents[i] == pytest.approx(by_chance)
            seen[bool(together[i])] += 1
    assert min(seen.values()) > 50


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=40))
def test_how_well_scores_tell(rows: list[tuple[int, bool]]) -> None:
    """The area by looking at all pairs; the top tenth as the mean over all orders of ties."""
    scores, truths = zip(*rows, strict=True)
    area = area_under_curve(np.array(scores, np.float64), np.array(truths))
    expected = plainly.area(scores, truths)
    assert area is None if expected is None else area == pytest.approx(expected)
    wanted = max(len(rows) / 10, 1)
    taken, right = 0.0, 0.0
    for score in sorted(set(scores), reverse=True):
        tied = [truth for other, truth in rows if other == score]
        share = min(max(wanted - taken, 0) / len(tied), 1)
        taken, right = taken + share * len(tied), right + share * sum(tied)
    assert top_share(np.array(scores, np.float64), np.array(truths)) == pytest.approx(right / wanted)
