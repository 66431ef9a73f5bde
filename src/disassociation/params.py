"""The parameters of a release, checked once, and the rules the stages read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute

from disassociation._types import Flags, Terms
from disassociation.errors import ParameterError
from disassociation.records import Transactions

__all__ = ["METHODS", "Parameters", "Rules", "require_whole"]

METHODS = ("default", "paper")
_MOST = (1 << 31) - 1  # what kernels and the release format take
_DEFAULT_CLUSTER_SIZE = 10
_PAPER_CLUSTER_SIZE = 30
_JOINT_FACTOR = 4  # of the sizes tried, the best compromise; docs/departures.md has the figures


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the publisher asks for. Checked on construction, as far as that is possible without the data."""

    k: int = 5
    m: int = 2
    l: int | None = None  # noqa: E741
    max_cluster_size: int | None = None
    sensitive: frozenset[str] = frozenset()
    keep_together: tuple[frozenset[str], ...] = ()
    refine: bool = True
    method: str = "default"

    def __post_init__(self) -> None:
        require_whole("k", self.k, 2)
        require_whole("m", self.m, 1)
        if self.l is not None:
            require_whole("l", self.l, 2)
            if not self.sensitive:
                raise ParameterError(
                    "l asks for diverse sensitive terms, but none are named; name them, or leave l out"
                )
        if self.max_cluster_size is not None:
            require_whole("max_cluster_size", self.max_cluster_size, 1)
            if self.max_cluster_size < self.minimum:
                raise ParameterError(
                    f"max_cluster_size is {self.max_cluster_size}, but every cluster needs at least {self.minimum} "
                    f"records (the larger of k and l); raise it to {2 * self.minimum} or more"
                )
        if self.method not in METHODS:
            raise ParameterError(f"unknown method; choose one of {', '.join(METHODS)}")
        seen: set[str] = set()
        for group in self.keep_together:
            if seen & group:
                raise ParameterError("a term is in two keep-together groups; every term may be in one only")
            seen |= group

    @property
    def minimum(self) -> int:
        """The fewest records a leaf may have (G0)."""
        return max(self.k, self.l or 0)

    @property
    def cluster_size(self) -> int:
        """The size below which a part is not split further, as asked for or by default."""
        if self.max_cluster_size is not None:
            return self.max_cluster_size
        size = _PAPER_CLUSTER_SIZE if self.method == "paper" else _DEFAULT_CLUSTER_SIZE
        return max(size, 2 * self.minimum)

    def rules_for(self, data: Transactions) -> Rules:
        """These parameters in terms of one data set; refuses what the data cannot give."""
        if len(data) < self.minimum:
            raise ParameterError(
                f"{len(data)} records are too few: k and l ask for clusters of at least {self.minimum}; lower them"
            )
        sensitive = _codes(self.sensitive, data.vocabulary)
        is_sensitive = np.zeros(len(data.vocabulary) if self.sensitive else 0, np.bool_)
        is_sensitive[sensitive] = True
        if len(sensitive) == len(data.vocabulary):
            raise ParameterError("every term is sensitive, so nothing can be published beside them; name fewer")
        if self.l is not None and len(sensitive):
            most = int(data.supports[sensitive].max())
            if most * self.l > len(data):
                raise ParameterError(
                    f"l is {self.l}, but a sensitive term is in {most} of {len(data)} records; "
                    f"l can be at most {len(data) // most}"
                )
        group = np.zeros(0, np.int32)
        if self.keep_together:
            group = np.full(len(data.vocabulary), -1, np.int32)
            for number, terms in enumerate(self.keep_together):
                group[_codes(terms, data.vocabulary)] = number
            group[sensitive] = -1
        limit = max(self.cluster_size, 2 * self.minimum)
        return Rules(
            k=self.k,
            m=self.m,
            l=self.l,
            minimum=self.minimum,
            limit=limit,
            joint_limit=len(data) if self.method == "paper" else _JOINT_FACTOR * limit,
            sensitive=sensitive,
            is_sensitive=is_sensitive if len(sensitive) else np.zeros(0, np.bool_),
            group=group,
            refine=self.refine,
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """Parameters resolved against one data set; what the stages read."""

    k: int
    m: int
    l: int | None  # noqa: E741
    minimum: int
    limit: int  # F of docs/algorithm.md: a part with fewer records is a leaf
    joint_limit: int  # the most records of a joint cluster
    sensitive: Terms = field(repr=False)  # codes, rising
    is_sensitive: Flags = field(repr=False)  # (terms,), empty if nothing is sensitive
    group: Terms = field(repr=False)  # (terms,) number of the term's group, -1 for none; empty if there are no groups
    refine: bool


def require_whole(name: str, value: object, least: int, most: int = _MOST) -> None:
    """Refuse what is not a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ParameterError(f"{name} must be a whole number")
    if value < least:
        raise ParameterError(f"{name} must be at least {least}, not {value}")
    if value > most:
        raise ParameterError(f"{name} must be at most {most:,}")


def _codes(terms: Collection[str] | Iterable[str], vocabulary: pa.StringArray) -> Terms:
    """The codes of those terms that occur in the data, rising; the others have no say."""
    found = pa.compute.index_in(pa.array(sorted(terms), pa.string()), vocabulary).drop_null()
    return np.sort(found.to_numpy(zero_copy_only=False).astype(np.int32))
