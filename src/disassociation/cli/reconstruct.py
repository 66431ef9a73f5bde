"""``disassociate reconstruct``."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from disassociation.cli import _shared as shared
from disassociation.errors import DisassociationError, ParameterError

if TYPE_CHECKING:
    from disassociation.records import Transactions

__all__ = ["register"]

_COMPRESSED = (".gz", ".zst")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reconstruct", epilog="Example: disassociate reconstruct pos.release -o possible.dat")(draw)


def draw(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release directory.")],
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="Where to write the records; - is stdout. With -n, NAME-1.dat and so on."),
    ],
    number: Annotated[int, typer.Option("-n", help="How many data sets to draw.")] = 1,
    random_state: Annotated[
        int, typer.Option(help="Another number draws another data set; of several, they count from here.")
    ] = 0,
    model: Annotated[str, typer.Option(help="The law to draw by: independent or empirical-bayes.")] = "independent",
    fit: shared.Fit = None,
    format: Annotated[str, typer.Option("--format", help="Format to write.", show_default="by name")] = "auto",  # noqa: A002
    sep: shared.Separator = None,
    overwrite: shared.Overwrite = False,
    json: shared.Json = False,
) -> None:
    """Draw random possible originals: data sets from which this very release could have been made.

    With -n 10 and -o pos.dat.gz, ten files pos-01.dat.gz to pos-10.dat.gz appear, all of them or none; the i-th is
    what --random-state, counted up by i - 1, gives alone.
    """
    from disassociation.reconstruct import Originals, check_draw

    if number < 1:
        raise ParameterError(f"-n must be at least 1, not {number}")
    if output == "-" and (json or number > 1):
        raise ParameterError("-o -: stdout takes one data set and nothing else; give a file")
    check_draw(random_state, model)
    targets = _targets(output, number)
    drawn: list[dict[str, object]] = []
    with shared.progress() as step:
        step("reading")
        originals = Originals.of(shared.open_fitted(release, model, fit), model)
        with _together(targets, overwrite=overwrite) as drafts:
            for i, (target, draft) in enumerate(zip(targets, drafts, strict=True)):
                step(f"drawing {i + 1} of {number}")
                data = originals.draw(random_state + i)
                _write(data, target, draft, format, sep, overwrite)
                drawn.append({"file": target, "random_state": random_state + i, **_figures(data)})
    if json:
        shared.print_json({"release": str(release), "model": model, "data_sets": drawn})
    for one in drawn:
        figures = f"{one['records']:,} records, {one['terms']:,} terms, {one['occurrences']:,} occurrences"
        shared.say(f"{shared.target_name(str(one['file']))}: {figures}")


def _figures(data: Transactions) -> dict[str, int]:
    return {"records": len(data), "terms": len(data.vocabulary), "occurrences": len(data.items)}


def _targets(output: str, number: int) -> list[str]:
    """The files to write: of several, each with its number before what tells the format, so that they sort by it."""
    if number == 1:
        return [output]
    path = PurePath(output)
    ending = "".join(path.suffixes[-2:] if path.suffix.lower() in _COMPRESSED else path.suffixes[-1:])
    stem = path.name.removesuffix(ending)
    return [str(path.with_name(f"{stem}-{i:0{len(str(number))}}{ending}")) for i in range(1, number + 1)]


@contextmanager
def _together(targets: list[str], *, overwrite: bool) -> Iterator[list[str]]:
    """Where to write what is to appear under all targets at once: for several a hidden folder beside them."""
    if len(targets) == 1:
        yield targets
        return
    taken = [target for target in targets if Path(target).exists()]
    if taken and not overwrite:
        raise ParameterError(f"{taken[0]}: exists already; choose another name or allow overwriting it")
    first = Path(targets[0])
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{first.name}.", suffix=".partial", dir=first.parent))
    except OSError as error:
        raise ParameterError(f"{first.parent}: cannot be written ({error.strerror}); check the path") from None
    try:
        drafts = [folder / Path(target).name for target in targets]
        yield [str(draft) for draft in drafts]
        _put_in_place(drafts, targets, taken)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_in_place(drafts: list[Path], targets: list[str], taken: list[str]) -> None:
    """Rename all; should one fail, take back those that were not there before."""
    placed = []
    try:
        for draft, target in zip(drafts, targets, strict=True):
            draft.replace(target)
            placed.append(target)
    except BaseException:
        for target in set(placed) - set(taken):
            Path(target).unlink(missing_ok=True)
        raise


def _write(data: Transactions, target: str, draft: str, format: str, sep: str | None, overwrite: bool) -> None:  # noqa: A002
    """Write a data set to a draft; an error speaks of the file it was to become."""
    from disassociation.formats import write

    try:
        write(data, draft, format=format, sep=sep, overwrite=overwrite)
    except DisassociationError as error:
        raise type(error)(str(error).replace(draft, target)) from None
