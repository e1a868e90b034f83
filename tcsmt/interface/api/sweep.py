"""The errors of algorithms on random matrices as K grows: ``tcsmt.accuracy.sweep``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tcsmt.analysis.sweeps.sweep import (
    DISTRIBUTIONS,
    NAMES,
    Matrices,
    all_rows_for,
    models_for,
    named,
    rows_for,
    task_for,
)
from tcsmt.interface.api.renamed import renamed
from tcsmt.interface.pictures.sweep_plot import is_of_units, plot_algorithms, plot_units
from tcsmt.matrix_units.catalogue import architecture_named, row_named
from tcsmt.matrix_units.catalogue.digests import models_named
from tcsmt.matrix_units.catalogue.row import of_other_arithmetic
from tcsmt.matrix_units.catalogue.surveyed import SWEPT
from tcsmt.programs.recipes import Recipe, algorithm_named
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.programs.recipes.emulation.recipe import EmulationRecipe
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.files import make_folder
from tcsmt.support.floats import ieee_floats
from tcsmt.support.jobs.tasks import Workers, computed
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.support.version import __version__
from tcsmt.surveys.papers.ootomo import PLOTTED, conclusions, plots

__all__ = ["DISTRIBUTIONS", "LENGTHS", "Sweep", "sweep"]

#: Lengths of the dot products, where none are given.
LENGTHS = (16, 64, 256, 1024, 4096)
_AGREES = {True: "as published", False: "differs", None: "found"}


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """Measurements of :func:`sweep`: see ``records``, or print it.

    records: one for each distribution, K and algorithm; ``record["units"]`` has the figures of each unit.
    findings: what published work says of these algorithms, beside the figures. new: keys of the records that
    this run computed. failed: why the others are missing, by key.
    """

    settings: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]
    findings: tuple[Mapping[str, Any], ...]
    others: tuple[str, ...] = ()
    new: tuple[Mapping[str, Any], ...] = ()
    failed: Mapping[str, str] | None = None

    def error(self, algorithm: str, unit: str, k: int, distribution: str = "uniform") -> float | None:
        """Return the Frobenius norm of the error over that of the exact product; None where one is not
        finite.

        unit: as ``record["units"]`` calls it. Raises :class:`tcsmt.TcsmtError` where it was not measured.
        """
        for record in self.records:
            if (record["algorithm"], record["k"], record["distribution"]) == (algorithm, k, distribution):
                measured = record["units"]
                residual: float | None = measured[choose("unit", unit, measured)].get("residual")
                return residual
        raise TcsmtError(f"this sweep has no record of {algorithm} at K = {k} on {distribution} matrices")

    def _facts(self) -> dict[str, Any]:
        return {**self.settings, "records": [*self.records], "findings": [*self.findings]}

    def plots(self, folder: str | Path) -> list[Path]:
        """Write the figures that show these records into a folder, as SVG; empty where no figure does.

        Those of Ootomo and Yokota's slides; one of the units by themselves, where matrices that FP16 and BF16
        hold were swept; and one of the algorithms that these have no place for, or of all where none of these
        shows anything.
        """
        make_folder(Path(folder))
        files = list(plots(Path(folder), self.records))
        rest = [record for record in self.records if not is_of_units(record)]
        swept = dict.fromkeys(record["algorithm"] for record in rest)
        others = [name for name in swept if name not in PLOTTED] if files else list(swept)
        path = Path(folder) / "sweep-algorithms.svg"
        if plot_algorithms(path, rest, others):
            files.append(path)
        path = Path(folder) / "sweep-units.svg"
        if plot_units(path, self.records):
            files.append(path)
        return files

    def _lines(self) -> Iterator[str]:
        for record in self.new:
            yield from _record_lines(record)
        yield from self.others
        for finding in self.findings:
            yield f"[{_AGREES[finding['agrees']]}] {finding['section']}: {finding['published']}"
            yield f"    ours: {finding['ours']}"

    @property
    def _title(self) -> str:
        return f"of {counted(len(self.records), 'record')} on {', '.join(self.settings['units'])}"

    @property
    def exit_code(self) -> Exit:
        """0: done; 3: a process died, so a record is missing."""
        return Exit.UNKNOWN if self.failed else Exit.ANSWERED


@renamed(lengths="k")
@ieee_floats
def sweep(
    algorithms: str | Iterable[str] = (),
    units: str | Iterable[str] = (),
    *,
    distributions: str | Iterable[str] = (),
    k: int | Iterable[int] = LENGTHS,
    size: int = 16,
    seeds: int = 2,
    jobs: int = 0,
    scheduler: str = "",
    output: str | os.PathLike[str] | None = None,
    progress: ProgressCallback = no_progress,
) -> Sweep:
    """Measure the error of products of random matrices as K grows, for each algorithm and unit.

    >>> import tcsmt
    >>> found = tcsmt.accuracy.sweep("markidis", ["volta", "h100"], distributions="positive", k=64)
    >>> found.error("markidis", "volta", 64, "positive")
    9.1434e-07

    The error is the distance from the exact product; its measure, the Frobenius norm of the error over that
    of the product, is the one of Ootomo and Yokota's slides ("Recovering single precision accuracy from
    Tensor Cores", 2022). A has shape (size, K), B (K, size), in binary32. With jobs = 0, this process
    computes; a script that starts others needs ``if __name__ == "__main__":``.

    Args:
        algorithms: An algorithm, as in `accuracy compare`. [default: all]
        units: ARCH or ARCH/INSTRUCTION. [default: all]
        distributions: uniform, positive, normal, type1, type2, type3, type4-ac, type4-bc, type4-cc, powers,
            shared, shared-positive. [default: all]
        k: Length of the dot products.
        size: Rows and columns of the result.
        seeds: Number of matrix products, each with its own seed.
        jobs: As for :class:`tcsmt.SolvingOptions`.
        scheduler: As for :class:`tcsmt.SolvingOptions`.
        output: JSON file; a run continues where it stopped.
        progress: Called with how far it is.

    A unit is left out of the records of an algorithm whose formats it does not take.

    Raises :class:`tcsmt.TcsmtError` for unknown names, for an algorithm that no unit can run, for a named
    unit that can run none of the named algorithms, and for an ``output`` that was made with other units, size
    or seeds.
    """
    asked = _listed(units)
    chosen = [row_named(name).name if "/" in name else architecture_named(name) for name in asked] or [*SWEPT]
    recipes = [named(name) for name in _listed(algorithms)]
    _check_runs(recipes, chosen, bool(asked))
    recipes = recipes or [r for r in map(named, NAMES) if models_for(r, chosen)]
    names = [choose("distribution", name, DISTRIBUTIONS) for name in _listed(distributions)]
    matrices = Matrices(tuple(chosen), size, seeds)
    settings = {"tcsmt": __version__, "units": chosen, "size": size, "seeds": seeds}
    wanted = [k] if isinstance(k, int) else sorted(set(k))
    _check_positive([*(("K", k) for k in wanted), ("size", size), ("seeds", seeds)])
    points = product(names or DISTRIBUTIONS, wanted, recipes)
    tasks = [task_for(recipe.name, name, k, matrices) for name, k, recipe in points]
    path = None if output is None else Path(output)
    if path is not None:
        make_folder(path.parent)
    with Checkpoint(path, _layout(settings), "--output") as kept:
        _check_settings(path, settings, kept.before)
        outcome = computed(tasks, kept, Workers(jobs, scheduler), lambda task, record: True, progress)
        records = tuple(kept.records.values())
    others = dict.fromkeys(line for recipe in recipes for line in _others(recipe, chosen))
    new = tuple(record for key, record in outcome.records.items() if key not in outcome.earlier)
    return Sweep(settings, records, tuple(conclusions(records)), tuple(others), new, outcome.failed)


def _check_positive(numbers: Iterable[tuple[str, int]]) -> None:
    for name, number in numbers:
        if number < 1:
            raise TcsmtError(f"{name} = {number}: must be 1 or more")


def _listed(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _layout(settings: Record) -> Layout:
    def head(records: Mapping[str, Record]) -> Record:
        findings = {"findings": list(conclusions([*records.values()]))}
        return settings | {"models": models_named([settings, *records.values()])} | findings

    def key(record: Record) -> str:
        return f"{record['distribution']}, K = {record['k']}, {record['algorithm']}"

    return Layout("records", key, head)


def _others(recipe: Recipe | EmulationRecipe, units: Sequence[str]) -> Iterator[str]:
    """For each architecture that was named alone: its other instructions of the same formats."""
    for row in rows_for(recipe, [unit for unit in units if "/" not in unit]).values():
        if isinstance(recipe, Recipe) and recipe.ordinary:
            continue
        others = of_other_arithmetic(row, all_rows_for(recipe, row.architecture))
        if others:
            names = ", ".join(other.instruction for other in others)
            yield f"{row.name} is used; other instructions with its formats compute otherwise: {names}"


def _check_runs(recipes: Sequence[Recipe | EmulationRecipe], units: Sequence[str], named: bool) -> None:
    """Each algorithm must run on some unit; and each unit that was named must run some algorithm."""
    for unit in units if named and recipes else []:
        if not any(models_for(recipe, [unit]) for recipe in recipes):
            first = recipes[0]
            (emulation_named if isinstance(first, EmulationRecipe) else algorithm_named)(first.name, unit)
    for recipe in recipes:
        if not models_for(recipe, units):
            fmt = recipe.format if isinstance(recipe, EmulationRecipe) else recipe.split.format
            raise TcsmtError(f"{recipe.name}: none of {', '.join(units)} has a unit for {fmt.name}")


def _check_settings(path: Path | None, settings: Record, before: Record) -> None:
    """The records of a file must have been made with the same settings."""
    for name, value in settings.items():
        if before and before.get(name) != value:
            raise TcsmtError(
                f"--output {path} was made with {name} = {before.get(name)}, now it is {value}; give another"
            )


def _record_lines(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"{record['distribution']}, K = {record['k']}, {record['algorithm']}"
    for label, measured in record["units"].items():
        instruction = record["instructions"].get(label, label)
        shown = label if instruction in label else f"{label} ({instruction})"
        if "residual" in measured:
            yield f"  {shown:<52}{measured['residual']:>10.2e}"
        elif measured["not_finite"]:
            yield f"  {shown:<52}{measured['not_finite']:>10.0%} not finite"
        else:
            yield f"  {shown:<52}{'-':>10} (some exact results are 0)"
