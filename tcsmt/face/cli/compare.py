"""``tcsmt compare``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from tcsmt.face.api.compare import compare as compare_units
from tcsmt.face.api.units import row_of
from tcsmt.face.cli import options
from tcsmt.face.cli.design_options import of_design
from tcsmt.face.cli.domain import domain_of_models
from tcsmt.face.cli.dumped import say_dumped
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json
from tcsmt.face.cli.verdict import EXIT
from tcsmt.face.pictures.text import as_text
from tcsmt.matrix_units.catalogue import Row
from tcsmt.outside.implementations.designs import DesignFiles, is_design, read_design
from tcsmt.prove.engine.dumping import Dump
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError
from tcsmt.support.progress import shown, unseen


@click.command()
@click.argument("a", type=UNIT)
@click.argument("b", type=UNIT)
@domain_of_models
@click.option(
    "--k", type=int, metavar="N",
    help="Length of the dot product; units are chained as in a kernel.  [default: fits both]",
)  # fmt: skip
@click.option("--lanes", type=int, metavar="N", help="Only the first N lanes; the others are zero.")
@of_design
@options.solver
@options.timeout()
@options.memory
@options.confirmed
@options.kept
@click.option(
    "--exhaustive", is_flag=True,
    help="Run every finite input instead of asking solvers; those that the graphs do not tell apart once."
)  # fmt: skip
@click.option(
    "--checkpoint", type=click.Path(path_type=Path), metavar="FILE",
    help="Keep how far --exhaustive has come; the same command continues there.",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Threads of --exhaustive."
)
@click.option("--explain", is_flag=True, help="Draw both units on the witness.")
@options.as_json
@options.dump_smt
@options.certificate
def compare(
    a: str,
    b: str,
    domain: Domain,
    k: int | None,
    lanes: int | None,
    design: DesignFiles,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    kept: bool | None,
    exhaustive: bool,
    checkpoint: Path | None,
    jobs: int,
    explain: bool,
    as_json: bool,
    dump_smt: Path | None,
    certificate: Path | None,
) -> None:
    """Decide whether A and B compute the same function: a proof, or an input on which they differ.

    A and B are units (ARCH, GPU, ARCH/INSTRUCTION or a model file). The one with the smaller K
    is chained, as a kernel would do it. If one takes wider formats, both get only values of
    the narrower formats.

    One of them may be a hardware design, a file of SystemVerilog (.sv, .v) or BTOR2 (.btor2), or a function
    in C (.c), which then has the formats and the K of the other. The options from --top to --define are about
    it.

    \b
    Examples:
      tcsmt compare volta ampere
      tcsmt compare a100 h100 --finite --explain
      tcsmt compare volta fdp.sv --top fdp --port a=in_a --const mode=0 --cycles 3
      tcsmt compare volta emulator.c --function dot
      tcsmt compare mine.toml fma.sv --exhaustive --no-confirm --checkpoint run.json

    Exit code: 0 equal (proved), 1 different, 2 usage error, 3 unknown.
    """
    dump = None if dump_smt is None else Dump(dump_smt)
    with shown(lines=False) as progress:
        one, two = _sides(a, b, replace(design, query=timeout, progress=progress))
    with shown(lines=exhaustive) if exhaustive else nullcontext(unseen) as progress:
        found = compare_units(
            one, two, domain, k=k, lanes=lanes, solver=solver, timeout=timeout, memory=memory,
            confirm=confirm, kept=kept, dump_smt=dump, certificate=certificate, exhaustive=exhaustive,
            checkpoint=checkpoint, jobs=jobs, progress=progress,
        )  # fmt: skip
    say_dumped(dump)
    if as_json:
        echo_json(found.as_json())
    else:
        click.echo(str(found))
        sheet = found.sheet() if explain else None
        if sheet is not None:
            click.echo("\n" + as_text(sheet, 110))
    sys.exit(EXIT[type(found.verdict)])


def _sides(a: str, b: str, design: DesignFiles) -> tuple[str | Row, str | Row]:
    """The units, a design read with the other one's formats where it says none."""
    designs = [is_design(name) for name in (a, b)]
    if not any(designs):
        if design != DesignFiles(files=(), query=design.query, progress=design.progress):
            raise TcsmtError(
                f"{a} and {b}: the options of a design need a file of one: .sv, .v, .btor2 or .c"
            )
        return a, b
    if all(designs):
        return _read(design, a), _read(design, b)
    other = row_of(b if designs[0] else a)
    read = _read(design.like(other.model), a if designs[0] else b)
    return (read, other) if designs[0] else (other, read)


def _read(design: DesignFiles, file: str) -> Row:
    return read_design(replace(design, files=(*design.files, Path(file))))
