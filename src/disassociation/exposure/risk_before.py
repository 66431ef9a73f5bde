"""Before publishing: how many records a few known terms pin down, in the data as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from disassociation._parallel import usable_cores
from disassociation._types import Terms
from disassociation.exposure._rare_levels import Sample, Smallest, Task, search_everything, search_sample
from disassociation.exposure._tallies import Tally, estimate
from disassociation.params import require_whole
from disassociation.records import Transactions

__all__ = ["Example", "Risk", "RiskLevel", "risk"]

DEFAULT_SAMPLE = 1_000
"""Records searched where not all can be: intervals are within 3.1 % of the open records to either side."""

EXAMPLE_BUDGET = 1 << 28  # words of 64 records: a fifth of a second or so
_MOST_TERMS = 100
_MOST_THREADS = 1024


@dataclass(frozen=True, slots=True)
class RiskLevel:
    """What someone who knows up to ``terms`` terms of a record can do."""

    terms: int
    pinned: Tally  # records some such terms of which are in fewer than k records
    unique: Tally  # records some such terms of which are in no other record
    rare_sets: int | None  # distinct sets of exactly so many terms in 1 to k - 1 records; None if not counted

    @property
    def exact(self) -> bool:
        """Whether both numbers of records are counts, not estimates."""
        return self.pinned.exact and self.unique.exact


@dataclass(frozen=True, slots=True)
class Example:
    """A record that few known terms pin down."""

    record: int  # its number, from 1, empty records not counted
    size: int  # how many terms it takes
    support: int  # how many records hold them
    terms: tuple[str, ...] = field(repr=False)  # empty if looking for them took too long


@dataclass(frozen=True, slots=True, repr=False)
class Risk:
    """How exposed records are to someone who knows a few of their terms; made by :func:`risk`.

    Printed, it is a table. It holds nothing of the data but numbers, unless examples were asked for.

    Examples:
        >>> import disassociation as da
        >>> found = da.risk([["bread", "milk"]] * 3 + [["bread", "gin"], ["milk", "gin"]], k=3, m=2)
        >>> found
        5 records of 3 terms
        pinned down: terms that are known of a record are in fewer than k = 3 records; unique: in no other
        known terms  pinned down          unique          rare sets
                  1            2  40.0 %       0   0.0 %          1
                  2            2  40.0 %       2  40.0 %          2
        smallest set that pins a record down: 1 term for 2, 2 terms for 0, none for 3
        >>> found.levels[1].unique.share, found.levels[1].exact
        (0.4, True)
    """

    k: int
    m: int
    records: int
    terms: int
    levels: tuple[RiskLevel, ...]  # for 1 to m known terms
    examples: tuple[Example, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether all numbers are counts, not estimates."""
        return all(level.exact for level in self.levels)

    @property
    def smallest(self) -> tuple[int, ...]:
        """How many records have a smallest set in fewer than ``k`` records of 1, 2, ..., ``m`` terms; last: none."""
        counts = [0, *(level.pinned.count for level in self.levels), self.records]
        return tuple(np.diff(counts).tolist())

    def to_dict(self, *, show_values: bool = False) -> dict[str, object]:
        """All of it, for JSON; the terms of examples only if asked for."""
        return {
            "k": self.k,
            "m": self.m,
            "records": self.records,
            "terms": self.terms,
            "exact": self.exact,
            "levels": [
                {
                    "terms": level.terms,
                    "exact": level.exact,
                    "pinned": level.pinned.to_dict(),
                    "unique": level.unique.to_dict(),
                    "rare_sets": level.rare_sets,
                }
                for level in self.levels
            ],
            "smallest": {
                **{str(size): count for size, count in enumerate(self.smallest[:-1], 1)},
                "none": self.smallest[-1],
            },
            "examples": [
                {"record": example.record, "size": example.size, "support": example.support}
                | ({"terms": list(example.terms)} if show_values else {})
                for example in self.examples
            ],
        }

    def to_text(self, *, show_values: bool = False) -> str:
        """The table, and the examples; their terms only if asked for."""
        from disassociation.exposure._risk_table import risk_table

        return risk_table(self, show_values)

    def __repr__(self) -> str:
        return self.to_text()


