"""The first pass over a release: what it is made of. The second, leaf by leaf, needs all of this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disassociation.auditor.decode import Lexicon, whole_numbers
from disassociation.auditor.kernels_clusters import Group
from disassociation.auditor.kernels_rare import Bag
from disassociation.auditor.source import Source
from disassociation.errors import FormatError

__all__ = ["Survey", "leaf_groups", "take_survey"]

_MOST_RECORDS = 1 << 40
_CLUSTERS_AT_ONCE = 1 << 14


class Survey(NamedTuple):
    """What is known of the whole release."""

    lexicon: Lexicon
    parents: NDArray[np.int64]  # (clusters,) -1 at a root
    sizes: NDArray[np.int64]  # (clusters,)
    leaves: int
    certain: NDArray[np.int64]  # (terms,) certain support: counts in chunks, one for each term chunk
    joints: Group  # the joint clusters


class _Rows(NamedTuple):
    """Subrecords of consecutive clusters."""

    clusters: NDArray[np.int64]
    chunks: NDArray[np.int32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    codes: NDArray[np.int32]


def take_survey(source: Source) -> Survey:
    """Go through the files once; refuses what is not a forest of clusters with subrecords."""
    lexicon = Lexicon(source.name)
    certain = np.zeros(0, np.int64)
    parents: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    joint: list[NDArray[np.bool_]] = []
    for batch in source.clusters():
        numbers = whole_numbers(source.name, batch, "cluster")
        start = sum(map(len, sizes))
        if not np.array_equal(numbers, np.arange(start, start + len(numbers))):
            raise _broken(source, "clusters are not numbered from 0 as they stand")
        if batch.column("parent").null_count < len(batch):
            least = np.nanmin(batch.column("parent").drop_null().to_numpy(zero_copy_only=False))
            if least < 0:
                raise _broken(source, "a parent is negative")
        parents.append(np.array(batch.column("parent").fill_null(-1).to_numpy(zero_copy_only=False)))
        sizes.append(whole_numbers(source.name, batch, "size"))
        lists = lexicon.read(batch.column("terms"))
        joint.append(lists.missing)
        certain = _added(certain, lexicon, lists.codes, np.ones(len(lists.codes), np.int64))
    if not sizes:
        raise _broken(source, "there is no cluster")
    all_parents, all_sizes = np.concatenate(parents).astype(np.int64), np.concatenate(sizes).astype(np.int64)
    leaves = _leaves(source, all_parents, all_sizes, np.concatenate(joint))
    kept = []
    for rows in _subrecords(source, lexicon, len(all_sizes)):
        certain = _added(certain, lexicon, rows.codes, np.repeat(rows.counts, rows.lengths))
        first = int(np.searchsorted(rows.clusters, leaves))
        if first < len(rows.clusters):
            kept.append(_cut(rows, first, len(rows.clusters)))
    places = lexicon.settle()
    settled = np.zeros(len(places), np.int64)
    settled[places] = certain
    joints = _join(kept)
    joints = joints._replace(codes=places[joints.codes])
    _require_counts(source, len(places), all_sizes, leaves)
    return Survey(
        lexicon, all_parents, all_sizes, leaves, settled, _group(joints, leaves, len(all_sizes), all_sizes, None)
    )


def leaf_groups(source: Source, found: Survey) -> Iterator[tuple[int, Group]]:
    """The second pass: leaves, some at a time, with everything published of them, and the number of the first."""
    rows = _subrecords(source, found.lexicon, len(found.sizes))
    waiting: list[_Rows] = []
    exhausted = False
    for batch in source.clusters():
        start = int(batch.column("cluster")[0].as_py()) if len(batch) else found.leaves
        for first in range(start, min(start + len(batch), found.leaves), _CLUSTERS_AT_ONCE):
            last = min(first + _CLUSTERS_AT_ONCE, start + len(batch), found.leaves)
            while not exhausted and not (waiting and waiting[-1].clusters[-1] >= last):
                following = next(rows, None)
                exhausted = following is None
                if following is not None and len(following.clusters):
                    waiting.append(following)
            here = _join(waiting)
            cut = int(np.searchsorted(here.clusters, last))
            waiting = [_cut(here, cut, len(here.clusters))] if cut < len(here.clusters) else []
            lists = found.lexicon.read(batch.column("terms").slice(first - start, last - first))
            yield first, _group(_cut(here, 0, cut), first, last, found.sizes, (lists.lengths, lists.codes))


def _subrecords(source: Source, lexicon: Lexicon, clusters: int) -> Iterator[_Rows]:
    """The subrecords, some at a time, in the order of their clusters."""
    before = 0
    for batch in source.subrecords():
        if not len(batch):
            continue
        owners = whole_numbers(source.name, batch, "cluster").astype(np.int64)
        if owners[0] < before or owners[-1] >= clusters or (owners[1:] < owners[:-1]).any():
            raise _broken(source, "subrecords are not in the order of their clusters")
        before = int(owners[-1])
        counts = whole_numbers(source.name, batch, "count").astype(np.int64)
        if counts.min() < 1 or counts.max() >= 1 << 31:
            raise _broken(source, "a count is not positive, or larger than any cluster can hold")
        chunks = whole_numbers(source.name, batch, "chunk").astype(np.int32)
        if chunks.min() < 0:
            raise _broken(source, "a chunk has a negative number")
        lists = lexicon.read(batch.column("terms"))
        if (lists.lengths == 0).any():
            raise _broken(source, "a subrecord is empty")
        yield _Rows(owners, chunks, counts, lists.lengths, lists.codes)


def _leaves(source: Source, parents: NDArray[np.int64], sizes: NDArray[np.int64], joint: NDArray[np.bool_]) -> int:
    """How many leaves there are; they come first, and every parent is a joint cluster that comes later."""
    leaves = int((~joint).sum())
    if joint[:leaves].any():
        raise _broken(source, "leaves do not come before joint clusters")
    inner = np.flatnonzero(parents >= 0)
    if len(inner) and (
        (parents[inner] <= inner).any() or parents[inner].max() >= len(parents) or parents[inner].min() < leaves
    ):
        raise _broken(source, "a parent is not a joint cluster that comes later")
    if sizes.min() < 1 or sizes.max() > _MOST_RECORDS or sizes[:leaves].astype(np.float64).sum() > _MOST_RECORDS:
        raise _broken(source, "a size is not positive, or larger than any release")
    return leaves


def _require_counts(source: Source, terms: int, sizes: NDArray[np.int64], leaves: int) -> None:
    """The manifest counts what is there."""
    found = {"records": int(sizes[:leaves].sum()), "terms": terms, "clusters": len(sizes)}
    for name, number in (source.counted or {}).items():
        if number != found[name]:
            raise _broken(source, f"the manifest counts other {name} than the files hold")


def _added(
    certain: NDArray[np.int64], lexicon: Lexicon, codes: NDArray[np.int32], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Certain supports with some more occurrences."""
    more = np.zeros(len(lexicon.terms), np.int64)
    more[: len(certain)] = certain
    np.add.at(more, codes, weights)
    return more


