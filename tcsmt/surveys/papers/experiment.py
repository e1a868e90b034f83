"""A paper as its experiments: what each of them gives, and what is printed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.support.errors import choose
from tcsmt.support.progress import ignore


@dataclass(frozen=True)
class Run:
    """The settings of an experiment's run.

    data: what those before it gave, by their names. before: the parts of its result that an interrupted run
    of the same code had. options: of solvers. folder: where the results go, if anywhere. say: is told what
    is missing.
    """

    data: Mapping[str, Any]
    before: Sequence[Any] = ()
    options: SolvingOptions = field(default_factory=SolvingOptions)
    folder: Path | None = None
    say: Callable[[str], None] = ignore


def _nothing(result: Any) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    name: of its result among the paper's. run: gives the result, or the parts of a list one after the other.
    head: what is printed before it. lines: what is printed of the result, or of each part of a list. foot:
    what is printed of a whole list.
    """

    name: str
    run: Callable[[Run], Any]
    lines: Callable[[Any], Iterable[str]] = _nothing
    head: str = ""
    foot: Callable[[Sequence[Any]], Iterable[str]] = _nothing

    def text(self, result: Any) -> Iterator[str]:
        """Yield what is printed of a result, or of parts as they come."""
        if self.head:
            yield self.head
        printed: list[Any] = []
        for part in parts_of(result):
            printed.append(part)
            yield from self.lines(part)
        yield from self.foot(printed)


def parts_of(result: Any) -> Iterable[Any]:
    """Return the parts of a list, whole or as it comes; another result is one part."""
    return result if isinstance(result, list | Iterator) else [result]


#: Draws a figure of all results into a file.
Plot = Callable[[Path, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Paper:
    """The declaration that a module about a paper has as ``PAPER``.

    plots: by the end of the file's name. models: the digests of the models that have no row in the catalogue.
    """

    experiments: tuple[Experiment, ...]
    plots: Mapping[str, Plot] = field(default_factory=dict)
    models: Callable[[], dict[str, str]] = dict


#: The modules about papers, by the papers' names.
_MODULES = {
    "valpey": "valpey",
    "fasi": "fasi",
    "mma-sim": "mmasim",
    "khattak": "khattak",
    "ootomo": "ootomo",
}


def paper_named(text: str) -> tuple[str, Paper]:
    """A paper and its name as it is spelt here. Raises :class:`.TcsmtError`, which lists the names."""
    name = choose("paper", text, _MODULES)
    paper: Paper = import_module(f"tcsmt.surveys.papers.{_MODULES[name]}").PAPER
    return name, paper


def concluded(judged: Callable[[Run], Iterable[Mapping[str, Any]]]) -> Experiment:
    """Return what is ``published`` in a ``section`` beside ``ours``, and whether it ``agrees`` (None:
    undecided).
    """
    return Experiment("conclusions", judged, _judged_lines, "\npublished, and ours", _count_lines)


_MARKS = {True: "as published", False: "differs", None: "undecided"}


def _judged_lines(judged: Mapping[str, Any]) -> Iterator[str]:
    yield f"[{_MARKS[judged['agrees']]}] {judged['section']}: {judged['published']}"
    yield f"    ours: {judged['ours']}"


def _count_lines(judged: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{sum(judgement['agrees'] is True for judgement in judged)} of {len(judged)} as published"
