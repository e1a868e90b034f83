"""``tcsmt identify``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.identify import identify as identify_box
from tcsmt.face.api.identify_data import identify_data
from tcsmt.face.api.identify_plan import PLANS, identify_plan
from tcsmt.face.api.identify_probe import PROBES, identify_probe
from tcsmt.face.api.terminal import TcsmtError, progress_line
from tcsmt.face.cli import options
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer, show


@click.command(cls=options.SolvingCommand)
@click.option("--formats", metavar="A,B,C,D", help="Formats of the unit, e.g. f16,f16,f32,f32.")
@click.option("--k", type=click.IntRange(1, 128), help="Products in one instruction.")
@click.option(
    "--like",
    type=UNIT,
    metavar="UNIT",
    help="Take the formats and K of this unit (nothing else).",
)
@click.option(
    "--box",
    type=UNIT,
    metavar="UNIT",
    help="The box is this unit's model, which only answers questions (a self-test).",
)
@click.option("--command", help="The box is this program: JSON lines in and out.")
@click.option(
    "--device",
    type=UNIT,
    metavar="UNIT",
    help="The box is this instruction on the GPU or CPU of this machine.",
)
@click.option("--data", type=click.Path(path_type=Path), help="Use the recorded answers of this data set.")
@click.option(
    "--rows",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="Use at most this many rows of --data.",
)
@click.option(
    "--answers", type=click.Path(path_type=Path), help="Continue from the output of a `tcsmt probe` program."
)
@click.option(
    "--budget", type=click.IntRange(1), default=60, show_default=True, help="Ask at most this many questions."
)
@click.option(
    "--transcript",
    type=click.Path(path_type=Path),
    help="Write questions and answers to this file, or continue from it.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the random questions.")
@click.option(
    "--answer-timeout",
    default=30.0,
    show_default=True,
    help="Time limit of each answer of --command, in seconds.",
)
@click.option("--plan", type=click.Choice(PLANS), help="Print the questions in advance; ask nothing.")
@click.option(
    "--probe",
    type=click.Choice(PROBES),
    help="Run a classical probe on the box instead.",
)
@options.as_json
@options.solving("timeout", "confirm", "certificate", timeout=10.0)
def identify(
    formats: str | None,
    k: int | None,
    like: str | None,
    box: str | None,
    command: str | None,
    device: str | None,
    data: Path | None,
    rows: int,
    answers: Path | None,
    budget: int,
    transcript: Path | None,
    seed: int,
    answer_timeout: float,
    plan: str | None,
    probe: str | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Identify a black box: find every model that explains its answers, with few questions.

    For floating-point formats, the models are fused dot-adds, and chains and trees of IEEE operations; for
    integer formats, exact sums that wrap or saturate. --data and --plan support only fused dot-adds.

    The program of --command reads a line {"a": [hex, ...], "b": [...], "c": hex} and writes a line
    {"d": hex}, for each question. A plan is for hardware that is on another machine: `--plan set` prints
    questions for `tcsmt probe UNIT --vectors`, and `--answers` reads the output of the probe program;
    `--plan tree` prints a decision tree.

    Exit code: 0 identified (all that remain are proved equal), 1 no hypothesis explains the answers,
    or they contradict each other, 2 usage error, 3 not settled.

    \b
    Examples:
      tcsmt identify --box volta
      tcsmt identify --like h100 --command ./my_emulator --transcript asked.jsonl
    """
    boxes = [box, command, device]
    sources = [*boxes, data, plan]
    if sum(x is not None for x in sources) + (answers is not None and not any(sources)) != 1:
        raise click.UsageError("give one of --box, --command, --device, --data and --plan, or --answers")
    if answers is not None and (data is not None or plan is not None):
        raise click.UsageError("--answers goes with --box, --command or --device, or alone")
    if probe is not None and (answers is not None or not any(boxes)):
        raise click.UsageError("--probe asks a --box, a --command or a --device")
    if data is not None:
        with progress_line() as progress:
            recorded = identify_data(data, rows=rows, seed=seed, progress=progress)
        answer(recorded, as_json=as_json)
    nothing = (formats, like, box, device, answers) == (None,) * 5
    if nothing or (formats is None) != (k is None) or (formats is not None and like is not None):
        raise click.UsageError("give --formats and --k, or --like")
    names = None if formats is None else [name.strip() for name in formats.split(",")]
    if names is not None and len(names) != 4:
        raise TcsmtError(f"--formats {formats}: expected four formats, A,B,C,D")
    if plan is not None:
        show(identify_plan(plan, like=like, formats=names, k=k, budget=budget, seed=seed), as_json=False)
        return
    if probe is not None:
        read = identify_probe(
            box, probe, like=like, formats=names, k=k, command=command, device=device,
            answer_timeout=answer_timeout,
        )  # fmt: skip
        answer(read, as_json=as_json)
    with progress_line() as progress:
        identified = identify_box(
            box, like=like, formats=names, k=k, command=command, device=device,
            answer_timeout=answer_timeout, answers=answers, budget=budget, seed=seed, transcript=transcript,
            options=solving, progress=progress,
        )  # fmt: skip
    say_certified(
        solving, [{"verdict": "equivalent", "certificate": proof} for proof in identified.certificates]
    )
    answer(identified, as_json=as_json)
