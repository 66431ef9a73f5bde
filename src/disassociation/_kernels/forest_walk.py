"""Numbering the clusters of a forest so that all under a cluster stand together."""

from __future__ import annotations

import numpy as np

from disassociation._kernels._jit import helper


@helper
def walk_intervals(forest):
    """Number clusters so that all under a cluster stands right behind it: (number, one beyond the last under it)."""
    clusters = forest.parents.shape[0]
    below = np.ones(clusters, np.int64)
    for cluster in range(clusters):
        if forest.parents[cluster] >= 0:
            below[forest.parents[cluster]] += below[cluster]
    number = np.zeros(clusters, np.int64)
    free = np.zeros(clusters, np.int64)
    start = 0
    for cluster in range(clusters - 1, -1, -1):
        parent = forest.parents[cluster]
        if parent < 0:
            number[cluster] = start
            start += below[cluster]
        else:
            number[cluster] = free[parent]
            free[parent] += below[cluster]
        free[cluster] = number[cluster] + 1
    return number, number + below
