"""What makes an itemset likelier in a leaf than independence has it: its terms are joined one by one, as a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, embedded, helper


class Web(NamedTuple):
    """Of the terms of an itemset in one leaf, what is between each two, both ways; and scratch."""

    lifts: NDArray[np.float64]  # (size, size)
    gains: NDArray[np.float64]  # (size, size) how much likelier than by chance they are to meet; inf: counted already
    is_hidden: NDArray[np.bool_]  # (size,) from the term chunk
    is_in: NDArray[np.bool_]  # (size,) joined
    best: NDArray[np.float64]  # (size,) the highest lift, or gain, to a term that is joined
    links: NDArray[np.int64]  # (size,) to which it is
    together: NDArray[np.float64]  # (size,) the product of the lifts to all terms of the term chunk that are joined


@helper
def new_web(size):
    """Room for itemsets of a size."""
    return Web(
        np.ones((size, size), np.float64),
        np.ones((size, size), np.float64),
        np.zeros(size, np.bool_),
        np.zeros(size, np.bool_),
        np.empty(size, np.float64),
        np.empty(size, np.int64),
        np.empty(size, np.float64),
    )


@embedded
def share_of_both(one, other, lift):
    """The share of records with both terms whose odds ratio is `lift`, from the shares with each (Plackett 1965)."""
    if abs(lift - 1.0) < 1e-9:
        return one * other
    total = 1.0 + (lift - 1.0) * (one + other)
    root = np.sqrt(max(total * total - 4.0 * lift * (lift - 1.0) * one * other, 0.0))
    return 2.0 * lift * one * other / (total + root)


@embedded
def share_of_hidden(one, other, lift, records, again):
    """The share of a leaf's records with two terms of its term chunk.

    Each record with one is each with the other as often as the lift says; what `again` makes of a term's count is no
    further chance to meet.
    """
    tries = one * other * records / (1.0 + again * (records - 1.0)) ** 2
    return min(one, other, tries * lift / (lift + records - 1.0))


@embedded
def one_more(lift, records):
    """The chance that a record with a term is on the one record that its lift is to."""
    return lift / (lift + records - 1.0)


@embedded
def join_hidden(web, size, records):
    """Join the terms of the term chunk, each time the one with the highest lift to one before.

    All lifts to those before draw it to their record: odds are multiplied. Returns by how much they raise the product.
    """
    product, at = 1.0, -1
    for slot in range(size):
        web.best[slot], web.together[slot], web.is_in[slot] = 0.0, 1.0, False
    while True:
        after = -1
        for slot in range(size):
            if web.is_in[slot] or not web.is_hidden[slot]:
                continue
            if at >= 0:
                lift = web.lifts[at, slot]
                web.together[slot] *= max(lift, 1.0)
                if lift > web.best[slot]:
                    web.best[slot], web.links[slot] = lift, at
            if after < 0 or web.best[slot] > web.best[after]:
                after = slot
        if after < 0:
            return product
        if at >= 0:
            product *= web.gains[web.links[after], after]
            lift = max(web.best[after], 1.0)
            if web.together[after] > lift:
                product *= one_more(web.together[after], records) / one_more(lift, records)
        at = after
        web.is_in[at] = True


@embedded
def join_others(web, size):
    """Join the other terms, each time by what raises the chance to meet most. Returns the same."""
    product, left = 1.0, 0
    for slot in range(size):
        left += not web.is_in[slot]
        web.best[slot] = -1.0
    if left == size:
        web.is_in[0] = True
        left -= 1
    if left == 0:
        return product
    for slot in range(size):
        for other in range(size):
            if web.is_in[other] and not web.is_in[slot]:
                web.best[slot] = max(web.best[slot], web.gains[other, slot])
    while True:
        at = -1
        for slot in range(size):
            if not web.is_in[slot] and (at < 0 or web.best[slot] > web.best[at]):
                at = slot
        if web.best[at] < np.inf:  # otherwise what they share is published, and counted already
            product *= web.best[at]
        web.is_in[at] = True
        left -= 1
        if left == 0:
            return product
        for slot in range(size):
            if not web.is_in[slot]:
                web.best[slot] = max(web.best[slot], web.gains[at, slot])


@borrowing
def join_all(web, size, records):
    """By how much the product of the shares of an itemset's parts is raised."""
    return join_hidden(web, size, records) * join_others(web, size)
