"""A release as files, which may come from anywhere: sizes, hashes and types are verified before anything is decoded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from disassociation.auditor.parquet_size import unpacks_too_far
from disassociation.auditor.source import BATCH, CLUSTERS, SUBRECORDS, Source, has_schema
from disassociation.errors import FormatError

__all__ = ["of_files", "of_finished_files"]

_FORMAT, _VERSION = "disassociation-release", 1
_FILES = ("README.md", "clusters.parquet", "subrecords.parquet")
_UNFINISHED = ".partial"
_LARGEST_MANIFEST = 1 << 20
_MOST_RECORDS = 1 << 40
_FRESH = "get a fresh copy of the release"


def of_finished_files(path: str | Path) -> Source:
    """The same, but for what a run that was stopped has left."""
    folder = Path(path)
    if folder.name.endswith(_UNFINISHED):
        raise FormatError(f"{folder}: an unfinished release, left by a run that was stopped; delete it")
    return of_files(folder)


def of_files(folder: Path) -> Source:
    """A release directory whose files are what its manifest says."""
    if not folder.is_dir():
        raise FormatError(f"{folder}: not a release directory; give the directory that holds manifest.json")
    manifest = _manifest(folder / "manifest.json")
    for name in _FILES:
        _verify(folder / name, manifest["files"][name])
    tables = {
        name: _table(folder / f"{name}.parquet", schema)
        for name, schema in (("clusters", CLUSTERS), ("subrecords", SUBRECORDS))
    }
    return Source(
        str(folder),
        manifest["k"],
        manifest["m"],
        manifest["l"],
        manifest["max_confidence"],
        lambda: _batches(tables["clusters"]),
        lambda: _batches(tables["subrecords"]),
        {name: manifest[name] for name in ("records", "terms", "clusters")},
    )


def _manifest(path: Path) -> dict[str, Any]:
    """The manifest, each member of the right type and within bounds."""
    try:
        if path.is_symlink() or not path.is_file():
            raise FormatError(f"{path}: missing, or not a plain file; this is not a release")
        with path.open("rb") as file:
            text = file.read(_LARGEST_MANIFEST + 1)
        if len(text) > _LARGEST_MANIFEST:
            raise FormatError(f"{path}: far too large for a manifest; this is not a release")
        manifest = json.loads(text)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not valid JSON; {_FRESH}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise FormatError(f"{path}: not the manifest of a disassociation release")
    if manifest.get("version") != _VERSION or isinstance(manifest["version"], bool):
        raise FormatError(f"{path}: a format version other than {_VERSION}; get a newer disassociation")
    files = manifest.get("files")
    if not (
        _whole(manifest.get("k"), 2)
        and _whole(manifest.get("m"), 1)
        and (manifest.get("l", ...) is None or _whole(manifest.get("l"), 2))
        and _is_share(manifest.get("max_confidence", ...))
        and all(_whole(manifest.get(name), 0, _MOST_RECORDS) for name in ("records", "terms", "clusters"))
        and isinstance(manifest.get("software"), str)
        and isinstance(files, dict)
        and sorted(files) == sorted(_FILES)
        and all(
            isinstance(entry, dict) and _whole(entry.get("bytes"), 0, 1 << 60) and isinstance(entry.get("sha256"), str)
            for entry in files.values()
        )
    ):
        raise FormatError(f"{path}: a member is missing, of the wrong type or out of range; {_FRESH}")
    return manifest


def _whole(value: object, least: int, most: int = (1 << 31) - 1) -> bool:
    return type(value) is int and least <= value <= most


def _is_share(value: object) -> bool:
    return value is None or (type(value) in (int, float) and 0 < value <= 1)  # type: ignore[operator]


def _verify(path: Path, entry: dict[str, Any]) -> None:
    """Size and hash; the name comes from the format, so a manifest cannot point elsewhere."""
    if path.is_symlink() or not path.is_file():
        raise FormatError(f"{path}: missing, or not a plain file; {_FRESH}")
    try:
        size = path.stat().st_size
        if size != entry["bytes"]:
            raise FormatError(f"{path}: {size} bytes, not {entry['bytes']} as the manifest says; {_FRESH}")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    if digest != entry["sha256"]:
        raise FormatError(f"{path}: content is not what the manifest's SHA-256 says; {_FRESH}")


def _table(path: Path, schema: pa.Schema) -> Path:
    """A Parquet file with the columns of the format, that does not unpack to far more than it is."""
    try:
        if unpacks_too_far(path):
            raise FormatError(f"{path}: unpacks to far more than its size; this is not a release")
        with pq.ParquetFile(path) as file:
            if not has_schema(file.schema_arrow, schema):
                raise FormatError(f"{path}: other columns or types than the format has; {_FRESH}")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path) from error
    return path


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """A table, some rows at a time, terms as dictionary codes."""
    try:
        with pq.ParquetFile(path) as plain:
            # Whatever the writer called the elements of its lists.
            terms = plain.schema.column(plain.schema_arrow.names.index("terms")).path
        with pq.ParquetFile(path, read_dictionary=[terms], pre_buffer=False) as file:
            for i in range(file.metadata.num_row_groups):
                for batch in file.iter_batches(BATCH, row_groups=[i], use_threads=False):
                    batch.validate(full=True)  # Arrow trusts the numbers in a file until it is told not to
                    yield batch
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> FormatError:
    return FormatError(f"{path}: not a readable Parquet file; {_FRESH}")
