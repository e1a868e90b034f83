"""Commands that reason from answers back to models: identify, audit."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcsmt.interface.api.terminal import TcsmtError, counted, progress_bar, progress_line
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.names import UNIT
from tcsmt.interface.cli.parameters import COMMAS, PATH
from tcsmt.interface.cli.printing import answer, echo_json, say_certified, show

if TYPE_CHECKING:
    from tcsmt.interface.api.audit import AuditResult


@declared(
    "identify.identify", "identify.identify_data", "identify.identify_plan",
    "identify.identify_probe", formats=("--formats A,B,C,D", COMMAS), k=click.IntRange(1, 128),
    like="UNIT", box=("UNIT", UNIT), command="", device="UNIT", path="[--data]", rows=click.IntRange(1),
    answers="", budget=click.IntRange(1), kind=None, probe=None, options="timeout confirm certificate",
)  # fmt: skip
@click.option(
    "--plan", type=click.Choice(["set", "tree"]), help="Print the questions in advance; ask nothing."
)
@click.option(
    "--probe",
    type=click.Choice(["tree", "precision", "rounding", "special", "features", "all"]),
    help="Run a classical probe on the box instead.",
)
def identify(call: DeclaredCall, plan: str | None, probe: str | None, as_json: bool) -> None:
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
    boxes = [call["box"], call["command"], call["device"]]
    answers, data, formats, like = (call[name] for name in ("answers", "path", "formats", "like"))
    sources = [*boxes, data, plan]
    if sum(x is not None for x in sources) + (answers is not None and not any(sources)) != 1:
        raise click.UsageError("give one of --box, --command, --device, --data and --plan, or --answers")
    if answers is not None and (data is not None or plan is not None):
        raise click.UsageError("--answers goes with --box, --command or --device, or alone")
    if probe is not None and (answers is not None or not any(boxes)):
        raise click.UsageError("--probe asks a --box, a --command or a --device")
    if data is not None:
        with progress_line() as progress:
            recorded = call.of("identify_data")(progress=progress)
        answer(recorded, as_json=as_json)
    nothing = (formats, like, call["box"], call["device"], answers) == (None,) * 5
    if nothing or (formats is None) != (call["k"] is None) or (formats is not None and like is not None):
        raise click.UsageError("give --formats and --k, or --like")
    if formats is not None and len(formats) != 4:
        raise TcsmtError(f"--formats {','.join(formats)}: expected four formats, A,B,C,D")
    if plan is not None:
        show(call.of("identify_plan")(kind=plan), as_json=False)
        return
    if probe is not None:
        answer(call.of("identify_probe")(probe=probe), as_json=as_json)
    with progress_line() as progress:
        identified = call(progress=progress)
    say_certified(
        call["options"],
        [{"verdict": "equivalent", "certificate": proof} for proof in identified.certificates],
    )
    answer(identified, as_json=as_json)


@declared(
    "audit.audit", vectors="[FILES]...", unit="--unit UNIT", published="--published",
    options="solver timeout memory confirm reuse jobs scheduler store certificate", was={"--model": "--unit"},
)  # fmt: skip
@click.option("--output", type=PATH, help="Write the vectors that close the gaps: .json, .csv.")
@click.option(
    "--subset",
    type=PATH,
    help="Write the fewest of the vectors that tell apart as much as all: .json, .csv, .hex, .mem, .npz.",
)
def audit(call: DeclaredCall, output: Path | None, subset: Path | None, as_json: bool) -> None:
    """Audit test vectors: which hypotheses they tell apart, and which vectors would close the gaps.

    A run that is stopped while solvers work prints what is known; with --store, the next one goes on from
    there.

    FILES are data sets or rows as `validate` and `run` read them; results in them are ignored. The
    hypotheses are the unit's model, its neighbours (one parameter changed), and every model in the
    catalogue with the same formats and K, refuted ones included.

    Exit code: 0 every pair of hypotheses is told apart or proved equal, 1 some pair is not, 2 usage error,
    3 unknown for some pair.

    \b
    Examples:
      tcsmt audit --published fasi --unit volta
      tcsmt audit my_rows.json --output closing.json --subset fewest.json
    """
    from tcsmt.interface.api.audit import CLOSING_FILES, PUBLISHED
    from tcsmt.interface.api.vectors import file_format

    files, published, solve, solving = (call[name] for name in ("vectors", "published", "solve", "options"))
    if not files and not published:
        raise click.UsageError(f"give FILES, or --published {' or '.join(PUBLISHED)}")
    if published and not files and call["unit"] is None:
        raise click.UsageError(
            "--published needs --unit: the papers' vectors do not say which unit they are for"
        )
    if output is not None and output.suffix.lower() not in CLOSING_FILES:
        raise TcsmtError(f"--output {output}: allowed suffixes: {', '.join(CLOSING_FILES)}")
    for option, value in (("--output", output), ("--certificate", solving.certificate)):
        if value is not None and not solve:
            raise click.UsageError(f"{option} needs --solve")
    if subset is not None:
        file_format(subset)
    made = call.with_progress(lines=False, solve=False)
    if subset is not None:
        made.fewest.save(subset)
        click.echo(f"{subset}: {counted(len(made.fewest), 'vector')}", err=True)
    if solve:
        with progress_bar() as progress:
            made = made.solved(solving, progress, partial(_say_stopped, as_json, bool(solving.store)))
    if output is not None and (count := made.save_closing(output)):
        click.echo(f"{output}: {counted(count, 'vector')}", err=True)
    show(made, as_json=as_json)
    if made.gaps is not None:
        say_certified(solving, [gap.record for gap in made.gaps])
    sys.exit(made.exit_code)


def _say_stopped(as_json: bool, stored: bool, made: AuditResult) -> None:
    """Print the state when a run is stopped: pairs that were not decided are unknown."""
    if as_json:
        echo_json(made.as_json() | {"stopped": True})
    else:
        hint = "" if stored else "; --store FILE keeps verdicts"
        click.echo(f"{made}\nSTOPPED before every pair was decided{hint}")
