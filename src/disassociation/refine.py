"""Refining: joint clusters that share chunks of terms lifted out of term chunks (the paper's REFINE, made sound).

See section 3 of ``docs/algorithm.md`` for the exact rules.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels.arrays import TERM_CHUNK, Domains, Joints, Leaves, Records, Rows
from disassociation._parallel import run_shares
from disassociation.params import Rules
from disassociation.records import Transactions
from disassociation.vertical import stack_rows

__all__ = ["BLOCK_SIZE", "refine_leaves"]

BLOCK_SIZE = 1024
"""Leaves refined together. A parameter of the method, not of the machine: another value gives another release."""


def refine_leaves(data: Transactions, leaves: Leaves, domains: Domains, rules: Rules, threads: int = 1) -> Joints:
    """Join neighbouring clusters within blocks of leaves; linear in the number of leaves for a fixed block size."""
    from disassociation._kernels import refine as kernels
    from disassociation._kernels.weighing import JoinRules, Scratch

    lifted = np.zeros(len(domains.terms), np.bool_)
    rank = _term_ranks(domains, rules, len(data.vocabulary))
    order, keys = kernels.leaf_order(domains, rank, rules.is_sensitive)
    records = Records(data.offsets, data.items, rules.is_sensitive)
    join_rules = JoinRules(int(rules.k), int(rules.m), int(rules.joint_limit))
    results: dict[int, tuple[NDArray[np.int64], NDArray[np.int64], Rows]] = {}

    def refine(first: int, last: int) -> None:
        terms = len(data.vocabulary)
        scratch = Scratch(
            np.zeros(terms, np.int64),
            np.zeros(terms, np.bool_),
            np.full(terms, -1, np.int32),
            np.zeros(BLOCK_SIZE, np.int64),
            np.zeros(BLOCK_SIZE, np.int64),
            np.empty((terms, 4), np.int64),
        )
        for block in range(first, last):
            members = order[block * BLOCK_SIZE : (block + 1) * BLOCK_SIZE]
            results[block] = kernels.refine_block(
                members, keys, records, leaves, domains, rank, join_rules, scratch, lifted
            )

    blocks = -(-len(order) // BLOCK_SIZE)
    run_shares(refine, [(block, block + 1) for block in range(blocks)] if threads > 1 else [(0, blocks)], threads)
    return _gather([results[block] for block in range(blocks)], order, len(leaves.offsets) - 1, lifted)


def _term_ranks(domains: Domains, rules: Rules, terms: int) -> NDArray[np.int32]:
    """The rank of each term by falling number of term chunks it is in, ties by code; -1 for a term in none."""
    inside = domains.terms[domains.chunks == TERM_CHUNK]
    chunks = np.bincount(inside, minlength=terms)
    chunks[rules.sensitive] = 0
    order = np.argsort(-chunks, kind="stable")[: int((chunks > 0).sum())]
    rank = np.full(terms, -1, np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def _gather(
    results: list[tuple[NDArray[np.int64], NDArray[np.int64], Rows]],
    order: NDArray[np.int64],
    leaves: int,
    lifted: NDArray[np.bool_],
) -> Joints:
    """Number the joint clusters of all blocks through."""
    leaf_parents = np.full(leaves, -1, np.int64)
    parents, sizes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    joints = 0
    for block, (block_parents, block_sizes, _) in enumerate(results):
        members = order[block * BLOCK_SIZE : (block + 1) * BLOCK_SIZE]
        b = len(members)
        numbered = np.where(block_parents >= 0, block_parents - b + joints, -1)
        leaf_parents[members] = numbered[:b]
        parents.append(numbered[b:])
        sizes.append(block_sizes[b:])
        joints += len(block_parents) - b
    none = np.zeros(0, np.int32)
    rows = [rows for _, _, rows in results] or [Rows(np.zeros(1, np.int64), none, none, np.zeros(1, np.int64), none)]
    return Joints(leaf_parents, np.concatenate(parents), np.concatenate(sizes), lifted, stack_rows(rows))
