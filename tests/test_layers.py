"""House rules that a reader of the source relies on: who imports whom, what is named how, how large things get."""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import disassociation

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "disassociation"
OURS = "disassociation"


class Module(NamedTuple):
    """A file of Python: its name, whole and without the package's, and what is in it."""

    name: str
    part: str
    path: Path
    tree: ast.Module


def parse(path: Path, root: Path) -> Module:
    """A file under the folder that imports start from."""
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    return Module(name, name.partition(".")[2], path, ast.parse(path.read_text(encoding="utf-8")))


MODULES = [parse(path, ROOT / "src") for path in sorted(SOURCE.rglob("*.py"))]
NAMES = {module.name for module in MODULES}
TESTS = [parse(path, ROOT / "tests") for path in sorted((ROOT / "tests").rglob("*.py"))]


def imported(module: Module) -> set[str]:
    """Every module that a file imports, anywhere in it, for types only or not."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}: imports are absolute"
            assert node.module is not None
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(whole & NAMES or {node.module})
    return found


def top(name: str) -> str:
    """The part of our package that a module is in: a stage, `formats`, `_kernels`; "" is the package itself."""
    return name.partition(".")[2].partition(".")[0]


def packages(module: Module) -> set[str]:
    """The outermost packages that a module imports from."""
    return {name.partition(".")[0] for name in imported(module)}


STAGES = {"encode", "horizontal", "vertical", "refine", "assemble", "reconcile"}
DATA = {"_kernels", "_parallel", "_types", "errors", "params", "records"}
MAY_IMPORT = {
    "_types": set[str](),
    "_parallel": set[str](),
    "errors": set[str](),
    "_cache": set[str](),
    "_kernels": {"_kernels", "_cache", "_types"},
    "records": {"_types"},
    "params": {"_types", "errors", "records"},
    **dict.fromkeys(STAGES, DATA | STAGES),
    "auditor": {"auditor", "errors", "_cache"},  # what keeps compiled code on disk judges nothing
    "generators": {"generators", "_kernels", "_types", "errors", "records"},
    "formats": {"formats", "encode", *DATA} - {"params", "_parallel"},
}
"""Of our own modules; those not listed may import all but the pipeline and the command line.

The pipeline, and the transformer that calls it, may import all but the command line, and that may import everything."""


def test_layers() -> None:
    """Kernels know only each other, stages only data and kernels, the judges no stage, and nobody the command line."""
    for module in MODULES:
        part = top(module.name)
        used = {top(name) for name in imported(module) if name.partition(".")[0] == OURS}
        if part in MAY_IMPORT:
            assert used <= MAY_IMPORT[part], module.name
        elif part in ("", "pipeline", "transformer"):
            assert "cli" not in used, module.name
        elif part != "cli":
            assert not used & {"cli", "pipeline"}, module.name


def test_what_others_made() -> None:
    """Only what the project depends on; Numba where there are kernels, and nothing in kernels but Numba and NumPy."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"]}
    some = {
        "cli": needed - {"numba"},
        "auditor": needed - {"rich", "typer"},
        "_kernels": {"numpy", "numba", "llvmlite"},
        "_cache": {"numba"},
    }
    for module in MODULES:
        foreign = packages(module) - sys.stdlib_module_names - {OURS}
        assert foreign <= some.get(top(module.name), needed - {"numba", "rich", "typer"}), module.name


def test_no_network() -> None:
    """Nothing here talks to another machine."""
    network = {"socket", "ssl", "urllib", "http", "ftplib", "smtplib", "asyncio", "xmlrpc", "webbrowser", "requests"}
    for module in MODULES:
        assert not packages(module) & network, module.name


CHANCE = {"random", "secrets", "time", "datetime", "uuid"}
MAY_USE_CHANCE = {
    "release_writer": {"secrets"},  # the temporary name of a directory
    "formats._output": {"secrets"},  # the temporary name of a file
    "formats._tokens": {"secrets"},  # the multiplier of a hash table, so that no file can be made to fill one slot
    "cli.anonymize": {"time"},  # how long it took, which is printed
    "cli.demo": {"time"},
    "cli.warmup": {"time"},
}


def test_neither_chance_nor_time() -> None:
    """A release is a function of the records: random numbers are for generators, clocks for the command line."""
    for module in MODULES:
        assert packages(module) & CHANCE <= MAY_USE_CHANCE.get(module.part, set()), module.name
        attributes = {ast.unparse(node) for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}
        named = {name for name in attributes | imported(module) if re.match(r"(np|numpy)\.random|os\.urandom", name)}
        assert not named or top(module.name) == "generators", module.name


def test_oracles_import_nothing_they_judge() -> None:
    """The method in plain sets, the worlds and the paper's figures know nothing of the package."""
    oracles = [module for module in TESTS if module.name.partition(".")[0] in ("naive", "worlds", "paper")]
    assert len(oracles) > 10
    for module in oracles:
        assert OURS not in packages(module), module.name


