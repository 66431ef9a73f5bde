"""What `risk` found, as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disassociation.exposure._tallies import Tally

if TYPE_CHECKING:
    from disassociation.exposure.risk_before import Example, Risk, RiskLevel

__all__ = ["risk_table"]


def risk_table(risk: Risk, show_values: bool) -> str:
    """A line for each number of known terms, what the estimates rest on, and the examples."""
    lines = [
        f"{_plural(risk.records, 'record')} of {_plural(risk.terms, 'term')}",
        f"pinned down: terms that are known of a record are in fewer than k = {risk.k} records; unique: in no other",
        *_columns(risk),
        *(line for level in risk.levels if (line := _basis(level))),
        _smallest(risk),
        *(_example(example, show_values) for example in risk.examples),
    ]
    return "\n".join(lines)


def _columns(risk: Risk) -> list[str]:
    heads = ["known terms", "pinned down", "", "unique", "", "rare sets"]
    rows = [
        [
            str(level.terms),
            *_cells(level.pinned),
            *_cells(level.unique),
            "" if level.rare_sets is None else f"{level.rare_sets:,}",
        ]
        for level in risk.levels
    ]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [heads, *rows]
    ]


def _cells(tally: Tally) -> list[str]:
    if tally.exact:
        return [f"{tally.count:,}", f"{tally.share:.1%}".replace("%", " %")]
    low, high = (number / tally.records for number in (tally.low, tally.high))
    return [f"~{tally.count:,}", f"{tally.share:.1%} ({low:.1%} to {high:.1%})".replace("%", " %")]


def _basis(level: RiskLevel) -> str:
    """What an estimate rests on; nothing for a count."""
    parts = [
        f"{name} from {tally.searched:,} of {tally.open:,} records that were open"
        + (f" ({tally.undecided:,} undecided)" if tally.undecided else "")
        for name, tally in (("pinned down", level.pinned), ("unique", level.unique))
        if not tally.exact
    ]
    return f"{_plural(level.terms, 'term')}: estimated, with 95 % intervals: {', '.join(parts)}" if parts else ""


def _smallest(risk: Risk) -> str:
    about = "" if risk.exact else "about "
    parts = [f"{_plural(size, 'term')} for {count:,}" for size, count in enumerate(risk.smallest[:-1], 1)]
    return f"smallest set that pins a record down: {about}{', '.join(parts)}, none for {risk.smallest[-1]:,}"


def _example(example: Example, show_values: bool) -> str:
    line = f"record {example.record:,}: {_plural(example.size, 'term')} in {_plural(example.support, 'record')}"
    return f"{line}: {', '.join(example.terms)}" if show_values and example.terms else line


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
