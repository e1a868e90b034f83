"""``tcsmt identify``."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.identify import Identified
from tcsmt.face.api.terminal import Exit, TcsmtError, agreeing, counted, told
from tcsmt.face.api.units import side_of
from tcsmt.face.cli import options
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.classical import probed
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer, echo_json
from tcsmt.identification.units import report as identified
from tcsmt.identification.units.boxes import Box, Command, model_box, probed_box
from tcsmt.identification.units.family import COLUMNS, Family
from tcsmt.identification.units.fused_hypotheses import known
from tcsmt.identification.units.kinds import hypotheses_of
from tcsmt.identification.units.plan import candidates, decision_tree, fixed_set
from tcsmt.identification.units.recorded import family_of, survivors
from tcsmt.identification.units.search import Identification
from tcsmt.identification.units.transcript import Exchange, Transcript
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.outside.hardware.device import Device, device_box
from tcsmt.simulate.measured.datasets import DataSet, find_datasets


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
@click.option(
    "--plan", type=click.Choice(["set", "tree"]), help="Print the questions in advance; ask nothing."
)
@click.option(
    "--probe",
    type=click.Choice(["tree", "precision", "rounding", "special", "features", "all"]),
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
        _recorded(data, rows, seed, as_json)
        return
    given = _one_data_set("--answers", answers) if answers is not None else None
    unit = _unit(formats, k, like, box or device, given)
    if plan is not None:
        _planned(_fused(unit, "--plan"), plan, like, seed, budget)
        return
    with ExitStack() as opened:
        source: Box | None = None
        if command is not None:
            asked = Command(command, unit.formats, timeout=answer_timeout)
            opened.callback(asked.close)
            source = asked
        if box is not None:
            source = model_box(_fitting(box, unit).model)
        if device is not None:
            source = device_box(opened.enter_context(Device(_fitting(device, unit))))
        if probe is not None and source is not None:
            _probed(_fused(unit, "--probe"), source, probe, as_json)
            return
        kinds = hypotheses_of(unit.formats, unit.k)
        with (
            Transcript(unit.formats, transcript) if transcript else nullcontext() as kept,
            told() as progress,
        ):
            search = Identification(
                kinds, source, budget=budget, seed=seed, options=solving, progress=progress, transcript=kept,
                given=_exchanges(given, unit),
            )  # fmt: skip
            found = search.run()
    if search.solving.certificates is not None:
        done = search.solving.certificates.done
        records = [{"verdict": "equivalent", "certificate": one.as_json()} for one in done]
        say_certified(solving, records)
    answer(Identified(found), as_json=as_json)


@dataclass(frozen=True)
class _Unit:
    """What is known of the black box: formats of A, B, C and D, and K."""

    formats: tuple[AnyFormat, ...]
    k: int


def _unit(
    formats: str | None, k: int | None, like: str | None, box: str | None, given: DataSet | None
) -> _Unit:
    if (formats is None) != (k is None) or (formats is not None and like is not None):
        raise click.UsageError("give --formats and --k, or --like")
    if formats is not None and k is not None:
        names = formats.split(",")
        if len(names) != 4:
            raise TcsmtError(f"--formats {formats}: expected four formats, A,B,C,D")
        return _Unit(tuple(format_named(name.strip()) for name in names), k)
    name = like or box
    if name is None and given is not None:
        return _Unit(tuple(given.formats), given.k)
    if name is None:
        raise click.UsageError("give --formats and --k, or --like")
    model = side_of(name).row.model
    if model.scale_format is not None:
        raise TcsmtError(f"{name} has block scales; identify supports only units without them")
    return _Unit((model.a_format, model.b_format, model.c_format, model.d_format), model.k)


def _fused(unit: _Unit, option: str) -> Family:
    """The fused dot-adds, for what knows no other kind. Raises :class:`.TcsmtError`."""
    try:
        return Family.of(unit.formats, unit.k)
    except TcsmtError as error:
        raise TcsmtError(f"{option} supports only fused dot-adds: {error}") from None


def _fitting(name: str, unit: _Unit) -> Row:
    row = side_of(name).row
    model = row.model
    other = (model.a_format, model.b_format, model.c_format, model.d_format)
    if other != unit.formats or model.k != unit.k or model.scale_format is not None:
        raise TcsmtError(f"the formats, K or scales of {name} are not those of --formats or --like")
    return row


def _one_data_set(option: str, path: Path) -> DataSet:
    data = list(find_datasets([path]))
    if len(data) != 1:
        raise TcsmtError(f"{option} {path} holds {len(data)} data sets; give a single one")
    return data[0]


def _exchanges(given: DataSet | None, unit: _Unit) -> list[Exchange]:
    if given is None:
        return []
    if (tuple(given.formats), given.k) != (unit.formats, unit.k):
        raise TcsmtError(f"--answers {given.path}: its formats or K are not those of the box")
    words = zip(*(part.tolist() for part in given.operands.parts), given.d.tolist(), strict=True)
    return [Exchange(tuple(a), tuple(b), c, d, "given") for a, b, c, d in words]


def _planned(family: Family, kind: str, like: str | None, seed: int, budget: int) -> None:
    near, random = candidates(family), np.random.default_rng(seed)
    if kind == "set":
        name = side_of(like).row.name if like is not None else None
        data = identified.set_data(family, name, near, fixed_set(family, near, random, budget))
        rows = ",\n".join(json.dumps(row) for row in data.pop("rows"))
        click.echo(f'{json.dumps(data)[:-1]}, "rows": [\n{rows}\n]}}')
        return
    node = decision_tree(family, near, random)
    facts = {
        "of": near.names, "hypotheses": len(near.table), "told_apart": node.leaves,
        "depth": node.depth, "expected": round(node.expected, 2),
    }  # fmt: skip
    echo_json({**facts, "tree": identified.tree_data(family, near, node)})


def _probed(family: Family, source: Box, kind: str, as_json: bool) -> None:
    box, count = probed_box(source, family.formats, family.k)
    found = probed(box, kind)
    if as_json:
        echo_json({**found, "questions": count()})
        return
    for name, said in found.items():
        if isinstance(said, dict):
            click.echo(f"{name}:")
            for key, value in said.items():
                shown = value.items() if isinstance(value, dict) else None
                click.echo(f"  {key}: {', '.join(f'{k} {v}' for k, v in shown) if shown else value}")
        else:
            click.echo(f"{name}: {said}" if "\n" not in str(said) else str(said))
    click.echo(counted(count(), "question"))


def _recorded(path: Path, rows: int, seed: int, as_json: bool) -> None:
    data = _one_data_set("--data", path)
    family = family_of(data)
    with told() as progress:
        found = survivors(data, rows=rows, seed=seed, progress=progress)
    values = identified.summary(family, found.table) if len(found.table) else {}
    questions = identified.lines(family.formats, found.questions) if found.questions is not None else []
    if as_json:
        report = {
            "dataset": data.name, "rows": found.rows, "hypotheses": family.count,
            "remaining": len(found.table), "catalogue": known(family, found.table),
            "values": values, "seconds": round(found.seconds, 1),
            "next": [{**q, "answers": n} for q, n in zip(questions, found.splits, strict=True)],
            "best": identified.best_data(data, family, found.best) if found.best is not None else None,
        }  # fmt: skip
        echo_json(report)
    else:
        click.echo(f"{data.name}: {counted(found.rows, 'row')}, {found.seconds:.1f} s")
        explain = agreeing(len(found.table), "explains", "explain")
        click.echo(f"{len(found.table)} of {counted(family.count, 'hypothesis')} {explain} them all")
        for name, several in values.items():
            if several != [None] or name in COLUMNS:
                click.echo(f"  {name} = {', '.join(map(str, several))}")
        for question, count in zip(questions, found.splits, strict=True):
            click.echo(f"ask ({counted(count, 'different answer')} predicted): {json.dumps(question)}")
        if found.best is not None:
            click.echo("\n".join(identified.best_lines(data, family, found.rows, found.best)))
    left = len(found.table)
    sys.exit(Exit.DIFFERS if not left else Exit.ANSWERED if left == 1 else Exit.UNKNOWN)
