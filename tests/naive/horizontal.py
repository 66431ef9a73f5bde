"""Horizontal partitioning (paper section 4, HORPART; docs/algorithm.md section 1), by plain recursion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from naive.forest import Record

Part = list[Record]


def code(term: str) -> bytes:
    """What terms are ordered by: their UTF-8 bytes."""
    return term.encode("utf-8")


def supports(records: Iterable[Iterable[str]]) -> Counter[str]:
    """s_P(t) for every term of the records."""
    return Counter(term for record in records for term in record)


@dataclass(frozen=True)
class Rules:
    """What a split has to respect."""

    minimum: int
    limit: int  # F: a part with fewer records is a leaf
    sensitive: frozenset[str]
    l: int | None  # noqa: E741 - the paper's letter
    groups: tuple[frozenset[str], ...]

    def group(self, term: str) -> frozenset[str] | None:
        """The keep-together group of a term."""
        return next((group for group in self.groups if term in group and term not in self.sensitive), None)

    def can_stand(self, part: Part) -> bool:
        """Whether a part holds a non-sensitive term and, with l, is diverse."""
        counts = supports(part)
        if not counts.keys() - self.sensitive:
            return False
        return self.l is None or all(self.l * counts[term] <= len(part) for term in counts.keys() & self.sensitive)


def split(part: Part, last: frozenset[str] | None, banned: frozenset[str], rules: Rules) -> list[Part]:
    """The leaves made from a part, in order."""
    if len(part) < rules.limit:
        return [part]
    counts = supports(part)
    while True:
        qualifying = [
            term
            for term in counts
            if term not in rules.sensitive
            and term not in banned
            and rules.minimum <= counts[term] <= len(part) - rules.minimum
        ]
        of_last = [term for term in qualifying if last is not None and term in last]
        of_any = [term for term in qualifying if rules.group(term) is not None]
        preferred = of_last or of_any or qualifying
        if not preferred:
            return cut(part, rules)
        chosen = min(preferred, key=lambda term: (-counts[term], code(term)))
        with_term = [record for record in part if chosen in record]
        without = [record for record in part if chosen not in record]
        if rules.sensitive and not (rules.can_stand(with_term) and rules.can_stand(without)):
            banned |= {chosen}
            continue
        group = rules.group(chosen) or last
        return split(with_term, group, banned, rules) + split(without, group, banned, rules)


def cut(part: Part, rules: Rules) -> list[Part]:
    """Cut a part that no term can split into pieces of legal size."""
    n = len(part)
    pieces = -(-n // (rules.limit - 1))
    counts = supports(part)
    shared = [term for term in counts if counts[term] >= 2]
    by_number = sorted(shared, key=lambda term: (term in rules.sensitive, -counts[term], code(term)))
    number = {term: position for position, term in enumerate(by_number)}

    def order(record: Record) -> tuple[list[int], list[bytes]]:
        return sorted(number[term] for term in record if term in number), sorted(map(code, record))

    records = sorted(part, key=order)
    parts: list[Part] = []
    for piece in range(pieces):
        length = n // pieces + (1 if piece < n % pieces else 0)
        parts.append(records[:length])
        records = records[length:]
    if not rules.sensitive:
        return parts

    dealt = sorted(part, key=lambda record: (sorted(map(code, record & rules.sensitive)), order(record)))
    while not all(rules.can_stand(piece_records) for piece_records in parts):
        assert pieces >= 1, "one piece always passes"
        parts = [dealt[piece::pieces] for piece in range(pieces)]
        pieces -= max(1, pieces // 8)
    return parts