def test_compiler_options_are_named_in_one_place() -> None:
    """Everything that is compiled is so by `_kernels/_jit.py`, and what the auditor compiles by its own."""
    options = {"nogil", "fastmath", "parallel", "cache", "nopython", "boundscheck", "error_model", "_nrt"}
    compilers = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil"}
    named = set()
    for module in MODULES:
        nodes = list(ast.walk(module.tree))
        words = {ast.unparse(node).rpartition(".")[2] for node in nodes if isinstance(node, ast.Name | ast.Attribute)}
        words |= {node.name for node in nodes if isinstance(node, ast.alias)}
        if words & compilers or {node.arg for node in nodes if isinstance(node, ast.keyword)} & options:
            named.add(module.part)
    assert "_kernels._jit" in named
    assert named <= {"_kernels._jit", "auditor._compile"}


MOST_LINES, MOST_LINES_OF_A_FUNCTION = 500, 60
LONG = {"cli.anonymize.anonymize"}  # half of it are its parameters, which are the options of the command


def test_sizes() -> None:
    """What does not fit on a few screens is divided."""
    for module in MODULES:
        assert len(module.path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, module.name
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and f"{module.part}.{node.name}" not in LONG:
                assert (node.end_lineno or 0) - node.lineno < MOST_LINES_OF_A_FUNCTION, f"{module.name}.{node.name}"


def bound_names(tree: ast.Module) -> set[str]:
    """What the top level of a module gives a name to."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def exported(tree: ast.Module) -> list[str] | None:
    """The value of `__all__`, or None."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def kind_and_name(name: str) -> tuple[int, str]:
    """The order that ruff asks for: constants, classes, everything else."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_exports() -> None:
    """`__all__` is in order, names nothing twice and nothing that is not there; modules of the first level have it."""
    for module in MODULES:
        names = exported(module.tree)
        if names is None:
            inner = "." in module.part or module.part.startswith("_") or module.path.name == "__init__.py"
            assert inner, module.name
        else:
            assert names == sorted(set(names), key=kind_and_name), module.name
            assert set(names) <= bound_names(module.tree), module.name


def test_the_package_exports_what_it_loads() -> None:
    """The names in `__all__`, in `dir()`, in the lazy map and those for type checkers are the same."""
    names = disassociation.__all__
    lazy = {*disassociation._HOMES, "errors", "__version__"}
    assert set(names) == lazy
    assert dir(disassociation) == sorted(names)
    package = next(module for module in MODULES if module.name == OURS)
    guarded = next(node for node in package.tree.body if isinstance(node, ast.If))
    froms = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in froms for alias in node.names}
    assert set(homes) == lazy - {"__version__"}
    for name, home in disassociation._HOMES.items():
        assert homes[name] == f"{OURS}.{home}"
        assert getattr(disassociation, name) is getattr(importlib.import_module(f"{OURS}.{home}"), name)
    assert disassociation.errors is importlib.import_module(f"{OURS}.errors")


def test_an_unknown_name() -> None:
    """What is not exported is an AttributeError like any other."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        disassociation.nothing  # noqa: B018


SAME_NAME = {
    *("cli.anonymize", "cli.convert", "cli.demo"),  # typer takes the name of a command from its function
    "data_card",  # which has one function
}


def test_no_function_has_the_name_of_its_module() -> None:
    """Nor does a package define a name that is one of its modules: one of the two would hide the other."""
    for module in MODULES:
        own = module.part.rpartition(".")[2]
        named = {node.name for node in module.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert own not in named or module.part in SAME_NAME, module.name
        assert not {f"{module.name}.{name}" for name in named} & NAMES, module.name


def test_no_module_for_whatever_fits_nowhere() -> None:
    """A module has a subject, and a name that is no built-in's."""
    for module in [*MODULES, *TESTS]:
        own = module.name.rpartition(".")[2]
        assert own not in {"utils", "util", "helpers", "common", "misc", "tools", *dir(builtins)}, module.name


HEAVY = {"numba", "llvmlite", "numpy", "scipy", "pyarrow", "pandas", "polars", "duckdb", "pyspark"}
RUN_MAIN = "from disassociation.cli import main\ntry:\n    main({})\nexcept SystemExit:\n    pass\n"
QUICK = {
    "import": "import disassociation\ndir(disassociation)\n",
    "errors": "import disassociation\ndisassociation.errors.InputError\n",
    "--help": RUN_MAIN.format(["--help"]),
    "anonymize --help": RUN_MAIN.format(["anonymize", "--help"]),
    "--version": RUN_MAIN.format(["--version"]),
    "a mistake": RUN_MAIN.format(["anonymize"]),
}


@pytest.mark.parametrize("name", QUICK)
def test_nothing_heavy_is_imported_until_needed(name: str) -> None:
    """Importing the package and asking for help take no time: no array library is loaded."""
    code = f"import json, sys\n{QUICK[name]}print(json.dumps(list(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    assert OURS in loaded
    assert not loaded & HEAVY


def test_anonymizing_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    """Not pandas, which Arrow would load, nor SciPy's solvers: 60 MB and a third of the time to start."""
    (tmp_path / "in.dat").write_text("a b\na b c\nb c\n" * 20)
    code = (
        "import json, sys\nfrom disassociation.cli import main\n"
        f"sys.argv = ['disassociate', 'anonymize', {str(tmp_path / 'in.dat')!r}, '-o', {str(tmp_path / 'out')!r}]\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert left.code == 0\n"
        "print(json.dumps(list(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "pyarrow" in loaded
    assert not loaded & {"pandas", "polars", "scipy.optimize", "scipy.sparse", "scipy.linalg"}
