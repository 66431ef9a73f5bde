"""``disassociate support``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from disassociation.cli import _shared as shared

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("support", epilog="Example: disassociate support pos.release bread gin")(count_holders)


def count_holders(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release directory.")],
    terms: Annotated[list[str], typer.Argument(metavar="TERM...", help="The terms, each exactly as published.")],
    model: shared.Model = "empirical-bayes",
    fit: shared.Fit = None,
    json: shared.Json = False,
) -> None:
    """How many records hold all the terms: at least, expected, and at most in any possible original."""
    from disassociation.support import codes_of, support_of

    with shared.progress() as step:
        opened = shared.open_fitted(release, model, fit)
        step("count")
        found = support_of(opened, terms, model)
        unknown = sum(int(codes_of(opened, [term])[0] < 0) for term in set(terms))
    if unknown:
        shared.say(f"{shared.counted(unknown, 'of the terms is', 'of the terms are')} not in the release")
    if json:
        itemset = sorted(set(terms))
        facts = {"release": str(release), "itemset": itemset, "unknown_terms": unknown, "records": opened.records}
        shared.print_json({**facts, "model": model, **found._asdict()})
    else:
        asked = shared.counted(len(set(terms)), "term")
        lines = {"at least": f"{found.lower:,}", "expected": f"{found.expected:,.2f}", "at most": f"{found.upper:,}"}
        shared.print_lines(f"{release}: records with {asked}, of {opened.records:,}", lines)
