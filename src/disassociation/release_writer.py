"""Writing a release: a directory that appears complete or not at all."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from disassociation import __version__
from disassociation.auditor.auditing import require_sound
from disassociation.data_card import data_card
from disassociation.errors import InputError, ParameterError
from disassociation.release import Release, clusters_table, subrecords_table

__all__ = ["FILES", "FORMAT", "PARTIAL", "VERSION", "check_target", "json_pieces", "write_release"]

FORMAT = "disassociation-release"
VERSION = 1
FILES = ("README.md", "clusters.parquet", "subrecords.parquet")
"""The files of a release beside its manifest."""

PARTIAL = ".partial"
"""How the name of an unfinished release ends; nothing with such a name is ever opened."""

_ROW_GROUP = 1 << 18


def write_release(
    release: Release,
    path: str | Path,
    *,
    overwrite: bool = False,
    sensitive: Iterable[str] = (),
    progress: Callable[[str], None] | None = None,
) -> None:
    """Write the files under a temporary name beside ``path``, audit them, and rename the directory into place.

    What is audited is what was written, read back. A release that fails is removed, and GuaranteeError raised.
    """
    target, tell = Path(path), progress or (lambda step: None)
    check_target(target, overwrite=overwrite)
    remove_leftovers(target)
    partial = target.parent / f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}{PARTIAL}"
    try:
        tell("write")
        partial.mkdir()
        _write_files(release, partial)
        tell("audit")
        require_sound(partial, sensitive=sensitive)
        _put_in_place(partial, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error}); nothing was published") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse a place where no release can go; worth asking before the work begins."""
    if target.name in ("", "..") or target.name.endswith(PARTIAL) or "\0" in target.name:
        raise ParameterError(f"{target}: not a name for a release; give one such as pos.release")
    if not target.parent.is_dir():
        raise InputError(f"{target.parent}: no such directory; create it first")
    if os.path.lexists(target):
        if not overwrite:
            raise ParameterError(f"{target}: exists already; choose another name, or ask to overwrite it")
        if not _may_replace(target):
            raise ParameterError(f"{target}: not a release and nothing else, so not replaced; choose another name")


def remove_leftovers(target: Path) -> None:
    """Remove what runs that were killed left of this release."""
    # No more than the exact pattern: what is being written of pos.2026-01 begins like what is left of pos.
    pattern = re.compile(rf"\.{re.escape(target.name)}\.([0-9]{{1,10}})-[0-9a-f]{{8}}(-old)?{re.escape(PARTIAL)}")
    with contextlib.suppress(OSError):
        for left in target.parent.iterdir():
            found = pattern.fullmatch(left.name)
            if not found or _is_running(int(found[1])) or (found[2] and not target.exists()):
                continue  # the last: an older release, set aside by a run that was killed before a new one was there
            shutil.rmtree(left, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _may_replace(target: Path) -> bool:
    """Only a release in which there is nothing else, or an empty directory, is ever overwritten."""
    if target.is_symlink() or not target.is_dir():
        return False
    try:
        entries = list(target.iterdir())
        if not entries:
            return True
        if any(entry.is_symlink() or not entry.is_file() for entry in entries):
            return False
        if {entry.name for entry in entries} - {"manifest.json", *FILES}:
            return False
        manifest = json.loads((target / "manifest.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def _write_files(release: Release, folder: Path) -> None:
    files = {}
    for name, table in (("clusters", clusters_table(release)), ("subrecords", subrecords_table(release))):
        file = f"{name}.parquet"
        _write_parquet(table, folder / file)
        files[file] = _flushed(folder / file)
    (folder / "README.md").write_text(data_card(release), encoding="utf-8", newline="\n")
    files["README.md"] = _flushed(folder / "README.md")
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "k": release.k,
        "m": release.m,
        "l": release.l,
        "max_confidence": release.max_confidence,
        "records": release.records,
        "terms": len(release.vocabulary),
        "clusters": len(release.forest.parents),
        "files": dict(sorted(files.items())),
        "software": f"disassociation {__version__}",
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8", newline="\n")
    _flushed(folder / "manifest.json")


def _write_parquet(table: pa.Table, path: Path) -> None:
    """Strings on disk, whatever the table holds them as; nothing in the metadata but the schema."""
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=1,
        use_dictionary=["terms.list.element"],
        write_statistics=["cluster", "chunk"],
        row_group_size=_ROW_GROUP,
        store_schema=False,
    )


def _flushed(path: Path) -> dict[str, int | str]:
    """Force a file to disk; its size and hash for the manifest."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def _put_in_place(partial: Path, target: Path) -> None:
    """Rename the finished directory to its name; an older release of that name stands until the new one does."""
    _flush_directory(partial)
    if not target.exists():
        partial.rename(target)
    elif not _exchange(partial, target):
        # Where the system cannot swap two names at once, the name is free for a moment.
        old = partial.with_name(partial.name.removesuffix(PARTIAL) + f"-old{PARTIAL}")
        try:
            target.rename(old)
            partial.rename(target)
        except BaseException:
            if not target.exists():
                old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    _flush_directory(target.parent)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two names atomically (Linux); False where that is not to be had."""
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(swap(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0)


def _flush_directory(path: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def json_pieces(release: Release) -> Iterator[str]:
    """One JSON document, a line a cluster: a chunk as a list of counts with terms; for people to read."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "k": release.k,
        "m": release.m,
        "l": release.l,
        "max_confidence": release.max_confidence,
        "records": release.records,
        "terms": len(release.vocabulary),
    }
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "clusters": ['
    names = release.vocabulary.to_pylist()
    forest, rows = release.forest, release.forest.rows
    for cluster in range(len(forest.parents)):
        chunks: list[list[dict[str, object]]] = []
        for row in range(rows.cluster_offsets[cluster], rows.cluster_offsets[cluster + 1]):
            if rows.chunks[row] == len(chunks):
                chunks.append([])
            terms = [names[code] for code in rows.items[rows.offsets[row] : rows.offsets[row + 1]]]
            chunks[-1].append({"count": int(rows.counts[row]), "terms": terms})
        parent = int(forest.parents[cluster])
        entry: dict[str, object] = {"cluster": cluster, "parent": parent if parent >= 0 else None}
        entry["size"] = int(forest.sizes[cluster])
        if cluster < release.leaves:
            entry["record_chunks"] = chunks
            codes = forest.terms[forest.term_offsets[cluster] : forest.term_offsets[cluster + 1]]
            entry["term_chunk"] = [names[code] for code in codes]
        else:
            entry["shared_chunks"] = chunks
        yield ("\n" if cluster == 0 else ",\n") + json.dumps(entry, ensure_ascii=False)
    yield "\n]}\n"
