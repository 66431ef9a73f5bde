"""How much of some records is still in what was published instead: the paper's section 6, figure by figure.

docs/metrics.md has the definitions, and what was decided where the paper leaves something open. Everything here is a
function of records, of subrecords, or of supports counted in them, whoever made them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from disassociation._kernels.ancestors import extend_records
from disassociation._kernels.pair_counts import count_windows, pair_mass
from disassociation._kernels.ranked import Ranked, rank_terms
from disassociation._types import Flags, Ids, Offsets, Terms
from disassociation.encode import canonical_order
from disassociation.hierarchy import Lines
from disassociation.itemsets import CodedItemsets, Wanted, in_order, mine_records
from disassociation.records import Transactions

__all__ = [
    "LONGEST",
    "WINDOWS",
    "Counted",
    "coded",
    "common_vocabulary",
    "find_windows",
    "multilevel_itemsets",
    "pair_retention",
    "relative_errors",
    "terms_lost",
    "top_deviation",
    "top_itemsets",
    "top_of_all",
    "window_supports",
]

WINDOWS = ((0, 20), (100, 120), (200, 220), (300, 320), (400, 420))
"""Ranks of terms by falling support, from the first up to before the second, whose pairs the relative error is of."""

LONGEST = (1 << 20) - 1
"""Terms that an itemset may have: as many as the miner can tell apart."""


class Counted(NamedTuple):
    """Records, or distinct subrecords with how many there are of each, in the codes of a vocabulary."""

    offsets: Offsets  # (records + 1,)
    items: Terms  # codes, distinct within a record
    weights: NDArray[np.int32]  # (records,) empty if all are 1


def coded(data: Transactions, vocabulary: pa.StringArray) -> Counted:
    """Records in the codes of a vocabulary that has all their terms."""
    items = data.items
    if not data.vocabulary.equals(vocabulary):
        items = pc.index_in(data.vocabulary, vocabulary).to_numpy().astype(np.int32)[items]
    return Counted(data.offsets, items, np.empty(0, np.int32))


def common_vocabulary(one: Transactions, other: Transactions) -> pa.StringArray:
    """The terms of both, in UTF-8 byte order: with its codes records of different terms can be compared."""
    if one.vocabulary.equals(other.vocabulary):
        return one.vocabulary
    names = pa.concat_arrays([one.vocabulary, other.vocabulary]).unique()
    return names.take(pa.array(canonical_order(names)))


def top_itemsets(records: Counted, top: int) -> CodedItemsets:
    """The most frequent itemsets of all sizes."""
    terms = int(records.items.max(initial=-1)) + 1
    return mine_records(records.offsets, records.items, terms, Wanted(1, top, LONGEST), weights=records.weights)


def top_of_all(found: list[CodedItemsets], listed: int, top: int) -> CodedItemsets | None:
    """The itemsets that are in most records of several data sets together; None if what is known does not tell.

    Known are the best ``listed`` itemsets of each, or all it has. Another one is in no more records of the set than the
    last of them, or in none.
    """
    if len(found) == 1:
        offsets = found[0].offsets[: top + 1]
        return CodedItemsets(offsets, found[0].items[: offsets[-1]], found[0].counts[:top])
    rest = np.array([each.counts[-1] if len(each.counts) == listed else 0 for each in found], np.int64)
    sizes = np.concatenate([np.diff(each.offsets) for each in found])
    itemsets = np.full((len(sizes), int(sizes.max(initial=0))), -1, np.int32)
    itemsets[np.arange(itemsets.shape[1]) < sizes[:, None]] = np.concatenate([each.items for each in found])
    itemsets, rows = np.unique(itemsets, axis=0, return_inverse=True)
    least, most = np.zeros((len(itemsets), len(found)), np.int64), np.tile(rest, (len(itemsets), 1))
    owners = np.repeat(np.arange(len(found)), [len(each.counts) for each in found])
    least[rows.ravel(), owners] = most[rows.ravel(), owners] = np.concatenate([each.counts for each in found])
    counts, most = least.sum(axis=1), most.sum(axis=1)
    last = int(np.partition(counts, len(counts) - top)[len(counts) - top]) if len(counts) >= top else 1
    may_be = most >= last
    if rest.sum() >= last or (counts[may_be] < most[may_be]).any():
        return None
    itemsets = itemsets[may_be]
    ends = np.cumsum((itemsets >= 0).sum(axis=1))
    return in_order(ends, itemsets[itemsets >= 0], counts[may_be], top)


def multilevel_itemsets(records: Counted, lines: Lines, top: int) -> CodedItemsets:
    """The most frequent itemsets of terms and their ancestors, none with a node and its ancestor."""
    offsets, nodes = extend_records(records.offsets, records.items, lines.offsets, lines.nodes, len(lines.names))
    wanted = Wanted(1, top, LONGEST)
    return mine_records(offsets, nodes, len(lines.names), wanted, weights=records.weights, spans=lines.spans)


def top_deviation(original: CodedItemsets, published: CodedItemsets) -> float:
    """Equation 2: the share of the original's top itemsets that are not among those of what was published."""
    ours, theirs = _as_set(original), _as_set(published)
    return 1 - len(ours & theirs) / len(ours)


