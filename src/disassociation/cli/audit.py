"""``disassociate audit``."""

from __future__ import annotations

from collections.abc import Mapping
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
    original: Annotated[
        str | None,
        typer.Option(help="The records it is said to be of: decides whether it is, and tells what it reaches."),
    ] = None,
    format: shared.Format = "auto",  # noqa: A002
    sep: shared.Separator = None,
    encoding: shared.Encoding = "utf-8",
    transaction_column: shared.TransactionColumn = None,
    item_column: shared.ItemColumn = None,
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
    """Prove or refute the guarantee of a release from its files alone; exit code 1 if it does not hold.

    With --original also whether it is a release of just these records.
    """
    from disassociation.auditor.auditing import audit

    if bool(terms) != show_witness:
        raise ParameterError("--witness and the terms to show it for go together; give both, or neither")
    secret = shared.sensitive_terms(sensitive)
    with shared.progress() as step:
        data = None
        if original is not None:
            data = shared.read_records(
                original,
                format=format,
                sep=sep,
                encoding=encoding,
                transaction_column=transaction_column,
                item_column=item_column,
            )
        step("audit")
        found = audit(release, data, sensitive=secret, l=l)
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

    print(f"{release}: the guarantee {found.verdict()}")
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
    if found.reached is not None:
        _print_reached(found.reached)


def _print_reached(reached: Mapping[str, object]) -> None:
    """What only the holder of the original can be told."""
    from disassociation.auditor.verdict import NOT_DECIDED

    if reached["grouping"] == NOT_DECIDED:
        print(f"  S0     {NOT_DECIDED}: {reached['why']}; the verdict is on the release alone")
    if reached["grouping"] != "found":
        return
    print("with the original, divided as it can be:")
    print(f"  forced       {reached['forced_records']:,} records are in the same cluster however it is divided")
    print(f"  confidence   a term is in up to {reached['confidence']:.0%} of a cluster's records")
    print(
        f"  term chunks  a term of a cluster's term chunk is in up to {reached['term_chunk_share']:.0%} of its records"
    )
    print(f"  covers       in {reached['covered_share']:.1%} of the clusters all records hold some term")
    if reached["l"] is not None:
        print(f"  diversity    a sensitive term is in at most 1 in {reached['l']:.3g} records of a cluster")
    print(f"  G2           holds in {reached['filled_clusters']:,} clusters by what their records touch")
    print(
        f"  G3           {reached['roomy_chunks']:,} of {reached['shared_chunks']:,} shared chunks have room "
        "by what each cluster gave"
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
