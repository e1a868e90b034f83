"""Commands that ask questions about units: find, properties, compare, atlas, claims."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcsmt.interface.api.terminal import TcsmtError, counted, progress_bar, replace_text
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.names import ARCHITECTURE, UNIT
from tcsmt.interface.cli.parameters import PATH
from tcsmt.interface.cli.printing import (
    answer,
    echo_json,
    json_text,
    link_options,
    links_wanted,
    say_certified,
    say_dumped,
    show,
)

if TYPE_CHECKING:
    from tcsmt.interface.api.claims import ClaimsReport
    from tcsmt.interface.api.links import Report


@declared(
    "find.find", property="--property", unit=None, was={"--properties": "--folder"},
    options="solver timeout steps memory confirm certificate dump_smt",
)  # fmt: skip
@click.option("--arch", type=ARCHITECTURE, help="Architecture, sm_XX or GPU, e.g. volta or h200.")
@click.option("--instruction", help="Instruction, or a unique part of its name; see `tcsmt models`.")
@click.option(
    "--model",
    type=UNIT,
    help="Instead of --arch: a model file, or ARCH/INSTRUCTION; see `tcsmt models --toml`.",
)
@click.option("--output", type=PATH, help="Write the JSON report here, and update it during the run.")
@link_options
def find(
    call: DeclaredCall,
    arch: str | None,
    instruction: str | None,
    model: str | None,
    output: Path | None,
    link: bool,
    page: str | None,
    as_json: bool,
) -> None:
    """Find a property of a unit (--arch or --model): witnesses of differences, or proofs that there are none.

    Exit code: 0 answered, 2 usage error, 3 some question remained unknown.

    \b
    Examples:
      tcsmt find --property carry-bits --arch volta
      tcsmt find --property zero-exponent --arch h100 --confirm --json
    """
    if (arch is None) == (model is None) or (model is not None and instruction is not None):
        raise click.UsageError("give either --arch (and --instruction), or --model")
    unit = str(model) if arch is None else f"{arch}/{instruction}" if instruction else arch

    def progress(report: Report) -> None:
        if output is not None:  # written before the work starts, too: a file that cannot be is known then
            replace_text(output, json_text(report.as_json()) + "\n", counted(len(report.findings), "finding"))
        if report.findings and sys.stderr.isatty():
            last = report.findings[-1]
            click.echo(f"{last.question.title}: {type(last.verdict).__name__.lower()}", err=True)

    report = call(unit=unit, progress=progress)
    say_dumped(call["options"], report.scripts)
    if output is not None:
        replace_text(output, json_text(report.as_json()) + "\n")
    answer(report, as_json=as_json, links=links_wanted(report, link, page))


@declared("find.property_list", folders="--folder", was={"--properties": "--folder"})
def properties(call: DeclaredCall, as_json: bool) -> None:
    """List the properties that can be asked of a unit.

    \b
    Examples:
      tcsmt properties
    """
    answer(call(), as_json=as_json)


@declared(
    "compare.compare", left="A", right="B", domain="", k="N", lanes="N", design="", exhaustive="",
    checkpoint="FILE", options="solver timeout steps memory confirm reuse jobs certificate dump_smt",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Draw both units on the witness.")
@link_options
def compare(call: DeclaredCall, explain: bool, link: bool, page: str | None, as_json: bool) -> None:
    """Decide whether A and B compute the same function: a proof, or an input on which they differ.

    A and B are units (ARCH, GPU, ARCH/INSTRUCTION or a model file). The one with the smaller K
    is chained, as a kernel would do it. If one takes wider formats, both get only values of
    the narrower formats.

    One of them may be a hardware design, a file of SystemVerilog (.sv, .v) or BTOR2 (.btor2), or a function
    in C (.c), which then has the formats and the K of the other. The options from --top to --define
    describe it.

    \b
    Examples:
      tcsmt compare volta ampere
      tcsmt compare a100 h100 --finite --explain --link
      tcsmt compare volta fdp.sv --top fdp --port a=in_a --const mode=0 --cycles 3
      tcsmt compare volta emulator.c --function dot
      tcsmt compare mine.toml fma.sv --exhaustive --no-confirm --checkpoint run.json

    Exit code: 0 equal (proved), 1 different, 2 usage error, 3 unknown.
    """
    comparison = call.with_progress(lines=call["exhaustive"], late=True)
    say_dumped(call["options"], comparison.scripts)
    show(comparison, as_json=as_json, links=links_wanted(comparison, link, page))
    picture = comparison.picture() if explain and not as_json else None
    if picture is not None:
        click.echo(f"\n{picture}")
    sys.exit(comparison.exit_code)


@declared(
    "atlas.atlas", "atlas.chained_atlas", units="[UNIT]...", architectures="--arch", types="--types",
    k="N", domain="finite",
    options="solver timeout memory confirm reuse jobs scheduler store certificate",
)  # fmt: skip
@click.option(
    "--chained",
    is_flag=True,
    help="Chain smaller units to the same K, and search the largest simple domain on which units are equal.",
)
def atlas(call: DeclaredCall, chained: bool, as_json: bool) -> None:
    """Compare all units that have the same formats and K, pair by pair; can be stopped and resumed.

    Exit code: 0 every pair has a verdict, 2 usage error, 3 some pair remained unknown.

    \b
    Examples:
      tcsmt atlas --arch volta --arch ampere --output results
      tcsmt atlas --chained --types f32.f16.f16.f32 --no-confirm --timeout 5
    """
    if chained and call["domain"].finite:
        raise TcsmtError("--chained has domains of its own: it cannot be used with --finite")
    if call["k"] is not None and not chained:
        raise TcsmtError("--k needs --chained: other comparisons are over the units' own K")
    with progress_bar() as progress:
        report = call.of("chained_atlas" if chained else "atlas")(progress=progress)
    show(report, as_json=as_json)
    say_certified(call["options"], report.verdicts)
    sys.exit(report.exit_code)


@declared("claims.claims", names="[NAMES]...", options="solver timeout confirm")
@click.option("--output", type=PATH, help="Write JSON here, and update it during the run.")
def claims(call: DeclaredCall, output: Path | None, as_json: bool) -> None:
    """Check published statements about matrix units against measured data and proofs.

    NAMES: check only these statements. Without NAMES, the output names all of them. Measured rows confirm
    or refute a statement about hardware. If no row decides it, the command prints a vector that would, or
    says that there is none.

    Exit code: 0 judged, 2 usage error, 3 a solver did not answer a decisive question.

    \b
    Examples:
      tcsmt claims --data ../shared/hardware
    """

    def judged(report: ClaimsReport) -> None:
        if output is not None:
            replace_text(output, json_text(report.as_json()) + "\n")
        if not as_json:
            click.echo(str(report.judgements[-1]))

    with progress_bar() as progress:

        def begun(done: int, count: int, name: str) -> None:
            if not (done or call["data"]):
                click.echo(_WITHOUT_DATA, err=True)
            progress(done, count, name)

        report = call(judged=judged, progress=begun)
    if as_json:
        echo_json(report.as_json())
    else:
        click.echo(report.summary)
    sys.exit(report.exit_code)


_WITHOUT_DATA = (
    "no --data: statements about hardware remain undecided; for each, solvers look for a vector "
    "that would decide it"
)
