"""Itemsets found so far, and what one more has to have to be among the best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, buffer, helper, inlined

_SIZE_BITS = 20
_MOST_TERMS = (1 << _SIZE_BITS) - 1
SETS, ITEMS, HELD, LIMIT = range(4)


class Found(NamedTuple):
    """Itemsets with their keys, and a heap of the best keys if only so many are wanted."""

    keys: NDArray[np.int64]  # (room,) see `key_of`
    ends: NDArray[np.int64]  # (room,) where each itemset ends in `ranks`
    ranks: NDArray[np.int32]  # (room,) terms as ranks, in no order
    heap: NDArray[np.int64]  # (top,) the best keys, least first
    state: NDArray[np.int64]  # SETS, ITEMS, HELD: how much of the arrays is in use; LIMIT: least key that counts


FOUND = types.NamedTuple(
    (buffer(types.int64), buffer(types.int64), buffer(types.int32), buffer(types.int64), buffer(types.int64)), Found
)


@inlined
def key_of(support, size):
    """A number that is the greater the better an itemset is: by support, then the smaller one."""
    return (np.int64(support) << _SIZE_BITS) | (_MOST_TERMS - size)


@helper
def nothing_found(least, top):
    """No itemset yet; wanted are the `top` best, 0 for all, of supports from `least`."""
    state = np.zeros(4, np.int64)
    state[LIMIT] = key_of(least, _MOST_TERMS)
    return Found(
        np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(4096, np.int32), np.empty(top, np.int64), state
    )


@borrowing
def _sift_down(heap, size, key):
    # Put a key in place of the least.
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = key


@borrowing
def _sift_up(heap, place, key):
    while place > 0 and heap[(place - 1) // 2] > key:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = key


@borrowing
def raise_limit(found, key):
    """Take note of an itemset's key; once there are as many as wanted, only better ones and ties count."""
    heap, state = found.heap, found.state
    top = heap.shape[0]
    if top == 0:
        return
    if state[HELD] < top:
        _sift_up(heap, state[HELD], key)
        state[HELD] += 1
    elif key > heap[0]:
        _sift_down(heap, top, key)
    if state[HELD] == top and heap[0] > state[LIMIT]:
        state[LIMIT] = heap[0]


@borrowing
def add(found, path, size, last, key):
    """Write down the itemset of path[:size] and one more; there must be room."""
    state = found.state
    place = state[ITEMS]
    for i in range(size):
        found.ranks[place + i] = path[i]
    found.ranks[place + size] = last
    state[ITEMS] = place + size + 1
    found.keys[state[SETS]] = key
    found.ends[state[SETS]] = state[ITEMS]
    state[SETS] += 1
    raise_limit(found, key)


@borrowing
def _compact(found):
    # Forget the itemsets that have fallen below the limit.
    state = found.state
    sets, items, begin = 0, 0, 0
    for at in range(state[SETS]):
        end = found.ends[at]
        if found.keys[at] >= state[LIMIT]:
            for place in range(begin, end):
                found.ranks[items] = found.ranks[place]
                items += 1
            found.keys[sets], found.ends[sets] = found.keys[at], items
            sets += 1
        begin = end
    state[SETS], state[ITEMS] = sets, items


@helper
def grown(array, used, room):
    """The same array with more room."""
    larger = np.empty(max(room, 2 * array.shape[0]), array.dtype)
    larger[:used] = array[:used]
    return larger


@helper
def with_room(found, sets, items):
    """Make sure that so many more itemsets of so many more terms in all fit in."""
    keys, ends, ranks, state = found.keys, found.ends, found.ranks, found.state
    if state[SETS] + sets <= keys.shape[0] and state[ITEMS] + items <= ranks.shape[0]:
        return found
    if found.heap.shape[0] > 0:
        _compact(found)
    if 2 * (state[SETS] + sets) > keys.shape[0]:
        keys = grown(keys, state[SETS], 2 * (state[SETS] + sets))
        ends = grown(ends, state[SETS], 2 * (state[SETS] + sets))
    if 2 * (state[ITEMS] + items) > ranks.shape[0]:
        ranks = grown(ranks, state[ITEMS], 2 * (state[ITEMS] + items))
    return Found(keys, ends, ranks, found.heap, state)


@helper
def wanted(found):
    """What was found and counts, arrays of the right length."""
    _compact(found)
    sets, items = found.state[SETS], found.state[ITEMS]
    return Found(
        found.keys[:sets].copy(), found.ends[:sets].copy(), found.ranks[:items].copy(), found.heap, found.state
    )
