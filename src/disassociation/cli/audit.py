"""``disassociate audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disassociation.cli import _shared as shared
from disassociation.errors import ParameterError

if TYPE_CHECKING:
    from disassociation.auditor.verdict import Audit

__all__ = ["register"]

_MOST_SHOWN = 20
_DOES_NOT_HOLD = 1


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", epilog="Example: disassociate audit pos.release")(prove)


def prove(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release directory.")],
    terms: Annotated[
        list[str] | None, typer.Argument(metavar="[TERM]...", help="With --witness: the terms someone may know.")
    ] = None,
    show_witness: Annotated[
        bool, typer.Option("--witness", help="Show k records of a possible original that hold the terms.")
    ] = False,
    sensitive: Annotated[
        str | None, typer.Option(help="File of terms, one a line, that must not be published with others.")
    ] = None,
    l: Annotated[  # noqa: E741
        int | None, typer.Option("--l", help="Hold the release to this l.", show_default="what it claims")
    ] = None,
    show_values: Annotated[bool, typer.Option("--show-values", help="Show the itemsets that are exposed.")] = False,
    json: shared.Json = False,
) -> int | None:
    """Prove or refute the guarantee of a release from its files alone; exit code 1 if it does not hold."""
    from disassociation.auditor.auditing import audit

    if bool(terms) != show_witness:
        raise ParameterError("--witness and the terms to show it for go together; give both, or neither")
    secret = shared.sensitive_terms(sensitive)
    with shared.progress() as step:
        step("audit")
        found = audit(release, sensitive=secret, l=l)
    result: dict[str, object] = {"release": str(release), **found.to_dict(show_values=show_values)}
    if json and not show_witness:
        shared.print_json(result)
    elif not json:
        _print(release, found, show_values=show_values)
    if show_witness:
        _show_witness(release, terms or [], result if json else None)
    return None if found.holds else _DOES_NOT_HOLD


def _print(release: Path, found: Audit, *, show_values: bool) -> None:
    """The verdict for people."""
    from disassociation.auditor.verdict import CONDITIONS

    print(f"{release}: the guarantee {'holds' if found.holds else 'DOES NOT HOLD'}")
    print(f"  {found.summary()}")
    for name, holds in found.conditions.items():
        print(f"  {name:<5}  {'holds   ' if holds else 'VIOLATED'}  {CONDITIONS[name]}")
    for violation in found.violations[:_MOST_SHOWN]:
        exposed = violation.itemset if show_values else None
        print(f"  {violation}" + ("" if exposed is None else f" [exposed: {{{', '.join(exposed)}}}]"))
    if len(found.violations) > _MOST_SHOWN:
        print(f"  and {shared.counted(len(found.violations) - _MOST_SHOWN, 'more violation')}")
    if found.covers is not None:
        covered, all_of_them = found.covers.covered_clusters, shared.counted(found.clusters, "cluster")
        print(
            f"  covers in {covered:,} of {all_of_them} all records hold some term, so whoever is known to be there is "
            "known to have it; that is no part of the guarantee"
        )


def _show_witness(release: Path, terms: list[str], result: dict[str, object] | None) -> None:
    """The records, as text, or as a member of the one JSON object."""
    from disassociation.auditor.possible import witness

    found = witness(release, terms)
    if result is not None:
        records = None if found is None else [list(record) for record in found.records]
        cluster = None if found is None else found.cluster
        shared.print_json({**result, "witness": {"terms": terms, "cluster": cluster, "records": records}})
    elif found is None:
        print("witness: no possible original has a record with these terms")
    else:
        print(f"witness: a possible original has these {len(found.records)} records in cluster {found.cluster}:")
        for record in found.records:
            print("  " + " ".join(record))
