"""The one place that names compiler options.

Signatures are explicit, so a kernel is compiled once, at first import, and read from the disk cache ever after; no
call can trigger another compilation. Inputs are declared read-only, which Numba also lets mutable arrays pass.
``nogil`` because stages run kernels on several threads; never ``fastmath``, never ``parallel``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import types

from disassociation._cache import keep

Kernel = Callable[..., Any]


def view(dtype: Any, ndim: int = 1) -> Any:
    """The type of a contiguous array that a kernel only reads."""
    return types.Array(dtype, ndim, "C", readonly=True)


def buffer(dtype: Any, ndim: int = 1) -> Any:
    """The type of a contiguous array that a kernel writes."""
    return types.Array(dtype, ndim, "C")


# Helpers are called by kernels only, so they need no way in from Python: that alone saves a third of the compilation.
_INNER = {"nogil": True, "fastmath": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(signature: Any) -> Callable[[Kernel], Kernel]:
    """Compile for exactly this signature, cached on disk, releasing the interpreter lock."""

    def compiled(function: Kernel) -> Kernel:
        dispatcher = keep(numba.njit(nogil=True, fastmath=False, no_cfunc_wrapper=True)(function))
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher

    return compiled


def helper(function: Kernel) -> Kernel:
    """Compile a function that only kernels call; it takes the types it is called with."""
    return keep(numba.njit(**_INNER)(function))


def borrowing(function: Kernel) -> Kernel:
    """Compile a helper that makes no arrays and returns none, so it need not count references.

    Otherwise a call counts the references of every array it is given up and down again, two locked instructions each;
    that took a third of the time of vertical partitioning. It may call only its like and what is inlined: whatever it
    calls is compiled the same way.
    """
    return keep(numba.njit(**_INNER, _nrt=False)(function))


def embedded(function: Kernel) -> Kernel:
    """The same for what is called from an inner loop with much in hand: there is no call.

    One copies seven words for each array of a named tuple, 200 of them for a release laid out; without that, bounds of
    itemsets took half the time and those of pairs a third. It takes no more compilation, unlike ``inlined``.
    """
    return keep(numba.njit(**_INNER, _nrt=False, forceinline=True)(function))


def inlined(function: Kernel) -> Kernel:
    """Paste a very small function into the kernels that call it from their inner loops."""
    return keep(numba.njit(**_INNER, inline="always")(function))
