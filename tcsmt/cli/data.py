"""``tcsmt run`` and ``tcsmt validate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np

from tcsmt.cli import options
from tcsmt.custom import is_model_file, row_given
from tcsmt.datasets import Mismatch, Replay, find_datasets, objection, replay, row_of
from tcsmt.errors import Exit, TcsmtError
from tcsmt.explain import steps
from tcsmt.investigate import shown
from tcsmt.models import Model
from tcsmt.rowsio import read_rows, write_rows
from tcsmt.simulator import run_words


@click.command()
@click.argument("model")
@click.option("--input", "source", type=click.Path(path_type=Path), required=True, help="JSON, CSV or .npz.")
@click.option("--output", type=click.Path(path_type=Path), help="JSON, CSV or .npz, by its suffix.")
@click.option("--explain", is_flag=True, help="Print every stage of every row.")
@options.as_json
def run(model: str, source: Path, output: Path | None, explain: bool, as_json: bool) -> None:
    """Simulate MODEL (ARCH, ARCH/INSTRUCTION or a model file) on the rows of a file.

    Values are hexadecimal words (0x3c00, or all digits of the format), decimal numbers or C99
    hexadecimal numbers (0x1.8p-3); one row has a0, a1, ..., b0, b1, ..., c, and sa0, ..., sb0, ...
    where the unit takes block scales.
    """
    row = row_given(model)
    inputs = read_rows(source, row.model)
    d = run_words(row.model, *inputs)
    if output is not None:
        name = str(Path(model).resolve()) if is_model_file(model) else row.name
        write_rows(output, row.model, inputs, d, name=name)
    results = [shown(row.model.d_format, int(word)) for word in d]
    if as_json:
        click.echo(json.dumps({"model": row.name, "d": results}, indent=1, ensure_ascii=False))
        return
    click.echo(f"# {row.name}")
    for number, result in enumerate(results):
        click.echo(f"{number}: {result['word']}  {result['value']}  {result['decimal']}")
        if explain:
            words = [np.atleast_1d(part[number]) for part in inputs if part is not None]
            click.echo("\n".join(f"    {line}" for line in stage_lines(row.model, np.concatenate(words))))


def stage_lines(model: Model, row: Iterable[int]) -> list[str]:
    """Every stage of a model on one row of words, in the order of its inputs' names."""
    words = [int(word) for word in row]
    values = dict(zip(model.input_names, words, strict=True))
    found = steps(model.trace, values)
    width = max(len(step.name) for step in found)
    return [f"{step.name:<{width}}  {step.text}" for step in found]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--against", metavar="MODEL", help="Try this model (or file) on all that it fits.")
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Mismatching rows to explain.",
)
@options.as_json
def validate(paths: tuple[Path, ...], against: str | None, examples: int, as_json: bool) -> None:
    """Replay measured data sets: .npz with a manifest, JSON, or the published text files.

    Exit code: 0 every row matches, 1 some do not, 2 usage error, or nothing fits --against.
    """
    other = row_given(against) if against is not None else None
    found: list[dict[str, Any]] = []
    skipped: list[dict[str, str]] = []
    explained = 0
    if not as_json:
        click.echo(f"{'data set':<28} {'rows':>6} {'mismatches':>10}  instruction")
    for dataset in find_datasets(paths):
        reason = objection(dataset, other.model) if other is not None else ""
        if reason:
            skipped.append({"dataset": dataset.name, "reason": reason})
            if not as_json:
                click.echo(f"{dataset.name:<28} skipped: {reason}")
            continue
        row = other or row_of(dataset)
        result = replay(dataset, row.model, keep=examples)
        found.append(
            {"dataset": dataset.name, "gpu": dataset.gpu, "model": row.name, "rows": result.rows,
             "mismatches": result.mismatches, "provenance": dict(dataset.provenance)}
        )  # fmt: skip
        if as_json:
            continue
        click.echo(f"{dataset.name:<28} {result.rows:>6} {result.mismatches:>10}  {row.name}")
        for mismatch in result.examples[: max(0, examples - explained)]:
            explained += 1
            click.echo("\n".join(_mismatch_lines(result, mismatch)))
    if not found and skipped:
        raise TcsmtError(f"nothing to compare: {skipped[0]['dataset']} {skipped[0]['reason']}")
    rows, wrong = (sum(r[key] for r in found) for key in ("rows", "mismatches"))
    if as_json:
        data = {"datasets": found, "skipped": skipped, "rows": rows, "mismatches": wrong}
        click.echo(json.dumps(data, indent=1))
    else:
        others = f"; {len(skipped)} skipped" if skipped else ""
        click.echo(f"{len(found)} data sets, {rows} rows, {wrong} mismatches{others}")
    sys.exit(Exit.DIFFERS if wrong else Exit.ANSWERED)


def _mismatch_lines(result: Replay, mismatch: Mismatch) -> list[str]:
    fmt = result.model.d_format
    expected, got = (shown(fmt, int(word)) for word in (mismatch.expected, mismatch.got))
    lines = [
        f"    row {mismatch.row}: measured {expected['word']} {expected['value']}, "
        f"model {got['word']} {got['value']}"
    ]
    if len(mismatch.a) == result.model.k:
        stages = stage_lines(result.model, (*mismatch.a, *mismatch.b, mismatch.c))
        lines += [f"        {line}" for line in stages]
    return lines
