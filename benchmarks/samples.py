"""Data to measure on, generated into files of one record a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from disassociation.formats import write
from disassociation.generators import generate_pos, generate_quest
from disassociation.generators.pos import RECORDS as POS_RECORDS
from disassociation.records import Transactions

__all__ = ["POS_RECORDS", "SAMPLES", "Sample", "domain", "long", "pos", "quest", "skewed"]


@dataclass(frozen=True, slots=True)
class Sample:
    """A generated data set in a file."""

    name: str
    path: Path
    records: int
    occurrences: int


def save(data: Transactions, name: str, path: Path) -> Sample:
    """Write generated records, one a line."""
    write(data, path, format="fimi", overwrite=True)
    return Sample(f"{name}, {len(data):,} records", path, len(data), len(data.items))


def quest(folder: Path, records: int) -> Sample:
    """Quest data with the paper's parameters: 5,000 terms, 10 a record."""
    data = generate_quest(records=records, terms=5_000, mean_length=10)
    return save(data, "Quest", folder / f"quest-{records}.dat")


def pos(folder: Path, records: int) -> Sample:
    """The stand-in for the BMS-POS data."""
    return save(generate_pos(records=records), "POS stand-in", folder / f"pos-{records}.dat")


def domain(folder: Path, records: int) -> Sample:
    """Ten times the terms."""
    data = generate_quest(records=records, terms=50_000, mean_length=10)
    return save(data, "50,000 terms", folder / f"domain-{records}.dat")


def long(folder: Path, records: int) -> Sample:
    """Records of sixty terms."""
    data = generate_quest(records=records, terms=5_000, mean_length=60)
    return save(data, "sixty terms a record", folder / f"long-{records}.dat")


def skewed(folder: Path, records: int) -> Sample:
    """A few terms in half of the records, most in a handful: weights fall with the power 1.5 of the rank."""
    chance = np.random.default_rng(2012)
    chances = np.cumsum(np.arange(1, 20_001) ** -1.5)
    lengths = 1 + chance.poisson(6, records)
    drawn = np.searchsorted(chances / chances[-1], chance.random(lengths.sum())).astype(np.int64)
    keys = np.unique(np.repeat(np.arange(records), lengths) * 20_000 + drawn)  # a term once in a record
    offsets = np.concatenate([[0], np.cumsum(np.bincount(keys // 20_000, minlength=records))])
    terms, numbers = np.unique(keys % 20_000, return_inverse=True)
    names = np.array([str(term) for term in terms.tolist()])
    order = np.argsort(names)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = rank[numbers]
    items = np.ascontiguousarray(codes[np.lexsort((codes, keys // 20_000))], np.int32)
    return save(
        Transactions(offsets.astype(np.int64), items, pa.array(names[order])),
        "very skewed",
        folder / f"skewed-{records}.dat",
    )


SAMPLES: dict[str, tuple[Callable[[Path, int], Sample], int]] = {
    "quest": (quest, 1_000_000),
    "pos": (pos, POS_RECORDS),
    "domain": (domain, 500_000),
    "long": (long, 200_000),
    "skewed": (skewed, 1_000_000),
}
"""What is measured step by step, and how many records of it."""