def _as_set(found: CodedItemsets) -> set[tuple[int, ...]]:
    codes, bounds = found.items.tolist(), found.offsets.tolist()
    return {tuple(codes[start:stop]) for start, stop in pairwise(bounds)}


def find_windows(supports: Ids) -> list[Terms]:
    """The terms of each of ``WINDOWS``, by falling support, equal ones in the order of codes; fewer if there are not so
    many terms.
    """
    order = np.argsort(-supports, kind="stable")[: int(np.count_nonzero(supports))].astype(np.int32)
    return [order[first:stop] for first, stop in WINDOWS]


def window_supports(records: Counted, windows: list[Terms]) -> Ids:
    """How many records hold each pair of the terms of each window: (windows, places, places), 0 on the diagonals."""
    widest = max(stop - first for first, stop in WINDOWS)
    terms = max(int(codes.max(initial=-1)) for codes in (records.items, *windows)) + 1
    slots = np.full((terms, 2), -1, np.int32)
    for window, codes in enumerate(windows):
        slots[codes, 0], slots[codes, 1] = window, np.arange(len(codes))
    counts = np.zeros((len(windows), widest, widest), np.int64)
    count_windows(records.offsets, records.items, records.weights, slots, counts)
    return counts


def relative_errors(original: NDArray[np.generic], published: NDArray[np.generic]) -> tuple[float | None, ...]:
    """Equation 3, averaged over the pairs of each window that are in some record of either; None if there is none."""
    errors: list[float | None] = []
    rows, columns = np.triu_indices(original.shape[1], 1)
    for ours, theirs in zip(original, published, strict=True):
        one, other = ours[rows, columns].astype(np.float64), theirs[rows, columns].astype(np.float64)
        total = one + other
        some = total > 0
        errors.append(float(np.mean(2 * np.abs(one - other)[some] / total[some])) if some.any() else None)
    return tuple(errors)


def terms_lost(supports: Ids, is_in_chunk: Flags, k: int) -> float:
    """Of the terms in more than k records, the share of those in no record or shared chunk; 0 if there are none."""
    frequent = supports > k
    return float(np.mean(~is_in_chunk[frequent])) if frequent.any() else 0.0


def pair_retention(records: Counted, chunks: Counted, k: int) -> float:
    """How much of the co-occurrence of pairs in at least k records is inside chunks; 1 if there is none."""
    terms = int(max(records.items.max(initial=-1), chunks.items.max(initial=-1))) + 1
    inside, mass = pair_mass(_by_code(records, terms), _by_code(chunks, terms), k)
    return inside / mass if mass else 1.0


def _by_code(records: Counted, terms: int) -> Ranked:
    ranks = np.arange(terms, dtype=np.int32)
    offsets, items, begins, postings = rank_terms(records.offsets, records.items, ranks, terms)
    return Ranked(offsets, items, np.array(records.weights), begins, postings)
