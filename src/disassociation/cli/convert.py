"""``disassociate convert``."""

from __future__ import annotations

from typing import Annotated

import typer

from disassociation.cli import _shared as shared

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: disassociate convert baskets.csv baskets.parquet")(convert)


def convert(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Records in any format; - is stdin.")],
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="Where to write them; - is stdout.")],
    format: shared.Format = "auto",  # noqa: A002
    to: Annotated[str, typer.Option(help="Format to write.", show_default="by name")] = "auto",
    sep: shared.Separator = None,
    to_sep: Annotated[str | None, typer.Option(help="Separator to write with.", show_default="by name")] = None,
    encoding: shared.Encoding = "utf-8",
    transaction_column: shared.TransactionColumn = None,
    item_column: shared.ItemColumn = None,
    overwrite: shared.Overwrite = False,
) -> None:
    """Rewrite records in another format: fimi, basket, long, list, spmf, quest, json, plain or compressed."""
    from disassociation.formats import write

    data = shared.read_records(
        source,
        format=format,
        sep=sep,
        encoding=encoding,
        transaction_column=transaction_column,
        item_column=item_column,
    )
    write(data, output, format=to, sep=to_sep, overwrite=overwrite)
    shared.say(f"{shared.target_name(output)}: {len(data):,} records, {len(data.vocabulary):,} terms")
