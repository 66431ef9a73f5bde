"""``disassociate generate quest`` and ``disassociate generate pos``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from disassociation.cli import _shared as shared

if TYPE_CHECKING:
    from disassociation.records import Transactions

__all__ = ["register"]

_generate = typer.Typer(
    help="Make synthetic records.",
    epilog="Example: disassociate generate quest --records 100000 -o quest.dat",
    no_args_is_help=True,
)

_Output = Annotated[str, typer.Option("-o", "--output", help="Where to write the records; - is stdout.")]
_To = Annotated[str, typer.Option("--format", help="Format to write.", show_default="by name")]
_Seed = Annotated[int, typer.Option("--random-state", help="Another number gives other records.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(_generate, name="generate")


@_generate.command(epilog="Example: disassociate generate quest --records 100000 -o quest.dat")
def quest(
    output: _Output,
    records: Annotated[int, typer.Option(help="How many records.")] = 1_000_000,
    terms: Annotated[int, typer.Option(help="Size of the domain.")] = 5_000,
    mean_length: Annotated[float, typer.Option(help="Mean terms a record.")] = 10.0,
    patterns: Annotated[int, typer.Option(help="How many patterns the records are made of.")] = 2_000,
    pattern_length: Annotated[float, typer.Option(help="Mean terms a pattern.")] = 4.0,
    correlation: Annotated[float, typer.Option(help="Share of a pattern taken from the one before.")] = 0.25,
    random_state: _Seed = 0,
    format: _To = "auto",  # noqa: A002
    overwrite: shared.Overwrite = False,
) -> None:
    """Market baskets as IBM's Quest generator makes them."""
    from disassociation.generators import generate_quest

    data = generate_quest(
        records=records,
        terms=terms,
        mean_length=mean_length,
        patterns=patterns,
        pattern_length=pattern_length,
        correlation=correlation,
        random_state=random_state,
    )
    _write(data, output, format, overwrite)


@_generate.command(epilog="Example: disassociate generate pos -o pos-like.dat")
def pos(
    output: _Output,
    records: Annotated[int, typer.Option(help="How many records.")] = 515_597,
    random_state: _Seed = 0,
    format: _To = "auto",  # noqa: A002
    overwrite: shared.Overwrite = False,
) -> None:
    """A synthetic stand-in with the published size of the BMS-POS data; it is not that data."""
    from disassociation.generators import generate_pos

    _write(generate_pos(records=records, random_state=random_state), output, format, overwrite)


def _write(data: Transactions, output: str, format: str, overwrite: bool) -> None:  # noqa: A002
    from disassociation.formats import write

    write(data, output, format=format, overwrite=overwrite)
    occurrences = f"{len(data.vocabulary):,} terms, {len(data.items):,} occurrences"
    shared.say(f"{shared.target_name(output)}: {len(data):,} records, {occurrences}")
