"""Whether the records of an original can be put in the leaves of a release so that they leave what is published.

Equal records are one *set*. Unknown is how many records of a set are in a leaf, for each leaf where the set fits. They
make sums that are prescribed: the records of a set, the size of a leaf, the count of each row, and at least one for
each term of a term chunk. First the bounds of the unknowns are narrowed as far as single sums allow, which decides
nearly all of them; the rest is left to integer programming.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation.auditor.conflicts import shared_terms
from disassociation.auditor.kernels_anchors import index_leaves
from disassociation.auditor.kernels_grouping import Numbering, find_candidates
from disassociation.auditor.kernels_places import Chunks, Content, Postings, find_places, looks_at_shared_terms
from disassociation.auditor.kernels_rare import Bag
from disassociation.auditor.kernels_records import Sets
from disassociation.auditor.kernels_sums import Sums, propagate, turned
from disassociation.auditor.source import Source
from disassociation.auditor.survey import Survey, leaf_groups
from disassociation.auditor.undecided import settle

__all__ = ["Grouping", "Misfit", "Possible", "find_grouping", "possible_places", "published_content"]

_STEPS = 200
"""Looks at each member of a sum, on average; data at hand needed fewer than ten."""
_SUMS, _SPARE_SUMS = 8, 1 << 20
_LOOKS, _SPARE_LOOKS = 1_000, 1 << 27
"""How much may be listed of who fits where, and looked at for it, for each occurrence of a term and besides."""


class Misfit(NamedTuple):
    """Why there is no grouping: a published number that cannot be met, and where; by which terms, if by some."""

    what: str
    cluster: int | None = None
    chunk: int | None = None
    itemset: tuple[int, ...] | None = None


class Grouping(NamedTuple):
    """Where the records are: so many of a set in a leaf."""

    sets: NDArray[np.int32]
    leaves: NDArray[np.int32]
    amounts: NDArray[np.int64]
    forced: int  # records that are in the same leaf in every grouping


class Possible(NamedTuple):
    """Every leaf that a set fits in, and the sums that this makes."""

    content: Content
    sets: Sets
    postings: Postings
    numbering: Numbering
    leaves: NDArray[np.int32]  # of each unknown
    sums: Sums


def published_content(source: Source, found: Survey) -> Content:
    """Read the leaves again, this time to keep them all."""
    groups = [group for _, group in leaf_groups(source, found)] + [found.joints]
    owner = np.repeat(np.arange(len(found.sizes)), np.concatenate([np.diff(group.row_starts) for group in groups]))
    numbers = np.concatenate([group.chunks for group in groups])
    counts = np.concatenate([group.bag.counts for group in groups])
    lengths = np.concatenate([np.diff(group.bag.starts) for group in groups])
    items = np.concatenate([group.bag.items for group in groups])
    is_first = np.ones(len(owner), np.bool_)
    is_first[1:] = (owner[1:] != owner[:-1]) | (numbers[1:] != numbers[:-1])
    first = np.flatnonzero(is_first)
    of_cluster = np.searchsorted(owner[first], np.arange(len(found.sizes) + 1)).astype(np.int64)
    empty = found.sizes[owner[first]] - np.add.reduceat(counts, first) if len(first) else np.zeros(0, np.int64)
    empty[of_cluster[found.leaves] :] = 0
    rows = np.append(first, len(owner)).astype(np.int64)
    entry_lengths = np.concatenate([np.diff(group.term_starts) for group in groups[:-1]])
    return Content(
        found.parents,
        found.sizes,
        Chunks(Bag(counts, _starts(lengths), items), rows, of_cluster, empty),
        _starts(entry_lengths),
        np.concatenate([group.terms for group in groups[:-1]]),
        shared_terms(found),
    )


def possible_places(content: Content, sets: Sets, terms: int) -> Possible | None:
    """List where the records fit, or nothing if that is too much: a fixed share of the original's own size is allowed.

    The rows of each chunk must stand in their order, and S1 hold.
    """
    occurrences = int((sets.counts * np.diff(sets.starts)).sum())
    most, patience = _SUMS * occurrences + _SPARE_SUMS, _LOOKS * occurrences + _SPARE_LOOKS
    if looks_at_shared_terms(content) > patience:
        return None
    postings = find_places(content, terms, most)
    if not postings.starts[-1]:
        return None
    index = index_leaves(content, postings, np.bincount(sets.items, minlength=terms).astype(np.int64))
    rows = len(sets.counts) + content.leaves
    empty = rows + len(content.chunks.bag.counts)
    numbering = Numbering(len(sets.counts), rows, empty, empty + len(content.chunks.empty))
    longest = int(np.diff(sets.starts).max())
    widest = longest + int(np.diff(content.chunks.of_cluster[: content.leaves + 1]).max()) + 2
    leaves, of_starts, of, whole = find_candidates(sets, index, content.chunks, numbering, widest, most, patience)
    if not whole:
        return None
    exact = [sets.counts, content.sizes[: content.leaves], content.chunks.bag.counts, content.chunks.empty]
    in_term_chunk = np.repeat(content.sizes[: content.leaves], np.diff(content.entry_starts))
    least = np.concatenate([*exact, np.ones(len(in_term_chunk), np.int64)])
    starts, members = turned(of_starts, of, len(least))
    sums = Sums(least, np.concatenate([*exact, in_term_chunk]), starts, members, of_starts, of)
    return Possible(content, sets, postings, numbering, leaves, sums)


def find_grouping(possible: Possible, most_in_entry: NDArray[np.int64] | None = None) -> Grouping | Misfit | None:
    """A grouping; or why there is none; or None if that was not decided.

    With `most_in_entry` one in which no more records than that hold a term of a term chunk, for each such term.
    """
    sums = possible.sums
    if most_in_entry is not None:
        most = sums.most.copy()
        most[possible.numbering.entries :] = np.minimum(most[possible.numbering.entries :], most_in_entry)
        sums = sums._replace(most=most)
    first = sums.of_starts[:-1]
    low = np.zeros(len(first), np.int64)
    high = np.minimum.reduceat(sums.most[sums.of], first) if len(first) else low.copy()
    steps = _STEPS * (len(sums.of) + len(sums.least))
    wrong, lows, highs = propagate(sums, low, high, steps)
    if wrong >= 0:
        return _misfit(possible, sums, int(wrong), int(lows[wrong]), int(highs[wrong]))
    forced = int(low.sum())
    decided = settle(sums, low, high, lows, highs)
    if decided is False:
        return Misfit("no way to divide the records of the original among the clusters leaves these chunks")
    # What was found is added up again, in whole numbers.
    if decided is None or propagate(sums, low, low.copy(), steps)[0] >= 0:
        return None
    kept = np.flatnonzero(low)
    return Grouping(sums.of[first][kept], possible.leaves[kept], low[kept], forced)


def _misfit(possible: Possible, sums: Sums, wrong: int, least: int, most: int) -> Misfit:
    """What a sum stands for that must be `least` or more and `most` or less, and so cannot be what is published."""
    content, numbering = possible.content, possible.numbering
    published = int(sums.least[wrong])
    bound = f"at most {most:,}" if most < published else f"at least {least:,}"
    if wrong < numbering.leaves:
        itemset = _slice(possible.sets.items, possible.sets.starts, wrong)
        return Misfit(f"{published:,} equal records of the original, but {bound} fit in the clusters", itemset=itemset)
    if wrong < numbering.rows:
        cluster = wrong - numbering.leaves
        return Misfit(f"{published:,} records, but {bound} of those of the original that fit", cluster)
    if wrong >= numbering.entries:
        entry = wrong - numbering.entries
        cluster = int(np.searchsorted(content.entry_starts, entry, side="right")) - 1
        what = f"a term of its term chunk must be in 1 to {sums.most[wrong]:,} records, but can be in {bound}"
        return Misfit(what, cluster, itemset=(int(content.entries[entry]),))
    chunks, row = content.chunks, wrong - numbering.rows
    is_row = wrong < numbering.empty
    number = int(np.searchsorted(chunks.rows, row, "right")) - 1 if is_row else wrong - numbering.empty
    cluster = int(np.searchsorted(chunks.of_cluster, number, side="right")) - 1
    chunk = number - int(chunks.of_cluster[cluster])
    if not is_row:
        return Misfit(f"{published:,} records without a subrecord, but {bound} in the original", cluster, chunk)
    itemset = _slice(chunks.bag.items, chunks.bag.starts, row)
    return Misfit(f"a subrecord {published:,} times, but {bound} records leave it", cluster, chunk, itemset)


def _slice(items: NDArray[np.int32], starts: NDArray[np.int64], i: int) -> tuple[int, ...]:
    return tuple(items[starts[i] : starts[i + 1]].tolist())


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
