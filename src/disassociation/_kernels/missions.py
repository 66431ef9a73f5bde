"""Records as shopping trips: terms drawn from one mission after the other until the record has its length."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import types

from disassociation._kernels._jit import buffer, kernel, view
from disassociation._kernels.sampling import draw, insert


class Missions(NamedTuple):
    """What people shop for, mission i being terms[offsets[i]:offsets[i + 1]]; mission 0 is anything at all."""

    offsets: Any  # (missions + 1,) int64
    terms: Any  # (entries,) int32
    popularity: Any  # (entries,) float64, cumulative to 1 within a mission
    chance: Any  # (missions,) float64, cumulative to 1


# Mutable, though only read: Numba casts an array to read-only, but not the arrays of a tuple.
MISSIONS = types.NamedTuple([buffer(t) for t in (types.int64, types.int32, types.float64, types.float64)], Missions)

# After so many draws in a row that brought nothing new a mission is taken to be exhausted.
PATIENCE = 8


@kernel(types.void(types.npy_rng, MISSIONS, types.float64, view(types.int64), view(types.int32), buffer(types.int32)))
def fill_trips(rng: Any, missions: Any, loyalty: Any, offsets: Any, planted: Any, items: Any) -> None:
    """Fill items[offsets[i]:offsets[i + 1]] with distinct rising terms, planted[i] among them unless it is -1.

    After each term the trip keeps to its mission with probability `loyalty`. All terms of mission 0 together must be
    at least as many as the longest record asks for.
    """
    for record in range(len(planted)):
        first = offsets[record]
        last = first
        if planted[record] >= 0:
            last = insert(items, first, last, planted[record])
        mission = -1
        fruitless = 0
        while last < offsets[record + 1]:
            if mission < 0 or fruitless == PATIENCE or rng.random() >= loyalty:
                mission = draw(rng, missions.chance, 0, len(missions.chance))
                fruitless = 0
            entry = draw(rng, missions.popularity, missions.offsets[mission], missions.offsets[mission + 1])
            before = last
            last = insert(items, first, last, missions.terms[entry])
            fruitless = fruitless + 1 if last == before else 0
