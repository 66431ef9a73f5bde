"""Every file of tests/cases: its facts found again by the oracle, and what our method makes of its data."""

from __future__ import annotations

from pathlib import Path

import pytest

import naive
import worlds
from naive.as_printed import UndefinedError

CASES = {path.stem: naive.read_case(path) for path in sorted((Path(__file__).parent / "cases").glob("*.json"))}
UNSAFE = [case for case in CASES.values() if "violating_S" in case.facts]
RELEASED = [case for case in CASES.values() if case.release is not None]
WITH_DATA = [case for case in CASES.values() if case.records is not None]
# The output of HORPART, VERPART and REFINE as printed; the last two from given clusters.
LITERAL = ["a1", "a2", "a3", "b4", "c1", "d1", "g1", "g2", "c2", "d3"]


def label(case: naive.Case) -> str:
    return case.name


def violated(forest: naive.Forest, case: naive.Case) -> set[str]:
    return {line.split()[0] for line in naive.violations(forest, case.k, case.m)}


def released(case: naive.Case) -> naive.Forest:
    assert case.release is not None
    return case.release


def leaf_named(forest: naive.Forest, name: str) -> int:
    return [leaf.name for leaf in naive.leaves(forest)].index(name)


def literal(case: naive.Case, with_shared: bool = True) -> naive.Forest:
    clusters = case.clusters
    if clusters is None:
        assert case.dataset is not None
        assert case.max_cluster_size is not None
        clusters = naive.horpart(case.dataset, frozenset(), case.max_cluster_size)
    return naive.literal_paper(clusters, case.k, case.m, with_shared)[0]


def test_all_cases_are_here() -> None:
    """Nothing is skipped because a file is missing."""
    assert len(CASES) == 26
    assert len(UNSAFE) == 14


@pytest.mark.parametrize("case", UNSAFE, ids=label)
def test_unsafe_cases_are_refuted(case: naive.Case) -> None:
    """The conditions refute it, and the worlds show the very itemset, as often as the file says."""
    forest = released(case)
    itemset = frozenset(case.facts["violating_S"])
    leaf = leaf_named(forest, case.facts["leaf"])
    most = case.facts["max_support_in_any_world"]
    assert violated(forest, case)
    assert not worlds.holds_guarantee(forest, case.k, case.m)
    assert worlds.records_with(forest, leaf, itemset) == most["in_leaf"] < case.k
    assert worlds.records_anywhere(forest, itemset, only=leaf) == most["in_leaf"]
    assert worlds.records_anywhere(forest, itemset) == most["anywhere"]
    assert (case.facts["reading"] == "global") == (most["anywhere"] < case.k)


@pytest.mark.parametrize("case", [case for case in RELEASED if case not in UNSAFE], ids=label)
def test_other_releases_keep_the_guarantee(case: naive.Case) -> None:
    """Safe controls, and the cases about what the guarantee does not cover."""
    assert naive.violations(released(case), case.k, case.m) == []
    assert worlds.holds_guarantee(released(case), case.k, case.m)


@pytest.mark.parametrize("case", RELEASED, ids=label)
def test_the_conditions_that_fail_are_the_ones_the_file_names(case: naive.Case) -> None:
    """Condition by condition; G3 with conflicts only, so a leaf below k (a2) is told by G0 alone."""
    said = case.facts["final_conditions"]
    expected = {name.split()[0] for name, holds in said.items() if not holds and name != "G3 exact flow"}
    assert violated(released(case), case) == expected


@pytest.mark.parametrize("name", LITERAL)
def test_the_paper_as_printed_makes_these_releases(name: str) -> None:
    """The literal pipeline gives exactly what the file holds."""
    (case,) = (case for case in CASES.values() if case.name.startswith(name + "_"))
    assert naive.canonical(literal(case)) == naive.canonical(released(case))


