"""``tcsmt accuracy sweep``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from tcsmt import __version__
from tcsmt.algorithms.sweep import DISTRIBUTIONS, NAMES, UNITS, models_for, point
from tcsmt.catalogue import architecture_named, row_named
from tcsmt.cli import options
from tcsmt.cli.accuracy.earlier import earlier
from tcsmt.papers.ootomo import conclusions, plots
from tcsmt.recipes import Recipe, algorithm_named, recipe_named
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.files import make_folder, replace_text

_LENGTHS = (16, 64, 256, 1024, 4096)


@click.command()
@click.option("--algorithm", "algorithms", multiple=True, help="As for compare (repeatable).  [default: all]")
@click.option("--arch", "units", multiple=True, help="ARCH or ARCH/INSTRUCTION (repeatable).  [default: all]")
@click.option(
    "--distribution",
    "distributions",
    multiple=True,
    help=f"{', '.join(DISTRIBUTIONS)} (repeatable).  [default: all]",
)
@click.option(
    "--k",
    "lengths",
    type=click.IntRange(1, 1 << 20),
    multiple=True,
    help=f"Length of the dot products (repeatable).  [default: {', '.join(map(str, _LENGTHS))}]",
)
@click.option("--size", type=click.IntRange(1, 1024), default=16, show_default=True, help="Rows and columns.")
@click.option("--seeds", type=click.IntRange(1, 1000), default=2, show_default=True, help="Matrix products.")
@options.resumed()
@click.option("--plots", "folder", type=click.Path(path_type=Path), help="Folder for plots, SVG.")
@options.as_json
def sweep(
    algorithms: tuple[str, ...],
    units: tuple[str, ...],
    distributions: tuple[str, ...],
    lengths: tuple[int, ...],
    size: int,
    seeds: int,
    output: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Error of matrix products against K: random matrices, algorithms, units; against the exact product.

    Prints the slides' measure, the Frobenius norm of the error over that of the product. The file has
    the distribution of the error, signs, cancellation, and which unit is closest. Fused units are
    there with their last rounding (RNE), or every truncation (all RNE), swapped for nearest even.
    """
    chosen = [_unit(name) for name in units] or list(UNITS)
    recipes = [recipe_named(name) for name in algorithms]
    for recipe in recipes:
        _check_runs(recipe, chosen, bool(units))
    recipes = recipes or [r for r in map(recipe_named, NAMES) if models_for(r, chosen)]
    names = [choose("distribution", name, DISTRIBUTIONS) for name in distributions] or list(DISTRIBUTIONS)
    settings = {"tcsmt": __version__, "units": chosen, "size": size, "seeds": seeds}
    records = _kept(output, settings)
    known = {(r["distribution"], r["k"], r["algorithm"]) for r in records}

    def save() -> None:
        if output is not None:
            replace_text(output, _text(settings, records))

    for place in (folder, output and output.parent):
        if place is not None:
            make_folder(place)
    for name in names:
        for k in sorted(set(lengths or _LENGTHS)):
            missing = [r for r in recipes if (name, k, r.name) not in known]
            _say(f"{name}, K = {k}: {len(missing)} algorithms")
            for record in point(missing, chosen, DISTRIBUTIONS[name], k, size=size, seeds=seeds):
                records.append(record)
                save()
                if not as_json:
                    _show(record)
    save()
    found = list(conclusions(records))
    if as_json:
        click.echo(json.dumps({**settings, "records": records, "findings": found}, ensure_ascii=False))
    for one in [] if as_json else found:
        mark = {True: "as published", False: "differs", None: "found"}[one["agrees"]]
        click.echo(f"[{mark}] {one['section']}: {one['published']}\n    ours: {one['ours']}")
    if folder is not None:
        for path in plots(folder, records):
            _say(f"written: {path}")


def _text(settings: dict[str, Any], records: list[dict[str, Any]]) -> str:
    """JSON with a record on each line."""
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    head = json.dumps(settings | {"findings": list(conclusions(records))}, ensure_ascii=False, indent=1)
    return f'{head[:-2]},\n "records": [\n{lines}\n]}}\n'


def _unit(name: str) -> str:
    return row_named(name).name if "/" in name else architecture_named(name)


def _check_runs(recipe: Recipe, units: list[str], named: bool) -> None:
    """Where units were named, an algorithm must run on each; else on one."""
    for unit in units if named else []:
        algorithm_named(recipe.name, unit)
    if not models_for(recipe, units):
        raise TcsmtError(
            f"{recipe.name}: none of {', '.join(units)} has a unit for {recipe.split.format.name}"
        )


def _kept(path: Path | None, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The file's records, which must have been made with the same settings."""
    found = earlier(path, lambda data: (data["records"], {name: data[name] for name in settings}), "--output")
    if found is None:
        return []
    records, before = found
    for name, value in settings.items():
        if before[name] != value:
            raise TcsmtError(
                f"--output {path}: was made with {name} = {before[name]}, now {value}; give another"
            )
    return list(records)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _show(record: dict[str, Any]) -> None:
    click.echo(f"{record['distribution']}, K = {record['k']}, {record['algorithm']}")
    for label, found in record["units"].items():
        if "residual" in found:
            click.echo(f"  {label:<44}{found['residual']:>10.2e}")
        else:
            click.echo(f"  {label:<44}{found['not_finite']:>10.0%} not finite")
