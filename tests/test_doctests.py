"""Examples in docstrings are run, and everything public has one."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import disassociation

SOURCE = Path(__file__).parents[1] / "src"
WITH_EXAMPLES = [path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text()]
NEEDS_NONE = {"__version__", "errors"}


def module_name(path: Path) -> str:
    """What a file is imported as."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=module_name)
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All examples of a module, in a directory of their own; they leave nothing there."""
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module_name(path)))
    assert result.attempted > 0
    assert result.failed == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(set(disassociation.__all__) - NEEDS_NONE))
def test_everything_public_has_an_example(name: str) -> None:
    """One that imports what it uses, so that it can be copied."""
    examples = [test for test in doctest.DocTestFinder().find(getattr(disassociation, name)) if test.examples]
    assert examples
    assert all(test.examples[0].source.startswith(("import ", "from ")) for test in examples)


def test_the_package_itself_has_an_example() -> None:
    """The first thing that help(disassociation) shows."""
    assert ">>> import disassociation" in (disassociation.__doc__ or "")
