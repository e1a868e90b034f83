"""The error of any algorithm against K: what the figures of papers have no place for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tcsmt.support.plots import COLOURS, save_svg

__all__ = ["plot_algorithms"]

#: Panels beside each other, at most.
_COLUMNS = 3
_STYLES = ("-", "--", ":", "-.")
Line = list[tuple[int, float]]


def plot_algorithms(path: Path, records: Sequence[Mapping[str, Any]], algorithms: Sequence[str]) -> bool:
    """Draw the relative residuals of some algorithms against K, a panel for each distribution.

    A line is an algorithm on a unit as it is; variants with another rounding are left out. Returns whether
    there was anything to draw.
    """
    panels: dict[str, dict[tuple[str, str], Line]] = {}
    for record in sorted(records, key=lambda one: one["k"]):
        if record["algorithm"] not in algorithms:
            continue
        lines = panels.setdefault(record["distribution"], {})
        for unit, found in record["units"].items():
            if not unit.endswith(" RNE") and found.get("residual"):
                lines.setdefault((record["algorithm"], unit), []).append((record["k"], found["residual"]))
    panels = {name: lines for name, lines in panels.items() if lines}
    if not panels:
        return False
    across = min(_COLUMNS, len(panels))
    down = -(-len(panels) // across)
    says = f"Relative residual against K: {', '.join(algorithms)}"
    save_svg(path, (3.2 * across + 0.6, 2.6 * down + 1.2), partial(_draw, panels, (down, across)), says)
    return True


def _draw(panels: Mapping[str, Mapping[tuple[str, str], Line]], shape: tuple[int, int], figure: Any) -> None:
    axes = figure.subplots(*shape, sharex=True, squeeze=False)
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    for axis, (distribution, lines) in zip(axes.flat, panels.items(), strict=False):
        for name, line in lines.items():
            place = names.index(name)
            style = _STYLES[place // len(COLOURS) % len(_STYLES)]
            colour, label = COLOURS[place % len(COLOURS)], f"{name[0]} on {name[1]}"
            axis.loglog(*zip(*line, strict=True), style, marker="o", markersize=3, color=colour, label=label)
        axis.set_title(distribution, fontsize=9)
        axis.grid(alpha=0.3)
        axis.set_xlabel("K")
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("relative residual")
    seen: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            seen.setdefault(label, handle)
    figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=2)
