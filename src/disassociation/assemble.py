"""From the stages' results to the published object: one forest in canonical order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels.arrays import TERM_CHUNK, Domains, Forest, Joints, Leaves, Rows
from disassociation.vertical import stack_rows

__all__ = ["assemble_forest"]


def assemble_forest(leaves: Leaves, domains: Domains, rows: Rows, joints: Joints | None, terms: int) -> Forest:
    """Lay leaves and joint clusters out in the order that section 5 of ``docs/release-format.md`` defines."""
    from disassociation._kernels.canonical import canonical_forest

    count = len(leaves.offsets) - 1
    in_term_chunk = domains.chunks == TERM_CHUNK
    sizes = np.diff(leaves.offsets)
    parents = np.full(count, -1, np.int64)
    if joints is not None:
        in_term_chunk &= ~joints.lifted
        parents = np.concatenate([_shifted(joints.leaf_parents, count), _shifted(joints.parents, count)])
        sizes = np.concatenate([sizes, joints.sizes])
        rows = stack_rows([rows, joints.rows])
    before = np.concatenate([[0], np.cumsum(in_term_chunk)])
    term_offsets = before[domains.offsets].astype(np.int64)
    forest: Forest = canonical_forest(Forest(parents, sizes, term_offsets, domains.terms[in_term_chunk], rows), terms)
    return forest


def _shifted(parents: NDArray[np.int64], leaves: int) -> NDArray[np.int64]:
    """Joint cluster numbers as cluster numbers, which count the leaves first."""
    return np.where(parents >= 0, parents + leaves, -1)
