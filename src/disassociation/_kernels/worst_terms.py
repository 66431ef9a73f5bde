"""Which of a person's terms leave the fewest candidates."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, helper, kernel, view
from disassociation._kernels.leaf_search import NO_LIMIT, new_search, push
from disassociation._kernels.scene import SCENE


@helper
def search_all(scene, search, terms, known):
    """The best set of each size among all, smaller codes first in the given order; writes rows of `known`."""
    q, most = terms.shape[0], min(terms.shape[0], known.shape[0])
    least = np.full(most, np.int64(1) << 62, np.int64)
    path = np.full(most + 1, -1, np.int64)
    depth = 0
    while depth >= 0:
        path[depth] += 1
        if path[depth] >= q:
            depth -= 1
            continue
        is_last = depth + 1 == most
        total = push(scene, search, depth, terms[path[depth]], least[depth] if is_last else NO_LIMIT)
        if total < least[depth]:
            least[depth] = total
            known[depth, : depth + 1] = search.terms[: depth + 1]
        if not is_last:
            path[depth + 1] = path[depth]
            depth += 1


@helper
def search_greedily(scene, search, terms, known):
    """One term after the other, each the one that leaves the fewest candidates; writes rows of `known`."""
    chosen = np.zeros(terms.shape[0], np.bool_)
    for depth in range(min(terms.shape[0], known.shape[0])):
        best, least = 0, NO_LIMIT
        for i in range(terms.shape[0]):
            if depth == 0 and i > 0:
                break  # terms come with the one that leaves the fewest first
            if not chosen[i]:
                total = push(scene, search, depth, terms[i], least)
                if total < least:
                    best, least = i, total
        chosen[best] = True
        push(scene, search, depth, terms[best], NO_LIMIT)
        known[depth, : depth + 1] = search.terms[: depth + 1]


@kernel(buffer(types.int32, 3)(SCENE, view(types.int64), view(types.int32), types.int64, types.int64, types.int64))
def hardest_sets(scene, offsets, items, terms, sets, exact):
    """For each victim, a record in items[offsets], and each number of known terms from 1: those that leave fewest.

    All sets are tried for records of at most `exact` terms; for others terms are added greedily. Victims with fewer
    terms are known entirely.
    """
    victims = offsets.shape[0] - 1
    known = np.full((victims, sets, sets), -1, np.int32)
    search = new_search(scene, sets + 1)
    alone = np.full(terms, -1, np.int64)
    for victim in range(victims):
        record = items[offsets[victim] : offsets[victim + 1]]
        totals = np.empty(record.shape[0], np.int64)
        for i in range(record.shape[0]):
            if alone[record[i]] < 0:
                alone[record[i]] = push(scene, search, 0, record[i], NO_LIMIT)
            totals[i] = alone[record[i]]
        ordered = record[np.argsort(totals, kind="mergesort")]
        if record.shape[0] <= exact:
            search_all(scene, search, ordered, known[victim])
        else:
            search_greedily(scene, search, ordered, known[victim])
        for i in range(record.shape[0], sets):
            known[victim, i] = known[victim, i - 1]
    return known
