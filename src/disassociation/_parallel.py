"""Sharing out work over consecutive ranges to threads; kernels release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["even_shares", "run_shares", "usable_cores"]

_SHARES_PER_THREAD = 8


def even_shares(weights_up_to: NDArray[np.int64], threads: int) -> list[tuple[int, int]]:
    """Cut jobs into ranges of about equal weight; ``weights_up_to[i]`` is the weight of jobs 0 to i."""
    jobs = len(weights_up_to)
    if threads <= 1 or jobs <= 1:
        return [(0, jobs)] if jobs else []
    goals = np.linspace(0, int(weights_up_to[-1]), threads * _SHARES_PER_THREAD + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(weights_up_to, goals), [jobs]]))
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def run_shares(work: Callable[[int, int], None], shares: list[tuple[int, int]], threads: int) -> None:
    """Call ``work(start, stop)`` for every share, on up to ``threads`` threads; the first error is raised."""
    if threads <= 1 or len(shares) <= 1:
        for start, stop in shares:
            work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda share: work(*share), shares):
            pass


def usable_cores() -> int:
    """The processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
