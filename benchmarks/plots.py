"""The pictures of the benchmark page, as SVG that depends on the figures only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

from benchmarks.steps import BEFORE, PARTS, Measured

# Okabe and Ito's colours, which the colour-blind can tell apart.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
_STYLE = {
    "svg.hashsalt": "disassociation",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def plot_steps(measured: Sequence[Measured], path: Path) -> None:
    """A bar for each data set, in multiples of what polars takes to count its items."""
    with mpl.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(9, 0.6 * len(measured) + 1.8), layout="constrained")
        for place, each in enumerate(measured):
            left, floor = 0.0, each.floors["polars_eager"]
            for step, colour in zip(PARTS, _COLOURS, strict=True):
                width = each.one[step].wall / floor
                axes.barh(place, width, left=left, color=colour, label=step if place == 0 else None)
                left += width
            axes.text(left, place, f" {each.one[BEFORE].wall / floor:.1f} without the audit", va="center")
        axes.set_yticks(range(len(measured)), [each.sample.name for each in measured])
        axes.invert_yaxis()
        axes.margins(x=0.25)
        axes.set_xlabel("one thread, times what polars takes to read the file and count its items")
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
        _save(figure, path)


def plot_growth(points: Sequence[tuple[int, float]], path: Path) -> None:
    """Seconds by records, beside a straight line."""
    with mpl.rc_context(_STYLE):
        figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
        records, seconds = zip(*points, strict=True)
        axes.loglog(records, seconds, "o-", color=_COLOURS[0], label="file to audited release")
        line = [seconds[0] * number / records[0] for number in records]
        axes.loglog(records, line, "--", color=_COLOURS[7], label="in proportion")
        axes.set_xlabel("Quest records")
        axes.set_ylabel("seconds, one thread")
        axes.legend(frameon=False)
        _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
