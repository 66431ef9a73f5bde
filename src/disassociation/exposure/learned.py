"""Exposure: what else is learned about someone some of whose terms are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disassociation._kernels.inference import learned_terms
from disassociation._kernels.raw_records import Postings, confident_terms
from disassociation._kernels.scene import Scene, Spans
from disassociation._types import Flags, Ids, Offsets, Terms
from disassociation.exposure.known_terms import in_shares, records_of
from disassociation.records import Transactions
from disassociation.release import Release

__all__ = ["Covers", "Exposure", "Learned", "count_covers", "follow", "what_follows"]


@dataclass(frozen=True, slots=True)
class Learned:
    """Terms beyond the known ones that follow with enough confidence, per victim."""

    true: float  # that she has
    false: float  # that she has not
    victims: float  # share about whom anything follows, true or false

    @classmethod
    def of(cls, found: tuple[Offsets, Terms], offsets: Offsets, items: Terms) -> Learned:
        """Compared with the victims' records."""
        counts = np.diff(found[0])
        base = 1 + max(found[1].max(initial=0), items.max(initial=0))
        theirs = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * base + items
        is_true = np.isin(np.repeat(np.arange(len(counts)), counts) * base + found[1], theirs)
        true, victims = int(is_true.sum()), max(len(counts), 1)
        return cls(true / victims, (len(is_true) - true) / victims, int((counts > 0).sum()) / victims)


@dataclass(frozen=True, slots=True)
class Exposure:
    """What follows from up to m known terms, for victims who have more than m.

    In the release a term's confidence is how many records are expected to hold it beside the known terms, over how
    many are expected to hold these: in each leaf n times, for each of its chunks, the share of the records it may be
    on that hold its part; a term of a term chunk is taken to be on one record. In the records as they were (`raw`) it
    is the share of the records with the known terms that hold the term.
    """

    strategy: str
    terms: int
    victims: int
    release: Learned
    raw: Learned


@dataclass(frozen=True, slots=True)
class Covers:
    """Leaves all records of which hold some term, as everybody can see."""

    leaves: int
    records: int  # in these leaves
    leaf_share: float
    record_share: float


def follow(scene: Scene, terms: int, known: NDArray[np.int32], confidence: float, threads: int) -> tuple[Ids, Terms]:
    """For each victim, the terms that follow from the known ones in a release: offsets, codes."""
    return _joined(
        in_shares(lambda start, stop: learned_terms(scene, known[start:stop], terms, confidence), len(known), threads)
    )


def what_follows(
    strategy: str,
    scene: Scene,
    postings: Postings,
    data: Transactions,
    victims: Ids,
    known: NDArray[np.int32],
    confidence: float,
    threads: int,
) -> Exposure:
    """Exposure of the victims who have more terms than are known, (victims, m)."""
    is_asked = (data.offsets[1:] - data.offsets[:-1])[victims] > known.shape[1]
    offsets, items = records_of(data, victims[is_asked])
    known = known[is_asked]
    in_release = follow(scene, len(data.vocabulary), known, confidence, threads)
    in_records = _joined(
        in_shares(
            lambda start, stop: confident_terms(data.offsets, data.items, postings, known[start:stop], confidence),
            len(known),
            threads,
        )
    )
    return Exposure(
        strategy,
        known.shape[1],
        len(known),
        Learned.of(in_release, offsets, items),
        Learned.of(in_records, offsets, items),
    )


def count_covers(release: Release, scene: Scene) -> Covers:
    """Leaves all records of which have a term from one chunk, or nothing but one term that they could have."""
    entries, spans, leaves = scene.entries, scene.spans, release.leaves
    is_full = (spans.counts > 0) & (spans.firsts >= 0)
    is_full &= entries.counts[spans.entries] == entries.bases[spans.entries]
    is_any = np.ones(len(is_full), np.bool_)
    is_covered = (_spans_at(spans, is_full, leaves) > 0) | (_spans_at(spans, is_any, leaves) == 1)
    records = int(scene.sizes[is_covered].sum())
    return Covers(int(is_covered.sum()), records, float(is_covered.mean()), records / release.records)


def _spans_at(spans: Spans, is_asked: Flags, leaves: int) -> Ids:
    """How many of some spans each leaf, by position, is in."""
    starts, ends = (np.bincount(edge[is_asked], minlength=leaves + 1) for edge in (spans.starts, spans.ends))
    return np.cumsum(starts - ends)[:leaves]


def _joined(parts: list[tuple[Offsets, Terms]]) -> tuple[Offsets, Terms]:
    """Lists that were made in shares, one after the other."""
    counts = [np.diff(offsets) for offsets, _ in parts]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *counts]))]).astype(np.int64)
    return offsets, np.concatenate([np.zeros(0, np.int32), *(terms for _, terms in parts)])
