"""What `explain` found, as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from disassociation.explanation import Cause, Explanation, Known, Place, Setting

__all__ = ["explanation_table"]

_CAUSES = {
    "rare": "in its term chunk: fewer than k of their records hold it",
    "sensitive": "in its term chunk: it is sensitive",
    "rare or sensitive": "in its term chunk: fewer than k of their records hold it, unless it is sensitive",
    "rare or moved": "in its term chunk: fewer than k of their records hold it, or it was moved there because too "
    "little is in record chunks (G2)",
    "rare or sensitive or moved": "in its term chunk: fewer than k of their records hold it, unless it is sensitive "
    "or was moved there because too little is in record chunks (G2)",
    "not joined": "still there: joined with no other cluster (too little in common, Equation 1, too many records "
    "together, or no refining)",
    "joined without": "still there: joined, but with clusters that had it in no term chunk then",
    "joined too few": "still there: joined with others that keep it, but fewer than k records of them hold it, or one "
    "of them needs it (G2)",
    "too few together": "apart in two record chunks: 1 to k - 1 of their records hold both",
    "too few, with others or not": "apart in two record chunks: they, or with other terms of a chunk one of them, "
    "would make a set of up to m terms that is in 1 to k - 1 records",
}
_KNOWN = {
    "frequent": "in a record chunk: at least k of their records hold it",
    "lifted": "lifted out of the term chunk by refining, into a shared chunk",
    "sensitive": "kept in the term chunk: it is sensitive",
    "rare": "kept in the term chunk: fewer than k of their records hold it",
    "moved": "kept in the term chunk: moved there because too little was in record chunks (G2)",
    "together": "together in one record chunk",
    "few": "apart in two record chunks: 1 to k - 1 of their records hold both",
    "never": "apart in two record chunks: none of their records holds both",
    "third": "apart in two record chunks: at least k of their records hold both, but not with other terms",
    "one hidden": "one was put in the term chunk",
    "both hidden": "both were put in the term chunk",
}


def explanation_table(found: Explanation, show_values: bool) -> str:
    """Where it ended, why, what the original tells, and other settings."""
    what = "the term" if len(found.terms) == 1 else "the pair"
    least, expected, most = found.support
    lines = [
        f"{found.records:,} records, k = {found.k}, m = {found.m}; records with {what}: at least {least:,}, "
        f"expected {expected:,.2f}, at most {most:,}"
    ]
    if found.unknown:
        return lines[0]
    lines += _columns(
        ["where it is" if len(found.terms) == 1 else "where they are", "clusters", "records", "at least", "at most"],
        [_place(place) for place in found.places],
    )
    lines.append(f"expected elsewhere than in one record or shared chunk: {found.expected_elsewhere:,.2f}")
    if found.causes:
        lines += ["why, as far as the release tells (~: more than one reason is possible):", *map(_cause, found.causes)]
    if found.known:
        lines.append(f"what was done and why, by the original (behind each line: records with {what} there):")
        lines += [_known(known, show_values) for known in found.known]
    if found.settings:
        lines.append(f"where the records with {what} would have it from:")
        heads = ["k", "m", "cluster size", "record chunks", "shared chunks", "elsewhere"]
        lines += _columns(heads, [_setting(setting) for setting in found.settings])
    return "\n".join(lines)


def _place(place: Place) -> list[str]:
    level = "" if place.level is None else f", level {place.level}"
    kind = place.kind + level
    return [kind, *(f"{number:,}" for number in (place.clusters, place.records, place.lower, place.upper))]


def _cause(cause: Cause) -> str:
    return f"  {' ' if cause.implied else '~'} {_clusters(cause.clusters)} {_CAUSES[cause.kind]}"


def _known(known: Known, show_values: bool) -> str:
    line = f"    {_clusters(known.clusters)} {_KNOWN[known.kind]}; {known.records:,}"
    return f"{line} ({', '.join(known.thirds)})" if show_values and known.thirds else line


def _clusters(number: int) -> str:
    return f"{number:,} {'cluster' if number == 1 else 'clusters'}:"


def _setting(setting: Setting) -> list[str]:
    numbers = (setting.in_record_chunks, setting.in_shared_chunks, setting.elsewhere)
    shares = [f"{number / setting.records:.1%}".replace("%", " %") if setting.records else "-" for number in numbers]
    return [*(str(number) for number in setting[:3]), *shares]


def _columns(heads: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in [heads, *rows]
    ]
