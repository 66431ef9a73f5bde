"""Every page is true: its code runs and prints what it says, its links lead somewhere, what it names is there."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from typer.main import get_command

import disassociation as da
from commands import call, start
from disassociation.cli import app

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, "CHANGELOG.md"]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = "spark."
"""What a text block is known by that is code for a program the test suite does not ask for."""


class Block(NamedTuple):
    """Fenced code, and what stands between it and the block before."""

    line: int
    language: str
    text: str
    before: str


def page_text(page: str) -> str:
    """A page as it stands in the repository."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str) -> Iterator[Block]:
    """The fenced code of a page, in order."""
    end = 0
    for found in FENCED.finditer(text):
        yield Block(text.count("\n", 0, found.start()) + 2, found[1], found[2], text[end : found.start()].strip())
        end = found.end()


def prose(text: str) -> str:
    """A page without its fenced code."""
    return FENCED.sub("", text)


def spans(text: str) -> set[str]:
    """What a page sets in code within its sentences."""
    return set(re.findall(r"`([^`\n]+)`", prose(text)))


def run_python(page: str, block: Block, namespace: dict[str, Any]) -> str:
    """Run a block in its page's namespace; tracebacks show the page and the line."""
    code = compile("\n" * (block.line - 1) + block.text, page, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def run_console(block: Block) -> str:
    """Run the commands behind the prompts; what a terminal shows, both streams in the order they are written."""
    shown = b""
    for line in block.text.splitlines():
        assert line.startswith("$ disassociate "), line
        process = start(shlex.split(line)[2:], stderr=subprocess.STDOUT)
        output, _ = process.communicate(timeout=600)
        assert process.returncode == 0, output
        shown += output
    return shown.decode()


def check_shell(block: Block) -> None:
    """Shell lines install or make; what is made must be a target of the Makefile."""
    for line in block.text.splitlines():
        if not line.startswith("python3 -m pip install "):
            target = re.fullmatch(r"make ([a-z]+)", line)
            assert target, line
            assert re.search(rf"^{target[1]}:", page_text("Makefile"), re.MULTILINE), line


def timeless(text: str) -> str:
    """A text without its times."""
    return re.sub(r"\b\d+\.\d+ s\b", "x.xx s", text)


@pytest.mark.parametrize("page", [page for page in PAGES if "```" in page_text(page)])
def test_code_runs_and_prints_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page in order, in one directory and one namespace; warnings are errors."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    printed: str | None = None
    for block in blocks(page_text(page)):
        where = f"{page}:{block.line}"
        if block.language == "text":
            if printed is None or block.before not in ("", "prints"):
                assert NOT_RUN in block.text, where
            else:
                assert timeless(block.text) == timeless(printed), where
            printed = None
        elif block.language == "python":
            printed = run_python(page, block, namespace)
        elif block.language == "console":
            printed = run_console(block)
        elif block.language == "json":
            json.loads(block.text)
        else:
            assert block.language == "sh", where
            check_shell(block)


def test_the_readme_begins_with_two_commands() -> None:
    """A demonstration and the tests, before anything else is asked of a reader."""
    first = next(blocks(page_text("README.md")))
    assert (first.language, first.text) == ("sh", "make demo\nmake test\n")


def test_the_data_card_of_a_release_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page that each release carries, where its reader is: in the directory of the release."""
    release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2 + [["beer"]] * 4, k=2, m=2)
    release.save(tmp_path / "x.release")
    monkeypatch.chdir(tmp_path / "x.release")
    certain = Counter({"bread": 5, "beer": 4, "milk": 3, "gin": 2})
    namespace: dict[str, Any] = {}
    languages = []
    for block in blocks(Path("README.md").read_text(encoding="utf-8")):
        languages.append(block.language)
        if block.language == "sql":
            assert Counter(dict(duckdb.sql(block.text).fetchall())) == certain
        elif NOT_RUN not in block.text:
            run_python("data card", block, namespace)
    assert languages == ["sql", "python", "python", "python", "python"]
    assert namespace["release"] == release


def anchors(text: str) -> set[str]:
    """The names under which a page's headings can be linked to."""
    heads = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_somewhere(page: str) -> None:
    """Links into the repository: to a file that is there, and to a heading of it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", prose(page_text(page)))):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path.read_text(encoding="utf-8")), target


def test_the_index_lists_every_page() -> None:
    """Nothing is written that nobody finds."""
    listed = set(re.findall(r"^\| \[[^]]+\]\(([^)#]+)\)", page_text("docs/index.md"), re.MULTILINE))
    assert {f"docs/{name}" for name in listed} == {*PAGES[1:]} - {"docs/index.md"}


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that call it."""
    root: Any = get_command(app)
    for name, command in (group or root).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands())
