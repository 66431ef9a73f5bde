"""Horizontal partitioning: similar records into leaves of legal size (the paper's HORPART, made sound).

See section 1 of ``docs/algorithm.md`` for the exact rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from disassociation._kernels.arrays import Leaves, Records
from disassociation._parallel import even_shares, run_shares
from disassociation.params import Rules
from disassociation.records import Transactions

__all__ = ["partition_records"]


def partition_records(data: Transactions, rules: Rules, threads: int = 1) -> Leaves:
    """Split records into leaves of at least ``rules.minimum`` records, nearly linear in the number of occurrences.

    The first chain runs on one thread; the parts it leaves behind are shared out.
    """
    from disassociation._kernels import horizontal as kernels

    records = Records(data.offsets, data.items, rules.is_sensitive)
    kernel_rules = _kernel_rules(data, rules)
    order = np.empty(len(data), np.int32)
    leaf_start = np.zeros(len(data), np.bool_)
    parts, count = kernels.first_chain(records, kernel_rules, order, leaf_start)

    def solve(start: int, stop: int) -> None:
        kernels.solve_parts(parts, parts.rows[start:stop], kernel_rules, records, order, leaf_start)

    run_shares(solve, even_shares(parts.rows[:count, 1], threads), threads)
    return Leaves(order, np.append(np.flatnonzero(leaf_start), len(data)).astype(np.int64))


def _kernel_rules(data: Transactions, rules: Rules) -> Any:
    """The rules as arrays, with the sensitive terms of each record beside its others."""
    from disassociation._kernels.chain import Rules as KernelRules

    sizes = [rules.minimum, rules.limit, rules.l or 0, len(rules.sensitive), len(data.vocabulary)]
    offsets, items, bare = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.bool_)
    if len(rules.sensitive):
        held = rules.is_sensitive[data.items]
        before = np.concatenate([[0], np.cumsum(held)])
        offsets = before[data.offsets].astype(np.int64)
        items = np.searchsorted(rules.sensitive, data.items[held]).astype(np.int32)
        bare = np.diff(offsets) == np.diff(data.offsets)
    return KernelRules(np.array(sizes, np.int64), rules.group, offsets, items, bare)
