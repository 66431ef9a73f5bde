"""The two loops of the Quest generator: patterns from items, records from patterns."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from disassociation._kernels._jit import buffer, kernel, view
from disassociation._kernels.sampling import draw, insert


class Patterns(NamedTuple):
    """Potentially frequent itemsets, pattern p being items[offsets[p]:offsets[p + 1]]."""

    offsets: Any  # (patterns + 1,) int64
    items: Any  # (pattern items,) int32, an item may come twice in a pattern
    chance: Any  # (patterns,) float64, cumulative to 1
    confidence: Any  # (patterns,) float64, how likely shrinking stops at each step


# Mutable, though only read: Numba casts an array to read-only, but not the arrays of a tuple.
PATTERNS = types.NamedTuple([buffer(t) for t in (types.int64, types.int32, types.float64, types.float64)], Patterns)
COUNTS = buffer(types.int64)
ITEMS = buffer(types.int32)

# A record gives up after so many patterns in a row that brought it nothing new: few terms, or few patterns, may never
# fill it. With ordinary parameters that does not happen.
PATIENCE = 100


@kernel(types.void(types.npy_rng, view(types.float64), view(types.int64), view(types.int64), ITEMS))
def fill_patterns(rng: Any, item_chance: Any, offsets: Any, shared: Any, items: Any) -> None:
    """Pattern p takes shared[p] random items of pattern p - 1, the rest by weight."""
    for pattern in range(len(shared)):
        position = offsets[pattern]
        wanted = shared[pattern]
        previous = offsets[pattern - 1] if pattern > 0 else position
        for source in range(previous, offsets[pattern]):
            if rng.random() * (offsets[pattern] - source) < wanted:
                items[position] = items[source]
                position += 1
                wanted -= 1
        while position < offsets[pattern + 1]:
            items[position] = draw(rng, item_chance, 0, len(item_chance))
            position += 1


@kernel(types.int64(types.npy_rng, PATTERNS, view(types.float64), COUNTS, COUNTS, ITEMS))
def fill_records(rng: Any, patterns: Any, length_chance: Any, carried: Any, sizes: Any, items: Any) -> int:
    """Fill records while both `sizes` and `items` have room for a longest one; return how many there are.

    `carried` holds the pattern kept for the next record, or -1, from one call to the next.
    """
    longest = len(length_chance)
    for pattern in range(len(patterns.confidence)):
        longest = max(longest, len(length_chance) + patterns.offsets[pattern + 1] - patterns.offsets[pattern])
    record = 0
    first = 0
    while record < len(sizes) and first + longest <= len(items):
        length = 1 + draw(rng, length_chance, 0, len(length_chance))
        last = first
        fruitless = 0
        while last - first < length and fruitless < PATIENCE:
            pattern = carried[0]
            if pattern < 0:
                pattern = draw(rng, patterns.chance, 0, len(patterns.chance))
            carried[0] = -1
            source = patterns.offsets[pattern]
            stop = patterns.offsets[pattern + 1]
            wanted = stop - source
            while wanted > 0 and rng.random() > patterns.confidence[pattern]:
                wanted -= 1
            if last - first + wanted > length and rng.random() > 0.5:
                carried[0] = pattern
                break
            before = last
            while wanted > 0:
                if rng.random() * (stop - source) < wanted:
                    last = insert(items, first, last, patterns.items[source])
                    wanted -= 1
                source += 1
            fruitless = fruitless + 1 if last == before else 0
        if last > first:
            sizes[record] = last - first
            record += 1
            first = last
    return record
