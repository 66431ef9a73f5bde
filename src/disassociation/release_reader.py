"""Opening a release: untrusted input, validated before anything is made of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from disassociation._kernels.arrays import Forest, Rows
from disassociation.auditor.parquet_size import unpacks_too_far
from disassociation.errors import FormatError
from disassociation.release import CLUSTERS_SCHEMA, SUBRECORDS_SCHEMA, Release
from disassociation.release_writer import FILES, FORMAT, PARTIAL, VERSION

__all__ = ["open_release"]

_MANIFEST_LIMIT = 1 << 20
_MOST = {"clusters": 1 << 31, "records": 1 << 40, "terms": 1 << 31}
FAULTS = (
    "",
    "a parent is not a joint cluster that comes later",
    "a size is not positive, or not the sum of the sizes below",
    "terms of a list are not distinct and in order",
    "a subrecord or a leaf is empty",
    "subrecords of a chunk are not distinct and in order",
    "a count is not positive",
    "chunks are not numbered from 0 in order of their first terms",
    "a chunk has more subrecords than its cluster has records",
    "a term is in two chunks of a cluster",
    "a joint cluster has fewer than two children",
    "a term is listed but never used",
)


def open_release(path: str | Path) -> Release:
    """Open a release directory, checking sizes, hashes, types and structure first.

    Whether the guarantee holds is another matter, which opening does not verify.

    Examples:
        >>> import disassociation as da, tempfile
        >>> release = da.disassociate([["bread", "milk"]] * 3 + [["bread", "gin"]] * 2, k=2, m=2)
        >>> folder = tempfile.TemporaryDirectory()
        >>> release.save(folder.name + "/baskets.release")
        >>> da.open_release(folder.name + "/baskets.release") == release
        True
        >>> folder.cleanup()
    """
    folder = Path(path)
    if folder.name.endswith(PARTIAL):
        raise FormatError(f"{folder}: an unfinished release, left by a run that was stopped; delete it")
    if not folder.is_dir():
        raise FormatError(f"{folder}: not a release directory; give the directory that holds manifest.json")
    manifest = _manifest(folder)
    for name in FILES:
        _check_file(folder, name, manifest["files"][name])
    clusters = _table(folder, "clusters.parquet", CLUSTERS_SCHEMA)
    subrecords = _table(folder, "subrecords.parquet", SUBRECORDS_SCHEMA)
    vocabulary, forest = _forest(folder, clusters, subrecords)
    release = Release(manifest["k"], manifest["m"], manifest["l"], manifest["max_confidence"], vocabulary, forest)
    for name, found in (
        ("clusters", len(forest.parents)),
        ("records", release.records),
        ("terms", len(vocabulary)),
    ):
        if manifest[name] != found:
            raise FormatError(f"{folder}: the manifest counts other {name} than the files hold; get a fresh copy")
    return release


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest, every field of the right type and within bounds."""
    path = folder / "manifest.json"
    try:
        if path.is_symlink() or not path.is_file():
            raise FormatError(f"{path}: missing, or not a plain file; this is not a release")
        if path.stat().st_size > _MANIFEST_LIMIT:
            raise FormatError(f"{path}: far too large for a manifest; this is not a release")
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); this is not a release") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not valid JSON; get a fresh copy of the release") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FormatError(f"{path}: not the manifest of a disassociation release")
    if not _whole(manifest.get("version"), 1, 1 << 31) or manifest["version"] > VERSION:
        raise FormatError(f"{path}: format version not known to this program (up to {VERSION}); upgrade disassociation")
    confidence = manifest.get("max_confidence", ...)
    fine = (
        _whole(manifest.get("k"), 2, 1 << 31)
        and _whole(manifest.get("m"), 1, 1 << 31)
        and (manifest.get("l", ...) is None or _whole(manifest.get("l"), 2, 1 << 31))
        and (confidence is None or (type(confidence) in (int, float) and 0 < confidence <= 1))
        and all(_whole(manifest.get(name), 0, most) for name, most in _MOST.items())
        and isinstance(manifest.get("files"), dict)
        and sorted(manifest["files"]) == sorted(FILES)
        and isinstance(manifest.get("software"), str)
    )
    if not fine:
        raise FormatError(f"{path}: a field is missing, of the wrong type or out of range; get a fresh copy")
    return manifest


def _whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _check_file(folder: Path, name: str, entry: object) -> None:
    """Size first, then hash, of a file whose name is fixed: the manifest cannot point anywhere else."""
    path = folder / name
    if not (
        isinstance(entry, dict) and _whole(entry.get("bytes"), 0, 1 << 60) and isinstance(entry.get("sha256"), str)
    ):
        raise FormatError(f"{folder / 'manifest.json'}: size or hash of {name} is missing; get a fresh copy")
    if path.is_symlink() or not path.is_file():
        raise FormatError(f"{path}: missing, or not a plain file; get a fresh copy of the release")
    try:
        size = path.stat().st_size
        if size != entry["bytes"]:
            raise FormatError(f"{path}: {size} bytes, not {entry['bytes']} as the manifest says; get a fresh copy")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                raise FormatError(f"{path}: content is not what the manifest's SHA-256 says; get a fresh copy")
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror}); get a fresh copy of the release") from error


