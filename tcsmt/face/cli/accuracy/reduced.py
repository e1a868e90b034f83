"""``tcsmt accuracy reduced``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.reduced import DISTINCT_FP16_UNITS, WIDTHS
from tcsmt.face.api.reduced import reduced as reduced_facts
from tcsmt.face.api.terminal import TcsmtError, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer


@click.command(cls=options.SolvingCommand)
@click.option(
    "--question", "questions", multiple=True, help="One of the facts (may be repeated).  [default: all]"
)
@click.option(
    "--arch",
    "units",
    type=UNIT,
    multiple=True,
    default=DISTINCT_FP16_UNITS,
    show_default=True,
    help="A unit (may be repeated).",
)
@click.option(
    "--widths",
    default="2:11",
    show_default=True,
    help="Significant bits of the narrow format: 2,3,4 or LOW:HIGH.",
)
@click.option("--inputs", default=28, show_default=True, help="Try at most 2^INPUTS inputs.")
@click.option(
    "--seconds", default=60.0, show_default=True, help="Time limit for trying all inputs of one fact."
)
@options.as_json
@options.resumed()
@options.solving("solver", "timeout", "confirm", "reuse", "jobs", "scheduler")
def reduced(
    questions: tuple[str, ...],
    units: tuple[str, ...],
    widths: str,
    inputs: int,
    seconds: float,
    as_json: bool,
    output: Path | None,
    solving: SolvingOptions,
) -> None:
    """Check facts about algorithms on smaller formats: on all inputs where possible, then with solvers.

    A format of p significant bits stands for FP16, one of 2p + 2 stands for FP32, and the unit between them
    is scaled in the same way; p = 11 is the real case.

    Exit code: 0 every fact holds at every width, 1 some input refutes a fact, 2 usage error, 3 no fact is
    refuted, but some fact is open at some width.

    \b
    Examples:
      tcsmt accuracy reduced --output reduced.json
    """
    numbers = widths_of(widths)
    with progress_bar() as progress:
        facts = reduced_facts(
            questions, units, widths=numbers, inputs=inputs, seconds=seconds, output=output, options=solving,
            progress=progress,
        )  # fmt: skip
    answer(facts, as_json=as_json)


def widths_of(text: str) -> list[int]:
    """``2,3,4`` or ``LOW:HIGH``. Raises :class:`.TcsmtError`."""
    low, colon, high = text.partition(":")
    try:
        numbers = list(range(int(low), int(high) + 1)) if colon else [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers:
        allowed = f"must be numbers from {WIDTHS[0]} to {WIDTHS[-1]}, such as 2,3,4 or 2:6"
        raise TcsmtError(f"--widths {text}: {allowed}")
    return numbers
