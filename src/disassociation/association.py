"""The law by which possible originals are drawn under the model "empirical-bayes" (docs/estimates.md, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disassociation._types import Ids
from disassociation.estimator import AGAIN, EDGES, Estimator

if TYPE_CHECKING:
    from disassociation._kernels.associating import Affinity

__all__ = ["Association", "find_association"]

SAMPLE, SAMPLED_PAIRS = 512, 400_000  # leaves with term chunks of similar length, and pairs of terms in all of them


@dataclass(frozen=True, slots=True, eq=False)
class Association:
    """On how many records terms of term chunks are, and what draws them together."""

    ratios: NDArray[np.float64]  # (terms of term chunks,) the chance of one more record, given so many
    affinity: Affinity
    most: int  # records of a leaf with a term of its term chunk

    def copies(self, key: np.uint64, term_offsets: Ids, sizes: Ids) -> NDArray[np.int32]:
        """On how many records each term of each term chunk is, drawn."""
        from disassociation._kernels.associating import draw_copies

        drawn: NDArray[np.int32] = draw_copies(key, term_offsets, sizes, self.ratios, self.most)
        return drawn


def find_association(estimator: Estimator) -> Association:
    """What an estimator has learned, made ready to draw by: lifts are taken to powers that keep what is expected.

    Takes less than half a second.

    Examples:
        >>> import disassociation as da
        >>> from disassociation.estimator import fit
        >>> release = da.disassociate(da.generate_quest(records=2_000, terms=200, mean_length=6), k=5, m=2)
        >>> association = find_association(fit(release))
        >>> len(association.ratios) == len(release.forest.terms)
        True
    """
    from disassociation._kernels.associating import draw_copies, ratios_of
    from disassociation._kernels.matching import find_powers

    release = estimator.release
    forest, most = release.forest, max(release.k - 1, 1)
    counts = estimator.hidden_counts
    ratios = ratios_of(counts, forest.term_offsets, forest.sizes, most)
    affinity = _affinity(estimator)
    classes, sample = _sample(np.diff(forest.term_offsets))
    affinity = affinity._replace(powers=np.ones(classes))
    copies = draw_copies(np.uint64(0), forest.term_offsets, forest.sizes, ratios, most)
    powers = find_powers(affinity, forest, sample, counts, copies, AGAIN, classes)
    return Association(ratios, affinity._replace(powers=powers), most)


def _affinity(estimator: Estimator) -> Affinity:
    """Lifts of the pairs that were fitted; of others, that of fitted ones that meet as often by chance."""
    from disassociation._kernels.associating import Affinity

    fitted, lifts = estimator.learned.fitted, estimator.learned.lifts
    terms = len(estimator.release.vocabulary)
    ranks = np.full(terms, -1, np.int32)
    ranks[fitted] = np.arange(len(fitted), dtype=np.int32)
    # In how many leaves they meet if leaves are like any others.
    weights = np.bincount(estimator.release.forest.terms, minlength=terms) / estimator.release.leaves**0.5
    above = np.triu_indices(len(fitted), 1)
    chance = weights[fitted][above[0]] * weights[fitted][above[1]]
    bins = np.searchsorted(EDGES, chance)
    # A pair counts as often as it meets, as it is asked for where it does.
    same = lifts[above] / (lifts[above] + estimator.records - 1.0)
    often = chance * (1.0 + lifts[above] / (estimator.records - 1.0))
    totals = np.bincount(bins, often, len(EDGES) + 1)
    means = np.bincount(bins, often * same, len(EDGES) + 1) / np.maximum(totals, 1e-300)
    known = np.flatnonzero(totals)
    means = np.interp(np.arange(len(totals)), known, means[known]) if len(known) else np.full(len(totals), 0.5)
    common = np.log(means * (estimator.records - 1.0) / (1.0 - means))
    # Edges are evenly spaced in logarithms, so the class of a chance is found without a search.
    edges = np.log(EDGES)
    levels = (np.log(np.maximum(weights, 1e-300)) - edges[0] / 2) * ((len(edges) - 1) / (edges[-1] - edges[0]))
    return Affinity(ranks, np.log(lifts), levels, common, np.ones(1))


def _sample(lengths: Ids) -> tuple[int, Ids]:
    """How many classes of lengths of term chunks there are, and leaves of each but those of one term, evenly spaced."""
    classes = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)  # as length_class in _kernels/associating.py
    highest = int(classes.max(initial=0))
    chosen = [np.empty(0, np.int64)]
    for number in range(1, highest + 1):
        members = np.flatnonzero(classes == number)
        wanted = min(SAMPLE, max(1, SAMPLED_PAIRS >> 2 * number))
        chosen.append(members[:: max(1, len(members) // wanted)][:wanted])
    return highest + 1, np.concatenate(chosen)
