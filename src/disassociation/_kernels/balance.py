"""Balancing what went in against what is published, term by term."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, kernel, view
from disassociation._kernels.arrays import TERM_CHUNK, Domains, Forest, Rows

_INT32, _INT64, _FLAGS = buffer(types.int32), buffer(types.int64), buffer(types.boolean)
_CODES, _PLACES = view(types.int32), view(types.int64)
_DOMAINS = types.NamedTuple((_INT64, _INT32, _INT32, _INT32, _FLAGS), Domains)
_ROWS = types.NamedTuple((_INT64, _INT32, _INT32, _INT64, _INT32), Rows)
_FOREST = types.NamedTuple((_INT64, _INT64, _INT64, _INT32, _ROWS), Forest)


@kernel(types.UniTuple(_INT64, 2)(_CODES, _DOMAINS, _FLAGS, _FOREST, types.int64))
def term_balance(items, domains, lifted, forest, terms):
    """What remains of each term's occurrences, and of the leaves that keep it in their term chunk; all 0 if right.

    Occurrences: one for each in the records, less those in chunks, less those that term chunks stand for. `lifted` is
    empty if nothing was refined.
    """
    occurrences, leaves = np.zeros(terms, np.int64), np.zeros(terms, np.int64)
    for place in range(items.shape[0]):
        occurrences[items[place]] += 1
    for place in range(domains.terms.shape[0]):
        if domains.chunks[place] == TERM_CHUNK and not (lifted.shape[0] > 0 and lifted[place]):
            occurrences[domains.terms[place]] -= domains.supports[place]
            leaves[domains.terms[place]] += 1
    rows = forest.rows
    for row in range(rows.counts.shape[0]):
        for place in range(rows.offsets[row], rows.offsets[row + 1]):
            occurrences[rows.items[place]] -= rows.counts[row]
    for place in range(forest.terms.shape[0]):
        leaves[forest.terms[place]] -= 1
    return occurrences, leaves


@kernel(types.boolean(_INT32))
def is_permutation(order):
    """Whether every number from 0 on is there once."""
    seen = np.zeros(order.shape[0], np.bool_)
    for i in range(order.shape[0]):
        if not 0 <= order[i] < order.shape[0] or seen[order[i]]:
            return False
        seen[order[i]] = True
    return True
