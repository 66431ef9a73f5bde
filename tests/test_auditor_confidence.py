"""What the auditor says can be inferred of everyone in a cluster, against plain counting."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from disassociation.auditor.auditing import audit
from naive.forest import joints, leaves
from published import publish
from strategies import random_parts
from test_cases import CASES, released


def within(bag: naive.Bag, m: int) -> float:
    """The greatest share, of the subrecords with up to m terms, of those that have one more."""
    best = 0.0
    for row in set(bag):
        for size in range(1, m + 1):
            for known in combinations(sorted(row), size):
                holders = [other for other in bag if set(known) <= other]
                for term in row - set(known):
                    best = max(best, sum(term in other for other in holders) / len(holders))
    return best


def across(leaf: naive.Leaf) -> float:
    """The greatest share of a leaf's records that hold one term of its record chunks."""
    terms = {term for bag in leaf.record_chunks for row in bag for term in row}
    return max((sum(term in row for bag in leaf.record_chunks for row in bag) / leaf.n for term in terms), default=0.0)


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 2**64), st.integers(2, 3), st.integers(1, 3), st.sampled_from([None, 0.5, 0.75, 0.9]))
def test_confidence(seed: int, k: int, m: int, limit: float | None) -> None:
    """Both kinds, and which clusters are above a limit."""
    forest, _ = naive.anonymize_leaves(random_parts(seed), k, m)
    found = audit(publish(forest, k, m)._replace(max_confidence=limit))
    bags = [bag for leaf in leaves(forest) for bag in leaf.record_chunks]
    bags += [bag for joint in joints(forest) for bag in joint.shared_chunks]
    assert found.covers is not None
    assert found.covers.within == pytest.approx(max((within(bag, m) for bag in bags), default=0.0))
    assert found.covers.across == pytest.approx(max(across(leaf) for leaf in leaves(forest)))
    covered = [leaf for leaf in leaves(forest) if across(leaf) == 1]
    assert found.covers.covered_clusters == len(covered)
    if limit is not None:
        high = [leaf for leaf in leaves(forest) if across(leaf) > limit]
        high_bags = [bag for bag in bags if within(bag, m) > limit]
        assert found.conditions["C"] == (not high and not high_bags)
        assert sum("of its records" in one.what for one in found.violations if one.condition == "C") == len(high)
    else:
        assert "C" not in found.conditions


def test_a_cover_is_told() -> None:
    """h1: everyone in the leaf is known to have one term; no violation, unless a limit is promised."""
    published = publish(released(CASES["h1_cover_figure2_data"]), 3, 2)
    found = audit(published)
    assert found.holds
    assert found.covers is not None
    assert found.covers.covered_clusters >= 1
    assert not audit(published._replace(max_confidence=0.9)).conditions["C"]
