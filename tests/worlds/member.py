"""Whether records, given leaf by leaf, are a possible world of a release.

A leaf has each term from one place at most: the nearest that holds it. So what a record has of every chunk can be read
off it, and a world is one in which these parts are the chunk's subrecords, no more and no fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from naive.forest import Forest, Record
from worlds.scene import set_up


def faults_of_world(forest: Forest, records: Sequence[Sequence[Record]]) -> list[str]:
    """In what ways the records of the leaves, in the order of ``leaves``, are not a possible world; [] if they are."""
    scene = set_up(forest)
    if len(records) != len(scene.leaves):
        return ["not as many leaves"]
    found: list[str] = []
    placed: dict[int, Counter[Record]] = {chunk: Counter() for chunk in range(len(scene.shared))}
    for position, (leaf, rows) in enumerate(zip(scene.leaves, records, strict=True)):
        here: dict[tuple[str, int], Counter[Record]] = {}
        if len(rows) != leaf.n:
            found.append(f"leaf {position}: not {leaf.n} records")
        for row in rows:
            parts = scene.parts(position, row)
            if not row or parts is None:
                found.append(f"leaf {position}: a record is empty, or has a term that the leaf cannot have")
                continue
            for place, part in parts.items():
                here.setdefault(place, Counter())[part] += 1
        for i, chunk in enumerate(leaf.record_chunks):
            if here.pop(("record", i), Counter()) != Counter(chunk):
                found.append(f"leaf {position}: record chunk {i} is another")
        strewn = here.pop(("term", 0), Counter())
        if frozenset().union(*strewn) != leaf.term_chunk:
            found.append(f"leaf {position}: a term of the term chunk is on no record")
        for (_, chunk_number), parts_here in here.items():
            placed[chunk_number].update(parts_here)
    for number, shared in enumerate(scene.shared):
        if placed[number] != Counter(dict(shared.kinds)):
            found.append(f"shared chunk {number} is another")
    return found
