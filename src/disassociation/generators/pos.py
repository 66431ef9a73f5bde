"""A synthetic stand-in for BMS-POS, a retailer's sales log that may not be redistributed: its size, none of its data.

Nothing here was learned from the log. Only four published figures are met (Zheng, Kohavi and Mason, KDD 2001; figure
6 of the paper): records, terms, mean and maximal record length. All else is invented to resemble shopping: terms of
very unequal frequency, records of very unequal length, and shopping missions that bring terms together. Results on it
are results on a stand-in and must be reported as such, never as results on POS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from disassociation._types import Terms
from disassociation.generators import _assemble
from disassociation.records import Transactions

if TYPE_CHECKING:
    from disassociation._kernels.missions import Missions

__all__ = ["generate_pos"]

RECORDS = 515_597
TERMS = 1_657
LONGEST = 164

# The logarithm of the record lengths: mean length 6.51, two terms the most common length, 2,250 records of 50 or more.
LENGTH_LOCATION = 1.41
LENGTH_SCALE = 0.95

# Popularity of the r-th term, (r + OFFSET) ** -EXPONENT * exp(-r / DECAY): the first is in 19 to 26 % of the records,
# the 100th in 1.5 %, the last in a handful.
POPULARITY_OFFSET = 6.0
POPULARITY_EXPONENT = 1.1
POPULARITY_DECAY = 350.0

MISSIONS = 30
# This share of every term is bought for no mission: noise without structure.
UNPLANNED = 0.05
# How likely the next term of a record comes from the same mission as the one before.
LOYALTY = 0.9
# Records in which a term is planted, so that all terms occur in data of full size.
LEAST_SUPPORT = 3


def generate_pos(random_state: int = 0, records: int = RECORDS) -> Transactions:
    """A synthetic stand-in with the published size of BMS-POS; not that data set, nor derived from it.

    With the default number of records: exactly 515,597 records and 1,657 terms, mean length 6.51, longest record
    164, for every `random_state`. Other numbers of records keep the distributions; the longest record is shorter in
    smaller data (never longer than 164), and rare terms may be missing from them. About half a second.

    Args:
        random_state: The same number gives the same records.
        records: How many records.

    Raises:
        ParameterError: A parameter is out of its range.

    Examples:
        >>> from disassociation.generators import generate_pos
        >>> data = generate_pos(records=2_000)
        >>> len(data), round(len(data.items) / len(data), 1)
        (2000, 6.5)
    """
    _assemble.check_count("records", records)
    rng = _assemble.seeded(random_state)
    missions = _missions(rng)
    lengths = _assemble.lognormal_lengths(records, LENGTH_LOCATION, LENGTH_SCALE, LONGEST)
    lengths = lengths[_assemble.shuffled(rng, records)]
    items = _assemble.fill_trips(rng, missions, LOYALTY, lengths, _planted(rng, records))
    return _assemble.transactions(lengths, items, _assemble.numbers(TERMS))


def _missions(rng: np.random.Generator) -> Missions:
    """Every term's popularity split over a few missions at random, so what it sums to is known beforehand."""
    rank = np.arange(TERMS)
    popularity = (rank + POPULARITY_OFFSET) ** -POPULARITY_EXPONENT * np.exp(-rank / POPULARITY_DECAY)
    # Popular terms are part of more missions, as staples are.
    homes = 1 + (2 * (1 + 2 * np.exp(-rank / 30)) * _assemble.exponential(rng, TERMS)).astype(np.int64)
    member = np.repeat(rank, homes)
    demand = _assemble.cumulative(_assemble.exponential(rng, MISSIONS))
    mission = 1 + np.searchsorted(demand, rng.random(len(member)), side="right")
    share = _assemble.exponential(rng, len(member)) ** 1.5
    share *= (1 - UNPLANNED) / np.bincount(member, share)[member]
    # The most popular term must not be term "0": ranks are given to codes at random.
    codes = _assemble.shuffled(rng, TERMS)
    return _assemble.tabulate_missions(
        np.append(np.zeros(TERMS, np.int64), mission),
        codes[np.append(rank, member)],
        np.append(popularity * UNPLANNED, popularity[member] * share),
    )


def _planted(rng: np.random.Generator, records: int) -> Terms:
    """For every record a term it must hold, or -1; in proportion to the records, so none in small data."""
    planted = np.full(records, -1, np.int32)
    times = LEAST_SUPPORT * records // RECORDS
    planted[_assemble.shuffled(rng, records)[: times * TERMS]] = np.repeat(np.arange(TERMS, dtype=np.int32), times)
    return planted
