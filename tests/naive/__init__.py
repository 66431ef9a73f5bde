"""The method again, slowly, in plain sets and lists: what every fast kernel is compared with.

Nothing here imports the package it judges. ``anonymize`` follows docs/algorithm.md to the letter; ``literal_paper``
follows the pseudo-code of the paper's section 4, faults included; ``violations`` checks a finished release.
"""

from naive.as_printed import horpart, literal_paper
from naive.conditions import violations
from naive.forest import (
    Bag,
    Case,
    Cluster,
    Forest,
    Joint,
    Leaf,
    Record,
    canonical,
    joints,
    leaves,
    read_case,
    tree_of,
    true_world,
)
from naive.release import RefusedError, anonymize, anonymize_leaves
from naive.tables import forest_of_rows, out_of_order

__all__ = [
    "Bag",
    "Case",
    "Cluster",
    "Forest",
    "Joint",
    "Leaf",
    "Record",
    "RefusedError",
    "anonymize",
    "anonymize_leaves",
    "canonical",
    "forest_of_rows",
    "horpart",
    "joints",
    "leaves",
    "literal_paper",
    "out_of_order",
    "read_case",
    "tree_of",
    "true_world",
    "violations",
]
