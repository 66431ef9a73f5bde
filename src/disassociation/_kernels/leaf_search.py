"""How many records of a release can hold the terms that somebody knows.

In a leaf: the fewest, over the places its terms come from, of the subrecords that hold all of them the place has (of a
shared chunk: and that are not forbidden there); its size for terms of its term chunk; and, if it has no term chunk, no
more than leaves a subrecord for each of its other records. That is the most records of the leaf in any possible world,
exactly, if the other leaves can be filled by what is their own (G2) and no shared chunk of several terms has conflicts
(docs/algorithm.md 3, step 4 makes none); and no less than that for any release.

In all leaves: their sum, but a shared subrecord counts in one leaf only, in the first that can use it. Of thousands of
small releases that meet these conditions this never was more than the most in any possible world, and 999 times in
1,000 it was just that.

Expected to match, if chunks were independent, are n records times, for each place, the share of the records it may be
on that hold its part; a term of the term chunk is taken to be on one record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, helper
from disassociation._kernels.scene import may_go, row_holds

NO_LIMIT = np.int64(1) << 62


class Search(NamedTuple):
    """Leaves that can hold the first one, two, three, ... of some terms; each level narrows the one above it."""

    terms: NDArray[np.int32]  # (levels,)
    sizes: NDArray[np.int64]  # (levels,) leaves left
    totals: NDArray[np.int64]  # (levels,) candidates in all of them
    positions: NDArray[np.int32]  # (levels, leaves) rising
    ups: NDArray[np.int32]  # (levels, leaves) the same leaf one level above
    spans: NDArray[np.int32]  # (levels, leaves) where the level's term comes from
    firsts: NDArray[np.int32]  # (levels, leaves) first row of that chunk, -1 for a term chunk
    parts: NDArray[np.int32]  # (levels, leaves) how many record and shared chunks the terms come from
    most: NDArray[np.int64]  # (levels, leaves) candidates
    expected: NDArray[np.float64]  # (levels, leaves) expected to match
    memo: NDArray[np.int64]  # (2 + levels, 3) chunk, terms as bits, count: of a shared chunk once for many leaves
    taken: NDArray[np.int64]  # (rows of joint clusters,) at a chunk's first: subrecords used up; 0 between uses


@borrowing
def shared_rows(scene):
    """Where the rows of joint clusters begin."""
    return scene.rows.cluster_offsets[scene.leaf_at.shape[0]]


@helper
def new_search(scene, levels):
    """Room for so many terms."""
    shape = (levels, scene.sizes.shape[0])
    return Search(
        np.full(levels, -1, np.int32),
        np.zeros(levels, np.int64),
        np.zeros(levels, np.int64),
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int64),
        np.empty(shape, np.float64),
        np.full((2 + levels, 3), -1, np.int64),
        np.zeros(scene.rows.counts.shape[0] - shared_rows(scene), np.int64),
    )


@borrowing
def count_part(scene, search, slot, first, bits, position):
    """Subrecords that hold the given terms, and may be in the leaf, of the chunk that begins with a row."""
    mixed = scene.is_mixed[first]
    if not mixed and search.memo[slot, 0] == first and search.memo[slot, 1] == bits:
        return search.memo[slot, 2]
    count = np.int64(0)
    for row in range(first, scene.ends[first]):
        if row_holds(scene.rows, row, search.terms, bits) and (not mixed or may_go(scene, row, first, position)):
            count += scene.rows.counts[row]
    if not mixed:
        search.memo[slot, 0], search.memo[slot, 1], search.memo[slot, 2] = first, bits, count
    return count


@borrowing
def same_chunk(search, depth, i, first):
    """Which terms a leaf of the level `depth` has from the chunk that begins with the row, as bits."""
    bits, at = np.int64(0), i
    for level in range(depth, -1, -1):
        if search.firsts[level, at] == first:
            bits |= np.int64(1) << level
        at = search.ups[level, at]
    return bits


@borrowing
def put(scene, search, depth, size, span, position, up):
    """Add a leaf to a level: what it holds so far, and what the new term changes."""
    first, count = scene.spans.firsts[span], scene.spans.counts[span]
    search.positions[depth, size], search.ups[depth, size] = position, up
    search.spans[depth, size], search.firsts[depth, size] = span, first
    most, parts = scene.sizes[position], 0
    expected = np.float64(most)
    if depth > 0:
        most, parts, expected = search.most[depth - 1, up], search.parts[depth - 1, up], search.expected[depth - 1, up]
    share = scene.spans.shares[span]
    if first >= 0:
        bits = same_chunk(search, depth, size, first)
        before = bits ^ np.int64(1) << depth
        if count < 0 or before:
            count = count_part(scene, search, 0, first, bits, position)
            if before:
                share = count / max(count_part(scene, search, 1, first, before, position), 1)
            else:
                share = count / scene.entries.bases[scene.spans.entries[span]]
        parts += before == 0
        most = min(most, count)
        if scene.spare[position] < most * (parts - 1):
            most = max(scene.spare[position] // (parts - 1), 0)
    search.most[depth, size], search.parts[depth, size] = most, parts
    search.expected[depth, size] = expected * share


@borrowing
def take_shared(scene, search, depth, i):
    """How many candidates of a leaf are left if no shared subrecord counts in two leaves; notes what they use."""
    left, shared_from = search.most[depth, i], shared_rows(scene)
    at = i
    for level in range(depth, -1, -1):
        first = search.firsts[level, at]
        if first >= shared_from:
            bits = same_chunk(search, depth, i, first)
            if bits >> level == 1:  # once for a chunk: at its last term
                count = count_part(scene, search, 2 + level, first, bits, search.positions[depth, i])
                left = min(left, max(count - search.taken[first - shared_from], 0))
        at = search.ups[level, at]
    note_taken(scene, search, depth, i, left)
    return left


@borrowing
def note_taken(scene, search, depth, i, amount):
    """Use up subrecords of each shared chunk that a leaf has known terms from; a negative amount: forget all use."""
    shared_from = shared_rows(scene)
    at = i
    for level in range(depth, -1, -1):
        first = search.firsts[level, at]
        if first >= shared_from:
            if amount < 0:
                search.taken[first - shared_from] = 0
            elif same_chunk(search, depth, i, first) >> level == 1:
                search.taken[first - shared_from] += amount
        at = search.ups[level, at]


@borrowing
def span_beyond(spans, span, stop, position):
    """The first span from the given one on that ends beyond a position."""
    step = 1
    while span + step < stop and spans.ends[span + step] <= position:
        span += step
        step *= 2
    high = min(span + step, stop)
    while span < high:
        middle = (span + high) // 2
        if spans.ends[middle] <= position:
            span = middle + 1
        else:
            high = middle
    return span


@borrowing
def push(scene, search, depth, term, limit):
    """Add a term to the `depth` terms that are there, keeping the leaves that can hold all; returns all candidates.

    Stops, with a level that is not complete, as soon as there are `limit` candidates or more.
    """
    spans = scene.spans
    span, stop = spans.offsets[term], spans.offsets[term + 1]
    search.terms[depth] = term
    for slot in range(3 + depth):
        search.memo[slot, 0] = -1
    size, total, has_shared = 0, np.int64(0), False
    position, up, last = -1, -1, scene.sizes.shape[0] if depth == 0 else search.sizes[depth - 1]
    while total < limit:
        if depth == 0:
            position += 1
        else:
            up += 1
            if up == last:
                break
            position = search.positions[depth - 1, up]
        span = span_beyond(spans, span, stop, position)
        if span == stop:
            break
        if spans.starts[span] > position:
            if depth == 0:
                position = spans.starts[span] - 1
            continue
        put(scene, search, depth, size, span, position, up)
        if search.most[depth, size] > 0:
            if scene.parents[scene.leaf_at[position]] >= 0:
                total += take_shared(scene, search, depth, size)
                has_shared = True
            else:
                total += search.most[depth, size]
            size += 1
    if has_shared:
        for i in range(size):
            note_taken(scene, search, depth, i, -1)
    search.sizes[depth], search.totals[depth] = size, total
    return total


@borrowing
def all_expected(search, depth):
    """Expected matches in all leaves of a level."""
    total = 0.0
    for i in range(search.sizes[depth]):
        total += search.expected[depth, i]
    return total


@helper
def narrow(scene, search, depth, known):
    """Narrow to a set of known terms (padded with -1), keeping the levels that are right already; returns its size."""
    kept = 0
    while kept < min(depth, known.shape[0]) and search.terms[kept] == known[kept]:
        kept += 1
    while kept < known.shape[0] and known[kept] >= 0:
        push(scene, search, kept, known[kept], NO_LIMIT)
        kept += 1
    return kept