SMALLER = {("generate", "quest"): "--records 300", ("generate", "pos"): "--records 300", ("demo",): "--records 300"}
"""Options put behind an example so that it takes no time; the last one counts."""
JUDGES = {("warmup",), ("audit",), ("risk",), ("attack",), ("support",), ("evaluate",), ("itemsets",), ("explain",)}
"""Commands that only look at what is there, and write nothing."""
NEED_A_RELEASE = {*JUDGES, ("reconstruct",)}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_example_of_every_help_works(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be copied: it runs, and writes what it says."""
    monkeypatch.chdir(tmp_path)
    for name in ("pos.dat", "baskets.csv"):
        Path(name).write_text("bread\nbread\ngin\n" * 5)
    if path in NEED_A_RELEASE:
        assert call("anonymize", "pos.dat", "-o", "pos.release").code == 0
    there = {entry.name for entry in tmp_path.iterdir()}
    helped = call(*path, "--help")
    assert (helped.code, helped.err) == (0, "")
    shown = re.sub(r"\x1b\[[\d;]*m", "", helped.out.decode())  # colours, where they are forced
    example = " ".join(shown.partition("Example: ")[2].split())
    words = shlex.split(example)
    assert words[: 1 + len(path)] == ["disassociate", *path]
    answer = call(*words[1:], *SMALLER.get(path, "").split())
    assert answer.code == 0, answer.err
    made = {entry.name for entry in tmp_path.iterdir()} - there
    assert made == (set() if path in JUDGES else {words[-1]})


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_readme_names_every_command(path: tuple[str, ...]) -> None:
    """In its table, and no others."""
    named = re.findall(r"`(?:disassociate )?([^`]+)`", "".join(re.findall(r"^\| `.*?\|", readme(), re.MULTILINE)))
    assert " ".join(path) in [" ".join(word for word in line.split()[: len(path)]) for line in named]
    assert len(named) == len(COMMANDS)


def readme() -> str:
    """The page everybody sees first."""
    return page_text("README.md")


@pytest.mark.parametrize("page", LINKED)
def test_options_that_are_named_exist(page: str) -> None:
    """`--like-this` is an option of some command."""
    options = {name for command in COMMANDS.values() for option in command.params for name in option.opts}
    named = {option for span in spans(page_text(page)) for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", span)}
    assert named <= options | {"--help"}


@pytest.mark.parametrize("page", LINKED)
def test_names_in_python_exist(page: str) -> None:
    """`da.this`, `Release.that()` and `python -m module`."""
    for span in spans(page_text(page)):
        if found := re.fullmatch(r"da\.(\w+)(\(.*\))?", span):
            assert found[1] in da.__all__, span
        elif found := re.fullmatch(r"([A-Z][a-z]\w+)\.(\w+)(\(.*\))?", span):
            assert hasattr(getattr(da, found[1]), found[2]), span
        elif found := re.fullmatch(r"python -m ([\w.]+).*", span):
            module = ROOT / found[1].replace(".", "/")
            assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), span


def test_files_that_are_named_exist() -> None:
    """`docs/page.md`, `tests/folder` and the like, wherever a page or a docstring says so."""
    texts = [*map(page_text, LINKED), *(path.read_text() for path in (ROOT / "src").rglob("*.py"))]
    named = {name for text in texts for name in re.findall(r"`((?:docs|tests|src|benchmarks)/[\w./-]+)`", text)}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_cases_that_are_named_exist() -> None:
    """`a1` stands for the one file of tests/cases that begins so."""
    cases = [path.stem for path in (ROOT / "tests" / "cases").glob("*.json")]
    named = set()
    for page in ("docs/guarantee.md", "docs/departures.md"):
        named |= {span for span in spans(page_text(page)) if re.fullmatch(r"[a-l]\d|fig\d\w*", span)}
    for name in named:
        assert sum(case == name or case.startswith(f"{name}_") for case in cases) == 1, name
    assert len(named) >= 20


def test_the_extensions_of_the_format_table(tmp_path: Path) -> None:
    """A name that ends as the table says is written in that format."""
    data = da.read([["1", "2"], ["10"]])
    rows = re.findall(r"^\| \[`(\w+)`\].*?\| ([^|]+) \|$", page_text("docs/formats.md"), re.MULTILINE)
    assert len(rows) == 7
    for name, extensions in rows:
        for extension in re.findall(r"`([^`]+)`", extensions):
            for file, options in (("guessed", {}), ("told", {"format": name})):
                da.write(data, tmp_path / f"{file}{extension}", **options)
            assert (tmp_path / f"guessed{extension}").read_bytes() == (tmp_path / f"told{extension}").read_bytes()


def test_the_manifest_is_as_specified(tmp_path: Path) -> None:
    """Exactly the members that the release format lists, and no others."""
    da.disassociate([["bread"]] * 3, k=2, m=2).save(tmp_path / "x.release")
    section = page_text("docs/release-format.md").partition("## 1. ")[2].partition("\n## ")[0]
    members = [name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in row.split(", ")]
    assert members == [f"`{name}`" for name in json.loads((tmp_path / "x.release" / "manifest.json").read_bytes())]


def test_the_changelog_has_this_version() -> None:
    """Under a heading of its own, below what is not yet released, and newest first."""
    heads = re.findall(r"^## \[([^]]+)\]", page_text("CHANGELOG.md"), re.MULTILINE)
    assert heads[:2] == ["Unreleased", da.__version__]
    numbers = [tuple(map(int, head.split("."))) for head in heads[1:]]
    assert numbers == sorted(set(numbers), reverse=True)
    assert f"Version {da.__version__}," in page_text("README.md")
