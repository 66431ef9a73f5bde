"""``disassociate evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disassociation.cli import _shared as shared

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate", epilog="Example: disassociate evaluate pos.dat pos.release")(measure)


def measure(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The records it was made from, in any format; - is stdin.")
    ],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release directory.")],
    hierarchy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A tree over the terms, for tKd-ML2: lines like bread;food;*")
    ] = None,
    reconstructions: Annotated[int, typer.Option(help="Draw so many possible originals; 0 for none.")] = 10,
    random_state: Annotated[int, typer.Option(help="Another number draws others.")] = 0,
    model: Annotated[str, typer.Option(help="The law to draw by: independent or empirical-bayes.")] = "independent",
    top: Annotated[int, typer.Option(help="Compare so many most frequent itemsets.")] = 1000,
    format: shared.Format = "auto",  # noqa: A002
    sep: shared.Separator = None,
    encoding: shared.Encoding = "utf-8",
    transaction_column: shared.TransactionColumn = None,
    item_column: shared.ItemColumn = None,
    json: shared.Json = False,
) -> None:
    """Measure what a release is still good for: frequent itemsets, supports of pairs, what is kept in chunks."""
    from disassociation.evaluation import check_options, evaluate
    from disassociation.hierarchy import read_hierarchy

    check_options(reconstructions, random_state, top, model)
    tree = None if hierarchy is None else read_hierarchy(hierarchy)
    with shared.progress() as step:
        data = shared.read_records(
            original,
            format=format,
            sep=sep,
            encoding=encoding,
            transaction_column=transaction_column,
            item_column=item_column,
        )
        found = evaluate(
            data,
            release,
            hierarchy=tree,
            reconstructions=reconstructions,
            random_state=random_state,
            model=model,
            top=top,
            progress=step,
        )
    if json:
        shared.print_json({"original": original, "release": str(release), **found.to_dict()})
    else:
        print(found)
