"""What several commands share: options, progress, and how results are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disassociation.errors import InputError, ParameterError

if TYPE_CHECKING:
    from disassociation.records import Transactions
    from disassociation.release import Release

_FORMATS = "auto, fimi, basket, long, list, spmf, quest or json"

Format = Annotated[str, typer.Option("--format", help=f"Format of the records: {_FORMATS}.")]
Separator = Annotated[
    str | None, typer.Option("--sep", help="Separator of basket and long files.", show_default="by name")
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files.")]
TransactionColumn = Annotated[str | None, typer.Option(help="Long format: the column that names the record.")]
ItemColumn = Annotated[str | None, typer.Option(help="Long format: the column of terms. List format: the list column.")]
Model = Annotated[str, typer.Option(help="What to assume for expected numbers: empirical-bayes or independent.")]
Fit = Annotated[
    Path | None,
    typer.Option("--fit", metavar="FILE", help="Take what empirical-bayes learned from FILE, or keep it there."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]


def read_records(
    source: str,
    *,
    format: str,  # noqa: A002 - the word users type
    sep: str | None,
    encoding: str,
    transaction_column: str | None,
    item_column: str | None,
) -> Transactions:
    """Read records and say on stderr what format was chosen and what was dropped."""
    from disassociation.formats import read

    data = read(
        source, format=format, sep=sep, encoding=encoding, transaction=transaction_column, item=item_column, notify=say
    )
    if data.repeated_tokens:
        say(f"{data.repeated_tokens:,} repeated tokens counted once")
    if data.empty_records:
        say(f"{data.empty_records:,} empty records left out")
    return data


def open_fitted(path: Path, model: str, fit: Path | None) -> Release:
    """Open a release; with a file for what the model learns from it, learn now, or take it from there."""
    from disassociation.release_reader import open_release
    from disassociation.support import EMPIRICAL_BAYES, require_model

    require_model(model)
    if fit is not None and model != EMPIRICAL_BAYES:
        raise ParameterError(f"--fit is for the model {EMPIRICAL_BAYES}; leave it out, or choose that model")
    release = open_release(path)
    if fit is not None:
        from disassociation import estimator

        estimator.fit(release, fit)
    return release


def sensitive_terms(path: str | None) -> frozenset[str]:
    """The lines of a file, each a term exactly as it stands."""
    if path is None:
        return frozenset()
    from disassociation.formats._bytes import as_text, open_stream

    with open_stream(path) as stream:
        text = as_text(stream, "utf-8").readall().decode()
    # Not splitlines(): a term may hold U+0085 or U+2028, and would be published if it were cut in two here.
    terms = frozenset(line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line)
    if not terms:
        raise InputError(f"{path}: names no term; put one sensitive term on each line")
    return terms


_remarks: list[str] = []


def say(line: str) -> None:
    """A remark for stderr, where no program reads it as a result; kept back so that a failure is one line only."""
    _remarks.append(line)


def finish() -> None:
    """Hand over what a command that has succeeded printed, and behind it its remarks."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InputError(f"stdout: cannot be written ({error.strerror}); any file asked for is in place") from error
    for line in _remarks:
        print(line, file=sys.stderr)
    _remarks.clear()


def forget_remarks() -> None:
    """Start without remarks."""
    _remarks.clear()


def target_name(output: str) -> str:
    """What to call a file that was written."""
    return "stdout" if output == "-" else output


def counted(number: int, one: str, several: str = "") -> str:
    """A number of things in words."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def print_json(result: dict[str, object]) -> None:
    """The one object that ``--json`` promises."""
    print(json.dumps(result))


def print_lines(title: str, lines: dict[str, str]) -> None:
    """A short summary, names in one column and values in the next."""
    width = max(len(name) for name in lines)
    print(title)
    for name, value in lines.items():
        print(f"  {name:<{width}}  {value}")


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the name of the step on stderr, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:
        yield status.update