def test_the_sentence_about_record_chunks_makes_k1() -> None:
    """Section 5 tells REFINE to look at record chunks only; Property 1 needs the shared ones too."""
    case = CASES["k1_shared_chunks_of_descendants"]
    assert naive.canonical(literal(case, with_shared=False)) == naive.canonical(released(case))
    assert naive.canonical(literal(case)) != naive.canonical(released(case))


@pytest.mark.parametrize("name", ["b1_horpart_undefined", "b2_horpart_undefined_empty"])
def test_horpart_is_undefined(name: str) -> None:
    """Line 3 has no term to choose."""
    with pytest.raises(UndefinedError):
        literal(CASES[name])


def test_horpart_makes_an_empty_cluster() -> None:
    """D1 = D leaves D2 empty."""
    case = CASES["b3_empty_cluster"]
    assert case.dataset is not None
    assert case.max_cluster_size is not None
    parts = naive.horpart(case.dataset, frozenset(), case.max_cluster_size)
    assert parts == [[frozenset(row) for row in rows] for rows in case.facts["horpart_output"]]


def test_empty_records_make_the_original_impossible() -> None:
    """b4: in every world all three records have the term that two had."""
    case = CASES["b4_empty_record"]
    every = worlds.every_world(released(case))
    assert {sum("a" in row for row in rows) for (rows,) in every} == set(case.facts["support_of_a_in_every_world"])


@pytest.mark.parametrize("name", ["g1_minimality_leaf", "g2_minimality_shared"])
def test_the_number_of_worlds(name: str) -> None:
    """The files count distinct worlds; enumeration finds as many, up to the leaves' order."""
    case = CASES[name]
    every = worlds.every_world(released(case))
    assert (
        len({tuple(sorted(row for rows in world for row in rows)) for world in every}) == case.facts["distinct_worlds"]
    )
    for entry in case.facts["support_of_S"]:
        itemset = frozenset(entry["S"])
        assert worlds.records_anywhere(released(case), itemset) == entry["release_level_max"]


@pytest.mark.parametrize("name", ["l1_refine_publishes_sensitive", "l2_forced_sensitive"])
def test_sensitive_terms_are_refuted_when_l_is_asked_for(name: str) -> None:
    """Published in a shared chunk, or the only filler of a leaf."""
    case = CASES[name]
    sensitive = frozenset(case.facts["sensitive"])
    assert naive.violations(released(case), case.k, case.m, sensitive, l=2)


@pytest.mark.parametrize("case", WITH_DATA, ids=label)
@pytest.mark.parametrize("refine", [True, False])
def test_our_method_on_the_data_of_the_cases(case: naive.Case, refine: bool) -> None:
    """Whatever broke the paper's algorithm, ours publishes the same records safely, or refuses."""
    assert case.records is not None
    size = max(case.max_cluster_size or case.k, case.k)
    if not any(case.records):
        with pytest.raises(naive.RefusedError):
            naive.anonymize(case.records, case.k, case.m, size)
        return
    records = [record for record in case.records if record]
    if len(records) < case.k:
        with pytest.raises(naive.RefusedError):
            naive.anonymize(records, case.k, case.m, size)
        return
    forest, original = naive.anonymize(records, case.k, case.m, size, refine=refine)
    assert naive.violations(forest, case.k, case.m) == []
    assert worlds.holds_guarantee(forest, case.k, case.m)
    assert worlds.holds_for(forest, naive.true_world(forest, original), case.k, case.m)


@pytest.mark.parametrize("case", [case for case in WITH_DATA if case.clusters], ids=label)
def test_our_method_on_the_clusters_of_the_cases(case: naive.Case) -> None:
    """The same from the horizontal partitioning of the case, where ours would be another one."""
    assert case.clusters is not None
    forest, original = naive.anonymize_leaves(case.clusters, case.k, case.m)
    assert naive.violations(forest, case.k, case.m) == []
    assert worlds.holds_guarantee(forest, case.k, case.m)
    assert worlds.holds_for(forest, naive.true_world(forest, original), case.k, case.m)
