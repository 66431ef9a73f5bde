"""The array types that stages hand to each other, named once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Terms: TypeAlias = NDArray[np.int32]
"""Term codes: ranks in the vocabulary's canonical (UTF-8 byte) order."""

Offsets: TypeAlias = NDArray[np.int64]
"""Where each list of a ragged array begins; one entry more than there are lists."""

Ids: TypeAlias = NDArray[np.int64]
"""Record, leaf or cluster numbers, or counts of them."""

Flags: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]
"""Bit sets, 64 members a word."""

Bytes: TypeAlias = NDArray[np.uint8]
