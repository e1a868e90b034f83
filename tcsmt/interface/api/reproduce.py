"""Papers' experiments run again, beside what was published: ``tcsmt.reproduce``, ``accuracy.variants``."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tcsmt.interface.api.renamed import renamed
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.fingerprints import digest_of_sources
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ignore
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.support.version import __version__
from tcsmt.surveys.papers.experiment import Plot, Run, paper_named, parts_of
from tcsmt.surveys.papers.variants import LENGTHS, QUESTION, conclusions, content, one_at_a_time, plot, points

__all__ = ["LENGTHS", "ParameterVariants", "Reproduction", "reproduce", "variants"]


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """A paper's experiments, run again: print it, or see ``data`` and ``conclusions``.

    data: what each experiment gave, by name, with the date, machine and code, and the digests of the models.
    """

    paper: str
    data: Mapping[str, Any]

    @property
    def conclusions(self) -> list[Mapping[str, Any]]:
        """Return what is ``published`` beside ``ours``, and whether it ``agrees``; two papers have none."""
        return list(self.data.get("conclusions", ()))

    def as_json(self) -> dict[str, Any]:
        """Return plain data: what the command prints with ``--json``, and writes."""
        return {**self.data}

    def _lines(self) -> Iterator[str]:
        for experiment in paper_named(self.paper)[1].experiments:
            yield from experiment.text(self.data[experiment.name])

    @property
    def _title(self) -> str:
        return f"of {self.paper}"


@renamed(told="on_text")
@ieee_floats
def reproduce(
    paper: str,
    *,
    output: str | os.PathLike[str] | None = None,
    timeout: float = 60.0,
    on_text: Callable[[str], None] = ignore,
    say: Callable[[str], None] = ignore,
) -> Reproduction:
    """Run a paper's experiments again, and set our results beside the published ones.

    >>> import tcsmt
    >>> tests = tcsmt.reproduce("fasi").data["tests"]
    >>> sum(test["reproduces"] for test in tests), len(tests)
    (31, 31)

    ``"ootomo"`` looks for a sweep's records, ``sweep.json``, in the folder. A run that was stopped leaves
    PAPER.partial.json there.

    Args:
        paper: ``"valpey"``, ``"fasi"``, ``"mma-sim"``, ``"khattak"`` or ``"ootomo"``.
        output: Folder for PAPER.json and the plots; a run continues where it stopped.
        timeout: As for :class:`tcsmt.SolvingOptions`.
        on_text: Called with each part of the text as soon as it is known.
        say: Called with what was written and what is missing.

    Raises :class:`tcsmt.TcsmtError` for another name, and for a folder that cannot be written or in which
    another run of the paper is writing.
    """
    name, described = paper_named(paper)
    options, folder = SolvingOptions(timeout=timeout), None if output is None else Path(output)
    if folder is not None:
        make_folder(folder)
    data: dict[str, Any] = {
        "paper": name,
        "tcsmt": __version__,
        "code": _code(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    with Checkpoint(None if folder is None else folder / f"{name}.partial.json", _LAYOUT) as checkpoint:
        for experiment in described.experiments:
            before = _before(checkpoint, experiment.name, data["code"])
            result = experiment.run(Run(data, before, options, folder, say))
            for text in experiment.text(_keeping(experiment.name, result, len(before), data, checkpoint)):
                on_text(text)
        data["models"] = models_named(data) | described.models()
        if folder is not None:
            path = folder / f"{name}.json"
            replace_text(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
            say(f"written: {path}")
        checkpoint.finish()
    if folder is not None:
        _draw(described.plots, folder / name, data, say)
    return Reproduction(name, data)


#: Until a paper is complete: what each experiment has given, and by which code.
_LAYOUT = Layout("experiments")


def _code() -> str:
    return digest_of_sources("language", "matrix_units", "simulate", "programs", "surveys/papers")


def _before(checkpoint: Checkpoint, name: str, code: str) -> list[Any]:
    """Return the parts of a list that an interrupted run of the same code had."""
    record = checkpoint.records.get(name, {})
    results = record.get("found") if record.get("code") == code else None
    return results if isinstance(results, list) else []


def _keeping(name: str, result: Any, before: int, data: dict[str, Any], file: Checkpoint) -> Iterator[Any]:
    """Yield the parts of a result, each in the data and on disk as it comes.

    before: so many parts an interrupted run has on disk, which are never replaced by fewer.
    """
    parts: list[Any] = []
    data[name] = parts if isinstance(result, list | Iterator) else result
    for part in parts_of(result):
        parts.append(part)
        if len(parts) >= before:
            file.keep(name, {"found": data[name], "code": data["code"]})
        yield part


def _draw(
    plots: Mapping[str, Plot], start: Path, data: Mapping[str, Any], say: Callable[[str], None]
) -> None:
    """Every plot; start: how the files' names begin."""
    try:
        for suffix, draw in plots.items():
            path = start.with_name(f"{start.name}-{suffix}.svg")
            draw(path, data)
            say(f"written: {path}")
    except TcsmtError as error:
        say(f"no plots: {error}")


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
        """Return by how much each change multiplies the error at the largest length, with two words."""
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


@renamed(told="on_text")
@ieee_floats
def variants(
    largest: int = LENGTHS[-1],
    *,
    output: str | os.PathLike[str] | None = None,
    on_text: Callable[[str], None] = ignore,
) -> ParameterVariants:
    """Errors of multi-word products on two units and on every variant of one that differs in one parameter.

    It is Khattak and Mikaitis's open question (2025, V-B, Fig. 7), with random signs, as published, and with
    positive entries.

    Args:
        largest: Largest length of the dot products: of 1000, 10000, 100000 and 1000000.
        output: JSON file; a run continues where it stopped.
        on_text: Called with each line of the text as soon as it is known.

    Raises :class:`tcsmt.TcsmtError` for a ``largest`` below 1000, and for a file that another run has, or
    that was written by something else.

    >>> import tcsmt
    >>> result = tcsmt.accuracy.variants(1000)  # doctest: +SKIP
    >>> result.points[0]["error"]["V100"]  # doctest: +SKIP
    """
    if largest < LENGTHS[0]:
        raise TcsmtError(f"largest = {largest}: must be {LENGTHS[0]} or more")
    results: list[Record] = []
    with Checkpoint(output, _POINTS, "--output") as checkpoint:
        asked = content()
        before = [
            {name: value for name, value in point.items() if name != "asked"}
            for point in checkpoint.records.values()
            if point.get("asked") == asked
        ]
        for point in points(largest, before):
            results.append(point)
            if point not in before:
                checkpoint.keep(_point_key(point), {**point, "asked": asked})
            _tell(on_text, _point_lines(point))
        result = ParameterVariants(tuple(results), tuple(checkpoint.records.values()))
    _tell(on_text, _conclusion_lines(result.conclusions))
    return result


def _tell(on_text: Callable[[str], None], lines: Iterable[str]) -> None:
    for line in lines:
        on_text(line)


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


def _point_key(point: Record) -> str:
    return f"n = {point['n']}, {point['signs']}, {point['words']} words"


def _points_head(records: Mapping[str, Record]) -> Record:
    return {
        "tcsmt": __version__,
        "question": QUESTION,
        "models": {label: model.digest for label, model in one_at_a_time().items()},
        "conclusions": list(conclusions([*records.values()])),
    }


_POINTS = Layout("points", _point_key, _points_head)
