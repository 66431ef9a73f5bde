"""The IBM Quest market basket generator: records made of shared patterns.

Agrawal and Srikant, "Fast algorithms for mining association rules", VLDB 1994, section 4.1; where the paper leaves
something open, as in IBM's program. With 100,000 records, 1,000 terms and the other defaults it makes data like the
public file T10I4D100K: about 866 terms occur (870 there), and 374 of them in 1 % of the records (375 there).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disassociation._types import Ids, Terms
from disassociation.generators import _assemble
from disassociation.records import Transactions

if TYPE_CHECKING:
    from disassociation._kernels.quest import Patterns

__all__ = ["generate_quest"]

CONFIDENCE_MEAN = 0.75
CONFIDENCE_DEVIATION = 0.1
# A pattern that always shrinks to nothing could keep every record empty for ever.
CONFIDENCE_RANGE = (0.01, 1.0)

# Terms are sorted as they come, in quadratic time: means beyond this would take minutes a million records, and more.
LONGEST_MEAN = 1_000

# Items produced by one call of the kernel: 4 MB, so the buffer stays in the cache of most machines.
BUFFER = 1 << 20


def generate_quest(
    records: int = 1_000_000,
    terms: int = 5_000,
    mean_length: float = 10.0,
    patterns: int = 2_000,
    pattern_length: float = 4.0,
    correlation: float = 0.25,
    random_state: int = 0,
) -> Transactions:
    """Records that share patterns, as the IBM Quest generator makes them.

    Terms are the numbers 0..terms - 1 as texts; the result's vocabulary holds those that occur. Records are a little
    longer than `mean_length` (by 1 % at the defaults), because a last pattern may be added though it is too long. Time
    grows linearly with the number of occurrences: about 0.7 seconds for the default million records.

    Args:
        records: How many records.
        terms: How many terms there are to choose from.
        mean_length: Mean of the lengths aimed at, 1 + Poisson(mean_length - 1).
        patterns: How many itemsets the records are made of.
        pattern_length: Mean length of a pattern: 1 + Poisson(pattern_length - 1).
        correlation: Mean share of a pattern that comes from the pattern before it.
        random_state: The same number gives the same records.

    Raises:
        ParameterError: A parameter is out of its range.

    Examples:
        >>> from disassociation.generators import generate_quest
        >>> data = generate_quest(records=1_000, terms=100, random_state=7)
        >>> len(data), len(data.vocabulary) <= 100
        (1000, True)
    """
    _assemble.check_count("records", records)
    _assemble.check_count("terms", terms)
    _assemble.check_count("patterns", patterns)
    _assemble.check_range("mean_length", mean_length, 1, LONGEST_MEAN)
    _assemble.check_range("pattern_length", pattern_length, 1, LONGEST_MEAN)
    _assemble.check_range("correlation", correlation, 0, 1)
    rng = _assemble.seeded(random_state)
    made = _patterns(rng, terms, patterns, pattern_length, correlation)
    sizes, items = _records(rng, made, records, mean_length)
    return _assemble.transactions(sizes, items, _assemble.numbers(terms))


def _patterns(rng: np.random.Generator, terms: int, count: int, mean_length: float, correlation: float) -> Patterns:
    from disassociation._kernels import quest

    item_chance = _assemble.cumulative(_assemble.exponential(rng, terms))
    lengths = 1 + np.searchsorted(_assemble.poisson(mean_length - 1), rng.random(count), side="right")
    shared = np.floor(lengths * correlation * _assemble.exponential(rng, count) + 0.5)
    shared = np.minimum(shared, np.minimum(lengths, np.append(0, lengths[:-1]))).astype(np.int64)
    offsets = np.append(0, np.cumsum(lengths))
    items = np.empty(offsets[-1], np.int32)
    quest.fill_patterns(rng, item_chance, offsets, shared, items)
    chance = _assemble.cumulative(_assemble.exponential(rng, count))
    confidence = np.clip(CONFIDENCE_MEAN + CONFIDENCE_DEVIATION * _normal(rng, count), *CONFIDENCE_RANGE)
    return quest.Patterns(offsets, items, chance, confidence)


def _records(rng: np.random.Generator, patterns: Patterns, count: int, mean_length: float) -> tuple[Ids, Terms]:
    from disassociation._kernels import quest

    length_chance = _assemble.poisson(mean_length - 1)
    longest = len(length_chance) + int(np.diff(patterns.offsets).max())
    buffer = np.empty(max(BUFFER, longest), np.int32)
    carried = np.full(1, -1, np.int64)
    sizes = np.empty(count, np.int64)
    parts: list[Terms] = []
    done = 0
    while done < count:
        made = quest.fill_records(rng, patterns, length_chance, carried, sizes[done:], buffer)
        parts.append(buffer[: sizes[done : done + made].sum()].copy())
        done += made
    return sizes, np.concatenate(parts)


def _normal(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Standard normal deviates (Box and Muller)."""
    radius = np.sqrt(2 * _assemble.exponential(rng, count))
    return radius * np.cos(2 * math.pi * rng.random(count))
