"""``tcsmt identify``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from tcsmt.catalogue import rows as catalogue_rows
from tcsmt.cli.show import parameters
from tcsmt.custom import row_given
from tcsmt.datasets import find_datasets
from tcsmt.errors import TcsmtError
from tcsmt.formats import format_named
from tcsmt.identify.boxes import Command, model_box
from tcsmt.identify.evaluate import Questions, predictions
from tcsmt.identify.family import COLUMNS, Family, Table
from tcsmt.identify.recorded import family_of, survivors
from tcsmt.identify.search import Identification, Outcome, Transcript
from tcsmt.identify.vectors import ordinary
from tcsmt.models import FusedDotAdd
from tcsmt.solvers.run import Settings

_EXIT = {"identified": 0, "refuted": 1, "inconsistent": 1, "open": 3}


@click.command()
@click.option("--formats", metavar="A,B,C,D", help="Formats of the unit, such as f16,f16,f32,f32.")
@click.option("--k", type=click.IntRange(1, 128), help="Products in one instruction.")
@click.option("--like", metavar="MODEL", help="Formats and K of this model (nothing else of it is used).")
@click.option("--box", metavar="MODEL", help="The box is this model (a self-test); it is only asked.")
@click.option("--command", help="The box is this command: JSON lines in and out.")
@click.option("--data", type=click.Path(path_type=Path), help="The answers are recorded: a data set.")
@click.option("--rows", type=click.IntRange(1), default=2000, show_default=True, help="Of --data, at most.")
@click.option("--budget", type=click.IntRange(1), default=60, show_default=True, help="Questions at most.")
@click.option(
    "--transcript", type=click.Path(path_type=Path), help="Keep questions and answers; go on from it."
)
@click.option("--seed", default=1, show_default=True, help="Of the random questions.")
@click.option("--timeout", default=10.0, show_default=True, help="Seconds for a solver's query.")
@click.option("--answer-timeout", default=30.0, show_default=True, help="Seconds for an answer of --command.")
@click.option(
    "--plan", type=click.Choice(["set"]), help="Print the first questions, as JSON lines; ask nothing."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def identify(
    formats: str | None,
    k: int | None,
    like: str | None,
    box: str | None,
    command: str | None,
    data: Path | None,
    rows: int,
    budget: int,
    transcript: Path | None,
    seed: int,
    timeout: float,
    answer_timeout: float,
    plan: str | None,
    as_json: bool,
) -> None:
    """Find every fused dot-product-add that explains a black box, with few questions.

    A command reads one line {"a": [hex, ...], "b": [...], "c": hex} and writes one line {"d": hex}.

    Exit code: 0 identified (all that remain are proved equal), 1 no hypothesis explains the answers,
    or they contradict each other, 2 usage error, 3 not settled.
    """
    if sum(x is not None for x in (box, command, data, plan)) != 1:
        raise click.UsageError("give one of --box, --command, --data and --plan")
    if data is not None:
        _recorded(data, rows, seed, as_json)
        return
    family = _family(formats, k, like, box)
    if plan is not None:
        for question in _lines(family, ordinary(family, np.random.default_rng(seed), 6)):
            click.echo(json.dumps(question))
        return
    asked = Command(command, family.formats, timeout=answer_timeout) if command is not None else None
    try:
        search = Identification(
            family,
            asked or model_box(_fitting(str(box), family)),
            budget=budget, seed=seed, settings=Settings(timeout=timeout), progress=_progress,
            transcript=Transcript(family, transcript),
        )  # fmt: skip
        found = search.run()
    finally:
        if asked is not None:
            asked.close()
    click.echo(json.dumps(_data(family, found), indent=1) if as_json else _text(family, found))
    sys.exit(_EXIT[found.verdict])


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{text}", err=True, nl=False)


def _family(formats: str | None, k: int | None, like: str | None, box: str | None) -> Family:
    if (formats is None) != (k is None) or (formats is not None and like is not None):
        raise click.UsageError("give --formats and --k, or --like")
    if formats is not None and k is not None:
        names = formats.split(",")
        if len(names) != 4:
            raise TcsmtError(f"--formats {formats}: not four formats A,B,C,D")
        a, b, c, d = (format_named(name.strip()) for name in names)
        return Family(a, b, c, d, k)
    given = like or box
    if given is None:
        raise click.UsageError("give --formats and --k, or --like")
    model = row_given(given).model
    if model.scale_format is not None:
        raise TcsmtError(f"{given} has block scales: the family has none")
    return Family(model.a_format, model.b_format, model.c_format, model.d_format, model.k)


def _fitting(name: str, family: Family) -> Any:
    model = row_given(name).model
    other = (model.a_format, model.b_format, model.c_format, model.d_format)
    if other != family.formats or model.k != family.k or model.scale_format is not None:
        raise TcsmtError(f"--box {name} has other formats, K or scales than --formats or --like say")
    return model


def _lines(family: Family, questions: Questions) -> list[dict[str, Any]]:
    fa, fb, fc, _ = family.formats
    return [
        {
            "a": [fa.hex(int(w)) for w in questions.a[i]],
            "b": [fb.hex(int(w)) for w in questions.b[i]],
            "c": fc.hex(int(questions.c[i])),
        }
        for i in range(len(questions))
    ]


def summary(family: Family, table: Table) -> dict[str, list[Any]]:
    """The values of every parameter among some hypotheses."""
    found: dict[str, set[str]] = {}
    for row in table[:20000]:
        for name, value in parameters(family.model(row)).items():
            found.setdefault(name, set()).add(json.dumps(value))
    return {name: sorted((json.loads(v) for v in values), key=str) for name, values in found.items()}


def _known(model: FusedDotAdd, family: Family) -> list[str]:
    """Catalogue rows with these parameters, NaN word apart."""
    row = family.row(model)
    assert row is not None
    names = []
    for one in catalogue_rows():
        other = one.model
        if (
            isinstance(other, FusedDotAdd)
            and (other.a_format, other.b_format, other.c_format, other.d_format) == family.formats
            and other.k == family.k
        ):
            place = family.row(other)
            if place is not None and (place == row).all():
                names.append(one.name)
    return names


def _killers(family: Family, found: Outcome) -> list[dict[str, Any]]:
    """For every catalogue row of these formats and K: the first question that it answers otherwise."""
    told = []
    for one in catalogue_rows():
        other = one.model
        if not isinstance(other, FusedDotAdd) or other.k != family.k:
            continue
        if (other.a_format, other.b_format, other.c_format, other.d_format) != family.formats:
            continue
        place = family.row(other)
        if place is None:
            continue
        for number, e in enumerate(found.exchanges, 1):
            question = Questions(
                np.array([e.a], np.uint64), np.array([e.b], np.uint64), np.array([e.c], np.uint64)
            )
            word = int(predictions(family, place[None], question)[0, 0])
            fmt = family.d_format
            if word != e.d and not (fmt.is_nan(word) and fmt.is_nan(e.d)):
                told.append(
                    {"model": one.name, "question": number, **_lines(family, question)[0],
                     "predicted": fmt.hex(word), "answered": fmt.hex(e.d)}
                )  # fmt: skip
                break
    return told


def _data(family: Family, found: Outcome) -> dict[str, Any]:
    known = _known(found.model, family) if found.model else []
    return {
        "verdict": found.verdict,
        "reason": found.reason,
        "hypotheses": family.count,
        "floor": round(family.floor, 2),
        "questions": len(found.exchanges),
        "remaining": len(found.rows),
        "proved_equal_by_solver": found.proofs,
        "unproved": [parameters(family.model(row)) for row in found.unproved],
        "model": parameters(found.model) if found.model else None,
        "catalogue": known,
        "values": summary(family, found.rows) if len(found.rows) else {},
        "left_after_each": found.counts,
        "killed": _killers(family, found) if not len(found.rows) else [],
        "seconds": round(found.seconds, 1),
    }


def _text(family: Family, found: Outcome) -> str:
    lines = [f"{found.verdict}" + (f": {found.reason}" if found.reason else "")]
    lines.append(
        f"{len(found.exchanges)} questions, {found.seconds:.1f} s; {family.count} hypotheses, "
        f"so that no plan needs fewer than {family.floor:.2f} answers"
    )
    if found.model is not None:
        for name, values in summary(family, found.rows).items():
            if values != [None] or name == "carry_bits":
                shown = [str(v) for v in values]
                text = ", ".join(shown if len(shown) < 8 else [*shown[:3], "...", shown[-1]])
                lines.append(f"  {name} = {text}" + ("" if len(values) == 1 else "  (does not matter here)"))
        names = sorted({name for row in found.rows for name in _known(family.model(row), family)})
        lines += [f"catalogue: {', '.join(names)}"] if names else ["catalogue: no row is this unit"]
    if not len(found.rows):
        for one in _killers(family, found):
            lines.append(
                f"  not {one['model']}: question {one['question']}: it gives {one['predicted']}, "
                f"the box {one['answered']}"
            )
    return "\n".join(lines)


def _recorded(path: Path, rows: int, seed: int, as_json: bool) -> None:
    data = list(find_datasets([path]))
    if len(data) != 1:
        raise TcsmtError(f"--data {path}: {len(data)} data sets; give one file")
    family = family_of(data[0])
    found = survivors(data[0], rows=rows, seed=seed, progress=_progress)
    values = summary(family, found.table) if len(found.table) else {}
    questions = _lines(family, found.questions) if found.questions is not None else []
    if as_json:
        report = {
            "dataset": data[0].name, "rows": found.rows, "hypotheses": family.count,
            "remaining": len(found.table), "values": values, "seconds": round(found.seconds, 1),
            "next": [{**q, "answers": n} for q, n in zip(questions, found.splits, strict=True)],
        }  # fmt: skip
        click.echo(json.dumps(report, indent=1))
    else:
        click.echo(f"{data[0].name}: {found.rows} rows, {found.seconds:.1f} s")
        click.echo(f"{len(found.table)} of {family.count} hypotheses explain them all")
        for name, several in values.items():
            if several != [None] or name in COLUMNS:
                click.echo(f"  {name} = {', '.join(map(str, several))}")
        for question, count in zip(questions, found.splits, strict=True):
            click.echo(f"ask ({count} different answers predicted): {json.dumps(question)}")
    sys.exit(1 if not len(found.table) else 0 if len(found.table) == 1 else 3)
