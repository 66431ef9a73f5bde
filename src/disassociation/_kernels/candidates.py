"""How many candidate records somebody has who knows some terms, and how likely the best guess is."""

from __future__ import annotations

import numpy as np
from numba import types

from disassociation._kernels._jit import buffer, kernel, view
from disassociation._kernels.leaf_search import NO_LIMIT, all_expected, narrow, new_search
from disassociation._kernels.scene import SCENE

_COUNTS, _CHANCES = buffer(types.int64, 2), buffer(types.float64, 2)


@kernel(types.Tuple((_COUNTS, _COUNTS, _CHANCES))(SCENE, view(types.int32, 3)))
def count_candidates(scene, known):
    """For each victim and each set of known terms: all candidates, the fewest in a leaf with any, the best guess.

    The best guess is a leaf's share of the expected matches over its candidates, in the leaf where that is greatest.
    """
    victims, sets = known.shape[0], known.shape[1]
    candidates, fewest = np.zeros((victims, sets), np.int64), np.zeros((victims, sets), np.int64)
    chances = np.zeros((victims, sets), np.float64)
    search = new_search(scene, known.shape[2])
    for victim in range(victims):
        depth = 0
        for i in range(sets):
            depth = narrow(scene, search, depth, known[victim, i])
            candidates[victim, i] = search.totals[depth - 1]
            least, best = NO_LIMIT, 0.0
            for leaf in range(search.sizes[depth - 1]):
                most = search.most[depth - 1, leaf]
                least = min(least, most)
                best = max(best, search.expected[depth - 1, leaf] / most)
            if search.sizes[depth - 1] > 0:
                fewest[victim, i] = least
                chances[victim, i] = best / all_expected(search, depth - 1)
    return candidates, fewest, chances
