"""``disassociate attack``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from disassociation.cli import _shared as shared
from disassociation.errors import ParameterError

__all__ = ["register"]

_REFUTED = 1


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("attack", epilog="Example: disassociate attack pos.release --original pos.dat")(simulate)


def simulate(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release directory.")],
    original: Annotated[str, typer.Option(help="The records it was made from, in any format; - is stdin.")],
    second: Annotated[
        Path | None, typer.Option(metavar="RELEASE2", help="Another release that some of the same people are in.")
    ] = None,
    second_original: Annotated[str | None, typer.Option(help="The records that one was made from.")] = None,
    format: shared.Format = "auto",  # noqa: A002
    sep: shared.Separator = None,
    encoding: shared.Encoding = "utf-8",
    transaction_column: shared.TransactionColumn = None,
    item_column: shared.ItemColumn = None,
    victims: Annotated[int, typer.Option(help="Attack so many records, drawn at random.")] = 1000,
    most_terms: Annotated[
        int | None, typer.Option(help="How many known terms the curve goes up to.", show_default="m + 3")
    ] = None,
    confidence: Annotated[float, typer.Option(help="From this confidence on a term counts as learned.")] = 0.9,
    random_state: Annotated[int, typer.Option(help="Another number draws other victims, terms and pairs.")] = 0,
    examples: Annotated[int, typer.Option(help="Name so many of the victims with the fewest candidates.")] = 0,
    show_values: Annotated[bool, typer.Option("--show-values", help="Show the terms known of the examples.")] = False,
    threads: Annotated[int | None, typer.Option(help="Threads to use.", show_default="all")] = None,
    json: shared.Json = False,
) -> int | None:
    """Attack a release, and the original, as someone would who knows some terms of a person; exit code 1: refuted."""
    from disassociation.exposure.attack_report import attack, check_options

    if show_values and not examples:
        raise ParameterError("--show-values shows the terms of examples; ask for some with --examples")
    other = _second_pair(original, second, second_original)
    check_options(victims, most_terms, confidence, random_state, examples, threads)
    read = partial(
        shared.read_records,
        format=format,
        sep=sep,
        encoding=encoding,
        transaction_column=transaction_column,
        item_column=item_column,
    )
    with shared.progress() as step:
        found = attack(
            release,
            read(original),
            second=other and (other[0], read(other[1])),
            victims=victims,
            most_terms=most_terms,
            confidence=confidence,
            random_state=random_state,
            examples=examples,
            threads=threads,
            progress=step,
        )
    if json:
        names = {"release": str(release), "original": original}
        names |= {"second_release": str(other[0]), "second_original": other[1]} if other else {}
        shared.print_json({**names, **found.to_dict(show_values=show_values)})
    else:
        print(found.to_text(show_values=show_values))
    return _REFUTED if found.refuted else None


def _second_pair(original: str, second: Path | None, second_original: str | None) -> tuple[Path, str] | None:
    """A second release with its original, or None."""
    if second is None and second_original is None:
        return None
    if second is None or second_original is None:
        raise ParameterError("--second and --second-original go together; give both, or neither")
    if original == second_original == "-":
        raise ParameterError("only one of --original and --second-original can be stdin")
    return second, second_original