def _cut(rows: _Rows, first: int, last: int) -> _Rows:
    """Some of the rows."""
    before = int(rows.lengths[:first].sum())
    size = int(rows.lengths[first:last].sum())
    return _Rows(
        rows.clusters[first:last],
        rows.chunks[first:last],
        rows.counts[first:last],
        rows.lengths[first:last],
        rows.codes[before : before + size],
    )


def _join(parts: list[_Rows]) -> _Rows:
    """Rows end to end."""
    if len(parts) == 1:
        return parts[0]
    return _Rows(
        _end_to_end([part.clusters for part in parts], np.int64),
        _end_to_end([part.chunks for part in parts], np.int32),
        _end_to_end([part.counts for part in parts], np.int64),
        _end_to_end([part.lengths for part in parts], np.int64),
        _end_to_end([part.codes for part in parts], np.int32),
    )


def _end_to_end(parts: list[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts])


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _group(
    rows: _Rows,
    first: int,
    last: int,
    sizes: NDArray[np.int64],
    term_chunks: tuple[NDArray[np.int64], NDArray[np.int32]] | None,
) -> Group:
    """Clusters first to last - 1 as the kernels take them; joint clusters have no term chunks."""
    lengths, codes = term_chunks or (np.zeros(last - first, np.int64), np.empty(0, np.int32))
    return Group(
        sizes[first:last].copy(),
        np.searchsorted(rows.clusters, np.arange(first, last + 1)).astype(np.int64),
        np.ascontiguousarray(rows.chunks),
        Bag(np.ascontiguousarray(rows.counts), _starts(rows.lengths), np.ascontiguousarray(rows.codes)),
        _starts(lengths),
        np.ascontiguousarray(codes),
    )


def _broken(source: Source, what: str) -> FormatError:
    return FormatError(f"{source.name}: {what}; get a fresh copy of the release")
