"""A release and the original it was made from, laid out for an attack."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from disassociation._kernels.availability import lay_out
from disassociation._kernels.other_terms import possible_terms
from disassociation._kernels.raw_records import Postings, confident_terms, count_records, posting_lists
from disassociation._kernels.scene import Scene
from disassociation._types import Ids, Offsets, Terms
from disassociation.errors import InputError, ParameterError
from disassociation.exposure.candidates import count_everywhere
from disassociation.exposure.learned import follow
from disassociation.records import Transactions
from disassociation.release import Release

__all__ = ["PAIR", "Side", "codes_in", "open_side", "require_candidates"]

PAIR = 1 << 32
"""A victim's number times this, plus a term, is both in one number."""

_ANY = 1e-9  # the share of a single record is more


@dataclass(frozen=True, slots=True)
class Side:
    """One release with its original, laid out, and what its terms are called: by the codes of the first release."""

    release: Release
    data: Transactions
    scene: Scene
    postings: Postings
    inward: Terms  # codes of the first release to own ones, -1 for terms it has not, and for no term (-1) at the end
    outward: Terms  # the other way round

    def own(self, known: NDArray[np.int32]) -> NDArray[np.int32]:
        """Known terms, (victims, most), in own codes, those it has not left out."""
        codes = self.inward[known]
        return np.take_along_axis(codes, np.argsort(codes < 0, axis=1, kind="stable"), axis=1)

    def candidates(self, known: NDArray[np.int32], threads: int) -> Ids:
        """How many each victim has, given the known terms."""
        sets = np.ascontiguousarray(self.own(known)[:, None, :])
        return count_everywhere(self.scene, sets, threads)[0][:, 0]

    def raw_candidates(self, known: NDArray[np.int32]) -> Ids:
        """How many each victim has in the original."""
        sets = np.ascontiguousarray(self.own(known)[:, None, :])
        counts: Ids = count_records(self.postings, len(self.data), sets)[:, 0]
        return counts

    def certain(self, known: NDArray[np.int32], threads: int) -> list[list[int]]:
        """What every candidate of each victim holds beside the known terms."""
        offsets, terms = follow(self.scene, len(self.data.vocabulary), self.own(known), 1.0, threads)
        names = self.outward[terms].tolist()
        return [names[start:stop] for start, stop in pairwise(offsets.tolist())]

    def possible(self, known: NDArray[np.int32]) -> Ids:
        """What each victim may have beside the known terms, as victim and term in one number."""
        found = possible_terms(self.scene, np.ascontiguousarray(self.own(known)), len(self.data.vocabulary))
        return self._pairs(*found)

    def raw_possible(self, known: NDArray[np.int32]) -> Ids:
        """The same in the original: the other terms of the records that hold the known ones."""
        sets = np.ascontiguousarray(self.own(known))
        return self._pairs(*confident_terms(self.data.offsets, self.data.items, self.postings, sets, _ANY))

    def _pairs(self, offsets: Offsets, terms: Terms) -> Ids:
        """Those terms that the first release has; rising, as both vocabularies are in the same order."""
        names = self.outward[terms].astype(np.int64)
        owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return (owners * PAIR + names)[names >= 0]


def open_side(release: Any, original: Any, first: Side | None, name: str) -> Side:
    """A release with its original, laid out; `first` is the one whose codes terms are called by, if not this."""
    from disassociation.formats import read
    from disassociation.release_reader import open_release

    if isinstance(release, (str, Path)):
        release = open_release(release)
    if not isinstance(release, Release):
        raise ParameterError("attack takes a release, or the path of one")
    data = read(original)
    terms = len(release.vocabulary)
    scene = lay_out(release.forest, terms)
    _require_original(release, scene, data, name)
    vocabulary = data.vocabulary if first is None else first.data.vocabulary
    return Side(
        release,
        data,
        scene,
        posting_lists(data.offsets, data.items, terms),
        np.append(codes_in(vocabulary, data.vocabulary), np.int32(-1)),
        np.append(codes_in(data.vocabulary, vocabulary), np.int32(-1)),
    )


def _advice(name: str) -> str:
    return f"it was not made from {name}; give the records that it was made from"


def _require_original(release: Release, scene: Scene, data: Transactions, name: str) -> None:
    """Refuse records that a release cannot have been made from, as far as its counts tell."""
    if len(data) != release.records:
        raise InputError(f"the release has {release.records:,} records, {name} {len(data):,}: {_advice(name)}")
    if not data.vocabulary.equals(release.vocabulary):
        raise InputError(f"the release has other terms than {name}: {_advice(name)}")
    entries = scene.entries
    sizes = np.repeat(release.forest.sizes, np.diff(entries.offsets))
    fewest, most = (
        np.bincount(entries.terms, counts, len(release.vocabulary))
        for counts in (entries.counts, np.where(entries.firsts < 0, sizes, entries.counts))
    )
    if ((data.supports < fewest) | (data.supports > most)).any():
        raise InputError(f"a term is in more or fewer records of {name} than the release says: {_advice(name)}")


def require_candidates(fewest: int, name: str) -> None:
    """Refuse records some of which a release has no place for."""
    if fewest == 0:
        raise InputError(f"a record of {name} fits into no cluster of the release: {_advice(name)}")


def codes_in(terms: pa.StringArray, vocabulary: pa.StringArray) -> Terms:
    """The codes of some terms in a vocabulary, -1 for those it has not."""
    codes: Terms = pc.index_in(terms, vocabulary).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes
