"""What an audit says: which conditions were decided, what violates them, and how much was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CONDITIONS", "NOT_DECIDED", "Audit", "Covers", "Violation"]

NOT_DECIDED = "not decided"
"""Of a grouping: neither found nor shown not to exist."""

CONDITIONS: Mapping[str, str] = {
    "order": "everything stands in the order that its content prescribes, so that order tells nothing",
    "S1": "domains within a cluster are disjoint, no chunk has more subrecords than there are records",
    "S2": "no term of a shared chunk is left in a term chunk below it",
    "G0": "every cluster has at least max(k, l) records",
    "G1": "every itemset of up to m terms in a record chunk is there at least k times",
    "G2": "every cluster's records can be filled, whichever k of them share a known itemset",
    "G3": "every itemset of up to m terms in a shared chunk finds k records wherever it finds one",
    "L": "sensitive terms stand in term chunks only, are not what fills a cluster's records, and are in at most 1 in l",
    "C": "no term can be inferred with more than the confidence asked for",
    "S0": "the release is one of the original: every record and every occurrence is accounted for",
}
"""The conditions by name, in the order of a report; L, C and S0 are decided only where they are asked for."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a release fails: the condition, where, and why; with the itemset that is exposed, if known.

    ``str()`` shows no term; the itemset is there for who asks for it.
    """

    condition: str
    cluster: int | None
    chunk: int | None
    what: str
    leaf: int | None = None  # the cluster whose records are exposed
    itemset: tuple[str, ...] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        place = "release" if self.cluster is None else f"cluster {self.cluster}"
        place += "" if self.chunk is None else f", chunk {self.chunk}"
        return f"{self.condition}: {place}: {self.what}"

    def to_dict(self, *, show_values: bool = False) -> dict[str, object]:
        """For JSON; terms only if asked for."""
        found: dict[str, object] = {
            "condition": self.condition,
            "cluster": self.cluster,
            "chunk": self.chunk,
            "what": self.what,
            "leaf": self.leaf,
        }
        if show_values:
            found["itemset"] = None if self.itemset is None else list(self.itemset)
        return found


@dataclass(frozen=True, slots=True)
class Covers:
    """What can be inferred about everyone in a cluster (guarantee.md 7.3); no violation in itself."""

    covered_clusters: int  # leaves in which some term is in all records
    covering_terms: int  # terms that cover at least one leaf
    widest: int  # leaves covered by the term that covers most
    across: float  # greatest share of a leaf's records that hold one record-chunk term
    within: float  # greatest confidence of one term of a chunk, given up to m others of the chunk

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Audit:
    """The verdict on a release.

    ``holds`` says whether the guarantee is proved; ``conditions`` which conditions were decided and how;
    ``violations`` what is wrong, by condition and cluster.

    Examples:
        >>> import disassociation as da
        >>> found = da.audit(da.disassociate([["a", "b"]] * 4, k=2, m=2))
        >>> found.holds, found.conditions["G1"], found.violations
        (True, True, ())
    """

    k: int
    m: int
    l: int | None  # noqa: E741
    records: int
    terms: int
    clusters: int
    joint_clusters: int
    chunks: int
    flows: int  # maximum flows that had to be solved because linear conditions did not decide
    conditions: Mapping[str, bool]
    violations: tuple[Violation, ...]
    covers: Covers | None = None
    reached: Mapping[str, object] | None = None  # with the original: what is really reached

    @property
    def holds(self) -> bool:
        """Whether every condition that was decided holds."""
        return all(self.conditions.values())

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        lines = [f"<Audit: {self.verdict()}; {self.summary()}"]
        for name, holds in self.conditions.items():
            count = sum(violation.condition == name for violation in self.violations)
            lines.append(f"  {name:<5} {'holds' if holds else f'violated {count} times'}: {CONDITIONS[name]}")
        if self.reached is not None and self.reached["grouping"] == NOT_DECIDED:
            lines.append(f"  S0    {NOT_DECIDED}: {self.reached['why']}")
        return "\n".join(lines) + ">"

    def verdict(self) -> str:
        """The verdict in a few words; that a release is of other records does not make it unsafe."""
        if self.holds:
            return "holds"
        if [name for name, holds in self.conditions.items() if not holds] == ["S0"]:
            return "holds, BUT THIS IS NO RELEASE OF THE GIVEN RECORDS"
        return "DOES NOT HOLD"

    def summary(self) -> str:
        """One line on what was looked at."""
        l = "" if self.l is None else f", l = {self.l}"  # noqa: E741
        return (
            f"k = {self.k}, m = {self.m}{l}; {self.records:,} records, {self.terms:,} terms, "
            f"{self.clusters:,} clusters, {self.chunks:,} chunks, {self.flows:,} flows"
        )

    def to_dict(self, *, show_values: bool = False) -> dict[str, object]:
        """For JSON; terms only if asked for."""
        return {
            "holds": self.holds,
            "k": self.k,
            "m": self.m,
            "l": self.l,
            "records": self.records,
            "terms": self.terms,
            "clusters": self.clusters,
            "joint_clusters": self.joint_clusters,
            "chunks": self.chunks,
            "flows": self.flows,
            "conditions": dict(self.conditions),
            "violations": [violation.to_dict(show_values=show_values) for violation in self.violations],
            "covers": None if self.covers is None else self.covers.to_dict(),
            "reached": None if self.reached is None else dict(self.reached),
        }
