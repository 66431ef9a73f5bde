"""A file for what the model "empirical-bayes" learned from a release, so that it need not be learned again.

A line of JSON, and behind it the arrays of :class:`disassociation.estimator.Learned`, in little-endian order, one after
the other. Nothing is in it that cannot be found out from the release.
"""

from __future__ import annotations

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from disassociation.errors import FormatError, InputError
from disassociation.estimator import EDGES, FITTED_TERMS, GRID, Estimator, Learned
from disassociation.formats._output import open_output

if TYPE_CHECKING:
    from disassociation.release import Release

__all__ = ["read_learned", "write_learned"]

FORMAT, VERSION = "disassociation-fit", 1
_LONGEST_HEADER = 1024
_MOST_BYTES = 1 << 23
_DTYPES = ("<f8", "<i4", "<f4")  # of what Learned has


def write_learned(estimator: Estimator, path: str | PathLike[str]) -> None:
    """Keep it; the file appears complete or not at all."""
    learned = estimator.learned
    header = {"format": FORMAT, "version": VERSION, "terms": len(learned.fitted), "release": _digest(estimator.release)}
    with open_output(str(path), overwrite=True) as file:
        file.write(json.dumps(header).encode() + b"\n")
        for array, dtype in zip(learned, _DTYPES, strict=True):
            file.write(np.ascontiguousarray(array, dtype).tobytes())


def read_learned(release: Release, path: str | PathLike[str]) -> Learned:
    """Take it from the file; refuse one that is damaged, or of another release."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    head, _, body = data.partition(b"\n")
    header = _header(head, path)
    if header.get("release") != _digest(release):
        raise FormatError(f"{path}: belongs to another release; choose another file, or remove it")
    terms = header.get("terms")
    if isinstance(terms, bool) or not isinstance(terms, int) or not 0 <= terms <= FITTED_TERMS:
        raise _damaged(path)
    shapes = (len(EDGES) + 1, len(GRID)), (terms,), (terms, terms)
    arrays, at = [], 0
    for shape, dtype in zip(shapes, map(np.dtype, _DTYPES), strict=True):
        size = int(np.prod(shape)) * dtype.itemsize
        if at + size > len(body):
            raise _damaged(path)
        part = np.frombuffer(body, dtype, int(np.prod(shape)), at).reshape(shape)
        arrays.append(part.astype(dtype.newbyteorder("=")))
        at += size
    learned = Learned(*arrays)
    if at != len(body) or not _makes_sense(learned, len(release.vocabulary)):
        raise _damaged(path)
    return learned


def _header(head: bytes, path: str | PathLike[str]) -> dict[str, Any]:
    try:
        header = json.loads(head[:_LONGEST_HEADER])
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(f"{path}: not what was learned from a release; choose another file, or remove it")
    if header.get("version") != VERSION:
        raise FormatError(f"{path}: of another version of this program; remove it, and it is made anew")
    return header


def _makes_sense(learned: Learned, terms: int) -> bool:
    weights, fitted, lifts = learned
    return bool(
        np.isfinite(weights).all()
        and (weights > 0).all()
        and np.isfinite(lifts).all()
        and (lifts > 0).all()
        and (np.diff(fitted) > 0).all()
        and (len(fitted) == 0 or (fitted[0] >= 0 and fitted[-1] < terms))
    )


def _damaged(path: str | PathLike[str]) -> FormatError:
    return FormatError(f"{path}: damaged; remove it, and it is made anew")


def _digest(release: Release) -> str:
    """A hash of all that is published, and of how it was learned from."""
    found = hashlib.sha256(json.dumps([release.k, GRID.tolist(), EDGES.tolist()]).encode())
    for array in release._arrays:
        found.update(np.int64(len(array)).tobytes())
        found.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
    return found.hexdigest()
