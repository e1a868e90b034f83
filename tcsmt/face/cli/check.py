"""``tcsmt check``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.check import difference, explained, of_arrays, of_file, remembered, row_for_file
from tcsmt.face.api.terminal import TcsmtError, counted, replace_text
from tcsmt.face.api.terminal import shown as progress_shown
from tcsmt.face.api.units import side_of
from tcsmt.face.cli import options
from tcsmt.face.cli.functions import function_named
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json
from tcsmt.identification.units.boxes import Command
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.outside.hardware.device import Device
from tcsmt.outside.hardware.measured import as_dataset
from tcsmt.outside.implementations.batches import Batches
from tcsmt.outside.implementations.check import Examination, Implementation, ShortMismatch
from tcsmt.outside.implementations.check import check as checked
from tcsmt.simulate.rows import Words, words_of_row
from tcsmt.study.survey.verdict_store import verdicts_in
from tcsmt.support.kept_answers import KeptAnswers

#: Of the edge cases, every so many is written.
_EACH = 100


@click.command(cls=options.SolvingCommand)
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option("--device", is_flag=True, help="The instruction on the GPU or CPU of this machine.")
@click.option("--command", help="This program, which is asked on its standard input (see --protocol).")
@click.option(
    "--protocol", type=click.Choice(["lines", "batches"]), default="lines", show_default=True,
    help="What --command reads and writes: JSON lines, as for `identify`; or batches of packed rows.",
)  # fmt: skip
@click.option(
    "--data", type=click.Path(path_type=Path), help="Recorded rows and results, as `validate` reads them."
)
@click.option(
    "--python", "function", metavar="MODULE:FUNCTION", help="This function of NumPy arrays a, b, c."
)
@click.option(
    "--rows", type=click.IntRange(1), default=100_000, show_default=True, help="Ask this many rows, at least."
)
@click.option("--seed", default=1, show_default=True, help="Seed of the rows.")
@click.option(
    "--solve/--no-solve",
    default=False,
    help="Let solvers look for rows that exclude what the others do not.  [default: no-solve, because it may "
    "take minutes]",
)
@click.option(
    "--resume", type=click.Path(path_type=Path),
    help="Keep every answer in this file, and go on from it after a stop.",
)  # fmt: skip
@click.option(
    "--output", type=click.Path(path_type=Path),
    help="Write rows with answers (.json): the fewest that exclude as much as all, and some others.",
)  # fmt: skip
@click.option(
    "--answer-timeout", default=30.0, show_default=True,
    help="Time limit of --command for each answer, or for any progress in a batch, in seconds.",
)  # fmt: skip
@options.as_json
@options.solving("solver", "timeout", "memory", "jobs", "scheduler", "store", timeout=20.0)
def check(
    model: str,
    device: bool,
    command: str | None,
    protocol: str,
    data: Path | None,
    function: str | None,
    rows: int,
    seed: int,
    solve: bool,
    resume: Path | None,
    output: Path | None,
    answer_timeout: float,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Check whether an implementation is UNIT: ask it many rows and compare the answers.

    The rows are special values, inputs near the boundaries of the arithmetic and random words, the same for a
    seed. If all answers are the unit's, the command says which other units, and which changes of one
    parameter, these rows exclude. Otherwise, it prints a short row that differs, and what does give these
    answers.

    A program of --protocol batches reads a number of rows (four bytes, the lowest first), then the rows. A
    row is k words of a, k of b, one of c, and the block scales of a unit that has them. It writes a word of D
    for each row, and flushes its output. A word takes the smallest of 1, 2, 4 and 8 bytes that holds its
    format, the lowest first. The program reads on until its input ends.

    The function of --python takes arrays a and b of shape (rows, k) and c of shape (rows,), of the formats'
    dtypes, and returns an array of shape (rows,). If the unit has block scales, it takes them as scale_a and
    scale_b, of shape (rows, k / block) and dtype float8_e8m0fnu (ue8m0) or float8_e4m3fn (ue4m3).

    A run that is stopped prints what is known. The next one goes on from the answers in --resume FILE and
    the verdicts in --store FILE.

    Exit code: 0 every answer is the unit's, 1 some answer is not, 2 usage error.

    \b
    Examples:
      tcsmt check h100 --device --rows 1000000
      tcsmt check volta --python my_emulator:dot
      tcsmt check volta --command ./my_emulator --protocol batches
      tcsmt check volta --data answers.npz
    """
    if sum([device, command is not None, function is not None, data is not None]) != 1:
        raise click.UsageError("give one of --device, --command, --python and --data")
    if protocol != "lines" and command is None:
        raise click.UsageError("--protocol needs --command")
    if data is not None and (solve or resume is not None):
        raise click.UsageError(f"--data asks nothing: {'--solve' if solve else '--resume'} is not allowed")
    if output is not None and output.suffix.lower() != ".json":
        raise TcsmtError(f"--output {output}: allowed suffix: .json")
    row = side_of(model).row if data is None else row_for_file(model, data)
    provenance: dict[str, Any] = {}
    implementation: Implementation
    with ExitStack() as opened:
        progress = opened.enter_context(progress_shown(lines=False))
        if data is not None:
            name, result = data.name, of_file(row, data, progress)
            if not as_json and result.checked.first is not None:
                click.echo(difference(name, row, result.checked.first))
        else:
            if device:
                asked = opened.enter_context(Device(row))
                provenance = asked.provenance
                name, implementation = str(provenance.get("gpu", "the device")), asked.run
            elif command is not None and protocol == "batches":
                program = Batches(command, row.model, timeout=answer_timeout)
                opened.callback(program.close)
                name, implementation = command, program
            elif command is not None:
                talk = Command(command, _formats(row), timeout=answer_timeout)
                opened.callback(talk.close)
                name, implementation = command, _by_lines(row.model, talk)
            else:
                name = str(function)
                implementation = of_arrays(row.model, function_named(name))
            again = implementation  # itself, and not its remembered answers
            if resume is not None:
                kept = opened.enter_context(KeptAnswers(resume, f"{name} {row.model.digest}"))
                implementation = remembered(row.model, implementation, kept)

            def differs(first: ShortMismatch) -> None:
                if not as_json:
                    click.echo(difference(name, row, first))

            def stopped(asked: int, mismatches: int, known: Examination | None) -> None:
                said = None if known is None else explained(name, known, None, seed)
                if as_json:
                    echo_json(
                        {"stopped": True, "rows": asked, "mismatches": mismatches}
                        | ({} if said is None else said.as_json())
                    )
                    return
                if said is not None:
                    click.echo(said.conclusion)
                wrong = f"{mismatches:,} of them differ" if mismatches else "every answer was the unit's"
                hint = "" if resume else "; --resume FILE keeps answers"
                click.echo(f"STOPPED after {counted(asked, 'row')}: {wrong}{hint}")

            verdicts = opened.enter_context(verdicts_in(solving.store)) if solve else None
            found = checked(
                row, implementation, rows=rows, seed=seed, options=solving if solve else None, store=verdicts,
                progress=progress, differs=differs, again=again, stopped=stopped,
            )  # fmt: skip
            result = explained(name, found, implementation, seed)
    if output is not None:
        replace_text(output, _dataset(row, provenance, result.checked))
        click.echo(f"{output}: written", err=True)
    if as_json:
        echo_json(result.as_json() | ({"provenance": provenance} if provenance else {}))
    else:
        click.echo(result.conclusion)
    sys.exit(result.exit_code)


def _formats(row: Row) -> tuple[Any, Any, Any, Any]:
    model = row.model
    if model.scales:
        raise TcsmtError(f"{row.name} has block scales; --command supports them only with --protocol batches")
    return model.a_format, model.b_format, model.c_format, model.d_format


def _by_lines(model: Model, command: Command) -> Implementation:
    """A program that is asked row by row."""

    def run(words: Words) -> Any:
        rows = (Operands.split(words_of_row(words, n), model.k, 0) for n in range(len(words.c)))
        return np.array([command(row.a, row.b, row.c) for row in rows], unsigned(model.d_format))

    return run


def _dataset(row: Row, provenance: dict[str, Any], found: Examination) -> str:
    """The fewest rows that exclude as much as all, the first that differ, and some of each kind."""
    audit = found.audit
    wrong = np.flatnonzero(found.answers != audit.words[0])[:20].tolist()
    chosen = sorted({*audit.enough.chosen, *wrong, *range(0, len(audit.vectors), _EACH)})
    inputs = audit.vectors.inputs.map(lambda words: words[chosen])
    return as_dataset(
        row, provenance, inputs, found.answers[chosen], [audit.vectors.names[n] for n in chosen]
    )
