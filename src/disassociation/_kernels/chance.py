"""Random numbers for kernels: streams of SplitMix64, one for every leaf and chunk, the same on every machine.

Whatever is drawn for a leaf or chunk depends on the key and its number only, not on what was drawn before it.
"""

from __future__ import annotations

import numpy as np

from disassociation._kernels._jit import borrowing, inlined

LEAF, CHUNK, ORDER, COUNT, SAMPLE = range(5)
"""What a stream is for."""


@inlined
def scramble(value):
    """One step of SplitMix64."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@inlined
def begin(chance, key, purpose, number):
    """Set `chance`, an array of one, to the beginning of a stream."""
    chance[0] = scramble(scramble(np.uint64(key) ^ np.uint64(purpose)) ^ np.uint64(number))


@inlined
def bits(chance):
    """64 random bits."""
    found = scramble(chance[0])
    chance[0] += np.uint64(0x9E3779B97F4A7C15)
    return found


@inlined
def below(chance, limit):
    """A whole number in 0 to limit - 1, for limits below 2 ** 32: off from evenly likely by 2 ** -32 at most."""
    drawn, factor = bits(chance), np.uint64(limit)
    low = ((drawn & np.uint64(0xFFFFFFFF)) * factor) >> np.uint64(32)
    return np.int64(((drawn >> np.uint64(32)) * factor + low) >> np.uint64(32))


@inlined
def share(chance):
    """A number from 0 to less than 1, in steps of 2 ** -53."""
    return np.float64(bits(chance) >> np.uint64(11)) * 2.0**-53


@borrowing
def draw_first(chance, values, number):
    """Exchange values so that the first `number` are drawn without replacement, every way alike."""
    for i in range(number):
        other = i + below(chance, values.shape[0] - i)
        values[i], values[other] = values[other], values[i]
