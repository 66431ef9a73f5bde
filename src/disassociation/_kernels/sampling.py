"""What the generators' kernels share: weighted draws and records kept sorted while they grow.

Uniform doubles of the caller's generator are the only randomness: NumPy promises that stream for ever, on every
platform, which it does not for normals, permutations or anything else drawn from it.
"""

from __future__ import annotations

from typing import Any

from disassociation._kernels._jit import helper


@helper
def draw(rng: Any, cumulative: Any, first: int, last: int) -> int:
    """A position in first..last - 1 by weight; `cumulative` rises to 1 over them, so the binary search finds one."""
    uniform = rng.random()
    low = first
    high = last - 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[middle] > uniform:
            high = middle
        else:
            low = middle + 1
    return low


@helper
def insert(items: Any, first: int, last: int, term: int) -> int:
    """Put `term` in its place among the rising items[first:last] unless it is there; return the new end."""
    place = last
    while place > first and items[place - 1] > term:
        place -= 1
    if place > first and items[place - 1] == term:
        return last
    for position in range(last, place, -1):
        items[position] = items[position - 1]
    items[place] = term
    return last + 1
