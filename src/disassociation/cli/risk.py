"""``disassociate risk``."""

from __future__ import annotations

from typing import Annotated

import typer

from disassociation.cli import _shared as shared
from disassociation.errors import ParameterError

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("risk", epilog="Example: disassociate risk pos.dat -k 5 -m 2")(count_exposed)


def count_exposed(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Records in any format, .gz and .zst too; - is stdin.")
    ],
    k: Annotated[int, typer.Option("-k", help="Fewer candidate records than this pin a record down.")] = 5,
    m: Annotated[int, typer.Option("-m", help="Most terms of a record that may be known.")] = 2,
    format: shared.Format = "auto",  # noqa: A002
    sep: shared.Separator = None,
    encoding: shared.Encoding = "utf-8",
    transaction_column: shared.TransactionColumn = None,
    item_column: shared.ItemColumn = None,
    sample: Annotated[
        int | None,
        typer.Option(help="From three terms on, search so many records only.", show_default="all, or 1,000 if dear"),
    ] = None,
    random_state: Annotated[int, typer.Option(help="Another number draws another sample.")] = 0,
    examples: Annotated[int, typer.Option(help="Name so many of the most exposed records.")] = 0,
    show_values: Annotated[bool, typer.Option("--show-values", help="Show the terms of the examples.")] = False,
    threads: Annotated[int | None, typer.Option(help="Threads to use.", show_default="all")] = None,
    json: shared.Json = False,
) -> None:
    """Count the records that someone who knows a few of their terms can pin down, before anything is published."""
    from disassociation.exposure.risk_before import check_options, risk

    if show_values and not examples:
        raise ParameterError("--show-values shows the terms of examples; ask for some with --examples")
    check_options(k, m, sample, random_state, examples, threads)
    with shared.progress() as step:
        data = shared.read_records(
            source,
            format=format,
            sep=sep,
            encoding=encoding,
            transaction_column=transaction_column,
            item_column=item_column,
        )
        found = risk(
            data,
            k=k,
            m=m,
            sample=sample,
            random_state=random_state,
            examples=examples,
            threads=threads,
            progress=step,
        )
    if json:
        shared.print_json({"input": source, **found.to_dict(show_values=show_values)})
    else:
        print(found.to_text(show_values=show_values))
