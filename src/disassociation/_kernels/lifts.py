"""How much likelier two terms are to share a record than by chance: a mixture, and what it says of each pair.

A pair is met in a leaf by different records `chance` times, by the same record `lift / (records - 1)` times as often;
so often it is met altogether, up to Poisson noise. How lifts are spread among pairs of similar chance is found by
maximum likelihood (Kiefer and Wolfowitz 1956), as weights of a grid, by expectation maximization.
"""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import borrowing, buffer, embedded, kernel, view

_LEAST = 1e-3  # of what is divided by: what blocks of leaves say of rarer meetings is noise
_FAR = -60.0  # logarithm of what is none of a share
_LOWEST = 1e-9  # lift: with none at all, two terms of a leaf of one record would have nowhere to go


@borrowing
def bin_of(edges, chance):
    """How many edges are below."""
    low, high = 0, edges.shape[0]
    while low < high:
        middle = (low + high) // 2
        if edges[middle] < chance:
            low = middle + 1
        else:
            high = middle
    return low


@embedded
def weigh(met, chance, raised, logs, weights, chances):
    """The grid's points' shares of a pair, from the logarithms of their weights.

    `raised` is by how much of it each raises `chance`, `logs` are those of 1 + `raised`. What all have in common is
    left out.
    """
    most, total = -np.inf, 0.0
    for point in range(raised.shape[0]):
        chances[point] = met * logs[point] - chance * raised[point] + weights[point]
        most = max(most, chances[point])
    for point in range(raised.shape[0]):
        below = chances[point] - most
        chances[point] = np.exp(below) if below > _FAR else 0.0
        total += chances[point]
    for point in range(raised.shape[0]):
        chances[point] /= total


@kernel(
    types.void(
        view(types.float64),
        view(types.float64),
        view(types.float64),
        types.float64,
        types.int64,
        buffer(types.float64),
    )
)
def spread_lifts(met, chance, grid, records, rounds, weights):
    """Fit the weights of the grid to pairs of similar chance; they are given as a first guess."""
    points, pairs = grid.shape[0], met.shape[0]
    likely, even, raised = np.empty((pairs, points), np.float64), np.zeros(points, np.float64), grid / (records - 1.0)
    logs = np.log1p(raised)
    for pair in range(pairs):
        weigh(met[pair], max(chance[pair], _LEAST), raised, logs, even, likely[pair])
    sums = np.empty(points, np.float64)
    for _ in range(rounds):
        sums[:] = 1e-3  # of a pair: no point is ruled out
        for pair in range(pairs):
            total = 0.0
            for point in range(points):
                total += likely[pair, point] * weights[point]
            for point in range(points):
                sums[point] += likely[pair, point] * weights[point] / total
        total = sums.sum()
        for point in range(points):
            weights[point] = sums[point] / total


@kernel(
    types.void(
        buffer(types.float64),
        view(types.float64),
        view(types.float64),
        view(types.float64),
        view(types.float64, 2),
        types.float64,
    )
)
def infer_lifts(met, chance, grid, edges, weights, records):
    """Replace in `met` how often the terms of each pair meet by their lift.

    The lift is the one that makes the chance that two single records, one with each term, are the same record of an
    average leaf what it is expected to be: `lift / (lift + records - 1)`.
    """
    shares, raised, log_weights = np.empty(grid.shape[0], np.float64), grid / (records - 1.0), np.log(weights)
    logs = np.log1p(raised)
    for pair in range(met.shape[0]):
        by_chance = max(chance[pair], _LEAST)
        weigh(met[pair], by_chance, raised, logs, log_weights[bin_of(edges, by_chance)], shares)
        same = 0.0
        for point in range(grid.shape[0]):
            same += shares[point] * grid[point] / (grid[point] + records - 1.0)
        met[pair] = max(same * (records - 1.0) / (1.0 - same), _LOWEST)
