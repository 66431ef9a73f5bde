"""How a process is set up that is ours alone: what a command may decide, and a library must leave to its user."""

from __future__ import annotations

import io
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

__all__ = ["prepare_process"]


class _WithoutBlas:
    """Numba looks for SciPy's BLAS when it is loaded: 0.16 s and 12 MB for something that no kernel of ours uses."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Deny `scipy.linalg`, but only to the module of Numba that asks whether it is there."""
        asking = sys.modules.get("numba.np.arraymath")
        if name == "scipy.linalg" and asking is not None and not hasattr(asking, "_HAVE_BLAS"):
            raise ImportError(name)
        return None


class _WithoutPandas:
    """Arrow loads pandas, where it is installed, at the first array it makes: 37 MB for what no command uses."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Deny `pandas` to everyone."""
        if name == "pandas":
            raise ImportError(name)
        return None


def prepare_process(*, is_ours: bool) -> None:
    """Make starting quick and memory small; make sure that a file name in no known encoding can be printed.

    Only a process that `is_ours` alone, because it was started to run one command, may be denied what others might use.
    """
    if is_ours:
        sys.meta_path.insert(0, _WithoutPandas())
    # Arrow's own allocator cannot use again what the kernels have freed: 40 MB more for 500,000 records.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if not any(isinstance(finder, _WithoutBlas) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WithoutBlas())
    if sys.stderr is None:  # closed by whoever started us; print would turn to stdout instead
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process lives
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
