"""``disassociate anonymize``."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disassociation.cli import _shared as shared
from disassociation.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from disassociation.params import Parameters
    from disassociation.records import Transactions
    from disassociation.release import Release

__all__ = ["publish", "register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: disassociate anonymize pos.dat -k 5 -m 2 -o pos.release",
    )(anonymize)


def anonymize(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Records in any format, .gz and .zst too; - is stdin.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The release: a directory that must not exist yet.")],
    k: Annotated[int, typer.Option("-k", help="Candidate records that must remain for everyone.")] = 5,
    m: Annotated[int, typer.Option("-m", help="Terms of a record an adversary may know.")] = 2,
    format: shared.Format = "auto",  # noqa: A002
    sep: shared.Separator = None,
    encoding: shared.Encoding = "utf-8",
    transaction_column: shared.TransactionColumn = None,
    item_column: shared.ItemColumn = None,
    max_cluster_size: Annotated[
        int | None, typer.Option(help="Clusters of fewer records are not split further.", show_default="10, or 2k")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="File of sensitive terms, one a line; they are never published with others.")
    ] = None,
    l: Annotated[  # noqa: E741
        int | None, typer.Option("--l", help="Each sensitive term is in at most one in l of its cluster's records.")
    ] = None,
    keep_together: Annotated[
        str | None, typer.Option(help="File of groups of terms to keep together: each of its records is a group.")
    ] = None,
    method: Annotated[str, typer.Option(help="default, or paper for the published algorithm made sound.")] = "default",
    no_refine: Annotated[bool, typer.Option("--no-refine", help="Leave out joint clusters.")] = False,
    threads: Annotated[int | None, typer.Option(help="Threads to use.", show_default="all")] = None,
    json_export: Annotated[
        str | None, typer.Option(help="Also write the release as one JSON file, for people to read.")
    ] = None,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
) -> None:
    """Read records, anonymize them, audit the result, and put the release in place."""
    from disassociation.params import Parameters
    from disassociation.release_writer import check_target

    check_target(output, overwrite=overwrite)
    if json and json_export == "-":
        raise ParameterError("--json and --json-export - both want standard output; name a file for the export")
    if json_export is not None and Path(json_export).resolve() == output.resolve():
        raise ParameterError(f"{output}: one name for the release and for its export; give them two")
    parameters = Parameters(
        k=k,
        m=m,
        l=l,
        max_cluster_size=max_cluster_size,
        sensitive=shared.sensitive_terms(sensitive),
        keep_together=_groups(keep_together),
        refine=not no_refine,
        method=method,
    )
    start = time.perf_counter()
    data = shared.read_records(
        source,
        format=format,
        sep=sep,
        encoding=encoding,
        transaction_column=transaction_column,
        item_column=item_column,
    )
    if parameters.sensitive:
        found = sum(term in parameters.sensitive for term in data.vocabulary.to_pylist())
        shared.say(f"{sensitive}: {found:,} of {len(parameters.sensitive):,} sensitive terms are in the data")
    release = publish(data, parameters, output, threads=threads, overwrite=overwrite, json_export=json_export)
    result = summary(data, release)
    result["seconds"] = round(time.perf_counter() - start, 2)
    if json:
        shared.print_json({"release": str(output), **result})
    elif json_export != "-":
        print_summary(output, release, result)


def publish(
    data: Transactions,
    parameters: Parameters,
    output: Path,
    *,
    threads: int | None = None,
    overwrite: bool = False,
    json_export: str | None = None,
) -> Release:
    """Anonymize, write and audit, showing progress; the release and its export appear together."""
    from disassociation.formats._output import open_output
    from disassociation.pipeline import make_release
    from disassociation.release_writer import write_release

    with shared.progress() as step, ExitStack() as open_files:
        release = make_release(data, parameters, threads=threads, progress=step)
        if json_export is not None:
            sink = open_files.enter_context(open_output(json_export, overwrite=overwrite))
            sink.writelines(piece.encode() for piece in release.to_json())
        write_release(release, output, overwrite=overwrite, sensitive=parameters.sensitive, progress=step)
    return release


def summary(data: Transactions, release: Release) -> dict[str, object]:
    """What a publisher wants to know first: how much there was, and how much of it stays together."""
    rows = release.forest.rows
    lengths = rows.offsets[1:] - rows.offsets[:-1]
    kept = int((lengths * rows.counts).sum())
    return {
        "records": len(data),
        "terms": len(data.vocabulary),
        "occurrences": len(data.items),
        "repeated_tokens": data.repeated_tokens,
        "empty_records": data.empty_records,
        "k": release.k,
        "m": release.m,
        "l": release.l,
        "leaves": release.leaves,
        "joint_clusters": release.joint_clusters,
        "occurrences_in_chunks": kept,
    }


def print_summary(output: Path, release: Release, result: dict[str, object]) -> None:
    """The summary for people."""
    sizes = release.forest.sizes[: release.leaves]
    kept, all_of_them = result["occurrences_in_chunks"], result["occurrences"]
    assert isinstance(kept, int)
    assert isinstance(all_of_them, int)
    shared.print_lines(
        f"{output}: a release of {result['records']:,} records, audited",
        {
            "guarantee": f"k = {release.k} candidates for whoever knows up to m = {release.m} terms"
            + ("" if release.l is None else f"; sensitive terms in at most 1 of {release.l}"),
            "terms": f"{result['terms']:,}, all of them kept",
            "clusters": f"{shared.counted(release.leaves, 'leaf', 'leaves')} of {_span(sizes)} records, "
            + shared.counted(release.joint_clusters, "joint cluster"),
            "in chunks": f"{kept:,} of {all_of_them:,} term occurrences ({kept / all_of_them:.1%}); "
            "the rest in term chunks",
            "audit": "the guarantee is proved: S1, S2, G0, G1, G2 and G3 hold",
            "time": f"{result['seconds']} s",
        },
    )


def _span(sizes: NDArray[np.int64]) -> str:
    """The least and the greatest of some sizes."""
    least, most = int(sizes.min()), int(sizes.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _groups(path: str | None) -> tuple[frozenset[str], ...]:
    """The records of a file as groups of terms."""
    if path is None:
        return ()
    from disassociation.formats import read

    return tuple(frozenset(record) for record in read(path))
