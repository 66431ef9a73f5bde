"""Reconciliation: every record in one leaf, every occurrence of every term accounted for, nothing added."""

from __future__ import annotations

import numpy as np

from disassociation._kernels.arrays import Domains, Forest, Joints, Leaves
from disassociation.errors import GuaranteeError
from disassociation.records import Transactions

__all__ = ["require_balance"]


def require_balance(
    data: Transactions, leaves: Leaves, domains: Domains, joints: Joints | None, forest: Forest
) -> None:
    """Refuse a result that lost or invented a record or an occurrence of a term; linear."""
    from disassociation._kernels import balance as kernels

    lifted = np.zeros(0, np.bool_) if joints is None else joints.lifted
    balances = kernels.term_balance(data.items, domains, lifted, forest, len(data.vocabulary))
    sizes = forest.sizes[: len(forest.term_offsets) - 1]
    whole = len(leaves.order) == len(data) == sizes.sum() and kernels.is_permutation(leaves.order)
    if not whole or any(balance.any() for balance in balances):
        raise GuaranteeError(
            "the release does not account for every record and occurrence and was not published; please report this"
        )
