"""``disassociate warmup``."""

from __future__ import annotations

import importlib
import pkgutil
import time

import typer

from disassociation.cli import _shared as shared

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("warmup", epilog="Example: disassociate warmup")(compile_all)


def compile_all(json: shared.Json = False) -> None:
    """Compile all kernels now, so that no later command has to: for images, and installations that are only read."""
    from disassociation import _kernels, auditor

    start, modules = time.perf_counter(), 0
    with shared.progress() as step:
        for package in (_kernels, auditor):
            for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                step(module.name.rpartition(".")[2])
                importlib.import_module(module.name)
                modules += 1
    seconds = round(time.perf_counter() - start, 1)
    if json:
        shared.print_json({"modules": modules, "seconds": seconds})
    else:
        print(f"kernels of {modules} modules are ready ({seconds} s)")
