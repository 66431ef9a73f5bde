"""The possible-worlds oracle against itself: enumeration, flow and integer programme agree; and the theorem."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import event, given, settings
from hypothesis import strategies as st

import naive
import worlds
from naive.conditions import Site, g0, g1, g2, g3_exact, g3_linear, placeable, s1, s2, sites
from naive.forest import joints
from strategies import PLAIN, Published, random_chunk, releases, sound_releases


def itemsets(terms: int, most: int) -> list[frozenset[str]]:
    return [frozenset(s) for size in range(1, most + 1) for s in combinations(PLAIN[:terms], size)]


@settings(max_examples=400, deadline=None)
@given(releases(max_leaves=3, max_n=2, terms=3) | releases(max_leaves=2, max_n=3, terms=3))
def test_enumeration_flow_and_programme_agree(published: Published) -> None:
    """On every leaf and itemset of a tiny release, all three ways give the same greatest number of records."""
    forest = published.forest
    every = worlds.every_world(forest)
    truth = tuple(tuple(sorted(tuple(sorted(record)) for record in leaf)) for leaf in published.original)
    assert truth in every
    for leaf in range(len(naive.leaves(forest))):
        for itemset in itemsets(3, 3):
            assert worlds.records_with(forest, leaf, itemset) == worlds.most_records(every, leaf, itemset)
    some = frozenset("ab")
    most = max(sum(some <= set(row) for rows in world for row in rows) for world in every)
    assert worlds.records_anywhere(forest, some) == most


@settings(max_examples=250, deadline=None)
@given(releases(max_leaves=4, max_n=5, terms=5), st.integers(1, 31))
def test_flow_and_programme_agree(published: Published, mask: int) -> None:
    """The flow and the integer programme agree on releases too large to enumerate."""
    itemset = frozenset(term for bit, term in enumerate(PLAIN[:5]) if mask >> bit & 1)
    for leaf in range(len(naive.leaves(published.forest))):
        flow = worlds.records_with(published.forest, leaf, itemset)
        assert worlds.records_anywhere(published.forest, itemset, only=leaf) == flow


@settings(max_examples=200, deadline=None)
@given(releases(max_leaves=2, max_n=3, terms=3), st.integers(0, 3), st.integers(0, 1))
def test_releases_without_a_world(published: Published, extra: int, which: int) -> None:
    """A release to which subrecords were added may have no world; all three ways see it."""
    forest: list[naive.Cluster] = []
    for cluster in published.forest:
        if isinstance(cluster, naive.Joint):
            chunk = (frozenset(PLAIN[which]),) * extra
            chunks = (*(c for c in cluster.shared_chunks if PLAIN[which] not in frozenset().union(*c)), chunk)
            forest.append(naive.Joint(cluster.children, tuple(c for c in chunks if c), cluster.name))
        else:
            forest.append(cluster)
    changed = tuple(forest)
    possible = bool(worlds.every_world(changed))
    assert worlds.is_possible(changed) == possible
    assert (worlds.records_anywhere(changed, frozenset("a")) is not None) == possible


@settings(max_examples=1200, deadline=None)
@given(
    sound_releases() | sound_releases(max_n=3, terms=3) | releases(max_leaves=3, max_n=4, terms=3, least_n=2),
    st.integers(1, 3),
)
def test_conditions_prove_the_guarantee(published: Published, m: int) -> None:
    """G3 decides exactly under the other conditions (decoupling theorem); its linear form is sufficient."""
    forest, k = published.forest, 2
    assert not list(s1(forest))
    if [*s2(forest), *g0(forest, k), *g1(forest, k, m), *g2(forest, k, m)]:
        event("not S2, G0, G1 or G2")
        assert naive.violations(forest, k, m)
        return
    chunks = [(chunk, sites(joint)) for joint in joints(forest) for chunk in joint.shared_chunks]
    linear = all(g3_linear(chunk, where, k, m) for chunk, where in chunks)
    exact = all(g3_exact(chunk, where, k, m) for chunk, where in chunks)
    holds = worlds.holds_guarantee(forest, k, m)
    event(f"linear {linear}, exact {exact}, {min(1, len(chunks))} or more shared chunks")
    assert exact or not linear
    assert holds == exact
    assert bool(naive.violations(forest, k, m)) != holds
    if holds:
        assert worlds.holds_for(forest, published.original, k, m)


@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 2**64), st.integers(2, 3), st.integers(1, 2))
def test_the_linear_form_of_g3_is_sufficient(seed: int, k: int, m: int) -> None:
    """K and room imply the exact form, chunk by chunk, with conflicts in most of them."""
    chunk, rows = random_chunk(seed, k)
    where = [Site(n, forbidden) for n, forbidden in rows]
    if chunk and placeable(chunk, where):
        linear, exact = g3_linear(chunk, where, k, m), g3_exact(chunk, where, k, m)
        event(f"linear {linear}, exact {exact}")
        assert exact or not linear


def test_counts_are_of_distinct_records() -> None:
    """Two chunks of three subrecords each in five records: the pair fits once, not three times (paper, Figure 4)."""
    chunks = ((frozenset("a"),) * 3, (frozenset("bc"),) * 3)
    forest = (naive.Leaf(5, chunks, frozenset()),)
    every = worlds.every_world(forest)
    assert every == {((("a",), ("a",), ("a", "b", "c"), ("b", "c"), ("b", "c")),)}
    assert Counter(row for (rows,) in every for row in rows)[("a", "b", "c")] == worlds.records_with(
        forest, 0, frozenset("ab")
    )
    assert worlds.counterexample(forest, 3, 2) == (0, frozenset("ab"))
