"""Spreading subrecords over kinds of records, as evenly as there is room."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, helper, kernel, view

_MOST_ROUNDS = 1000
_NEAR = 2.0**-24


@helper
def weigh_patterns(amounts, rooms, allowed, brakes, weights):
    """Scale each pattern so that all of it is somewhere."""
    for pattern in range(amounts.shape[0]):
        reach = 0.0
        for kind in range(rooms.shape[0]):
            if allowed[pattern, kind]:
                reach += rooms[kind] * brakes[kind]
        weights[pattern] = amounts[pattern] / reach


@helper
def brake_kinds(rooms, allowed, brakes, weights):
    """Scale each kind down, if need be, so that it is not overfilled; returns by how much at worst it was."""
    worst = 0.0
    for kind in range(rooms.shape[0]):
        load = 0.0
        for pattern in range(weights.shape[0]):
            if allowed[pattern, kind]:
                load += weights[pattern]
        worst = max(worst, load * brakes[kind] - 1.0)
        brakes[kind] = min(1.0, 1.0 / load) if load > 0.0 else 1.0
    return worst


@kernel(buffer(types.float64, 2)(view(types.int64), view(types.int64), view(types.bool_, 2)))
def spread(amounts, rooms, allowed):
    """How much of each pattern is on each kind of records, nearly: weight of the pattern * room * brake of the kind.

    Among all that have room this is the one nearest to an even spread by relative entropy (Sinkhorn's scaling, with
    brakes of 1 at most), a kind being overfilled by a share of _NEAR at most, if so many rounds are enough.
    """
    brakes, weights = np.ones(rooms.shape[0]), np.empty(amounts.shape[0])
    for _ in range(_MOST_ROUNDS):
        weigh_patterns(amounts, rooms, allowed, brakes, weights)
        if brake_kinds(rooms, allowed, brakes, weights) <= _NEAR:
            break
    weigh_patterns(amounts, rooms, allowed, brakes, weights)
    found = np.zeros(allowed.shape)
    for pattern in range(amounts.shape[0]):
        for kind in range(rooms.shape[0]):
            if allowed[pattern, kind]:
                found[pattern, kind] = weights[pattern] * rooms[kind] * brakes[kind]
    return found
