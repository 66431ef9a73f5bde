"""What all generators share: parameters checked, weights made cumulative, arrays made into Transactions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from disassociation._types import Ids, Offsets, Terms
from disassociation.errors import ParameterError
from disassociation.records import Transactions

if TYPE_CHECKING:
    from disassociation._kernels.missions import Missions

LARGEST_COUNT = int(np.iinfo(np.int32).max)


def check_count(name: str, value: int) -> None:
    """Raise unless `value` is a whole number, 1 or more, that codes and counts of 32 bits can reach."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= LARGEST_COUNT:
        raise ParameterError(f"{name} must be a whole number from 1 to {LARGEST_COUNT:,}, not {value!r}")


def check_range(name: str, value: float, smallest: float, largest: float) -> None:
    """Raise unless `value` is a number in smallest..largest."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not smallest <= value <= largest:
        raise ParameterError(f"{name} must be a number from {smallest:g} to {largest:g}, not {value!r}")


def seeded(random_state: int) -> np.random.Generator:
    """The generator all randomness of a data set comes from; only its uniform doubles are used (see _kernels)."""
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise ParameterError(f"random_state must be a whole number, 0 or more, not {random_state!r}")
    return np.random.Generator(np.random.PCG64(int(random_state)))


def exponential(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Exp(1) deviates by inversion."""
    return -np.log1p(-rng.random(count))


def shuffled(rng: np.random.Generator, count: int) -> Ids:
    """0..count - 1 in random order."""
    return np.argsort(rng.random(count), kind="stable")


def cumulative(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Running sums of weights, scaled to end in 1."""
    sums: NDArray[np.float64] = np.cumsum(weights)
    sums /= sums[-1]
    return sums


def poisson(mean: float) -> NDArray[np.float64]:
    """Cumulative probabilities of a Poisson variable, as far as doubles can tell them from 1."""
    if mean == 0:
        return np.ones(1)
    mean = float(mean)  # from here on in doubles, whatever the caller's type
    counts = range(int(mean + 10 * math.sqrt(mean) + 30))
    logarithms = [count * math.log(mean) - mean - math.lgamma(count + 1) for count in counts]
    return cumulative(np.exp(np.array(logarithms)))


def lognormal_lengths(count: int, location: float, scale: float, longest: int) -> Ids:
    """Evenly spaced quantiles of a rounded log-normal cut off at 1 and `longest`, rising: no chance in them."""
    lowest, highest = ndtr((np.log([0.5, longest + 0.5]) - location) / scale)
    shares = lowest + (np.arange(count) + 0.5) / count * (highest - lowest)
    lengths: Ids = np.rint(np.exp(location + scale * ndtri(shares))).astype(np.int64)
    return lengths


def tabulate_missions(mission: Ids, term: Ids, weight: NDArray[np.float64]) -> Missions:
    """Missions from a joint distribution: entry i is `term[i]` bought on `mission[i]`, as often as weight[i] says."""
    from disassociation._kernels.missions import Missions

    order = np.lexsort((term, mission))
    weight = weight[order]
    _, starts = np.unique(mission[order], return_index=True)
    offsets = np.append(starts, len(order)).astype(np.int64)
    popularity = np.concatenate([cumulative(part) for part in np.split(weight, starts[1:])])
    return Missions(offsets, term[order].astype(np.int32), popularity, cumulative(np.add.reduceat(weight, starts)))


def numbers(terms: int) -> list[str]:
    """The decimal numbers below `terms` as texts in UTF-8 byte order."""
    return sorted(map(str, range(terms)))


def transactions(sizes: Ids, items: Terms, names: list[str]) -> Transactions:
    """Records of the given sizes over codes that rank all `names`; names that do not occur are dropped."""
    offsets: Offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    occurs = np.zeros(len(names), np.bool_)
    occurs[items] = True
    if not occurs.all():
        # Ranks among fewer names: the order stays, so records stay sorted.
        items = (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[items]
    vocabulary = pa.array([name for name, used in zip(names, occurs.tolist(), strict=True) if used], pa.string())
    return Transactions(offsets, items, vocabulary)


def fill_trips(rng: np.random.Generator, missions: Missions, loyalty: float, lengths: Ids, planted: Terms) -> Terms:
    """The terms of records with the given lengths, see the kernel of the same name."""
    from disassociation._kernels import missions as kernels

    offsets = np.append(0, np.cumsum(lengths))
    items = np.empty(offsets[-1], np.int32)
    kernels.fill_trips(rng, missions, loyalty, offsets, planted, items)
    return items
