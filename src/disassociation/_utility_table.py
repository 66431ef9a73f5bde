"""What `evaluate` found, as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from disassociation.evaluation import Spread, Utility

__all__ = ["utility_table"]


def utility_table(utility: Utility) -> str:
    """A line for each way of taking supports, and the figures that do not depend on it."""
    lines = [
        f"{utility.records:,} records of {utility.terms:,} terms, k = {utility.k}, m = {utility.m}; "
        f"tKd of {utility.itemsets:,} itemsets, re of pairs of terms by rank",
        *_columns(utility),
        f"terms lost (in term chunks only)  {_percent(utility.tlost)}",
        f"co-occurrence of pairs in chunks  {_percent(utility.pair_retention)}",
    ]
    if utility.tkd_ml2 is not None:
        lines.append(f"tKd-ML2, one reconstruction       {_spread(utility.tkd_ml2)}")
    return "\n".join(lines)


def _columns(utility: Utility) -> list[str]:
    heads = ["supports", "tKd", *(f"re {first}-{stop}" for first, stop in utility.windows)]
    rows = [
        ["in chunks (a)", *map(_number, (utility.in_chunks.tkd, *utility.in_chunks.re))],
        *([f"expected, {each.model}", *map(_number, (each.tkd, *each.re))] for each in utility.expected),
    ]
    for each in utility.averaged:
        name = "1 reconstruction" if each.reconstructions == 1 else f"mean of {each.reconstructions}"
        name += f", {utility.model}"
        rows.append([name, *map(_spread, (each.tkd, *each.re))])
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in [heads, *rows]
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _spread(spread: Spread | None) -> str:
    if spread is None or spread.deviation is None:
        return _number(spread and spread.mean)
    return f"{spread.mean:.3f} ±{spread.deviation:.3f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
