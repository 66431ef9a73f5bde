"""What `attack` found, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from disassociation.exposure.attack_report import Attack, Victim
    from disassociation.exposure.candidates import Counted
    from disassociation.exposure.learned import Learned
    from disassociation.exposure.second import Intersection

__all__ = ["attack_table"]

_KNOWN = {"random": "at random", "rarest": "the rarest", "worst": "the worst"}


def attack_table(attack: Attack, show_values: bool) -> str:
    """A table for each attack, with a line on what it says and one on how to read it."""
    lines = [
        f"{attack.victims:,} of {attack.records:,} records attacked; k = {attack.k}, m = {attack.m}",
        "records: the same attack on the records as they were, before they were anonymized",
        *(["THE GUARANTEE DOES NOT HOLD: see below k; disassociate audit says why"] if attack.refuted else []),
        *_linkage(attack),
        *(_example(example, show_values) for example in attack.examples),
        *_exposure(attack),
        *_rejoining(attack),
        *([] if attack.second is None else _second(attack.second)),
    ]
    return "\n".join(lines)


def _linkage(attack: Attack) -> list[str]:
    within = [row for row in attack.linkage if row.terms <= attack.m]
    pinned = max(row.release.below_k for row in within)
    raw = max(row.raw.below_k for row in within)
    groups = [("", 2), ("in the release: candidates", 7), ("in the records: candidates", 5)]
    heads = ["known terms", "", "fewest", "1 %", "median", "below k", "chance", "guess", "leaf"]
    heads += ["fewest", "1 %", "median", "below k", "chance"]
    rows = [
        [
            _KNOWN[row.strategy],
            str(row.terms),
            *_counted(row.release),
            _percent(row.best_guess),
            f"{row.least_in_leaf:,}",
            *_counted(row.raw),
        ]
        for row in attack.linkage
    ]
    return [
        "",
        "LINKAGE: which record is hers? Candidates left to someone who knows some of her terms",
        f"Up to m = {attack.m} known terms leave fewer than k = {attack.k} candidates for {_percent(pinned)} of the "
        f"victims; in the records for up to {_percent(raw)}.",
        *_columns(heads, rows, groups),
        "the worst: for the release; fewest: of any victim; 1 %: so many victims have no more; below k: victims with",
        "fewer, beyond m nothing is promised; chance: of the right one if all are equally likely; guess: of the one",
        "likeliest to someone who takes chunks to be independent; leaf: the fewest in any leaf that has some",
    ]


def _counted(counted: Counted) -> list[str]:
    numbers = [f"{number:,}" for number in (counted.least, counted.low, counted.median)]
    return [*numbers, _percent(counted.below_k), _percent(counted.chance)]


def _example(victim: Victim, show_values: bool) -> str:
    line = f"record {victim.record:,}: {victim.candidates:,} candidates in the release, {victim.raw:,} in the records"
    return f"{line}: {', '.join(victim.terms)}" if show_values else line


def _exposure(attack: Attack) -> list[str]:
    groups = [("", 3), ("from the release", 3), ("from the records", 3)]
    heads = ["known terms", "", "victims", "right", "wrong", "of whom", "right", "wrong", "of whom"]
    rows = [
        [_KNOWN[row.strategy], str(row.terms), f"{row.victims:,}", *_learned(row.release), *_learned(row.raw)]
        for row in attack.exposure
    ]
    covers = attack.covers
    return [
        "",
        "EXPOSURE: what else has she? "
        f"Other terms that follow with confidence {attack.confidence:g} or more, per victim",
        "The guarantee does not bound this: whoever is known to be in a leaf has what all its records have.",
        *_columns(heads, rows, groups),
        "victims: those with more terms than are known; of whom: share of them about whom anything follows at all",
        f"covers: in {covers.leaves:,} leaves ({_percent(covers.leaf_share)}), with {_percent(covers.record_share)} of "
        "the records, all records hold some term",
    ]


def _learned(learned: Learned) -> list[str]:
    return [f"{learned.true:.3f}", f"{learned.false:.3f}", _percent(learned.victims)]


def _rejoining(attack: Attack) -> list[str]:
    rejoining = attack.rejoining
    lines = ["", "RE-JOINING: were two terms that stand apart in one record?"]
    if rejoining is None:
        return [*lines, "No term chunk has two terms: there is nothing to guess."]
    rows = [
        [_KNOWLEDGE[guess.knowledge], "" if guess.auc is None else f"{guess.auc:.3f}", _percent(guess.top)]
        for guess in rejoining.guesses
    ]
    return [
        *lines,
        f"Of {rejoining.pairs:,} pairs from term chunks at most {_percent(rejoining.together)} were; "
        "with the records at hand nothing is left to guess (AUC 1).",
        *_columns(["guessed from", "AUC", "right in top 10 %"], rows),
        "AUC: how often a pair that was together is thought likelier than one that was not; 0.5: no better than a coin",
    ]


_KNOWLEDGE = {
    "nothing": "nothing",
    "neighbours": "the release: neighbouring leaves",
    "public": "how often all pairs occur in public",
}


def _second(second: Intersection) -> list[str]:
    lines = [
        "",
        f"TWO RELEASES: {second.victims:,} victims of the {second.common:,} records that are in both",
        "k^m-ANONYMITY DOES NOT COMPOSE: nothing is promised to someone who is in two releases, whatever this finds.",
    ]
    if not second.rows:
        return lines
    groups = [("", 2), ("candidates: one", 2), ("both", 3), ("records", 1), ("other terms: one", 2), ("both", 2)]
    groups += [("records", 2)]
    heads = ["known terms", "", "median", "below k", "added", "median", "below k", "below k"]
    heads += ["median", "hers", "median", "hers", "median", "hers"]
    rows = [
        [
            _KNOWN[row.strategy],
            str(row.terms),
            f"{row.median:,}",
            _percent(row.below_k),
            f"{row.added:.3f}",
            f"{row.joined_median:,}",
            _percent(row.joined_below_k),
            _percent(row.raw_below_k),
            *(
                cell
                for others in (row.others, row.joined_others, row.raw_others)
                for cell in (f"{others.median:,}", _percent(others.hers))
            ),
        ]
        for row in second.rows
    ]
    return [
        *lines,
        *_columns(heads, rows, groups),
        "one: the release that tells more; both: the two together; added: terms that are certain in one, known then;",
        "other terms: how many she may have beside the known ones; hers: the share of these that she does have",
    ]


def _columns(heads: list[str], rows: list[list[str]], groups: Sequence[tuple[str, int]] = ()) -> list[str]:
    """A table; groups are headings over so many columns each."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    over, at = [], 0
    for name, count in groups:
        widths[at] = max(widths[at], len(name) - sum(widths[at + 1 : at + count]) - 2 * (count - 1))
        over.append(name.rjust(sum(widths[at : at + count]) + 2 * (count - 1)))
        at += count
    lines = ["  ".join(over).rstrip()] if groups else []
    for row in [heads, *rows]:
        cells = [
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _percent(share: float) -> str:
    """Small shares with as many digits as say something."""
    if 0 < share < 0.001:
        return f"{100 * share:.2g} %"
    return f"{share:.1%}".replace("%", " %")
