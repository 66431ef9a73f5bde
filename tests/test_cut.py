"""Cutting a part that no term splits: many shared terms, more than one machine word holds, against the naive order."""

from __future__ import annotations

import random

import numpy as np
import pytest

import disassociation as da
from disassociation.horizontal import partition_records
from disassociation.params import Parameters
from naive.horizontal import Part, Rules, split


def unsplittable(chance: random.Random, records: int, terms: int, k: int) -> Part:
    """Records of which no term is in k or more, many in several; some are equal, some begin like others."""
    part: list[set[str]] = [set() for _ in range(records)]
    for term in range(terms):
        for record in chance.sample(range(records), chance.randint(1, k - 1)):
            part[record].add(f"t{term}")
    for record in chance.sample(range(records), records // 4):
        part[record] = set(sorted(part[chance.randrange(records)])[: chance.randint(1, 9)])
    return [frozenset(terms or {"lone"}) for terms in part]


@pytest.mark.parametrize("terms", [30, 62, 63, 64, 65, 70, 200, 700])
def test_order_of_the_pieces(terms: int) -> None:
    """The same leaves in the same order, whatever the order of the records."""
    for seed in range(20):
        chance = random.Random(f"{terms} {seed}")
        k = chance.randint(3, 6)
        part = unsplittable(chance, chance.randint(2 * k, 90), terms, k)
        expected = split(part, None, frozenset(), Rules(k, 2 * k, frozenset(), None, ()))
        data = da.read([sorted(record) for record in part])
        leaves = partition_records(data, Parameters(k=k, max_cluster_size=2 * k).rules_for(data))
        records = list(map(frozenset, data))
        found = [[records[i] for i in ids] for ids in np.split(leaves.order, leaves.offsets[1:-1])]
        assert [sorted(map(sorted, leaf)) for leaf in found] == [sorted(map(sorted, leaf)) for leaf in expected]
