"""How many records hold an itemset: what every possible original agrees on, and what is expected.

docs/estimates.md has the definitions. One itemset is asked of a release with :meth:`disassociation.Release.support`,
many at once with `bounds_of` and `expected_of`, all pairs of some terms with `bounds_of_pairs` and `expected_of_pairs`;
these take terms by their codes, the places of terms in ``release.vocabulary``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._types import Ids, Offsets, Terms
from disassociation.errors import ParameterError

if TYPE_CHECKING:
    from disassociation._kernels.ground import Ground
    from disassociation._kernels.law import Law, MixedChunks
    from disassociation.placement import Mixed, Placement
    from disassociation.release import Release

__all__ = [
    "DEFAULT_MODEL",
    "EMPIRICAL_BAYES",
    "INDEPENDENT",
    "MODELS",
    "Support",
    "bounds_of",
    "bounds_of_pairs",
    "expected_of",
    "expected_of_pairs",
    "support_of",
]

INDEPENDENT = "independent"
EMPIRICAL_BAYES = "empirical-bayes"
MODELS = (INDEPENDENT, EMPIRICAL_BAYES)
DEFAULT_MODEL = EMPIRICAL_BAYES
"""What may be assumed of records beyond what is published; docs/estimates.md has them."""

_WALK = 16  # a term of a leaf is passed so many times as fast as a span is looked up for an itemset


class Support(NamedTuple):
    """How many records hold an itemset.

    Every possible original of the release, and so the true one, has at least ``lower`` and at most ``upper`` of them.

    Examples:
        >>> import disassociation as da
        >>> data = [["bread", "milk"], ["bread", "milk"], ["bread"], ["milk", "gin"], ["milk", "beer"]]
        >>> release = da.disassociate(data, k=2, m=2)
        >>> release.support({"bread", "milk"})
        Support(lower=2, expected=2.0, upper=2)
        >>> release.support({"milk", "gin"}, model="independent")
        Support(lower=0, expected=0.8, upper=4)
    """

    lower: int
    expected: float
    upper: int


def support_of(release: Release, itemset: Iterable[Hashable], model: str = DEFAULT_MODEL) -> Support:
    """The support of one itemset; of the empty one, which is in every record, too."""
    codes = codes_of(release, itemset)
    offsets = np.array([0, len(codes)], np.int64)
    expected = expected_of(release, offsets, codes, model)  # first, as it refuses a release without a possible original
    lower, upper = bounds_of(release, offsets, codes)
    return Support(int(lower[0]), min(max(float(expected[0]), float(lower[0])), float(upper[0])), int(upper[0]))


def codes_of(release: Release, itemset: Iterable[Hashable]) -> Terms:
    """The codes of an itemset's terms, each once, rising; -1 comes first for one that the release has not."""
    if isinstance(itemset, (str, bytes)):
        raise ParameterError("an itemset is a set of terms, not a single text; put the term in braces")
    vocabulary = release.vocabulary

    def code(term: str) -> int:
        sought = term.encode("utf-8", "surrogatepass")
        place = bisect_left(range(len(vocabulary)), sought, key=lambda i: vocabulary[i].as_py().encode())
        return place if place < len(vocabulary) and vocabulary[place].as_py() == term else -1

    return np.array(sorted({code(str(term)) for term in itemset}), np.int32)


def bounds_of(release: Release, offsets: Offsets, codes: Terms) -> tuple[Ids, Ids]:
    """The least and the most records that hold each of many itemsets, in any possible original.

    ``offsets``, (itemsets + 1,), says where the codes of each begin; within an itemset they rise, and a term that the
    release does not have is -1. Only clusters that hold terms of an itemset are looked at.

    Examples:
        >>> import disassociation as da, numpy as np
        >>> from disassociation.support import bounds_of
        >>> release = da.disassociate([["bread", "milk"]] * 2 + [["milk", "gin"], ["milk", "beer"]], k=2, m=2)
        >>> [release.vocabulary[code].as_py() for code in (2, 3)]
        ['gin', 'milk']
        >>> lower, upper = bounds_of(release, np.array([0, 1, 3]), np.array([2, 2, 3], np.int32))
        >>> lower.tolist(), upper.tolist()
        ([1, 1], [4, 4])
    """
    from disassociation._kernels.bounds import support_bounds

    bounds: tuple[Ids, Ids] = support_bounds(release._ground, *checked(release, offsets, codes))
    return bounds


