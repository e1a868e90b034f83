"""``tcsmt check``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.check import StoppedCheck
from tcsmt.face.api.check import check as check_implementation
from tcsmt.face.api.implementations import PROTOCOLS
from tcsmt.face.api.terminal import TcsmtError, ignore, progress_bar
from tcsmt.face.api.units import side_of
from tcsmt.face.cli import options
from tcsmt.face.cli.functions import function_named
from tcsmt.face.cli.linked import link_options, links_wanted
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer, echo_json


@click.command(cls=options.SolvingCommand)
@click.argument("model", type=UNIT, metavar="UNIT")
@click.option("--device", is_flag=True, help="The instruction on the GPU or CPU of this machine.")
@click.option("--command", help="This program, which is asked on its standard input (see --protocol).")
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="lines",
    show_default=True,
    help="What --command reads and writes: JSON lines, as for `identify`; or batches of packed rows.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Recorded rows and results, as `validate` reads them."
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="The results of the rows in --data, in a file of their own: .npy, .npz or .csv.",
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
    "--resume",
    type=click.Path(path_type=Path),
    help="Keep every answer in this file, and go on from it after a stop.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write rows with answers (.json): the fewest that exclude as much as all, and some others.",
)
@click.option(
    "--answer-timeout",
    default=30.0,
    show_default=True,
    help="Time limit of --command for each answer, or for any progress in a batch, in seconds.",
)
@link_options
@options.as_json
@options.solving("solver", "timeout", "memory", "jobs", "scheduler", "store", timeout=20.0)
def check(
    model: str,
    device: bool,
    command: str | None,
    protocol: str,
    data: Path | None,
    results: Path | None,
    function: str | None,
    rows: int,
    seed: int,
    solve: bool,
    resume: Path | None,
    output: Path | None,
    answer_timeout: float,
    link: bool,
    page: str | None,
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
      tcsmt check volta --data inputs.csv --results results.npy
    """
    if sum([device, command is not None, function is not None, data is not None]) != 1:
        raise click.UsageError("give one of --device, --command, --python and --data")
    if protocol != "lines" and command is None:
        raise click.UsageError("--protocol needs --command")
    if results is not None and data is None:
        raise click.UsageError("--results needs --data")
    if data is not None and (solve or resume is not None):
        raise click.UsageError(f"--data asks nothing: {'--solve' if solve else '--resume'} is not allowed")
    if output is not None and output.suffix.lower() != ".json":
        raise TcsmtError(f"--output {output}: allowed suffix: .json")
    unit = side_of(model)
    implementation: Callable[..., Any] | Path | None = function_named(function) if function else data

    def stopped(state: StoppedCheck) -> None:
        if as_json:
            echo_json(state.as_json())
        else:
            click.echo(f"{state}{'' if resume else '; --resume FILE keeps answers'}")

    with progress_bar(lines=False) as progress:
        result = check_implementation(
            unit, implementation, results=results, device=device, command=command, protocol=protocol,
            answer_timeout=answer_timeout, rows=rows, seed=seed, options=solving if solve else None,
            resume=resume, progress=progress, differs=ignore if as_json else click.echo,
            stopped=stopped,
        )  # fmt: skip
    if output is not None:
        result.save(output)
        click.echo(f"{output}: written", err=True)
    answer(result, as_json=as_json, text=result.conclusion, links=links_wanted(result, link, page))
