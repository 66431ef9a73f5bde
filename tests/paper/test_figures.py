"""The paper's figures, made and judged by the oracle."""

from __future__ import annotations

import naive
import worlds
from naive.as_printed import conflicting, join
from naive.forest import terms_of
from naive.refine import Simple, equation_1
from naive.vertical import is_km_anonymous, project
from paper import figures


def names(forest: naive.Forest, k: int, m: int) -> set[str]:
    return {line.split()[0] for line in naive.violations(forest, k, m)}


def test_figure_2_identity_attack_on_the_original() -> None:
    """Section 3: r2 is the only record with madonna and viagra."""
    assert [i for i, record in enumerate(figures.FIGURE_2A) if {"madonna", "viagra"} <= record] == [1]


def test_figure_2b_is_the_vertical_partitioning_of_its_clusters() -> None:
    """VERPART makes Figure 2b from r1-r5 and r6-r10, k = 3, m = 2."""
    parts = [list(figures.FIGURE_2A[:5]), list(figures.FIGURE_2A[5:])]
    made, _ = naive.anonymize_leaves(parts, 3, 2, refine=False)
    assert naive.canonical(made) == naive.canonical(figures.FIGURE_2B)
    assert naive.violations(figures.FIGURE_2B, 3, 2) == []
    assert worlds.holds_guarantee(figures.FIGURE_2B, 3, 2)


def test_figure_2_has_records_that_were_not_there() -> None:
    """Section 3: {itunes, madonna, viagra, ruby} can be reconstructed, although D has no such record."""
    assert worlds.records_with(figures.FIGURE_2B, 0, frozenset(["itunes", "madonna", "viagra", "ruby"])) >= 1


def test_figure_3_is_the_refinement_of_figure_2b() -> None:
    """REFINE, ours and the literal one, lifts ikea and ruby into one shared chunk."""
    parts = [list(figures.FIGURE_2A[:5]), list(figures.FIGURE_2A[5:])]
    made, originals = naive.anonymize_leaves(parts, 3, 2)
    assert naive.canonical(made) == naive.canonical(figures.FIGURE_3)
    assert naive.canonical(naive.literal_paper(parts, 3, 2)[0]) == naive.canonical(figures.FIGURE_3)
    assert naive.violations(figures.FIGURE_3, 3, 2) == []
    assert worlds.holds_guarantee(figures.FIGURE_3, 3, 2)
    assert worlds.holds_for(made, naive.true_world(made, originals), 3, 2)


def test_equation_1_worked_example() -> None:
    """Section 4: (4 + 4) / 10 >= (2 + 2) / 10."""
    sides = [
        Simple(i, list(figures.FIGURE_2A[5 * i : 5 * i + 5]), list(leaf.record_chunks), leaf.term_chunk, frozenset())
        for i, leaf in enumerate(naive.leaves(figures.FIGURE_2B))
    ]
    lifted = frozenset(["ikea", "ruby"])
    assert [len(lifted & side.term_chunk) for side in sides] == [2, 2]
    assert equation_1(lifted, {"ikea": 4, "ruby": 4}, sides)
    assert join(sides[0], sides[1], 3, 2, with_shared=True) is not None


def test_figure_4_needs_lemma_2() -> None:
    """Every chunk is 3^2-anonymous, and yet only the original itself can be reconstructed (Example 1)."""
    (leaf,) = naive.leaves(figures.FIGURE_4B)
    assert all(is_km_anonymous(chunk, 3, 2) for chunk in leaf.record_chunks)
    assert leaf.record_chunks == (project(figures.FIGURE_4A, "a"), project(figures.FIGURE_4A, "bc"))
    assert names(figures.FIGURE_4B, 3, 2) == {"G2"}
    (world,) = worlds.every_world(figures.FIGURE_4B)
    assert world == (tuple(sorted(tuple(sorted(record)) for record in figures.FIGURE_4A)),)
    assert worlds.records_with(figures.FIGURE_4B, 0, frozenset("ab")) == 1


def test_figure_4_repaired_as_section_5_says() -> None:
    """The least frequent term (a tie: the last of them) goes to the term chunk, and the guarantee holds."""
    made, _ = naive.anonymize_leaves([list(figures.FIGURE_4A)], 3, 2)
    (leaf,) = naive.leaves(made)
    assert leaf.term_chunk == {"c"}
    assert naive.violations(made, 3, 2) == []
    assert worlds.holds_guarantee(made, 3, 2)


def test_figure_5a_breaks_property_1_and_the_guarantee() -> None:
    """Every chunk is 3^2-anonymous; x and o together fit one record, the one with {a, x, o}."""
    (joint,) = figures.FIGURE_5A
    assert is_km_anonymous(joint.shared_chunks[0], 3, 2)
    assert names(figures.FIGURE_5A, 3, 2) == {"G3"}
    assert worlds.records_with(figures.FIGURE_5A, 0, frozenset("xo")) == 1
    found = worlds.counterexample(figures.FIGURE_5A, 3, 2)
    assert found is not None
    leaf, itemset = found
    assert 1 <= worlds.records_with(figures.FIGURE_5A, leaf, itemset) < 3


def test_figure_5b_is_safe() -> None:
    """With a 3-anonymous shared chunk Property 1 holds, and so does the guarantee."""
    assert naive.violations(figures.FIGURE_5B, 3, 2) == []
    assert worlds.holds_guarantee(figures.FIGURE_5B, 3, 2)


def test_t_r_of_figure_5() -> None:
    """The paper lists T^r = {a, b, c, d, e, f, x}."""
    (joint,) = figures.FIGURE_5A
    placed = frozenset[str]().union(
        *(
            conflicting(Simple(0, [], list(leaf.record_chunks), frozenset(), frozenset()), with_shared=True)
            for leaf in naive.leaves(figures.FIGURE_5A)
        )
    )
    assert placed == frozenset("abcdefx")
    assert terms_of(joint.shared_chunks) & placed == {"a"}
