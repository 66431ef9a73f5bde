"""Lists of integers of unequal length, one after the other in an array: comparing and sorting them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels._jit import borrowing, helper, inlined
from disassociation._kernels.bits import lowest_bit

_INSERTION = 24  # longest run that insertion sort orders faster than merging does


@borrowing
def sort_numbers(values):
    """Sort in place: short runs by insertion, long ones by heap. Numba's own sort makes a list on every call."""
    n = values.shape[0]
    if n > 2 * _INSERTION:
        sort_by_heap(values)
        return
    for i in range(1, n):
        value = values[i]
        j = i - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value


@borrowing
def sort_by_heap(values):
    """Sort in place, whatever the order, in n log n steps."""
    n = values.shape[0]
    start = n // 2
    end = n
    while end > 1:
        if start > 0:
            start -= 1
            value = values[start]
        else:
            end -= 1
            value = values[end]
            values[end] = values[0]
        hole = start
        child = 2 * hole + 1
        while child < end:
            if child + 1 < end and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[hole] = values[child]
            hole = child
            child = 2 * hole + 1
        values[hole] = value


@inlined
def compare_lists(values, a, a_end, b, b_end):
    """-1, 0 or 1: lexicographic order of values[a:a_end] and values[b:b_end], a prefix before its extension."""
    while a < a_end and b < b_end:
        if values[a] != values[b]:
            return -1 if values[a] < values[b] else 1
        a += 1
        b += 1
    if a == a_end:
        return 0 if b == b_end else -1
    return 1


@borrowing
def sort_lists(values, starts, ends, rows, other):
    """Put `rows` in lexicographic order of the lists values[starts[row]:ends[row]]; equal lists keep their order.

    `other` is scratch of at least the size of `rows`.
    """
    n = rows.shape[0]
    for low in range(0, n, _INSERTION):
        high = min(low + _INSERTION, n)
        for i in range(low + 1, high):
            row = rows[i]
            j = i - 1
            while j >= low and compare_lists(values, starts[row], ends[row], starts[rows[j]], ends[rows[j]]) < 0:
                rows[j + 1] = rows[j]
                j -= 1
            rows[j + 1] = row
    width = _INSERTION
    while width < n:
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i = low
            j = middle
            for k in range(low, high):
                if i < middle and (
                    j >= high
                    or compare_lists(values, starts[rows[j]], ends[rows[j]], starts[rows[i]], ends[rows[i]]) >= 0
                ):
                    other[k] = rows[i]
                    i += 1
                else:
                    other[k] = rows[j]
                    j += 1
        for k in range(n):
            rows[k] = other[k]
        width *= 2


@inlined
def comes_first(a, b):
    """Whether a set of numbers, as bits, comes before another as a rising list: lexicographically, a prefix first."""
    difference = a ^ b
    first = difference & (~difference + np.uint64(1))
    # One of them has the first number that the other has not, and comes first unless that other one is at its end.
    return b >= first if a & first else a < first


@borrowing
def sort_words(words, rows, other):
    """Put `rows` in order of their sets of numbers, as `comes_first` says; equal ones keep their order.

    `other` is scratch of at least the size of `rows`.
    """
    n = rows.shape[0]
    for low in range(0, n, _INSERTION):
        for i in range(low + 1, min(low + _INSERTION, n)):
            row = rows[i]
            j = i - 1
            while j >= low and words[rows[j]] != words[row] and comes_first(words[row], words[rows[j]]):
                rows[j + 1] = rows[j]
                j -= 1
            rows[j + 1] = row
    width = _INSERTION
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                left = i < middle
                if left and j < high and words[rows[i]] != words[rows[j]]:
                    left = comes_first(words[rows[i]], words[rows[j]])
                if left:
                    other[k] = rows[i]
                    i += 1
                else:
                    other[k] = rows[j]
                    j += 1
        for k in range(n):
            rows[k] = other[k]
        width *= 2


@helper
def order_lists(values, starts, ends, rows):
    """`rows`, which must be rising, in lexicographic order of their lists of numbers from -1 up; equal lists by row.

    The first three numbers are packed into one key, so almost all comparisons are of integers that lie together.
    """
    n = rows.shape[0]
    keys = np.empty(n, np.int64)
    for i in range(n):
        start, end = starts[rows[i]], ends[rows[i]]
        key = np.int64(0)
        for place in range(3):
            key <<= 21
            if start + place < end:
                key |= min(values[start + place] + 2, (1 << 21) - 1)
        keys[i] = key
    by_key = np.argsort(keys, kind="mergesort")
    ordered = rows[by_key]
    scratch = np.empty_like(ordered)
    low = 0
    for high in range(1, n + 1):
        if high == n or keys[by_key[high]] != keys[by_key[low]]:
            if high - low > 1:
                sort_lists(values, starts, ends, ordered[low:high], scratch)
            low = high
    return ordered


class Sieve(NamedTuple):
    """A set of small numbers that gives them back in order: bits, and bits that say where bits are."""

    words: NDArray[np.uint64]  # (numbers / 64,) 0 between uses
    summary: NDArray[np.uint64]  # (numbers / 4096,)


@helper
def new_sieve(numbers):
    """A sieve for 0 to numbers - 1."""
    return Sieve(np.zeros(numbers // 64 + 1, np.uint64), np.zeros(numbers // 4096 + 1, np.uint64))


@inlined
def sieve_in(sieve, number):
    """Put a number in."""
    sieve.words[number >> 6] |= np.uint64(1) << np.uint64(number & 63)
    sieve.summary[number >> 12] |= np.uint64(1) << np.uint64((number >> 6) & 63)


@borrowing
def sieve_out(sieve, numbers):
    """Take all numbers out again, writing them to `numbers` in order; returns how many there were.

    For the terms of a leaf this takes a fifth of the time of sorting them.
    """
    size = 0
    for top in range(sieve.summary.shape[0]):
        while sieve.summary[top]:
            middle = top * 64 + lowest_bit(sieve.summary[top])
            sieve.summary[top] &= sieve.summary[top] - np.uint64(1)
            word = sieve.words[middle]
            sieve.words[middle] = 0
            while word:
                numbers[size] = middle * 64 + lowest_bit(word)
                word &= word - np.uint64(1)
                size += 1
    return size
