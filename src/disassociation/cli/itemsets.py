"""``disassociate itemsets``."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disassociation.cli import _shared as shared

if TYPE_CHECKING:
    from disassociation.itemsets import Itemsets

__all__ = ["register"]

_TOP = 1000


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("itemsets", epilog="Example: disassociate itemsets pos.release --top 1000")(list_itemsets)


def list_itemsets(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release directory.")],
    top: Annotated[
        int | None, typer.Option(help="The best so many itemsets.", show_default=f"{_TOP}, or all if a least is given")
    ] = None,
    min_support: Annotated[
        float | None, typer.Option(metavar="F", help="Only itemsets in at least this share of the records.")
    ] = None,
    min_count: Annotated[
        int | None, typer.Option(metavar="N", help="Only itemsets in at least so many records.")
    ] = None,
    max_length: Annotated[int | None, typer.Option(metavar="N", help="Only itemsets of up to so many terms.")] = None,
    by: Annotated[str, typer.Option(help="What decides: expected, or lower for what is certain.")] = "expected",
    model: shared.Model = "empirical-bayes",
    fit: shared.Fit = None,
    json: shared.Json = False,
) -> None:
    """List frequent itemsets: how many records hold each at least, expected, and at most in any possible original."""
    from disassociation.release_itemsets import check_options, itemsets_of

    if top is None and min_support is None and min_count is None:
        top = _TOP
    options: dict[str, Any] = {"top": top, "min_support": min_support, "min_count": min_count, "max_length": max_length}
    check_options(**options, by=by, model=model)
    with shared.progress() as step:
        opened = shared.open_fitted(release, model, fit)
        step("mine")
        found = itemsets_of(opened, **options, by=by, model=model)
    if json:
        facts = {"release": str(release), "records": opened.records, **options, "by": by, "model": model}
        shared.print_json({**facts, "itemsets": list(found)})
    else:
        order = "expected" if by == "expected" else "certain"
        print(f"{release}: {shared.counted(len(found), 'itemset')} by {order} records, of {opened.records:,}")
        _print_rows(found)


def _print_rows(found: Itemsets) -> None:
    rows = [("lower", "expected", "upper", "itemset")]
    rows += [
        (f"{row['lower']:,}", f"{row['expected']:,.2f}", f"{row['upper']:,}", ", ".join(map(_shown, row["itemset"])))
        for row in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print("  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[3]]))


def _shown(term: str) -> str:
    """A term as it is, or quoted if a terminal would take a part of it for something else."""
    return term if term.isprintable() else dumps(term)