def risk(
    data: Any,
    *,
    k: int = 5,
    m: int = 2,
    sample: int | None = None,
    random_state: int = 0,
    examples: int = 0,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Risk:
    """Count the records that someone who knows up to ``m`` of their terms can pin down, before anything is published.

    A record is pinned down by i terms if some set of at most i of its terms is in fewer than ``k`` records, and unique
    if such a set is in no other. All sets of all records are looked at while that is affordable: those of two terms, a
    million records of ten terms take two seconds. Beyond that a uniform sample of the records not yet decided is
    searched one by one: an estimate with a 95 % interval, which says so. Searches given up are counted and widen it.

    Args:
        data: Transactions, or anything :func:`disassociation.read` takes: a path, an iterable of iterables, a frame.
        k: Fewer candidate records than this count as pinned down, at least 2.
        m: How many terms of a record may be known, 1 to 100.
        sample: From three terms on, search so many of the undecided records; by default all, or 1,000 if all are dear.
        random_state: Another number draws another sample. The order of the records makes no difference.
        examples: How many records with the smallest, and of those the rarest, sets to name; ties by record number.
        threads: How many threads to use; all of the machine's by default.
        progress: Told what is being looked at.

    Raises:
        ParameterError: What is asked for is out of range.

    Examples:
        >>> import disassociation as da
        >>> found = da.risk([["bread", "milk"]] * 5 + [["bread", "gin"], ["milk", "gin"]], k=3, m=2, examples=1)
        >>> [level.pinned.count for level in found.levels]
        [2, 2]
        >>> found.examples[0], found.examples[0].terms
        (Example(record=6, size=1, support=2), ('gin',))
    """
    from disassociation.formats import read

    check_options(k, m, sample, random_state, examples, threads)
    data = read(data)
    task = Task.of(data, k, m, threads or usable_cores(), progress or (lambda step: None))
    smallest = search_everything(task, m if sample is None else 2)
    size = sample or DEFAULT_SAMPLE
    samples = search_sample(task, smallest, size, random_state) if smallest.exact < task.m else None
    levels = tuple(_level(task, smallest, samples, size) for size in range(1, m + 1))
    worst = _examples(data, task, smallest, samples, examples) if examples else ()
    return Risk(int(k), int(m), len(data), len(data.vocabulary), levels, worst)


def check_options(k: int, m: int, sample: int | None, random_state: int, examples: int, threads: int | None) -> None:
    """Refuse what is out of range, before anything is read."""
    require_whole("k", k, 2)
    require_whole("m", m, 1, _MOST_TERMS)
    require_whole("random_state", random_state, 0)
    require_whole("examples", examples, 0)
    if sample is not None:
        require_whole("sample", sample, 1)
    if threads is not None:
        require_whole("threads", threads, 1, _MOST_THREADS)


def _level(task: Task, smallest: Smallest, samples: tuple[Sample, Sample] | None, size: int) -> RiskLevel:
    """The numbers for sets of up to some size."""
    tallies = []
    for number, sizes in enumerate((smallest.pinned, smallest.unique)):
        known = int(((sizes > 0) & (sizes <= size)).sum())
        if samples is None or size <= smallest.exact:
            tallies.append(estimate(task.records, known, 0, 0, 0, 0))
        else:
            one = samples[number]
            found, undecided = one.counts(min(size, task.m))
            tallies.append(estimate(task.records, known, one.open, len(one.chosen), found, undecided))
    counted = smallest.rare_sets[size - 1] if size <= len(smallest.rare_sets) else 0 if size > task.m else None
    return RiskLevel(size, tallies[0], tallies[1], counted)


def _examples(
    data: Transactions, task: Task, smallest: Smallest, samples: tuple[Sample, Sample] | None, most: int
) -> tuple[Example, ...]:
    """The records with the smallest sets, the rarest of them first; ties by record number."""
    from disassociation._kernels.record_search import find_rarest

    sizes, supports = smallest.pinned.copy(), smallest.support.copy()
    if samples is not None:
        _add_sampled(sizes, supports, samples, task.k)
    known = np.flatnonzero(sizes)
    chosen = known[np.lexsort((known, supports[known], sizes[known]))][:most].astype(np.int32)
    supports = supports[chosen]
    sets = np.full((len(chosen), task.m), -1, np.int32)
    find_rarest(task.ranked, chosen, sizes[chosen], supports, EXAMPLE_BUDGET, sets)
    found = []
    for record, size, support, ranks in zip(
        chosen.tolist(), sizes[chosen].tolist(), supports.tolist(), sets, strict=True
    ):
        codes = np.sort(task.ranks[ranks[ranks >= 0]]).tolist()
        terms = tuple(data.vocabulary[code].as_py() for code in codes)
        found.append(Example(record + 1, len(terms) or size, support, terms))
    return tuple(sorted(found, key=lambda example: (example.size, example.support, example.record)))


def _add_sampled(sizes: Terms, supports: Terms, samples: tuple[Sample, Sample], k: int) -> None:
    """Note what searching record by record has found."""
    pinned, unique = samples
    sizes[pinned.chosen] = pinned.found
    supports[pinned.chosen] = k - 1
    same = unique.chosen[(unique.found > 0) & (unique.found == sizes[unique.chosen])]
    supports[same] = 1
