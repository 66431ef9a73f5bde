"""`evaluate`: every number as the naive measures have it, of the worlds that are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import disassociation as da
from disassociation import evaluation
from disassociation.errors import ParameterError
from disassociation.evaluation import Spread
from disassociation.support import MODELS
from naive import metrics as naive
from naive.itemsets import Itemset, supports
from strategies import zipf_bag
from test_metrics import PATHS, TREE, close

TERMS = "abcdefg"
RECORDS = zipf_bag(11, 90, tuple(TERMS), 1.1)


def release_of(k: int = 3) -> da.Release:
    """A small release with chunks of every kind."""
    return da.disassociate(RECORDS, k=k, m=2)


def chunk_rows(release: da.Release) -> list[frozenset[str]]:
    """The subrecords of chunks, one by one."""
    return [frozenset(row["terms"]) for row in release.subrecords.to_pylist() for _ in range(row["count"])]


@pytest.mark.parametrize("top", [5, 30, 10_000])
@pytest.mark.parametrize("count", [1, 4, 5])
@pytest.mark.parametrize("listed", [1, 2, 100])
def test_every_number(top: int, count: int, listed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the definitions, with the worlds of the same numbers; whether they have to be drawn again or not."""
    monkeypatch.setattr(evaluation, "_LISTED", listed)
    release = release_of()
    release.save(tmp_path / "x.release")
    (tmp_path / "tree").write_text("".join(";".join(path) + "\n" for path in TREE))
    found = da.evaluate(
        RECORDS,
        tmp_path / "x.release",
        hierarchy=tmp_path / "tree",
        reconstructions=count,
        random_state=7,
        top=top,
    )
    counts, rows = supports(RECORDS), chunk_rows(release)
    assert found.in_chunks.tkd == naive.deviation(counts, supports(rows), top)
    assert close(list(found.in_chunks.re), naive.errors(RECORDS, supports(rows)))
    assert found.tlost == naive.lost(RECORDS, rows, 3)
    assert found.pair_retention == naive.retention(RECORDS, rows, 3)
    assert found.itemsets == min(top, len(counts))
    worlds = [[frozenset(record) for record in release.reconstruct(7 + number)] for number in range(count)]
    assert [each.reconstructions for each in found.averaged] == sorted(
        {size for size in (1, 2, count) if size <= count}
    )
    for each in found.averaged:
        means = [naive.average(run) for run in naive.runs(worlds, each.reconstructions)]
        assert each.draws == len(means) == count // each.reconstructions
        assert close(each.tkd, naive.spread([naive.deviation(counts, mean, top) for mean in means]))
        errors = [naive.errors(RECORDS, mean)[0] for mean in means]
        assert close(each.re[0], naive.spread([error for error in errors if error is not None]))
        assert each.re[1:] == (None,) * 4
    levels = naive.multilevel(RECORDS, PATHS)
    lost = [naive.deviation(levels, naive.multilevel(world, PATHS), top) for world in worlds]
    assert found.tkd_ml2 is not None
    assert close(found.tkd_ml2, naive.spread(lost))


def test_what_is_expected() -> None:
    """The itemsets and pairs that the release expects."""
    release = release_of()
    found = da.evaluate(RECORDS, release, reconstructions=0, top=20)
    assert found.averaged == ()
    assert found.tkd_ml2 is None
    for each in found.expected:
        rows = release.itemsets(top=20, model=each.model)
        published = {tuple(row["itemset"]): row["expected"] for row in rows}
        assert each.tkd == naive.deviation(supports(RECORDS), published, 20)
        pairs: dict[Itemset, float] = {
            (one, other): release.support({one, other}, model=each.model).expected
            for one in TERMS
            for other in TERMS
            if one < other
        }
        assert close(list(each.re), naive.errors(RECORDS, pairs))
    assert found.expected[0].model == "independent"


def test_the_same_again_and_other_numbers() -> None:
    """The same for the same number, whatever is drawn before; other numbers draw other worlds."""
    release = release_of()
    one, two, other = (da.evaluate(RECORDS, release, reconstructions=3, random_state=state) for state in (5, 5, 6))
    assert one == two
    assert one.averaged != other.averaged
    assert (one.in_chunks, one.expected, one.tlost) == (other.in_chunks, other.expected, other.tlost)


