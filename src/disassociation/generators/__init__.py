"""Synthetic data: for benchmarks (Quest), as a stand-in for a data set that cannot be shipped, and for the demo."""

from disassociation.generators.baskets import generate_baskets
from disassociation.generators.pos import generate_pos
from disassociation.generators.quest import generate_quest

__all__ = ["generate_baskets", "generate_pos", "generate_quest"]
