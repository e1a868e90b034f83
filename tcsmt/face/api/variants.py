"""One parameter of two units changed at a time, in an open experiment: ``tcsmt.accuracy.variants``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.study.papers.variants import LENGTHS, QUESTION, conclusions, content, one_at_a_time, plot, points
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ignore
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.support.version import __version__

__all__ = ["LENGTHS", "ParameterVariants", "variants"]


@dataclass(frozen=True, repr=False)
class ParameterVariants(Result):
    """Errors of two units and of their variants: print it, or see ``points`` and ``conclusions``.

    points: for each length ``n``, number of ``words`` and kind of ``signs``, the relative ``error`` of each
    variant, and of how many elements the result is too small in magnitude (``toward_zero``). plotted: these
    points, and the longer ones that the file has.
    """

    points: tuple[Mapping[str, Any], ...]
    plotted: tuple[Mapping[str, Any], ...] = ()

    @property
    def conclusions(self) -> list[Mapping[str, Any]]:
        """By how much each change multiplies the error at the largest length, with two words."""
        return list(conclusions(self.points))

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Write the errors against n as SVG. Raises :class:`tcsmt.TcsmtError` without matplotlib."""
        plot(Path(path), self.plotted or self.points)

    def _facts(self) -> dict[str, Any]:
        return {"points": [*self.points], "conclusions": self.conclusions}

    def _lines(self) -> Iterator[str]:
        for point in self.points:
            yield from _point_lines(point)
        yield from _conclusion_lines(self.conclusions)

    @property
    def _title(self) -> str:
        return f"at {counted(len(self.points), 'point')}"


@ieee_floats
def variants(
    largest: int = LENGTHS[-1],
    *,
    output: str | os.PathLike[str] | None = None,
    told: Callable[[str], None] = ignore,
) -> ParameterVariants:
    """Errors of multi-word products on two units and on every variant of one that differs in one parameter.

    It is Khattak and Mikaitis's open question (2025, V-B, Fig. 7), with random signs, as published, and with
    positive entries.

    Args:
        largest: Largest length of the dot products: of 1000, 10000, 100000 and 1000000.
        output: JSON file; a run continues where it stopped.
        told: Takes each line of the text as soon as it is known.

    Raises :class:`tcsmt.TcsmtError` for a ``largest`` below 1000, and for a file that another run has, or
    that was written by something else.

    >>> import tcsmt
    >>> result = tcsmt.accuracy.variants(1000)  # doctest: +SKIP
    >>> result.points[0]["error"]["V100"]  # doctest: +SKIP
    """
    if largest < LENGTHS[0]:
        raise TcsmtError(f"largest = {largest}: must be {LENGTHS[0]} or more")
    results: list[Record] = []
    with Checkpoint(output, _LAYOUT, "--output") as kept:
        asked = content()
        before = [
            {name: value for name, value in point.items() if name != "asked"}
            for point in kept.records.values()
            if point.get("asked") == asked
        ]
        for point in points(largest, before):
            results.append(point)
            if point not in before:
                kept.keep(_key(point), {**point, "asked": asked})
            _tell(told, _point_lines(point))
        result = ParameterVariants(tuple(results), tuple(kept.records.values()))
    _tell(told, _conclusion_lines(result.conclusions))
    return result


def _tell(told: Callable[[str], None], lines: Iterable[str]) -> None:
    for line in lines:
        told(line)


def _point_lines(point: Mapping[str, Any]) -> Iterator[str]:
    yield f"\nn = {point['n']}, {point['words']} words, {point['signs']}"
    yield f"  {'':<30}{'error':>10}   too small in magnitude"
    for label, error in point["error"].items():
        yield f"  {label:<30}{error:>10.2e}{point['toward_zero'][label]:>10.0%}"


def _conclusion_lines(changes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield "\nwhat one change does to the error (2 words)"
    yield f"  {'':<36}{'random signs':>14}{'all positive':>14}"
    for change in changes:
        name = f"{change['unit']} -> {change['change']}"
        yield f"  {name:<36}{change['error_times']:>12.3g} x{change['positive_error_times']:>12.3g} x"


def _key(point: Record) -> str:
    return f"n = {point['n']}, {point['signs']}, {point['words']} words"


def _head(records: Mapping[str, Record]) -> Record:
    return {
        "tcsmt": __version__,
        "question": QUESTION,
        "models": {label: model.digest for label, model in one_at_a_time().items()},
        "conclusions": list(conclusions([*records.values()])),
    }


_LAYOUT = Layout("points", _key, _head)