def _table(folder: Path, name: str, schema: pa.Schema) -> pa.Table:
    """One Parquet file with exactly the columns the format has, terms as dictionary codes."""
    path = folder / name
    try:
        if unpacks_too_far(path):
            raise FormatError(f"{path}: unpacks to far more than its size; this is not a release")
        file = pq.ParquetFile(path)
        found = file.schema_arrow
        if found.names != schema.names or any(
            _plain(found.field(name).type) != _plain(schema.field(name).type) for name in schema.names
        ):
            raise FormatError(f"{path}: other columns or types than the format has; get a fresh copy")
        # Whatever the writer called the elements of its lists.
        terms = file.schema.column(schema.names.index("terms")).path
        file = pq.ParquetFile(path, metadata=file.metadata, read_dictionary=[terms])
        # One by one, because Arrow cannot read lists of codes across dictionaries, and each row group has its own.
        groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
        table = pa.concat_tables([file.schema_arrow.empty_table(), *groups])
        # Arrow reads codes without looking where they point, and texts without looking whether they are any.
        table.validate(full=True)
        table = table.combine_chunks()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(f"{path}: not readable as Parquet with texts in UTF-8; get a fresh copy") from error
    for field in schema:
        if not field.nullable and table.column(field.name).null_count:
            raise FormatError(f"{path}: a value is missing in column {field.name}; get a fresh copy")
    return table


def _plain(kind: pa.DataType) -> str:
    """A type by name, dictionary codes counted as the strings they stand for."""
    if pa.types.is_list(kind):
        return f"list of {_plain(kind.value_type)}"
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _forest(folder: Path, clusters: pa.Table, subrecords: pa.Table) -> tuple[pa.StringArray, Forest]:
    """Both tables in codes of one vocabulary, every structural promise of the format checked."""
    from disassociation._kernels.structure import FINE, first_fault

    if clusters.num_rows == 0:
        raise FormatError(f"{folder}: holds no cluster; get a fresh copy of the release")
    chunk_terms, row_terms = _one_chunk(clusters["terms"]), _one_chunk(subrecords["terms"])
    vocabulary, (term_codes, row_codes) = _shared_codes(folder, [chunk_terms, row_terms])
    is_joint = chunk_terms.is_null().to_numpy(zero_copy_only=False)
    leaves = int((~is_joint).sum())
    numbers = clusters["cluster"].to_numpy()
    if is_joint[:leaves].any() or not np.array_equal(numbers, np.arange(len(numbers))):
        raise FormatError(f"{folder}: clusters are not numbered from 0 with the leaves first; get a fresh copy")
    owners = subrecords["cluster"].to_numpy()
    if len(owners) and (owners[0] < 0 or owners[-1] >= len(numbers) or (owners[1:] < owners[:-1]).any()):
        raise FormatError(f"{folder}: subrecords are not in the order of their clusters; get a fresh copy")
    counts = subrecords["count"].to_numpy()
    if len(counts) and not 1 <= counts.min() <= counts.max() < 1 << 31:
        raise FormatError(f"{folder}: a count is not positive, or larger than any cluster can hold; get a fresh copy")
    forest = Forest(
        clusters["parent"].fill_null(-1).to_numpy().astype(np.int64, copy=True),
        clusters["size"].to_numpy().astype(np.int64, copy=True),
        _offsets(chunk_terms)[: leaves + 1].copy(),
        term_codes,
        Rows(
            np.searchsorted(owners, np.arange(len(numbers) + 1)).astype(np.int64),
            subrecords["chunk"].to_numpy().astype(np.int32, copy=True),
            counts.astype(np.int32),
            _offsets(row_terms),
            row_codes,
        ),
    )
    negative = clusters["parent"].drop_null()
    if len(negative) and pc.min(negative).as_py() < 0:
        raise FormatError(f"{folder}: a parent is negative; get a fresh copy")
    # Sums of sizes cannot overflow then; as floats, because as integers this one could.
    if forest.sizes[:leaves].sum(dtype=np.float64) > _MOST["records"]:
        raise FormatError(f"{folder}: the sizes of the leaves add up to too much; get a fresh copy")
    fault, cluster = first_fault(forest, len(vocabulary))
    if fault != FINE:
        raise FormatError(f"{folder}: cluster {cluster}: {FAULTS[fault]}; get a fresh copy of the release")
    return vocabulary, forest


def _one_chunk(column: pa.ChunkedArray) -> pa.ListArray:
    """A column as a single array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _offsets(lists: pa.ListArray) -> NDArray[np.int64]:
    """Where each list begins among the flattened values; a missing list is empty."""
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _shared_codes(folder: Path, columns: list[pa.ListArray]) -> tuple[pa.StringArray, list[NDArray[np.int32]]]:
    """The vocabulary of all columns in UTF-8 byte order, and each column's terms as ranks in it."""
    flat = [column.flatten() for column in columns]
    flat = [values if pa.types.is_dictionary(values.type) else values.dictionary_encode() for values in flat]
    if any(values.null_count for values in flat):
        raise FormatError(f"{folder}: a term is missing; get a fresh copy of the release")
    words = pa.chunked_array([values.dictionary for values in flat], pa.string())
    distinct = pc.unique(words)
    # Arrow sorts strings by their bytes, which is the canonical order.
    vocabulary = distinct.take(pc.sort_indices(distinct))
    codes = []
    for values in flat:
        ranks = pc.index_in(values.dictionary, vocabulary).to_numpy(zero_copy_only=False).astype(np.int32)
        codes.append(ranks[values.indices.to_numpy(zero_copy_only=False)] if len(values) else np.zeros(0, np.int32))
    return vocabulary, codes
