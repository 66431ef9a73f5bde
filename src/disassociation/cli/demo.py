"""``disassociate demo``: what ``make demo`` runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from disassociation.cli.anonymize import print_summary, publish, summary
from disassociation.errors import InputError

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: disassociate demo --output demo-output")(demo)


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory for the data and its release.")] = Path(
        "demo-output"
    ),
    records: Annotated[int, typer.Option(help="How many baskets to generate.")] = 20_000,
) -> None:
    """Anonymize generated supermarket baskets and show what became of them."""
    from disassociation.formats import write
    from disassociation.generators import generate_baskets
    from disassociation.params import Parameters

    start = time.perf_counter()
    parameters = Parameters(k=5, m=2)
    data = generate_baskets(records=records)
    parameters.rules_for(data)  # refuses too few before anything is written
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{output}: cannot be made a directory ({error.strerror}); choose another") from error
    write(data, str(output / "baskets.csv"), format="basket", overwrite=True)
    release = publish(data, parameters, output / "baskets.release", overwrite=True)
    result = summary(data, release)
    result["seconds"] = round(time.perf_counter() - start, 2)
    print_summary(output / "baskets.release", release, result)
    print(f"The generated data: {output / 'baskets.csv'}. A cluster of the release:")
    leaf = next(row for row in release.clusters.slice(release.leaves // 2).to_pylist() if row["terms"])
    rows = [row for row in release.subrecords.to_pylist() if row["cluster"] == leaf["cluster"]]
    chunks = "; ".join(f"{row['count']} x {{{', '.join(row['terms'])}}}" for row in rows) or "none"
    print(f"  {leaf['size']} records; record chunks: {chunks}; term chunk: {', '.join(leaf['terms'][:8])}, ...")
