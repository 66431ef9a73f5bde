"""The canonical order of docs/release-format.md, section 5, again: tables in any order, put as published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Codes = list[int]
WORD = 1 << 64


@dataclass(eq=False)
class Node:
    """A cluster; ``rows`` are chunk number, codes and count."""

    size: int
    term_chunk: Codes | None
    rows: list[tuple[int, Codes, int]] = field(default_factory=list)
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    hash: int = 0


def in_canonical_order(
    clusters: Iterable[Mapping[str, Any]], subrecords: Iterable[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Both tables as they are to be published, whatever the order of rows, clusters, chunks and terms they come in."""
    clusters, subrecords = list(clusters), list(subrecords)
    used = {term for row in [*clusters, *subrecords] for term in row["terms"] or ()}
    terms = sorted(used, key=lambda term: term.encode("utf-8"))
    nodes = read_nodes(clusters, subrecords, {term: code for code, term in enumerate(terms)})
    order = cluster_order(nodes, terms)
    number = {id(node): i for i, node in enumerate(order)}
    cluster_rows: list[dict[str, Any]] = [
        {
            "cluster": i,
            "parent": None if node.parent is None else number[id(node.parent)],
            "size": node.size,
            "terms": None if node.term_chunk is None else [terms[code] for code in node.term_chunk],
        }
        for i, node in enumerate(order)
    ]
    return cluster_rows, [
        {"cluster": i, "chunk": chunk, "terms": [terms[code] for code in codes], "count": count}
        for i, node in enumerate(order)
        for chunk, codes, count in node.rows
    ]


def read_nodes(
    clusters: list[Mapping[str, Any]], subrecords: list[Mapping[str, Any]], code: Mapping[str, int]
) -> list[Node]:
    """The clusters as nodes, their terms, subrecords and chunks in order."""
    nodes = {
        row["cluster"]: Node(row["size"], None if row["terms"] is None else sorted(code[term] for term in row["terms"]))
        for row in clusters
    }
    for row in clusters:
        if row["parent"] is not None:
            nodes[row["cluster"]].parent = nodes[row["parent"]]
            nodes[row["parent"]].children.append(nodes[row["cluster"]])
    chunks: dict[tuple[int, int], list[tuple[Codes, int]]] = {}
    for row in subrecords:
        codes = sorted(code[term] for term in row["terms"])
        chunks.setdefault((row["cluster"], row["chunk"]), []).append((codes, row["count"]))
    for cluster, node in nodes.items():
        own = sorted(sorted(chunk) for (owner, _), chunk in chunks.items() if owner == cluster)
        # Chunks are disjoint, so the first code of the first subrecord, the smallest, decides.
        node.rows = [(i, codes, count) for i, chunk in enumerate(own) for codes, count in chunk]
    return list(nodes.values())


def cluster_order(nodes: list[Node], terms: list[str]) -> list[Node]:
    """Leaves by key, equal ones as the walk meets them; then joint clusters by height and smallest leaf."""
    rank = ranks(nodes, len(terms))
    leaves = [node for node in nodes if node.term_chunk is not None]
    joints = [node for node in nodes if node.term_chunk is None]
    keys = {id(leaf): leaf_key(leaf, rank) for leaf in leaves}
    distinct = sorted({tuple(key) for key in keys.values()})
    for leaf in leaves:
        leaf.hash = distinct.index(tuple(keys[id(leaf)]))
    roots = [node for node in nodes if node.parent is None]
    for root in roots:
        set_hash(root)
    met = {id(leaf): i for i, leaf in enumerate(walk(roots))}
    leaves.sort(key=lambda leaf: (leaf.hash, met[id(leaf)]))
    number = {id(leaf): i for i, leaf in enumerate(leaves)}
    joints.sort(key=lambda joint: (height(joint), min(number[id(leaf)] for leaf in walk([joint]))))
    return leaves + joints


def ranks(nodes: list[Node], terms: int) -> list[int]:
    """Each term's place by falling certain support, ties by code."""
    support: Counter[int] = Counter()
    for node in nodes:
        support.update(node.term_chunk or ())
        for _, codes, count in node.rows:
            support.update(dict.fromkeys(codes, count))
    order = sorted(range(terms), key=lambda code: (-support[code], code))
    return [order.index(code) for code in range(terms)]


def leaf_key(leaf: Node, rank: list[int]) -> list[int]:
    """The six parts of the key, one after the other."""
    counts: Counter[int] = Counter()
    for _, codes, count in leaf.rows:
        counts.update(dict.fromkeys(codes, count))
    common = [code for code in counts if 5 * counts[code] >= 3 * leaf.size]
    others = [code for code in counts if 5 * counts[code] < 3 * leaf.size]
    key = sorted(rank[code] for code in common)
    key += [rank[code] for code in sorted(others, key=lambda code: (-counts[code], rank[code]))]
    key += [-1, *sorted(rank[code] for code in leaf.term_chunk or ()), -1, leaf.size]
    for chunk, codes, count in leaf.rows:
        key += [chunk, len(codes), *codes, count]
    return key


def mix(x: int) -> int:
    """One step of SplitMix64."""
    x = (x + 0x9E3779B97F4A7C15) % WORD
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def set_hash(node: Node) -> None:
    """Hash a joint cluster and all below; leaves have theirs."""
    if node.term_chunk is not None:
        return
    for child in node.children:
        set_hash(child)
    node.hash = sum(mix(child.hash) for child in node.children) % WORD
    for chunk, codes, count in node.rows:
        for x in (chunk, *codes, count):
            node.hash = mix(node.hash ^ x)


def walk(siblings: list[Node]) -> list[Node]:
    """The leaves under some clusters, in order of rising hashes at every level."""
    found = []
    for node in sorted(siblings, key=lambda node: node.hash):
        found += walk(node.children) if node.term_chunk is None else [node]
    return found


def height(node: Node) -> int:
    """0 of a leaf, else one more than the greatest of the children's."""
    return 1 + max(height(child) for child in node.children) if node.children else 0
