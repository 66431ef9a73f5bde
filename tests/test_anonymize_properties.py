"""``disassociate`` through its public interface: the same as the naive method, and safe, on thousands of inputs."""

from __future__ import annotations

import importlib
import itertools
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import naive
import worlds
from naive.forest import paths
from naive.horizontal import supports
from strategies import METHODS, PLAIN, Problem, large_problems, nested_problems, problems, wide_problems, zipf_bag

da: Any = importlib.import_module("disassociation")
pytestmark = pytest.mark.skipif(not hasattr(da, "disassociate"), reason="disassociate is not there yet")

SLOW = [HealthCheck.too_slow, HealthCheck.large_base_example]


def release_of(problem: Problem) -> Any:
    """Run the real method."""
    return da.disassociate(
        [sorted(record) for record in problem.records],
        k=problem.k,
        m=problem.m,
        max_cluster_size=problem.max_cluster_size,
        sensitive=sorted(problem.sensitive),
        l=problem.l,
        keep_together=[sorted(group) for group in problem.groups],
        refine=problem.refine,
        method=problem.method,
    )


def forest_of(release: Any) -> naive.Forest:
    """The release as the oracle's forest."""
    return naive.forest_of_rows(release.clusters.to_pylist(), release.subrecords.to_pylist())


def solve(problem: Problem) -> tuple[naive.Forest, dict[str, list[naive.Record]]]:
    """Run the naive method."""
    p = problem
    return naive.anonymize(p.records, p.k, p.m, p.max_cluster_size, p.sensitive, p.l, p.groups, p.refine, p.method)


def check_same_and_safe(problem: Problem) -> tuple[naive.Forest, tuple[naive.Bag, ...]]:
    """The real release equals the naive one, is in order, and meets every condition."""
    release = release_of(problem)
    forest = forest_of(release)
    expected, original = solve(problem)
    assert naive.canonical(forest) == naive.canonical(expected)
    assert naive.violations(forest, problem.k, problem.m, problem.sensitive, problem.l) == []
    assert naive.out_of_order(release.clusters.to_pylist(), release.subrecords.to_pylist()) == []
    check_counts(problem, forest)
    for leaf in naive.leaves(expected):
        counts = supports(original[leaf.name])
        assert problem.l is None or all(problem.l * counts[term] <= leaf.n for term in problem.sensitive)
    return expected, naive.true_world(expected, original)


def describe(forest: naive.Forest) -> str:
    """For --hypothesis-show-statistics: how nested the examples are."""
    return f"joint clusters nested {max(len(above) for _, above in paths(forest))} deep"


def check_counts(problem: Problem, forest: naive.Forest) -> None:
    """What is published of each term adds up to its support: counts in chunks, 1 to n records per term chunk."""
    assert sum(leaf.n for leaf in naive.leaves(forest)) == len(problem.records)
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for leaf, _ in paths(forest):
        for term in leaf.term_chunk:
            least[term] += 1
            most[term] += leaf.n if term not in problem.sensitive or problem.l is None else leaf.n // problem.l
        for chunk in leaf.record_chunks:
            least.update(supports(chunk))
            most.update(supports(chunk))
    for joint in naive.joints(forest):
        for chunk in joint.shared_chunks:
            least.update(supports(chunk))
            most.update(supports(chunk))
    actual = supports(problem.records)
    assert least.keys() == actual.keys()
    assert all(least[term] <= actual[term] <= most[term] for term in actual)


@settings(max_examples=1500, deadline=None, suppress_health_check=SLOW)
@given(problems(most=16, terms=6, largest=5))
def test_tiny_inputs_in_all_worlds(problem: Problem) -> None:
    """Tiny inputs, judged by the possible worlds as well."""
    forest, original = check_same_and_safe(problem)
    event(describe(forest))
    assert worlds.holds_guarantee(forest, problem.k, problem.m)
    assert worlds.holds_for(forest, original, problem.k, problem.m)


@settings(max_examples=2000, deadline=None, suppress_health_check=SLOW)
@given(problems())
def test_small_inputs(problem: Problem) -> None:
    """Up to 40 records over 10 terms, plain and odd tokens, with every option."""
    forest, _ = check_same_and_safe(problem)
    event(describe(forest))


@settings(max_examples=1200, deadline=None, suppress_health_check=SLOW)
@given(nested_problems())
def test_inputs_that_nest(problem: Problem) -> None:
    """Up to 90 records over 24 terms, made so that refining has much to do."""
    forest, _ = check_same_and_safe(problem)
    event(describe(forest))


def largest_joint(forest: naive.Forest) -> int:
    """The most records of a joint cluster."""
    return max((sum(leaf.n for leaf in naive.leaves((joint,))) for joint in naive.joints(forest)), default=0)


def joint_limit(problem: Problem) -> int:
    """The most records that a joint cluster may have with the default method."""
    return 4 * max(problem.max_cluster_size, 2 * max(problem.k, problem.l or 0))


