"""Commands about the catalogue and papers: models, design, describe, export, reproduce."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from tcsmt.interface.api.terminal import (
    TcsmtError,
    counted,
    make_folder,
    progress_bar,
    replace_bytes,
    replace_text,
)
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.names import UNIT
from tcsmt.interface.cli.parameters import PATH
from tcsmt.interface.cli.printing import echo_json, show


@declared(
    "catalogue.unit_list", arch="--arch", a_format="FORMAT", b_format="FORMAT", c_format="FORMAT",
    d_format="FORMAT", k=("N", click.IntRange(1)), evidence="LEVEL", claims=None,
    was={"--a": "--a-format", "--b": "--b-format", "--c": "--c-format", "--d": "--d-format"},
)  # fmt: skip
@click.option(
    "--toml", type=UNIT, metavar="UNIT", help="Print this unit as a model file, as a start for your own."
)
@click.option(  # tcsmt.units leaves them out, so that nobody computes with them unawares
    "--claims/--no-claims", default=True, help="Include published models that are refuted or disputed."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a table for documents.")
def models(call: DeclaredCall, toml: str | None, claims: bool, as_markdown: bool, as_json: bool) -> None:
    """List the catalogue: every unit with its parameters and evidence.

    With --arch, also the sequences of its instructions that are units of their own.

    \b
    Examples:
      tcsmt models --arch h100
      tcsmt models --arch cpu
      tcsmt models --a-format e4m3 --evidence measured
      tcsmt models --toml volta > mine.toml
    """
    if toml is not None:
        from tcsmt.interface.api.units import unit

        if as_json or as_markdown or any(call.values.values()):
            raise click.UsageError("--toml UNIT takes no other option")
        click.echo(unit(toml).as_toml(), nl=False)
        return
    units = call(claims=claims)
    if as_json or (units.rows and not as_markdown):
        show(units, as_json=as_json)
    elif units.rows:
        click.echo(units.as_markdown())
    else:
        click.echo(f"none of {counted(units.count, 'unit')} fits", err=True)


@declared("designs.read", like="UNIT")
@click.argument("sources", nargs=-1, required=True, type=PATH, metavar="FILES...")
@click.option("--output", type=PATH, help="Write the model file here.  [default: print it]")
def design(call: DeclaredCall, sources: tuple[Path, ...], output: Path | None, as_json: bool) -> None:
    """Read a hardware design, or a function in C, as a unit, and write a model file, which every command
    takes.

    FILES are SystemVerilog or Verilog in the order in which they are compiled, one BTOR2 file, or one file of
    C. The model file holds the design itself, so that neither its files nor Yosys or clang are needed from
    then on.

    \b
    Examples:
      tcsmt design fdp.sv --like volta --port a=in_a --output mine.toml
      tcsmt design emulator.c --function dot --like volta --output mine.toml
      tcsmt design unit.btor2 --format a=u8 --format b=u8 --format c=u32 --format d=u32
    """
    from tcsmt.interface.api.designs import ports_as_json, ports_lines

    files = call["files"]
    with progress_bar(lines=False) as progress:
        unit = call(files=replace(files, files=(*files.files, *sources), progress=progress))
    if output is not None:
        replace_text(output, unit.as_toml())
        click.echo(f"{output}: {unit.name}, k = {unit.k}", err=True)
    for line in ports_lines(unit.row):
        click.echo(line, err=True)
    if as_json:
        echo_json(unit.row.as_json() | ports_as_json(unit.row))
    elif output is None:
        click.echo(unit.as_toml(), nl=False)


@declared("units.unit", "formats.describe_format", name=None, unit=None)
@click.argument("arch", type=UNIT, metavar="UNIT", required=False)
@click.argument("instruction", required=False)
@click.option(
    "--format",
    "number_format",
    metavar="NAME",
    help="Instead, describe a format: a known one, or one of UNIT's own.",
)
@click.option("--cite", is_flag=True, help="Instead, print the unit's sources as BibTeX.")
@click.option("--steps", is_flag=True, help="Instead, print what the unit computes, as Python.")
def describe(
    call: DeclaredCall,
    arch: str | None,
    instruction: str | None,
    number_format: str | None,
    cite: bool,
    steps: bool,
    as_json: bool,
) -> None:
    """Describe a unit by the parameters that each published convention uses.

    UNIT is an architecture, a GPU, ARCH/INSTRUCTION or a model file. For an architecture or a GPU
    without INSTRUCTION, describes the most used instruction and lists the names of the others.

    With --format, lists the extreme values of a number format, and every value if it has at most 8 bits.

    UNIT may also be a quantiser, LIBRARY/NAME or LIBRARY/NAME:FORMAT; `quantisers` lists them.

    \b
    Examples:
      tcsmt describe h100/wgmma.m64nNk32.f32.e4m3.e4m3
      tcsmt describe --format e4m3
      tcsmt describe h100 --cite
      tcsmt describe cdna3 --steps
      tcsmt describe te/nvfp4
    """
    from tcsmt.interface.api.quantisers import is_quantiser, quantiser, quantisers
    from tcsmt.interface.api.units import rows_listed, side_of

    name = arch if instruction is None else f"{arch}/{instruction}"
    if (number_format is not None) + cite + steps > 1:
        raise TcsmtError("--format, --cite and --steps exclude each other")
    if number_format is not None:
        show(call.of("describe_format")(name=number_format, unit=name), as_json=as_json)
        return
    if arch is None or name is None:
        raise TcsmtError("expected a UNIT, or --format NAME")
    if instruction is None and (name == "quantisers" or is_quantiser(name)):
        show(quantisers() if name == "quantisers" else quantiser(name), as_json=as_json)
        return
    side = side_of(name)
    unit = call(name=side)
    if cite or steps:
        show(unit.citations() if cite else unit.steps(), as_json=as_json)
        return
    show(unit, as_json=as_json)
    if side.listed and not as_json:
        others = [other.instruction for other in rows_listed(arch, claims=True) if other is not side.row]
        click.echo("\nother instructions:\n  " + "\n  ".join(others))


_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE_OR_FOLDER = click.Path(path_type=Path)


@declared(
    "export.export", "kits.export_kit", unit="[UNIT]", language="[--as LANGUAGE]", architecture=None,
    folder=None, only="--only INSTRUCTION",
)  # fmt: skip
@click.option(
    "--output",
    type=_FILE_OR_FOLDER,
    metavar="FILE",
    help="Write here; a c-kit is a folder.  [default: standard output]",
)
@click.option(
    "--testbench",
    type=_FILE,
    metavar="FILE",
    help="Also write a test bench for the SystemVerilog, which checks rows of a readmemh file.",
)
@click.option(
    "--queries",
    type=_FOLDER,
    metavar="DIR",
    help="Instead of a unit, write the curated SMT-LIB scripts here.",
)
@click.option(
    "--benchmarks",
    type=_FOLDER,
    metavar="DIR",
    help="Instead, write hard queries here, as a benchmark set for SMT solvers.",
)
def export(
    call: DeclaredCall, output: Path | None, testbench: Path | None, queries: Path | None,
    benchmarks: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Write UNIT in another language: a file that needs nothing else.

    The file is a SystemVerilog module, a C99 header, a circuit for solvers (BTOR2, SMT-LIB), or a WebAssembly
    module with its loader in JavaScript and the loader's types beside it. It has the unit's source and
    parameters; the stages have the names that `tcsmt explain` shows.

    With --as c-kit, UNIT is an architecture, and --output a folder: every instruction becomes a function of
    whole registers in C11, with rows that tell right from wrong; `tcsmt check --kit` holds other functions
    against them.

    Without UNIT, writes self-contained SMT-LIB 2.6 scripts with the expected answer.

    \b
    Examples:
      tcsmt export h100 --as c --output hopper.h
      tcsmt export h100 --as c-kit --output kit
      tcsmt export h100 --as systemverilog --pipeline --output dot.sv --name dot --testbench dot_tb.sv
      tcsmt export h100 --as wasm --output hopper.wasm
      tcsmt export --queries scripts
      tcsmt export --benchmarks set
    """
    if call["language"] == "c-kit" and call["unit"] is not None:
        if output is None:
            raise TcsmtError(
                f"--output is missing: the folder of the kit, such as --output {call['unit']}-kit"
            )
        if call["name"] is not None or call["pipeline"]:
            raise TcsmtError(f"{'--pipeline' if call['pipeline'] else '--name'} is of one unit, not of a kit")
        with progress_bar(lines=False) as bar:
            made = call.of("export_kit")(architecture=call["unit"], folder=output, progress=bar)
        show(made, as_json=as_json)
        return
    of_unit = {
        "--as": call["language"],
        "--output": output,
        "--name": call["name"],
        "--pipeline": call["pipeline"],
        "--testbench": testbench,
    }
    sources = {"UNIT": call["unit"], "--queries": queries, "--benchmarks": benchmarks}
    chosen = [option for option, value in sources.items() if value is not None]
    if len(chosen) != 1:
        raise TcsmtError(f"expected one of {', '.join(sources)}; given: {' and '.join(chosen) or 'none'}")
    if call["unit"] is not None:
        _export_unit(call, output, testbench, as_json)
        return
    extra = [option for option, value in of_unit.items() if value]
    if extra:
        raise TcsmtError(f"{extra[0]} is of a UNIT, which is not given with {chosen[0]}")

    from tcsmt.interface.api.export import curated, hard

    set_of = curated() if benchmarks is None else hard()
    written = []
    for script in set_of:
        path = Path(benchmarks or queries or "", script.file)
        make_folder(path.parent)
        replace_text(path, script.text)
        if not as_json:
            click.echo(path)
        written.append({"name": script.name, "file": str(path), "status": script.status})
    if as_json:
        echo_json({"scripts": written})


