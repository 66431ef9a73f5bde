"""How the auditor's kernels are compiled; the one place here that names compiler options.

The auditor shares no code with the anonymizer, so it does not use that one's either; only what keeps compiled code on
disk is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types

from disassociation._cache import keep

Function = Callable[..., Any]


def read_only(dtype: Any) -> Any:
    """The type of a contiguous array that is only read; mutable ones pass too."""
    return types.Array(dtype, 1, "C", readonly=True)


def writable(dtype: Any) -> Any:
    """The type of a contiguous array that is written."""
    return types.Array(dtype, 1, "C")


def compiled(signature: Any) -> Callable[[Function], Function]:
    """Compile for one signature when first imported, keep the result on disk, let other threads run."""

    def compile_now(function: Function) -> Function:
        dispatcher = keep(numba.njit(nogil=True, no_cfunc_wrapper=True)(function))
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher

    return compile_now


_INNER = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inner(function: Function) -> Function:
    """Compile a function that only compiled functions call."""
    return keep(numba.njit(**_INNER)(function))


def plain(function: Function) -> Function:
    """Compile a function that makes and returns no arrays, so that calling it counts no references.

    Counting those of every array it is given takes longer than judging a small chunk. It may call only its like.
    """
    return keep(numba.njit(**_INNER, _nrt=False)(function))
