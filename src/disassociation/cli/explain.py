"""``disassociate explain``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from disassociation.cli import _shared as shared
from disassociation.errors import ParameterError

if TYPE_CHECKING:
    from disassociation.explanation import Explanation
    from disassociation.records import Transactions

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain", epilog="Example: disassociate explain pos.release bread gin --original pos.dat")(tell_why)


def tell_why(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release directory.")],
    terms: Annotated[list[str], typer.Argument(metavar="TERM...", help="One term or two, exactly as published.")],
    original: Annotated[
        str | None, typer.Option(help="The records it was made from, in any format; - is stdin. Tells the reasons.")
    ] = None,
    what_if: Annotated[bool, typer.Option("--what-if", help="Also try other k, m and cluster sizes.")] = False,
    max_cluster_size: Annotated[
        int | None, typer.Option(help="What it was made with.", show_default="as for anonymize")
    ] = None,
    sensitive: Annotated[str | None, typer.Option(metavar="FILE", help="The sensitive terms it was made with.")] = None,
    keep_together: Annotated[str | None, typer.Option(metavar="FILE", help="The groups it was made with.")] = None,
    no_refine: Annotated[bool, typer.Option("--no-refine", help="It was made without refining.")] = False,
    method: Annotated[str, typer.Option(help="What it was made with: default or paper.")] = "default",
    format: shared.Format = "auto",  # noqa: A002
    sep: shared.Separator = None,
    encoding: shared.Encoding = "utf-8",
    transaction_column: shared.TransactionColumn = None,
    item_column: shared.ItemColumn = None,
    model: shared.Model = "empirical-bayes",
    show_values: Annotated[bool, typer.Option("--show-values", help="Name the terms that keep a pair apart.")] = False,
    json: shared.Json = False,
) -> None:
    """Where a term or a pair ended, and why; with the original, which reason it was, and what other settings do."""
    asked = what_if or show_values or no_refine or keep_together or max_cluster_size is not None
    if original is None and asked:
        raise ParameterError("--what-if, --show-values and what the release was made with need --original")
    made = _Made(max_cluster_size, sensitive, keep_together, not no_refine, method)
    read = partial(
        shared.read_records,
        format=format,
        sep=sep,
        encoding=encoding,
        transaction_column=transaction_column,
        item_column=item_column,
    )
    with shared.progress() as step:
        found = _explain(release, terms, model, None if original is None else partial(read, original), made, what_if)
        step("print")
    if found.unknown:
        shared.say(f"{shared.counted(found.unknown, 'of the terms is', 'of the terms are')} not in the release")
    if json:
        shared.print_json({"release": str(release), **found.to_dict(show_values=show_values)})
    else:
        print(found.to_text(show_values=show_values))


class _Made(NamedTuple):
    """What the release was made with, beside what it says itself."""

    max_cluster_size: int | None
    sensitive: str | None
    keep_together: str | None
    refine: bool
    method: str


def _explain(
    path: Path, terms: list[str], model: str, read: Callable[[], Transactions] | None, made: _Made, what_if: bool
) -> Explanation:
    """The answer."""
    from disassociation.explanation import explain
    from disassociation.params import Parameters
    from disassociation.release_reader import open_release
    from disassociation.support import require_model

    require_model(model)
    release = open_release(path)
    sensitive = None if made.sensitive is None else shared.sensitive_terms(made.sensitive)
    if read is None:
        return explain(release, terms, model=model, sensitive=sensitive)
    if release.l is not None and sensitive is None:
        raise ParameterError("this release was made with l, so --original needs its sensitive terms; add --sensitive")
    parameters = Parameters(
        k=release.k,
        m=release.m,
        l=release.l,
        max_cluster_size=made.max_cluster_size,
        sensitive=sensitive or frozenset(),
        keep_together=_groups(made.keep_together),
        refine=made.refine,
        method=made.method,
    )
    return explain(release, terms, model=model, original=read(), parameters=parameters, what_if=what_if)


def _groups(path: str | None) -> tuple[frozenset[str], ...]:
    """The records of a file as groups of terms."""
    if path is None:
        return ()
    from disassociation.formats import read

    return tuple(frozenset(record) for record in read(path))