def bounds_of_pairs(release: Release, codes: Terms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the most records that hold each pair of some terms, (terms, terms); on the diagonal, each term.

    ``codes`` rise. Takes time in proportion to what leaves hold of these terms two at a time, and to the pairs that a
    joint cluster shares a term of.

    Examples:
        >>> import disassociation as da, numpy as np
        >>> from disassociation.support import bounds_of_pairs
        >>> release = da.disassociate([["bread", "milk"]] * 2 + [["milk", "gin"], ["milk", "beer"]], k=2, m=2)
        >>> lower, upper = bounds_of_pairs(release, np.array([2, 3], np.int32))
        >>> lower.tolist(), upper.tolist()
        ([[1, 1], [1, 4]], [[4, 4], [4, 4]])
    """
    from disassociation._kernels.pair_bounds import bound_pairs

    lower, upper = bound_pairs(release._ground, _checked_terms(release, codes), len(release.vocabulary))
    return lower, upper


def expected_of(release: Release, offsets: Offsets, codes: Terms, model: str = DEFAULT_MODEL) -> NDArray[np.float64]:
    """The records expected to hold each of many itemsets, given as for `bounds_of`.

    Raises:
        GuaranteeError: The release has no possible original, or G2 does not hold of it.
    """
    require_model(model)
    offsets, codes = checked(release, offsets, codes)
    if model == EMPIRICAL_BAYES:
        return release._estimator.expected(offsets, codes)
    expected = np.zeros(len(offsets) - 1)
    alone = np.full(len(expected), True)
    for some, itemsets in _worth_a_walk(release, offsets, codes):
        from disassociation._kernels.level_expectation import expected_level

        expected[some], alone[some] = expected_level(release._ground, release._law, itemsets), False
    if alone.any():
        from disassociation._kernels.expectation import expected_supports

        expected[alone] = expected_supports(release._ground, release._law, *some_of(offsets, codes, alone))
    return expected


def some_of(offsets: Offsets, codes: Terms, chosen: NDArray[np.bool_]) -> tuple[Offsets, Terms]:
    """The itemsets that are chosen."""
    if chosen.all():
        return offsets, codes
    sizes = np.diff(offsets)
    return np.append(0, np.cumsum(sizes[chosen])), codes[np.repeat(chosen, sizes)]


def _worth_a_walk(release: Release, offsets: Offsets, codes: Terms) -> Iterator[tuple[Ids, NDArray[np.int32]]]:
    """The itemsets of each size that are sooner evaluated together, leaf by leaf, than one by one; in rising order."""
    sizes = np.diff(offsets)
    for size in np.unique(sizes[sizes > 1]).tolist():
        some = np.flatnonzero(sizes == size)
        some = some[codes[offsets[some]] >= 0]
        itemsets = codes[offsets[some, None] + np.arange(size)]
        if is_worth_a_walk(release, itemsets):
            order = np.lexsort(itemsets.T[::-1])
            yield some[order], np.ascontiguousarray(itemsets[order])


def is_worth_a_walk(release: Release, itemsets: NDArray[np.int32]) -> bool:
    """Whether itemsets of one size, a row each, are sooner evaluated together, leaf by leaf, than one by one."""
    scene, spans = release._ground.scene, np.diff(release._ground.scene.spans.offsets)
    rarest = spans[itemsets].min(axis=1, initial=len(scene.entries.terms))
    return not len(release._law.mixed.widths) and bool(_WALK * rarest.sum() > len(scene.entries.terms))


def expected_of_pairs(release: Release, codes: Terms, model: str = DEFAULT_MODEL) -> NDArray[np.float64]:
    """The records expected to hold each pair of some terms, (terms, terms); on the diagonal, each term.

    ``codes`` rise. Takes time in proportion to what leaves hold of these terms two at a time, not to the pairs.

    Examples:
        >>> import disassociation as da, numpy as np
        >>> from disassociation.support import expected_of_pairs
        >>> release = da.disassociate([["bread", "milk"]] * 2 + [["milk", "gin"], ["milk", "beer"]], k=2, m=2)
        >>> expected_of_pairs(release, np.array([1, 3], np.int32)).tolist()
        [[2.0, 2.0], [2.0, 4.0]]
    """
    from disassociation._kernels.pair_expectation import expected_pairs

    require_model(model)
    codes = _checked_terms(release, codes)
    if model == EMPIRICAL_BAYES:
        return release._estimator.expected_pairs(codes)
    pairs: NDArray[np.float64] = expected_pairs(release._ground, release._law, codes, len(release.vocabulary))
    return pairs


def require_model(model: str) -> None:
    """Refuse a model there is not."""
    if model not in MODELS:
        raise ParameterError(f"unknown model; choose one of {', '.join(MODELS)}")


def checked(release: Release, offsets: Offsets, codes: Terms) -> tuple[Offsets, Terms]:
    """Itemsets as kernels take them; they would read whatever they are told to."""
    offsets, codes = np.ascontiguousarray(offsets, np.int64), np.ascontiguousarray(codes, np.int32)
    rises = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(codes) and (np.diff(offsets) >= 0).all()
    if not rises:
        raise ParameterError("offsets must rise from 0 to the number of codes")
    if len(codes) and (codes.min() < -1 or codes.max() >= len(release.vocabulary)):
        raise ParameterError("a code is not the place of a term in the vocabulary; -1 is for terms that are not there")
    falls = np.flatnonzero(np.diff(codes) <= 0) + 1  # must all be where an itemset begins
    if not np.isin(falls, offsets).all():
        raise ParameterError("the codes of an itemset must rise")
    return offsets, codes


def _checked_terms(release: Release, codes: Terms) -> Terms:
    """Terms of which to take all pairs, as kernels take them."""
    _, codes = checked(release, np.array([0, len(codes)]), codes)
    if len(codes) and codes[0] < 0:
        raise ParameterError("every code must be the place of a term in the vocabulary")
    return codes


def lay_ground(release: Release) -> Ground:
    """The release laid out for counting."""
    from disassociation._kernels.availability import lay_out
    from disassociation._kernels.ground import survey

    ground: Ground = survey(release.forest, lay_out(release.forest, len(release.vocabulary)))
    return ground


def find_law(release: Release) -> Law:
    """The independent law in numbers, the same as those that possible originals are drawn by."""
    from disassociation._kernels.law import Law, law_figures
    from disassociation.placement import place_chunks

    placement = place_chunks(release)
    mixed = _mixed_chunks(release._ground, placement)
    factorials = placement.factorials
    figures = law_figures(release._ground, mixed, factorials, placement.layout.is_tight)
    alone, ratios_from, ratios = map(_frozen, figures)
    return Law(alone, ratios_from, ratios, factorials, mixed)


def _mixed_chunks(ground: Ground, placement: Placement) -> MixedChunks:
    """The chunks that do not go everywhere alike, for kernels: by position instead of by place."""
    from disassociation._kernels.law import MixedChunks

    shared_from = int(ground.scene.rows.cluster_offsets[len(ground.roots)])
    numbers = np.full(len(ground.owners) - shared_from, -1, np.int64)
    numbers[[chunk.first - shared_from for chunk in placement.mixed]] = np.arange(len(placement.mixed))
    kinds = [_kinds(ground, chunk) for chunk in placement.mixed]
    chances = [_chances(ground, chunk) for chunk in placement.mixed]
    arrays = (
        numbers,
        np.concatenate([np.empty(0, np.int64), *kinds]),
        _begins(kinds),
        np.array([len(chunk.rooms) for chunk in placement.mixed], np.int64),
        np.concatenate([np.empty(0), *(each.ravel() for each in chances)]),
        _begins(chances),
    )
    return MixedChunks(*map(_frozen, arrays))


def _chances(ground: Ground, chunk: Mixed) -> NDArray[np.float64]:
    """(rows of the chunk, kinds) the chance that a record of the kind has the subrecord of the row."""
    counts = ground.scene.rows.counts[chunk.first : chunk.first + len(chunk.pattern_of)]
    each = chunk.expected / np.outer(chunk.amounts, chunk.rooms)
    return each[chunk.pattern_of] * counts[:, None]


def _kinds(ground: Ground, chunk: Mixed) -> Ids:
    """The kind of each leaf under the chunk's joint cluster; places and positions are in the same order."""
    joint = ground.owners[chunk.first]
    places = ground.before[ground.low[joint] : ground.high[joint]]
    spans = chunk.spans[np.argsort(chunk.spans[:, 1])]
    span = np.searchsorted(spans[:, 1], places, side="right") - 1
    return np.where((span >= 0) & (places < spans[span, 2]), spans[span, 0], -1)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """An array that kernels take as one they only read."""
    array.flags.writeable = False
    return array


def _begins(arrays: list[NDArray[np.float64]] | list[Ids]) -> Ids:
    """Where each begins if they are put behind each other."""
    return np.cumsum([0, *(array.size for array in arrays)])[:-1].astype(np.int64)
