"""Vertical partitioning: each leaf's terms into record chunks and a term chunk (the paper's VERPART, with G2 repaired).

See section 2 of ``docs/algorithm.md`` for the exact rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels.arrays import Domains, Leaves, Records, Rows
from disassociation._parallel import even_shares, run_shares
from disassociation.params import Rules
from disassociation.records import Transactions

__all__ = ["partition_leaves", "stack_rows"]


def partition_leaves(data: Transactions, leaves: Leaves, rules: Rules, threads: int = 1) -> tuple[Domains, Rows]:
    """Divide the terms of every leaf and project its records; linear in the occurrences but for the k^m tests."""
    from disassociation._kernels import vertical as kernels

    records = Records(data.offsets, data.items, rules.is_sensitive)
    results: dict[int, tuple[Domains, Rows]] = {}

    def divide(start: int, stop: int) -> None:
        share = Leaves(leaves.order, leaves.offsets[start : stop + 1])
        results[start] = kernels.partition_leaves(records, share, rules.group, (rules.k, rules.m), len(data.vocabulary))

    run_shares(divide, even_shares(leaves.offsets[1:], threads), threads)
    parts = [results[start] for start in sorted(results)]
    if len(parts) == 1:
        return parts[0]
    domains = [part[0] for part in parts]
    return (
        Domains(
            stack_offsets([part.offsets for part in domains]),
            *(np.concatenate([part[field] for part in domains]) for field in range(1, 5)),
        ),
        stack_rows([part[1] for part in parts]),
    )


def stack_offsets(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The offsets of ragged arrays laid end to end."""
    ends = np.concatenate([[0], np.cumsum([part[-1] for part in parts])])
    return np.concatenate([[0], *(part[1:] + end for part, end in zip(parts, ends[:-1], strict=True))]).astype(np.int64)


def stack_rows(parts: Sequence[Rows]) -> Rows:
    """The rows of several runs of clusters, end to end."""
    return Rows(
        stack_offsets([part.cluster_offsets for part in parts]),
        np.concatenate([part.chunks for part in parts]),
        np.concatenate([part.counts for part in parts]),
        stack_offsets([part.offsets for part in parts]),
        np.concatenate([part.items for part in parts]),
    )
