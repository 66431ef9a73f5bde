"""The transformer: parameters as scikit-learn handles them, the release as everyone else gets it."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import disassociation as da
from disassociation.errors import InputError, ParameterError

RECORDS = [tuple(record) for record in da.generate_pos(random_state=3, records=120)]
DATA = da.read(RECORDS)
TERMS = DATA.vocabulary.to_pylist()
RELEASE = da.disassociate(RECORDS, k=3, m=2)


def one_hot() -> pd.DataFrame:
    return pd.DataFrame({term: [term in record for record in RECORDS] for term in TERMS})


def test_the_parameters_are_those_of_the_function() -> None:
    """Names, defaults and order; all by name only."""
    ours = inspect.signature(da.Disassociator).parameters
    theirs = dict(inspect.signature(da.disassociate).parameters)
    del theirs["data"]
    assert list(ours) == list(theirs)
    assert {name: one.default for name, one in ours.items()} == {name: one.default for name, one in theirs.items()}
    assert all(one.kind is one.KEYWORD_ONLY for one in ours.values())


def test_parameters_are_stored_as_they_were_given() -> None:
    """The very objects, whatever they are; only fitting looks at them."""
    given = {name: object() for name in inspect.signature(da.Disassociator).parameters}
    maker = da.Disassociator(**given)  # type: ignore[arg-type]
    assert maker.get_params() == maker.get_params(deep=False) == given
    assert all(getattr(maker, name) is value for name, value in given.items())
    assert vars(maker) == given


def test_parameters_can_be_changed() -> None:
    """All or none of them, and what is fitted stays."""
    maker = da.Disassociator(k=3)
    maker.fit(RECORDS)
    assert maker.set_params(k=4, method="paper") is maker
    assert (maker.k, maker.method, maker.m) == (4, "paper", 2)
    assert maker.release_ == RELEASE
    with pytest.raises(ParameterError, match=r"^set_params: there is no such parameter; there are k, m, l, "):
        maker.set_params(k=9, clusters=3)
    assert maker.k == 4
    assert maker.set_params() is maker


@pytest.mark.parametrize(
    "source",
    ["Disassociator()", "Disassociator(k=7, sensitive=['gin'])", "Disassociator(l=2, refine=False, method='paper')"],
)
def test_the_text_of_it_makes_it_again(source: str) -> None:
    """Of the parameters it names those that are not the default."""
    maker = eval(source, {"Disassociator": da.Disassociator})
    assert repr(maker) == source
    assert repr(da.Disassociator(sensitive=np.array(["a", "b"]))).startswith("Disassociator(sensitive=array(")


@pytest.mark.parametrize(
    "given",
    [
        RECORDS,
        DATA,
        one_hot(),
        pl.DataFrame({"items": [list(record) for record in RECORDS]}),
        (scipy.sparse.csr_array(one_hot().to_numpy()), TERMS),
        RECORDS[::-1],
    ],
    ids=["lists", "transactions", "one-hot", "polars", "sparse", "turned round"],
)
def test_any_records_make_the_release(given: Any) -> None:
    """The same as the function makes, whatever they are in, and with labels or without."""
    maker = da.Disassociator(k=3)
    release = maker.fit_transform(given, [0] * len(RECORDS))
    assert release == RELEASE
    assert maker.release_ is release
    assert maker.n_records_in_ == len(RECORDS)
    assert da.Disassociator(k=3).fit(given).transform(given) == release


def test_all_parameters_have_a_say(tmp_path: Any) -> None:
    """They reach the function."""
    told: list[str] = []
    sensitive = TERMS[:2]
    options: dict[str, Any] = {"l": 2, "sensitive": sensitive, "max_cluster_size": 20, "refine": False, "threads": 1}
    maker = da.Disassociator(k=4, m=3, progress=told.append, **options)
    assert maker.fit_transform(RECORDS) == da.disassociate(RECORDS, k=4, m=3, **options)
    assert told[0] == "horizontal"
    assert told[-1] == "audit"
    impossible: list[dict[str, Any]] = [{"k": 1}, {"method": "other"}, {"l": 2}, {"sensitive": "gin"}, {"threads": 0}]
    for wrong in impossible:
        with pytest.raises(ParameterError):
            da.Disassociator(**wrong).fit(RECORDS)


def test_empty_records_are_counted() -> None:
    """They were given, and are not published."""
    maker = da.Disassociator(k=3).fit([*RECORDS, [], []])
    assert (maker.n_records_in_, maker.release_.records) == (len(RECORDS) + 2, len(RECORDS))


def test_the_same_records_are_transformed_again() -> None:
    """In any order, and to the very object."""
    maker = da.Disassociator(k=3).fit(RECORDS)
    assert maker.transform(RECORDS) is maker.release_
    assert maker.transform(one_hot()[::-1]) is maker.release_


def changed() -> dict[str, list[Any]]:
    """Records that are others, down to one term that changed its record."""
    place = next(i for i, record in enumerate(RECORDS) if len(record) > 3)
    term = next(term for term in TERMS if term not in RECORDS[place])
    return {
        "one more": [*RECORDS, RECORDS[0]],
        "one less": RECORDS[1:],
        "one": RECORDS[:1],
        "another term": [*RECORDS[:-1], ("something-else",)],
        "twice": RECORDS * 2,
        "a term more": [*RECORDS[:place], (*RECORDS[place], term), *RECORDS[place + 1 :]],
    }


@pytest.mark.parametrize("name", changed())
def test_other_records_are_refused(name: str) -> None:
    """In one line that says what to do, and names no term."""
    maker = da.Disassociator(k=3).fit(RECORDS)
    with pytest.raises(ParameterError, match=r"so call fit_transform for others$") as caught:
        maker.transform(changed()[name])
    assert "\n" not in str(caught.value)
    assert not any(f"{term!r}" in str(caught.value) for term in [*TERMS, "something-else"])
    assert maker.release_ == RELEASE


def test_other_parameters_are_refused() -> None:
    """What was fitted is not what these parameters make."""
    maker = da.Disassociator(k=3).fit(RECORDS).set_params(k=6)
    with pytest.raises(ParameterError, match="with these parameters"):
        maker.transform(RECORDS)
    assert maker.fit(RECORDS).transform(RECORDS).k == 6


def test_before_it_is_fitted() -> None:
    """There is nothing to give, and a fit that failed leaves nothing."""
    maker = da.Disassociator()
    with pytest.raises(ParameterError, match=r"^transform: nothing is fitted yet; call fit"):
        maker.transform(RECORDS)
    with pytest.raises(InputError):
        maker.fit([])
    assert not hasattr(maker, "release_")


@pytest.mark.parametrize("name", ["sensitive", "keep_together"])
def test_what_is_used_up_by_reading_is_refused(name: str) -> None:
    """A second fit would find no sensitive terms, and publish them like any others."""
    for given in (iter([TERMS[:2]]), [iter(TERMS[:2])]):
        with pytest.raises(ParameterError, match=f"^{name} must be a collection"):
            da.Disassociator(**{name: given}).fit(RECORDS)  # type: ignore[arg-type]


def test_nothing_of_the_records_is_kept_but_the_release() -> None:
    """Not the records: the release, the parameters and a number, also in a pickle."""
    maker = da.Disassociator(k=3).fit(RECORDS)
    assert vars(maker).keys() - maker.get_params().keys() == {"release_", "n_records_in_"}
    again = pickle.loads(pickle.dumps(maker))
    assert again.release_ == RELEASE
    assert again.get_params() == maker.get_params()
    assert copy.deepcopy(maker).transform(RECORDS) == RELEASE


def test_with_scikit_learn() -> None:
    """Where it is installed: cloned, asked whether it is fitted, and as a step of pipelines."""
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils.validation import check_is_fitted

    maker = da.Disassociator(k=3, sensitive=[], keep_together=[TERMS[:2]]).fit(RECORDS)
    other = clone(maker)
    assert other.get_params() == maker.get_params()
    assert not hasattr(other, "release_")
    check_is_fitted(maker)

    last = make_pipeline(FunctionTransformer(lambda records: [record[:5] for record in records]), clone(maker))
    last.set_params(disassociator__k=4)
    release = last.fit_transform(RECORDS)
    assert release == da.disassociate([r[:5] for r in RECORDS], k=4, keep_together=[TERMS[:2]])
    assert last.transform(RECORDS) is release
    assert last.fit(RECORDS).transform(RECORDS) == release
    assert "Disassociator(k=4" in repr(last)
    assert "Disassociator" in last._repr_html_()

    first = make_pipeline(da.Disassociator(k=3), FunctionTransformer(lambda release: release.itemsets(top=5)))
    assert list(first.fit_transform(one_hot())) == list(RELEASE.itemsets(top=5))
    with pytest.raises(ParameterError, match="call fit_transform"):
        first.transform(one_hot()[:50])