@settings(max_examples=600, deadline=None, suppress_health_check=SLOW)
@given(wide_problems())
def test_inputs_that_join_much(problem: Problem) -> None:
    """Up to 160 records over 40 terms, of which refining would make few joint clusters if it may."""
    forest, _ = check_same_and_safe(problem)
    largest, limit = largest_joint(forest), joint_limit(problem)
    assert largest <= limit or problem.method == "paper"
    event(f"{problem.method}: {'at' if largest == limit else 'above' if largest > limit else 'below'} the limit")


def test_joint_clusters_grow_to_their_limit() -> None:
    """As large as allowed, and no larger; with the paper's method larger."""
    vocabulary = tuple(f"t{i}" for i in range(40))
    found: dict[str, list[int]] = {method: [] for method in METHODS}
    for seed, method in itertools.product(range(10), METHODS):
        problem = Problem(zipf_bag(seed, 150, vocabulary, 1.5), 5, 2, 10, method=method)
        found[method].append(largest_joint(forest_of(release_of(problem))))
    assert max(found["default"]) == joint_limit(problem) == 40
    assert sum(size > 40 for size in found["paper"]) > 5


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(large_problems())
def test_larger_inputs(problem: Problem) -> None:
    """Up to 300 records in leaves of up to 200: more than one machine word per term."""
    forest, _ = check_same_and_safe(problem)
    event(describe(forest))


@settings(max_examples=400, deadline=None, suppress_health_check=SLOW)
@given(problems() | nested_problems(), st.integers(0, 2**32))
def test_order_has_no_effect(problem: Problem, seed: int) -> None:
    """Shuffled records, shuffled and repeated tokens, and dropped empty records change nothing."""
    release = release_of(problem)
    chance = random.Random(seed)
    records = [chance.sample(sorted(record) * 2, 2 * len(record)) for record in problem.records] + [[]]
    chance.shuffle(records)
    again = da.disassociate(
        records,
        k=problem.k,
        m=problem.m,
        max_cluster_size=problem.max_cluster_size,
        sensitive=chance.sample(sorted(problem.sensitive), len(problem.sensitive)),
        l=problem.l,
        keep_together=[chance.sample(sorted(group), len(group)) for group in reversed(problem.groups)],
        refine=problem.refine,
        method=problem.method,
    )
    assert again == release
    assert again.clusters.equals(release.clusters)
    assert again.subrecords.equals(release.subrecords)


def test_many_copies_and_all_different() -> None:
    """A few hundred equal records cut into leaves; and a leaf that is all term chunk."""
    copies = (frozenset("ab"),) * 257 + (frozenset("c"),) * 3
    check_same_and_safe(Problem(copies, 5, 2, 64))
    check_same_and_safe(Problem(tuple(frozenset(term) for term in PLAIN), 5, 2, 100))


@pytest.mark.parametrize("method", METHODS)
def test_more_than_one_block(method: str) -> None:
    """Refining works in blocks of 1024 leaves: 11,000 records make more than that."""
    vocabulary = tuple(f"t{i}" for i in range(60))
    problem = Problem(zipf_bag(7, 11_000, vocabulary, 2.0), 2, 2, 4, method=method)
    unrefined, _ = solve(replace(problem, refine=False))
    assert sum(bool(leaf.term_chunk) for leaf in naive.leaves(unrefined)) > 1024
    check_same_and_safe(problem)


@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(Problem((frozenset("a"),) * 4, 5, 2, 10), id="fewer records than k"),
        pytest.param(Problem((), 2, 2, 10), id="no records"),
        pytest.param(Problem((frozenset("a"),) * 9, 5, 2, 4), id="max_cluster_size below k"),
        pytest.param(Problem((frozenset("ab"), *(frozenset("b"),) * 8), 2, 2, 4, frozenset("a"), 5), id="max below l"),
        pytest.param(Problem((frozenset("a"),) * 9, 2, 2, 6, frozenset(), 3), id="l without sensitive terms"),
        pytest.param(Problem((frozenset("ab"),) * 9, 2, 2, 6, frozenset("a"), 2), id="l impossible"),
        pytest.param(Problem((frozenset("ab"), frozenset("b")), 2, 2, 6, frozenset("a"), 3), id="fewer records than l"),
        pytest.param(Problem((frozenset("a"),) * 9, 2, 2, 6, frozenset("a")), id="nothing but sensitive terms"),
    ],
)
def test_refusals(problem: Problem) -> None:
    """What cannot be done is refused, by the naive method too, with one line that shows no term."""
    with pytest.raises(naive.RefusedError):
        solve(problem)
    with pytest.raises(da.errors.DisassociationError) as caught:
        release_of(problem)
    assert isinstance(caught.value, da.errors.ParameterError | da.errors.InputError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [{"k": 1}, {"k": 0}, {"m": 0}, {"m": -1}, {"l": 1, "sensitive": frozenset("a")}])
def test_parameters_out_of_range(change: dict[str, Any]) -> None:
    """K >= 2, m >= 1, l >= 2."""
    problem = Problem((frozenset("ab"), frozenset("b"), frozenset("bc"), frozenset("c")), 2, 2, 4)
    with pytest.raises(da.errors.ParameterError):
        release_of(replace(problem, **change))
