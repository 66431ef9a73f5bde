"""The README.md inside a release: what it is, what it promises and what not, how to read it."""

from __future__ import annotations

from disassociation.release import Release

__all__ = ["data_card"]

_CARD = """\
# A disassociated data set

Every record of the original is a set of terms (things one person bought, searched, was diagnosed with). This release
keeps all original terms and hides which rare combinations of them stood in the same record. It was made with the
Python package `disassociation`, in format version 1.

| | |
|---|---|
| records | {records:,} |
| distinct terms | {terms:,} |
| clusters | {leaves:,} leaves, {joints:,} joint clusters |
| k, m{l_name} | {k}, {m}{l_value} |

## What is promised

Someone who knows up to {m} term{m_plural} of a person cannot narrow her record down to fewer than {k} candidates:
for every set of up to {m} term{m_plural} that some record held, there is a possible original data set, consistent
with everything in this release, in which at least {k} records of that record's cluster hold the set.{l_promise}

## What is not promised

* It is a statement about what is published: *some* possible original has {k} such records, not every one.
* Nothing is promised about someone who knows more than {m} term{m_plural} of a person, or that a term is *not* in a
  record.
* A term held by nearly all records of a cluster can be inferred for everyone known to be in it.
* Releases of overlapping data do not add up to a safe one: do not publish two.

## The files

* `clusters.parquet`: `cluster`, `parent` (null at a root), `size` (records), `terms` (a leaf's term chunk: each of its
  terms is in at least one of the leaf's records, nobody says in which; null for a joint cluster).
* `subrecords.parquet`: `cluster`, `chunk`, `terms`, `count`. A chunk holds, for the terms of its own domain, what each
  record has of them, as a bag. Nothing links the rows of one chunk to the rows of another. Chunks of a joint cluster
  belong to records of the leaves under it.
* `manifest.json`: the parameters, and size and SHA-256 of the files.

All is in canonical order, which says nothing about the order of the original records.

## Reading it

```sql
-- DuckDB: certain (lower) support of every term
SELECT term, sum(n) AS at_least FROM (
    SELECT unnest(terms) AS term, count AS n FROM 'subrecords.parquet'
    UNION ALL
    SELECT unnest(terms) AS term, 1 AS n FROM 'clusters.parquet'
) GROUP BY term ORDER BY at_least DESC;
```

```python
import polars as pl

pl.read_parquet("subrecords.parquet").explode("terms").group_by("terms").agg(pl.col("count").sum())
```

```python
import pandas as pd

pd.read_parquet("subrecords.parquet").explode("terms").groupby("terms")["count"].sum()
```

```python
# Spark
spark.read.parquet("subrecords.parquet").selectExpr("explode(terms) AS term", "count").groupBy("term").sum("count")
```

```python
import disassociation as da

release = da.open_release(".")
```
"""

_L_PROMISE = """

Terms declared sensitive by the publisher stand in term chunks only, in clusters of at least {l} records, and none of
them is in more than one in {l} of its cluster's records."""


def data_card(release: Release) -> str:
    """The text of a release's README.md; a function of the published content only."""
    l = release.l  # noqa: E741
    return _CARD.format(
        records=release.records,
        terms=len(release.vocabulary),
        leaves=release.leaves,
        joints=release.joint_clusters,
        k=release.k,
        m=release.m,
        m_plural="" if release.m == 1 else "s",
        l_name="" if l is None else ", l",
        l_value="" if l is None else f", {l}",
        l_promise="" if l is None else _L_PROMISE.format(l=l),
    )
