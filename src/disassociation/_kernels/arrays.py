"""The arrays that stages hand to each other and to kernels: plain named tuples, whose import does not import Numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TERM_CHUNK = -1
"""In place of a chunk number: the term is in the leaf's term chunk."""


class Records(NamedTuple):
    """All records, with all their terms."""

    offsets: NDArray[np.int64]  # (records + 1,)
    items: NDArray[np.int32]  # codes, rising within a record
    is_sensitive: NDArray[np.bool_]  # (terms,) empty if nothing is


class Leaves(NamedTuple):
    """Records grouped into leaves, numbered in the order in which the splits yield them."""

    order: NDArray[np.int32]  # (records,) record numbers, leaf after leaf
    offsets: NDArray[np.int64]  # (leaves + 1,) where each leaf begins in `order`


class Domains(NamedTuple):
    """The terms of each leaf, and where they went."""

    offsets: NDArray[np.int64]  # (leaves + 1,) where each leaf's terms begin
    terms: NDArray[np.int32]  # codes, rising within a leaf
    chunks: NDArray[np.int32]  # number of the term's record chunk, or TERM_CHUNK
    supports: NDArray[np.int32]  # records of the leaf that hold the term
    leans: NDArray[np.bool_]  # (leaves,) G2 needs a term in the term chunk


class Rows(NamedTuple):
    """Distinct subrecords of clusters: cluster after cluster, chunk after chunk, in canonical order."""

    cluster_offsets: NDArray[np.int64]  # (clusters + 1,) where each cluster's rows begin
    chunks: NDArray[np.int32]  # chunk number within the cluster
    counts: NDArray[np.int32]  # how many records have the subrecord
    offsets: NDArray[np.int64]  # (rows + 1,) where each row's terms begin
    items: NDArray[np.int32]  # codes, rising within a row


class Joints(NamedTuple):
    """What refining made of the leaves."""

    leaf_parents: NDArray[np.int64]  # (leaves,) joint cluster right above, -1 for none
    parents: NDArray[np.int64]  # (joints,) joint cluster right above, -1 for none
    sizes: NDArray[np.int64]  # (joints,) records
    lifted: NDArray[np.bool_]  # (terms of all leaves, as in Domains) the term left the leaf's term chunk
    rows: Rows  # the shared chunks


class Forest(NamedTuple):
    """A release in codes. Clusters: leaves first, then joint clusters, children before parents."""

    parents: NDArray[np.int64]  # (clusters,) -1 for none
    sizes: NDArray[np.int64]  # (clusters,) records
    term_offsets: NDArray[np.int64]  # (leaves + 1,) where each leaf's term chunk begins
    terms: NDArray[np.int32]  # codes, rising within a leaf
    rows: Rows  # record chunks of leaves, shared chunks of joint clusters
