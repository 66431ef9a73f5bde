"""docs/algorithm.md, programmed literally, against the conditions and the possible worlds: is it sound?"""

from __future__ import annotations

import random

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import naive
import worlds
from naive.forest import joints, paths, terms_of
from naive.horizontal import supports
from naive.vertical import is_km_anonymous
from strategies import Problem, large_problems, leaf_parts, nested_problems, problems, random_parts, wide_problems


def solve(problem: Problem) -> tuple[naive.Forest, dict[str, list[naive.Record]]]:
    p = problem
    return naive.anonymize(p.records, p.k, p.m, p.max_cluster_size, p.sensitive, p.l, p.groups, p.refine, p.method)


def describe(forest: naive.Forest) -> str:
    """For --hypothesis-show-statistics: how nested the examples are."""
    return f"joint clusters nested {max(len(above) for _, above in paths(forest))} deep"


def check_proved_and_true(
    forest: naive.Forest,
    original: tuple[naive.Bag, ...],
    k: int,
    m: int,
    sensitive: frozenset[str],
    l: int | None,  # noqa: E741
) -> None:
    """The conditions hold, and so do both forms of the guarantee, in the worlds."""
    assert naive.violations(forest, k, m, sensitive, l) == []
    assert worlds.holds_guarantee(forest, k, m)
    assert worlds.holds_for(forest, original, k, m)


@settings(max_examples=1500, deadline=None)
@given(problems(most=16, terms=6, largest=5))
def test_tiny_releases_keep_the_guarantee(problem: Problem) -> None:
    """The whole method, with sensitive terms, l, groups and without refining."""
    forest, original = solve(problem)
    event(describe(forest))
    check_proved_and_true(
        forest, naive.true_world(forest, original), problem.k, problem.m, problem.sensitive, problem.l
    )


@settings(max_examples=1500, deadline=None)
@given(leaf_parts(), st.integers(1, 4), st.sampled_from(["", "a", "b"]))
def test_nested_joints_keep_the_guarantee(parts: list[naive.Bag], m: int, secret: str) -> None:
    """Vertical partitioning and refining of arbitrary leaves: deeper joints, more conflicts than splits make."""
    sensitive = frozenset(secret)
    parts = [part for part in parts if frozenset().union(*part) - sensitive]
    assume(parts)
    forest, original = naive.anonymize_leaves(parts, 2, m, sensitive)
    event(describe(forest))
    check_proved_and_true(forest, naive.true_world(forest, original), 2, m, sensitive, None)


@settings(max_examples=1000, deadline=None)
@given(st.integers(0, 2**64), st.integers(2, 3), st.integers(1, 4))
def test_deep_joints_keep_the_guarantee(seed: int, k: int, m: int) -> None:
    """The same from random leaves: joints up to four deep and shared chunks with conflicts are common here."""
    forest, original = naive.anonymize_leaves(random_parts(seed), k, m)
    event(describe(forest))
    check_proved_and_true(forest, naive.true_world(forest, original), k, m, frozenset(), None)


@settings(max_examples=300, deadline=None)
@given(leaf_parts(size=3, most=3, terms=3), st.integers(1, 3))
def test_the_original_is_one_of_the_worlds(parts: list[naive.Bag], m: int) -> None:
    """S0, by enumeration."""
    forest, original = naive.anonymize_leaves(parts, 2, m)
    truth = tuple(
        tuple(sorted(tuple(sorted(record)) for record in records)) for records in naive.true_world(forest, original)
    )
    assume(sum(map(len, truth)) <= 6)
    assert truth in worlds.every_world(forest)


@settings(max_examples=500, deadline=None)
@given(problems() | large_problems() | nested_problems() | wide_problems(), st.integers(0, 2**32))
def test_sizes_counts_and_order(problem: Problem, seed: int) -> None:
    """Sizes and l-diversity as promised; no term lost; shuffled records give the same release."""
    forest, original = solve(problem)
    minimum = max(problem.k, problem.l or 0)
    limit = max(problem.max_cluster_size, 2 * minimum)
    for leaf in naive.leaves(forest):
        records = original[leaf.name]
        counts = supports(records)
        assert minimum <= leaf.n == len(records)
        assert problem.sensitive or leaf.n < limit
        if problem.l is not None:
            assert all(problem.l * counts[term] <= leaf.n for term in problem.sensitive)
    for joint in joints(forest):
        assert problem.method == "paper" or sum(leaf.n for leaf in naive.leaves((joint,))) <= 4 * limit
    assert sorted(map(sorted, problem.records)) == sorted(sorted(r) for part in original.values() for r in part)
    assert naive.violations(forest, problem.k, problem.m, problem.sensitive, problem.l) == []
    shuffled = random.Random(seed).sample(problem.records, len(problem.records))
    again, _ = solve(Problem(**{**vars(problem), "records": tuple(shuffled)}))
    assert naive.canonical(again) == naive.canonical(forest)


@settings(max_examples=300, deadline=None)
@given(nested_problems())
def test_refining_lifts_only_what_it_may(problem: Problem) -> None:
    """Shared chunks are k^m-anonymous; a term with a conflict is alone in its chunk."""
    forest, _ = solve(problem)
    for joint in joints(forest):
        below = terms_of(chunk for leaf in naive.leaves(joint.children) for chunk in leaf.record_chunks)
        below |= terms_of(chunk for inner in joints(joint.children) for chunk in inner.shared_chunks)
        for chunk in joint.shared_chunks:
            assert is_km_anonymous(chunk, problem.k, problem.m)
            domain = terms_of([chunk])
            assert len(domain) == 1 or not domain & below