def test_the_law_of_draws() -> None:
    """Another law draws other worlds, and nothing else changes; a law there is not is refused."""
    release = release_of()
    one, other = (da.evaluate(RECORDS, release, reconstructions=3, model=model, top=20) for model in MODELS)
    assert (one.model, other.model) == MODELS
    assert one.averaged != other.averaged
    assert (one.in_chunks, one.expected, one.tlost) == (other.in_chunks, other.expected, other.tlost)
    assert other.to_dict()["model"] == "empirical-bayes"
    worlds = [[frozenset(record) for record in release.reconstruct(number, "empirical-bayes")] for number in range(3)]
    mean = naive.average(worlds)
    assert other.averaged[-1].reconstructions == 3
    assert other.averaged[-1].tkd.mean == naive.deviation(supports(RECORDS), mean, 20)
    with pytest.raises(ParameterError, match="unknown model"):
        da.evaluate(RECORDS, release, model="paper")


def test_nothing_is_lost_where_everything_is_in_one_chunk() -> None:
    """A release that is its original."""
    records = [["a", "b"]] * 6
    found = da.evaluate(records, da.disassociate(records, k=2, m=2), reconstructions=2)
    nothing = (0.0, None, None, None, None)
    assert (found.in_chunks.tkd, found.in_chunks.re) == (0.0, nothing)
    assert {(each.tkd, each.re) for each in found.expected} == {(0.0, nothing)}
    assert [each.tkd for each in found.averaged] == [Spread(0.0, 0.0), Spread(0.0, None)]
    assert (found.tlost, found.pair_retention) == (0.0, 1.0)


def test_others_records_are_refused() -> None:
    """A release of another number of records, or of other terms; and options that cannot be. No term is named."""
    release = da.disassociate([["SECRETa", "SECRETb"]] * 3, k=2, m=2)
    for records, message in (
        ([["SECRETa", "SECRETb"]] * 4, "the release is of 3 records, and these are 4"),
        ([["SECRETa"]] * 3, "does not have the terms of these records"),
    ):
        with pytest.raises(ParameterError, match=message) as caught:
            da.evaluate(records, release)
        assert "SECRET" not in str(caught.value)
    wrong: list[dict[str, Any]] = [
        {"reconstructions": -1},
        {"top": 0},
        {"random_state": -1},
        {"reconstructions": 10**6},
    ]
    for options in wrong:
        with pytest.raises(ParameterError, match="must be at"):
            da.evaluate(RECORDS, release, **options)


def test_the_table() -> None:
    """A line for each way of taking supports; dashes where there is nothing to say."""
    steps: list[str] = []
    found = da.evaluate(RECORDS, release_of(), reconstructions=2, progress=steps.append)
    lines = repr(found).splitlines()
    assert lines[0].startswith("90 records of 7 terms, k = 3, m = 2; tKd of ")
    assert lines[1].split() == ["supports", "tKd", *(w for a, b in found.windows for w in ("re", f"{a}-{b}"))]
    drawn = ["1 reconstruction, independent", "mean of 2, independent"]
    names = ["in chunks (a)", *(f"expected, {each.model}" for each in found.expected), *drawn]
    assert [line.partition("  ")[0] for line in lines[2:-2]] == names
    assert lines[2].split()[-5:] == [f"{found.in_chunks.re[0]:.3f}", "-", "-", "-", "-"]
    assert "±" in lines[-4]
    assert "±" not in lines[-3]
    assert steps[-2:] == ["reconstruction 2 of 2", "comparing reconstructions"]
    numbers = found.to_dict()
    assert list(numbers)[-4:] == ["averaged", "tkd_ml2", "tlost", "pair_retention"]
    assert numbers["re_a"] == {
        "0-20": found.in_chunks.re[0],
        **dict.fromkeys(("100-120", "200-220", "300-320", "400-420")),
    }
