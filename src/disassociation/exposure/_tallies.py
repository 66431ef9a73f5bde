"""How many records something is true of: counted, or estimated from a sample with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Tally", "estimate"]

_Z = 1.959963984540054  # 95 % of a normal distribution is within so many standard deviations


@dataclass(frozen=True, slots=True)
class Tally:
    """A number of records. Unless ``exact``, an estimate; the truth is within ``low`` and ``high`` 19 times in 20."""

    count: int
    low: int
    high: int
    records: int  # of how many
    open: int  # records of which a sample was searched; the others are known, all of them if this is 0
    searched: int  # the size of that sample
    undecided: int = 0  # of these, searches given up: "no" in `count` and `low`, "yes" in `high`

    @property
    def exact(self) -> bool:
        """Whether every record was decided."""
        return self.searched == self.open and self.undecided == 0

    @property
    def share(self) -> float:
        """``count`` as a part of all records."""
        return self.count / self.records if self.records else 0.0

    def to_dict(self) -> dict[str, object]:
        """All numbers, for JSON."""
        return {
            "count": self.count,
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "exact": self.exact,
            "open": self.open,
            "searched": self.searched,
            "undecided": self.undecided,
        }


def estimate(records: int, known: int, open_: int, searched: int, found: int, undecided: int) -> Tally:
    """A tally of ``known`` records and an unknown number of ``open_`` ones, some of which were searched."""
    refuted = searched - found - undecided
    low = max(found, math.floor(open_ * _wilson(found, searched, open_)[0]))
    high = min(open_ - refuted, math.ceil(open_ * _wilson(found + undecided, searched, open_)[1]))
    count = known + (round(open_ * found / searched) if searched else 0)
    return Tally(count, known + low, known + high, records, open_, searched, undecided)


def _wilson(found: int, searched: int, population: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, for a sample drawn without replacement.

    The sample counts for as many independent draws as would estimate the share with the same variance.
    """
    if searched == population:
        share = found / searched if searched else 0.0
        return share, share
    if searched == 0:
        return 0.0, 1.0
    draws = searched * (population - 1) / (population - searched)
    share = found / searched
    middle = share + _Z**2 / (2 * draws)
    spread = _Z * math.sqrt(share * (1 - share) / draws + _Z**2 / (4 * draws**2))
    scale = 1 + _Z**2 / draws
    return (middle - spread) / scale, (middle + spread) / scale
