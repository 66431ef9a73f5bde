"""Compiled kernels on disk: loaded again, made anew when what they call has changed, done without if need be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import disassociation
from commands import call

OUTER = """
from disassociation._kernels._jit import kernel
from sample.inner import twice
from numba import types

@kernel(types.int64(types.int64))
def outer(number):
    return twice(number) + 1
"""
INNER = """
from disassociation._kernels._jit import helper

@helper
def twice(number):
    return {factor} * number
"""
RUN = "from sample.outer import outer; print(outer(10), sum(outer.stats.cache_hits.values()))"


def write(folder: Path, factor: int = 2) -> None:
    package = folder / "sample"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(factor=factor))


def start(folder: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """A process of its own, as everything is in memory in this one."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | environment
    variables["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, *options, "-c", RUN]
    return subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )


def answer(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it printed: the result, and how often the kernel was loaded from disk; and what it complained of."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip(), err


def test_kept_and_made_anew(tmp_path: Path) -> None:
    """A change of a helper in another file is seen, which Numba on its own would not."""
    write(tmp_path)
    assert answer(start(tmp_path)) == ("21 0", "")
    assert answer(start(tmp_path)) == ("21 1", "")
    write(tmp_path, factor=3)
    assert answer(start(tmp_path)) == ("31 0", "")
    assert answer(start(tmp_path)) == ("31 1", "")


def test_several_processes_at_once(tmp_path: Path) -> None:
    """All start cold."""
    write(tmp_path)
    assert {answer(process)[0] for process in [start(tmp_path) for _ in range(3)]} <= {"21 0", "21 1"}
    assert answer(start(tmp_path)) == ("21 1", "")


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    """An installation that can only be read, and no home: it takes longer and says so; a folder named is used."""
    write(tmp_path)
    (tmp_path / "sample" / "__pycache__").touch()  # no folder, and none can be made: even root cannot write there
    (tmp_path / "home").touch()
    nowhere = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(2):
        out, err = answer(start(tmp_path, **nowhere))
        assert out == "21 0"
        assert err.count("cannot be kept") == 1
    named = {**nowhere, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    assert answer(start(tmp_path, **named)) == ("21 0", "")
    assert answer(start(tmp_path, **named)) == ("21 1", "")
    assert list((tmp_path / "kept").rglob("*.nbc"))


def test_warmup() -> None:
    """All modules with kernels are loaded."""
    answer = call("warmup", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["modules"] > 80
    loaded = {name.rpartition(".")[2] for name in sys.modules if name.startswith("disassociation._kernels.")}
    folder = Path(disassociation.__file__).parent / "_kernels"
    assert loaded >= {path.stem for path in folder.glob("*.py")} - {"__init__"}
