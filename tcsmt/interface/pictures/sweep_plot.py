"""Plots beyond the papers' figures: the error of any algorithm against K, on the units of all vendors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import ceil, log10
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.catalogue.naming import vendors
from tcsmt.support.plots import COLOURS, save_svg

#: Panels beside each other, at most.
_COLUMNS = 3
#: Inches of a letter of the legend, about.
_LETTER = 0.068
_STYLES = ("-", "--", ":", "-.")
#: Matrices that both formats hold, so that the error is the unit's alone; how they are marked.
_SIGNS = {"shared": ("o", "random signs"), "shared-positive": ("^", "all positive")}
_OF_UNITS = {"single-f16": "FP16", "single-bf16": "BF16"}
Line = list[tuple[int, float]]


def plot_algorithms(path: Path, records: Sequence[Mapping[str, Any]], algorithms: Sequence[str]) -> bool:
    """Draw the relative residuals of some algorithms against K, a panel for each distribution.

    A line is an algorithm on a unit as it is; variants with another rounding are left out. Returns whether
    there was anything to draw.
    """
    panels: dict[str, dict[tuple[str, str], Line]] = {}
    for record in sorted(records, key=lambda r: r["k"]):
        if record["algorithm"] not in algorithms:
            continue
        lines = panels.setdefault(record["distribution"], {})
        for unit, values in record["units"].items():
            if not unit.endswith(" RNE") and values.get("residual"):
                lines.setdefault((record["algorithm"], unit), []).append((record["k"], values["residual"]))
    panels = {name: lines for name, lines in panels.items() if lines}
    if not panels:
        return False
    across = min(_COLUMNS, len(panels))
    down = -(-len(panels) // across)
    says = f"Relative residual against K: {', '.join(algorithms)}"
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    # the legend has two columns where they fit, and the figure is as wide as one of them
    column = _LETTER * max(len(_label(name)) for name in names) + 0.7
    width = max(3.2 * across + 0.6, column + 0.2)
    columns = max(1, min(2, int(width // column)))
    height = 2.6 * down + 0.6 + 0.18 * -(-len(names) // columns)
    save_svg(path, (width, height), partial(_draw, panels, names, (down, across), columns), says)
    return True


def _label(name: tuple[str, str]) -> str:
    return f"{name[0]} on {name[1]}"


def _draw(
    panels: Mapping[str, Mapping[tuple[str, str], Line]],
    names: Sequence[tuple[str, str]],
    shape: tuple[int, int],
    columns: int,
    figure: Any,
) -> None:
    axes = figure.subplots(*shape, sharex=True, squeeze=False)
    lengths = sorted({k for lines in panels.values() for line in lines.values() for k, _ in line})
    for axis, (distribution, lines) in zip(axes.flat, panels.items(), strict=False):
        for name, line in lines.items():
            place = names.index(name)
            style = _STYLES[place // len(COLOURS) % len(_STYLES)]
            colour, label = COLOURS[place % len(COLOURS)], _label(name)
            axis.loglog(*zip(*line, strict=True), style, marker="o", markersize=3, color=colour, label=label)
        axis.set_title(distribution, fontsize=9)
        axis.grid(alpha=0.3)
        axis.set_xlabel("K")
        axis.set_xticks(lengths, [str(k) for k in lengths])
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("relative residual")
    seen: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            seen.setdefault(label, handle)
    figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=columns, fontsize=8)


def is_of_units(record: Mapping[str, Any]) -> bool:
    """Return whether :func:`plot_units` shows such records."""
    return record["distribution"] in _SIGNS and record["algorithm"] in _OF_UNITS


def plot_units(path: Path, records: Sequence[Mapping[str, Any]]) -> bool:
    """Draw the error and the bias of every unit by itself, at the largest K. Returns whether there was any.

    A row of panels is a format, a line in it a unit, its colour the vendor. Only records of
    :func:`is_of_units` are shown.
    """
    shown = [record for record in records if is_of_units(record)]
    longest = max((record["k"] for record in shown), default=0)
    panels: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name in _OF_UNITS:
        for record in shown:
            if (record["algorithm"], record["k"]) == (name, longest):
                units = {
                    label: values
                    for label, values in record["units"].items()
                    if not label.endswith(" RNE") and values.get("residual")
                }
                if units:
                    panels.setdefault(name, {})[record["distribution"]] = units
    if not panels:
        return False
    labels = {name: _by_vendor(panel) for name, panel in panels.items()}
    height = sum(map(len, labels.values())) * 0.19 + 1.0 * len(panels) + 0.6
    says = f"Relative error and bias of matrix units on the same matrices, dot products of {longest:,} terms"
    save_svg(path, (9, height), partial(_draw_units, panels, labels, says), says)
    return True


def _vendor(label: str) -> str:
    return vendors().get(label.partition(",")[0].partition("/")[0], "others")


def _by_vendor(panel: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the units of a panel, vendors in the catalogue's order."""
    order = [*dict.fromkeys(vendors().values()), "others"]
    labels = dict.fromkeys(label for units in panel.values() for label in units)
    return sorted(labels, key=lambda label: order.index(_vendor(label)))


def _powers(values: Iterable[float]) -> list[float]:
    """Zero and every other power of ten, of both signs, up to the largest value: more would overlap."""
    most = max(abs(value) for value in values)
    powers = [10.0**n for n in range(0, max(0, ceil(log10(max(most, 1)))) + 1, 2)]
    return [*(-x for x in reversed(powers)), 0.0, *powers]


def _draw_units(
    panels: Mapping[str, Mapping[str, Mapping[str, Any]]],
    labels: Mapping[str, Sequence[str]],
    says: str,
    figure: Any,
) -> None:
    colours = dict(zip([*dict.fromkeys(vendors().values()), "others"], COLOURS, strict=False))
    ratios = [len(labels[name]) + 1 for name in panels]
    axes = figure.subplots(len(panels), 2, sharex="col", sharey="row", squeeze=False, height_ratios=ratios)
    for (error, bias), (name, panel) in zip(axes, panels.items(), strict=True):
        for distribution, units in panel.items():
            marker, _ = _SIGNS[distribution]
            for label, values in units.items():
                place, colour = labels[name].index(label), colours[_vendor(label)]
                for axis, value in ((error, values["residual"]), (bias, values["mean"])):
                    axis.plot(value, place, marker, markersize=5, color=colour)
        error.set_xscale("log")
        bias.set_xscale("symlog", linthresh=1)
        bias.set_xticks(_powers(values["mean"] for units in panel.values() for values in units.values()))
        bias.axvline(0, color="black", linewidth=0.6)
        error.set_yticks(range(len(labels[name])), labels[name], fontsize=7)
        for tick, label in zip(error.get_yticklabels(), labels[name], strict=True):
            tick.set_color(colours[_vendor(label)])
        error.set_ylim(len(labels[name]) - 0.4, -0.6)
        error.set_title(f"{_OF_UNITS[name]} to FP32: relative residual", fontsize=9)
        bias.set_title("mean error outward, in 2⁻²⁴·Σ|a·b|", fontsize=9)
        for axis in (error, bias):
            axis.grid(alpha=0.3)
            axis.tick_params(labelbottom=True)
    there = {_vendor(label) for values in labels.values() for label in values}
    names = [name for name in colours if name in there]
    for name in names:
        axes[0, 0].plot([], [], "s", color=colours[name], label=name)
    for marker, label in _SIGNS.values():
        axes[0, 0].plot([], [], marker, color="#555555", label=label)
    figure.legend(loc="outside lower center", ncols=len(names) + len(_SIGNS))
    figure.suptitle(says, fontsize=10)
