"""The stages in order, and the release they make (docs/algorithm.md sections 0 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from naive.forest import Cluster, Forest, Joint, Leaf, Record
from naive.horizontal import Rules, split, supports
from naive.refine import Joined, Node, Simple, refine_leaves
from naive.vertical import partition_leaf, project


class RefusedError(Exception):
    """What was asked for is impossible with these data."""


def refusal(records: Sequence[Record], minimum: int, max_cluster_size: int, rules: Rules) -> str | None:
    """Why section 0 refuses the data, or None."""
    if len(records) < minimum:
        return "fewer records than the smallest leaf"
    if max_cluster_size < minimum:
        return "max_cluster_size is smaller than the smallest leaf"
    if rules.l is not None and not rules.sensitive:
        return "l without sensitive terms"
    if not supports(records).keys() - rules.sensitive:
        return "every term is sensitive"
    if not rules.can_stand(list(records)):
        return "a sensitive term is too frequent for l"
    return None


def anonymize(
    records: Iterable[Iterable[str]],
    k: int,
    m: int,
    max_cluster_size: int,
    sensitive: frozenset[str] = frozenset(),
    l: int | None = None,  # noqa: E741 - the paper's letter
    groups: Iterable[Iterable[str]] = (),
    refine: bool = True,
    method: str = "default",
) -> tuple[Forest, dict[str, list[Record]]]:
    """The release, and for each leaf's name the original records in it."""
    data = [frozenset(record) for record in records if frozenset(record)]
    minimum = k if l is None else max(k, l)
    limit = max(max_cluster_size, 2 * minimum)
    rules = Rules(minimum, limit, sensitive, l, tuple(frozenset(group) for group in groups))
    reason = refusal(data, minimum, max_cluster_size, rules)
    if reason is not None:
        raise RefusedError(reason)
    joint_limit = None if method == "paper" else 4 * limit
    return anonymize_leaves(split(data, None, frozenset(), rules), k, m, sensitive, rules.groups, refine, joint_limit)


def anonymize_leaves(
    parts: Sequence[Sequence[Record]],
    k: int,
    m: int,
    sensitive: frozenset[str] = frozenset(),
    groups: Sequence[frozenset[str]] = (),
    refine: bool = True,
    joint_limit: int | None = None,
) -> tuple[Forest, dict[str, list[Record]]]:
    """Vertical partitioning and refining of leaves that are already there; no limit is none to joint clusters."""
    leaves: list[Simple] = []
    for number, part in enumerate(parts):
        domains, term_chunk = partition_leaf(part, k, m, sensitive, groups)
        chunks = [project(part, domain) for domain in domains]
        leaves.append(Simple(number, list(part), chunks, term_chunk - sensitive, term_chunk & sensitive))
    roots: Sequence[Node] = refine_leaves(leaves, k, m, joint_limit) if refine else leaves
    return tuple(published(root) for root in roots), {str(leaf.number): leaf.records for leaf in leaves}


def published(node: Node) -> Cluster:
    """What is published of a cluster."""
    if isinstance(node, Joined):
        return Joint(tuple(published(child) for child in node.children), tuple(node.shared_chunks))
    return Leaf(len(node.records), tuple(node.record_chunks), node.term_chunk | node.sensitive, str(node.number))
