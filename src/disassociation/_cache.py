"""Where compiled kernels are kept on disk, and when they are too old.

Numba keeps what it compiled beside the source, or in the user's cache folder if that cannot be written (NUMBA_CACHE_DIR
names another), and takes it to be fresh as long as the kernel's own file is unchanged. But what a kernel calls is
compiled into it, so here it is fresh only if no file of this package that it imports from has changed either. Where
nothing can be written, kernels are compiled for the process alone.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

__all__ = ["keep"]

_IMPORT = re.compile(rb"^(?:from|import) ([\w.]+)", re.MULTILINE)


def keep(dispatcher: Any) -> Any:
    """Let a function that is about to be compiled be loaded from disk, or kept there."""
    try:
        dispatcher._cache = _Cache(dispatcher.py_func)
    except RuntimeError:
        _warn()
    return dispatcher


@cache
def _warn() -> None:
    """Once: it takes a minute, every time."""
    warnings.warn(
        "compiled kernels cannot be kept, so every start compiles them again; set NUMBA_CACHE_DIR to a folder that "
        "can be written",
        RuntimeWarning,
        stacklevel=2,
    )


@cache
def _imported(path: Path, root: Path) -> frozenset[Path]:
    """The files below the root that a file imports from, itself among them, at any remove."""
    found, waiting = {path}, [path]
    while waiting:
        for name in _IMPORT.findall(waiting.pop().read_bytes()):
            file = root.joinpath(*name.decode().split(".")).with_suffix(".py")
            if file not in found and file.is_file():
                found.add(file)
                waiting.append(file)
    return frozenset(found)


@cache
def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def _root_of(module: str, path: Path) -> Path:
    """The folder that absolute imports start from."""
    return path.parents[module.count(".")]


class _Stamped:
    """Takes a function for fresh by all files that it may have been compiled from."""

    _path: Path
    _root: Path

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        locator = super().from_function(py_func, py_file)  # type: ignore[misc]
        if locator is not None:
            locator._path = Path(py_file)
            locator._root = _root_of(py_func.__module__, locator._path)
        return locator

    def get_source_stamp(self) -> bytes:
        """Numba's word for it."""
        files = sorted(_imported(self._path, self._root))
        return hashlib.sha256(b"".join(map(_digest, files))).digest()


class _Provided(_Stamped, UserProvidedCacheLocator):
    pass


class _Beside(_Stamped, InTreeCacheLocator):
    pass


class _OfUser(_Stamped, UserWideCacheLocator):
    pass


class _Impl(CompileResultCacheImpl):
    _locator_classes = [_Provided, _Beside, _OfUser]  # noqa: RUF012 - as Numba has it


class _Cache(FunctionCache):
    _impl_class = _Impl
