"""Whether clusters stand in the order that their content prescribes (release-format.md section 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disassociation.auditor.kernels_conflicts import leaf_spans
from disassociation.auditor.kernels_order import hash_forest, heights_and_first_leaves, walk
from disassociation.auditor.survey import Survey

__all__ = ["misplaced_cluster", "term_ranks"]


def term_ranks(certain: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each term by falling certain support, ties by code."""
    rank = np.empty(len(certain), np.int64)
    rank[np.lexsort([np.arange(len(certain)), -certain])] = np.arange(len(certain))
    return rank


def misplaced_cluster(found: Survey, steps: NDArray[np.int64]) -> int | None:
    """The first cluster that does not stand where it should; None if all do.

    `steps` (leaves,) says how each leaf's key compares with that of the leaf before it.
    """
    falls = np.flatnonzero(steps < 0)
    if len(falls):
        return int(falls[0])
    leaves, clusters = found.leaves, len(found.sizes)
    if leaves == clusters:
        return None
    ties = steps == 0
    if ties.any():
        place = _walk(found, np.cumsum(~ties).astype(np.int64))
        wrong = np.flatnonzero(ties[1:] & (place[1:] < place[:-1]))
        if len(wrong):
            return int(wrong[0]) + 1
    heights, first = heights_and_first_leaves(found.parents, leaves)
    keys = heights[leaves:] * (leaves + 1) + first[leaves:]
    wrong = np.flatnonzero(keys[1:] <= keys[:-1])
    return leaves + int(wrong[0]) + 1 if len(wrong) else None


def _walk(found: Survey, kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each leaf comes in a walk that takes roots and siblings by rising hash.

    Leaves of the same hash and parent are alike in everything, so their order makes no difference; they keep theirs.
    """
    hashes = hash_forest(found.joints, found.parents, kinds - 1)
    spans = leaf_spans(found.parents, found.leaves)[1].reshape(-1, 2)
    order = np.argsort(hashes, kind="stable")
    places: NDArray[np.int64] = walk(order, found.parents, spans[:, 1] - spans[:, 0])
    return places[: found.leaves]
