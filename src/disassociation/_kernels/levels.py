"""What is laid out before many itemsets of one size are looked for in all leaves (see level_expectation.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import helper
from disassociation._kernels.leaf_search import shared_rows


class Level(NamedTuple):
    """The itemsets, in rising order."""

    terms: NDArray[np.int32]  # (itemsets, size) rising within each
    common: NDArray[np.int32]  # (itemsets,) how many first terms are those of the one before
    skips: NDArray[np.int32]  # (itemsets, size) the next one that differs in its first 1, 2, 3, ... terms
    begins: NDArray[np.int64]  # (terms,) the first one that begins with the term, -1 for none
    is_asked: NDArray[np.bool_]  # (terms,) the term is in an itemset
    known: NDArray[np.int64]  # (itemsets, size, 2) a shared chunk, and how many hold what the first terms have of it


class Starts(NamedTuple):
    """The spans of the terms that are from shared chunks, by where they begin."""

    heads: NDArray[np.int32]  # (leaves,) the first one, -1 for none
    nexts: NDArray[np.int32]  # (spans,) the next one that begins at the same position
    terms: NDArray[np.int32]  # (spans,)
    spans: NDArray[np.int32]  # (spans,) its number


@helper
def new_level(terms, vocabulary):
    """What is to be known of itemsets before they are walked."""
    count, size = terms.shape
    common, skips = np.zeros(count, np.int32), np.full((count, size), count, np.int32)
    begins, is_asked = np.full(vocabulary, -1, np.int64), np.zeros(vocabulary, np.bool_)
    for i in range(count - 1, -1, -1):
        begins[terms[i, 0]] = i
        if i > 0:
            while common[i] < size and terms[i, common[i]] == terms[i - 1, common[i]]:
                common[i] += 1
        for depth in range(size):
            is_asked[terms[i, depth]] = True
            if i + 1 < count:
                skips[i, depth] = i + 1 if common[i + 1] <= depth else skips[i + 1, depth]
    return Level(terms, common, skips, begins, is_asked, np.full((count, size, 2), -1, np.int64))


@helper
def find_starts(scene, is_asked):
    """Where the spans begin that have terms from shared chunks."""
    spans, shared_from = scene.spans, shared_rows(scene)
    size = 0
    for term in range(is_asked.shape[0]):
        if is_asked[term]:
            for span in range(spans.offsets[term], spans.offsets[term + 1]):
                size += spans.firsts[span] >= shared_from
    heads = np.full(scene.leaf_at.shape[0], -1, np.int32)
    starts = Starts(heads, np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32))
    size = 0
    for term in range(is_asked.shape[0]):
        if is_asked[term]:
            for span in range(spans.offsets[term], spans.offsets[term + 1]):
                if spans.firsts[span] >= shared_from:
                    starts.terms[size], starts.spans[size] = term, span
                    starts.nexts[size], heads[spans.starts[span]] = heads[spans.starts[span]], size
                    size += 1
    return starts