def _export_unit(call: DeclaredCall, output: Path | None, testbench: Path | None, as_json: bool) -> None:
    if call["language"] is None:
        from tcsmt.interface.api.export import LANGUAGES

        raise TcsmtError(f"--as is missing: one of {', '.join(LANGUAGES)}")
    made = call()
    files = {}
    if testbench is not None:
        if made.testbench is None:
            raise TcsmtError(f"a test bench is possible for systemverilog, not for {made.language}")
        replace_text(testbench, made.testbench)
        files["testbench"] = str(testbench)
    if output is not None:
        for what, (file, content) in made.files(output).items():
            files[what] = str(file)
            if isinstance(content, bytes):
                replace_bytes(file, content)
            else:
                replace_text(file, content)
    if as_json:
        echo_json(made.as_json() | files | ({} if output is not None else made.texts))
        return
    if output is None:
        if made.module is not None:
            raise TcsmtError(f"--output is missing: a module is binary; such as --output {made.name}.wasm")
        click.echo(made.text, nl=False)
    for path in files.values():
        click.echo(f"{path}: {made.unit}", err=True)


@declared("reproduce.reproduce", output=("FOLDER", _FOLDER))
def reproduce(call: DeclaredCall, as_json: bool) -> None:
    """Run a paper's experiments again, and print our results next to the published ones.

    PAPER: valpey, fasi, mma-sim, khattak or ootomo. Nothing is written without --output. Until the run is
    complete, the file in FOLDER is PAPER.partial.json. With --json, prints JSON, and the text goes to
    standard error.

    \b
    Examples:
      tcsmt reproduce fasi
      tcsmt reproduce khattak --output khattak-2025
    """
    result = call(on_text=partial(click.echo, err=as_json), say=partial(click.echo, err=True))
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=1, ensure_ascii=False))
