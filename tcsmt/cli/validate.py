"""``tcsmt validate``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tcsmt.cli import options
from tcsmt.data.datasets import Mismatch, Replay, find_datasets, objection, replay, row_of
from tcsmt.data.model_files import row_given
from tcsmt.pictures.explain import stage_lines
from tcsmt.statements.finding import shown
from tcsmt.support.errors import Exit, TcsmtError


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

    And what `tcsmt run --output` writes (JSON, CSV or .npz), or files like it.

    Exit code: 0 every row matches, 1 some do not, 2 usage error, or nothing fits --against.
    """
    other = row_given(against) if against is not None else None
    found: list[dict[str, Any]] = []
    skipped: list[dict[str, str]] = []
    explained = 0
    if not as_json:
        click.echo(f"{'data set':<28} {'rows':>6} {'mismatches':>10}  instruction")
    for dataset in find_datasets(paths, against or ""):
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
