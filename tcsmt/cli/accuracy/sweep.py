"""``tcsmt accuracy sweep``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from tcsmt import __version__
from tcsmt.algorithms.sweep import DISTRIBUTIONS, NAMES, Matrices, models_for, rows_for, task_for
from tcsmt.catalogue import architecture_named, row_named
from tcsmt.catalogue.digests import models_named
from tcsmt.catalogue.preferred import of_other_arithmetic
from tcsmt.catalogue.surveyed import SWEPT
from tcsmt.cli import options
from tcsmt.cli.names import ALGORITHM, UNIT
from tcsmt.papers.ootomo import conclusions, plots
from tcsmt.recipes import Recipe, algorithm_named, recipe_named
from tcsmt.recipes.named import units_for
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import Exit, TcsmtError, choose
from tcsmt.support.files import make_folder
from tcsmt.support.progress import shown
from tcsmt.survey.tasks import Workers, computed

_LENGTHS = (16, 64, 256, 1024, 4096)


@click.command()
@click.option(
    "--algorithm",
    "algorithms",
    type=ALGORITHM,
    multiple=True,
    help="An algorithm, as in `accuracy compare` (may be repeated).  [default: all]",
)
@click.option(
    "--arch",
    "units",
    type=UNIT,
    multiple=True,
    help="ARCH or ARCH/INSTRUCTION (may be repeated).  [default: all]",
)
@click.option(
    "--distribution",
    "distributions",
    multiple=True,
    help=f"{', '.join(DISTRIBUTIONS)} (may be repeated).  [default: all]",
)
@click.option(
    "--k",
    "lengths",
    type=click.IntRange(1, 1 << 20),
    multiple=True,
    help=f"Length of the dot products (may be repeated).  [default: {', '.join(map(str, _LENGTHS))}]",
)
@click.option(
    "--size",
    type=click.IntRange(1, 1024),
    default=16,
    show_default=True,
    help="Rows and columns of the result.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    help="Number of matrix products, each with its own seed.",
)
@options.jobs(1)
@options.scheduler
@options.resumed()
@click.option("--plots", "folder", type=click.Path(path_type=Path), help="Folder for SVG plots.")
@options.as_json
def sweep(
    algorithms: tuple[str, ...],
    units: tuple[str, ...],
    distributions: tuple[str, ...],
    lengths: tuple[int, ...],
    size: int,
    seeds: int,
    jobs: int,
    scheduler: str,
    output: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Measure the error of products of random matrices as K grows, for each algorithm and unit.

    The error is the distance from the exact product. Prints the measure of Ootomo and Yokota's slides: the
    Frobenius norm of the error over that of the product. The file of --output also has the distribution of
    the error, signs, cancellation, and which unit is closest. Fused units also appear with their last
    rounding (RNE), or with every truncation (all RNE), replaced by rounding to nearest even.

    Exit code: 0 done, 2 usage error, 3 a process died, so a record is missing.

    \b
    Examples:
      tcsmt accuracy sweep --algorithm markidis --arch volta --arch h100 --k 64 --k 1024
    """
    chosen = [_unit(name) for name in units] or list(SWEPT)
    recipes = [recipe_named(name) for name in algorithms]
    for recipe in recipes:
        _check_runs(recipe, chosen, bool(units))
    recipes = recipes or [r for r in map(recipe_named, NAMES) if models_for(r, chosen)]
    names = [choose("distribution", name, DISTRIBUTIONS) for name in distributions] or list(DISTRIBUTIONS)
    given = Matrices(tuple(chosen), size, seeds)
    settings = {"tcsmt": __version__, "units": chosen, "size": size, "seeds": seeds}
    new = folder is not None and not folder.exists()
    for place in (folder, output and output.parent):
        if place is not None:
            make_folder(place)
    tasks = [
        task_for(recipe.name, name, k, given)
        for name in names
        for k in sorted(set(lengths or _LENGTHS))
        for recipe in recipes
    ]
    with Checkpoint(output, _layout(settings), "--output") as kept, shown() as progress:
        _check_settings(output, settings, kept.before)
        found = computed(tasks, kept, Workers(jobs, scheduler), lambda task, record: True, progress)
        records = [*kept.records.values()]
    said = list(conclusions(records))
    if as_json:
        click.echo(json.dumps({**settings, "records": records, "findings": said}, ensure_ascii=False))
    else:
        for key, record in found.records.items():
            if key not in found.earlier:
                _show(record)
        for line in dict.fromkeys(line for recipe in recipes for line in _others(recipe, chosen)):
            click.echo(line)
        for one in said:
            mark = {True: "as published", False: "differs", None: "found"}[one["agrees"]]
            click.echo(f"[{mark}] {one['section']}: {one['published']}\n    ours: {one['ours']}")
    if folder is not None:
        drawn = list(plots(folder, records))
        for path in drawn:
            click.echo(f"written: {path}", err=True)
        if not drawn:
            what = f"{_listed(recipe.name for recipe in recipes)} on {_listed(chosen)}"
            click.echo(f"nothing to plot: no figure shows {what}", err=True)
            if new:
                folder.rmdir()
    sys.exit(Exit.UNKNOWN if found.failed else Exit.ANSWERED)


def _layout(settings: Record) -> Layout:
    def head(records: Mapping[str, Record]) -> Record:
        found = {"findings": list(conclusions([*records.values()]))}
        return settings | {"models": models_named([settings, *records.values()])} | found

    def key(record: Record) -> str:
        return f"{record['distribution']}, K = {record['k']}, {record['algorithm']}"

    return Layout("records", key, head)


def _unit(name: str) -> str:
    return row_named(name).name if "/" in name else architecture_named(name)


def _others(recipe: Recipe, units: list[str]) -> Iterator[str]:
    """For each architecture that was named alone: its other instructions of the same formats."""
    for row in rows_for(recipe, [unit for unit in units if "/" not in unit]).values():
        others = of_other_arithmetic(row, units_for(recipe, row.architecture))
        if others and not recipe.ordinary:
            names = ", ".join(other.instruction for other in others)
            yield f"{row.name} is used; other instructions with its formats compute otherwise: {names}"


def _check_runs(recipe: Recipe, units: list[str], named: bool) -> None:
    """Where units were named, an algorithm must run on each; else on one."""
    for unit in units if named else []:
        algorithm_named(recipe.name, unit)
    if not models_for(recipe, units):
        raise TcsmtError(
            f"{recipe.name}: none of {', '.join(units)} has a unit for {recipe.split.format.name}"
        )


def _check_settings(path: Path | None, settings: Record, before: Record) -> None:
    """The records of a file must have been made with the same settings."""
    for name, value in settings.items():
        if before and before.get(name) != value:
            raise TcsmtError(
                f"--output {path} was made with {name} = {before.get(name)}, now it is {value}; give another"
            )


def _listed(names: Iterable[str], most: int = 3) -> str:
    """The first few names, and how many more there are."""
    given = list(names)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + more


def _show(record: dict[str, Any]) -> None:
    click.echo(f"{record['distribution']}, K = {record['k']}, {record['algorithm']}")
    for label, found in record["units"].items():
        instruction = record["instructions"].get(label, label)
        shown = label if instruction in label else f"{label} ({instruction})"
        if "residual" in found:
            click.echo(f"  {shown:<52}{found['residual']:>10.2e}")
        elif found["not_finite"]:
            click.echo(f"  {shown:<52}{found['not_finite']:>10.0%} not finite")
        else:
            click.echo(f"  {shown:<52}{'-':>10} (some exact results are 0)")
