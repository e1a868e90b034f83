"""``tcsmt compare``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tcsmt import __version__
from tcsmt.catalogue import Row
from tcsmt.cli import options
from tcsmt.cli.domain import domain_of_models
from tcsmt.cli.dumped import say_dumped
from tcsmt.cli.report import finding_lines
from tcsmt.cli.verdict import EXIT
from tcsmt.data.model_files import row_given
from tcsmt.pictures.build import draw
from tcsmt.pictures.drawing import compared
from tcsmt.pictures.text import as_text
from tcsmt.prove.engine import Decision, compare_models, finding_of
from tcsmt.prove.lemmas import Lemmas
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.domain import Domain
from tcsmt.statements.verdict import Distinguished, Equivalent, Unknown


@click.command()
@click.argument("a")
@click.argument("b")
@domain_of_models
@click.option("--lanes", type=int, metavar="N", help="Only the first N lanes; the others are zero.")
@options.solver
@options.timeout()
@options.memory
@options.confirmed
@options.kept
@click.option("--explain", is_flag=True, help="Draw both models on the witness.")
@options.as_json
@options.dump_smt
def compare(
    a: str,
    b: str,
    domain: Domain,
    lanes: int | None,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    kept: bool | None,
    explain: bool,
    as_json: bool,
    dump_smt: Path | None,
) -> None:
    """Are A and B (ARCH, ARCH/INSTRUCTION, a GPU, or a model file) the same function: proof or witness.

    Exit code: 0 equal (proved), 1 different, 2 usage error, 3 unknown.
    """
    rows = row_given(a), row_given(b)
    solving = Solving(Settings(solver, timeout, memory), confirm=confirm, dump=dump_smt)
    left, right = ((row.name, row.model) for row in rows)
    lemmas = Lemmas(solving, lasting=True, kept=kept)
    found = compare_models(left, right, domain, solving, lanes=lanes, lemmas=lemmas)
    say_dumped(solving)
    if as_json:
        click.echo(json.dumps(comparison_json(found, rows), indent=1, ensure_ascii=False))
    else:
        click.echo(comparison_text(found, rows))
        if explain and isinstance(found.verdict, Distinguished):
            click.echo("\n" + picture(found, rows))
    sys.exit(EXIT[type(found.verdict)])


def comparison_json(found: Decision, rows: tuple[Row, Row]) -> dict[str, Any]:
    """The comparison as plain data."""
    return {
        "tcsmt": __version__,
        "models": [
            {"name": row.name, "evidence": row.evidence, "status": row.status, "source": row.source}
            for row in rows
        ],
        **finding_of(found).as_json(),
        "steps": [step.as_json() for step in found.steps],
    }


def comparison_text(found: Decision, rows: tuple[Row, Row]) -> str:
    """The comparison for people: both models, the domain, each step of a proof or the witness."""
    lines = [f"{row.name}: evidence: {row.evidence}, {row.status}" for row in rows]
    lines += [f"domain: {found.question.domain_text}", ""]
    verdict = found.verdict
    match verdict:
        case Equivalent():
            if not verdict.scripts:
                lines.append("EQUIVALENT: both models are the same graph, without a solver")
            else:
                sure = "confirmed by another solver" if verdict.sure else f"says {verdict.by_whom}"
                lines.append(f"EQUIVALENT, {sure}; {verdict.seconds:.3f} s in solvers; what was proved:")
                lines += [f"  {number}. {step}" for number, step in enumerate(found.steps, 1)]
        case Distinguished():
            lines += [f"DISTINGUISHED by {verdict.by}, replayed", *finding_lines(finding_of(found))[2:]]
        case Unknown():
            lines.append(f"UNKNOWN: {verdict.reason}; {verdict.seconds:.3f} s in solvers")
            lines += [f"  proved on the way: {step}" for step in found.steps]
    return "\n".join(lines)


def picture(found: Decision, rows: tuple[Row, Row], width: int = 110) -> str:
    """Both models on the witness, bit by bit."""
    assert isinstance(found.verdict, Distinguished)
    one, two = (draw(row.name, row.model, found.verdict.values) for row in rows)
    parting = finding_of(found).parting()
    stage = parting["stage"] if parting else ""
    return as_text(compared(one, two, stage, f"they part at '{stage}'" if stage else "results differ"), width)
