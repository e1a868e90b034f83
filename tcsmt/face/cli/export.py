"""``tcsmt export``: a unit as a file of another language, and the curated SMT-LIB scripts."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api import scripts
from tcsmt.face.api.terminal import TcsmtError, make_folder, replace_bytes, replace_text
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("unit", type=UNIT, required=False)
@click.option(
    "--as",
    "language",
    metavar="LANGUAGE",
    help="systemverilog, c (a C99 header), btor2, smt2 (SMT-LIB) or wasm (WebAssembly).",
)
@click.option("--output", type=_FILE, metavar="FILE", help="Write here.  [default: standard output]")
@click.option("--name", help="Of the module or function.  [default: made from the unit's]")
@click.option("--pipeline", is_flag=True, help="SystemVerilog with registers behind the stages, and a clock.")
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
@options.as_json
def export(
    unit: str | None, language: str | None, output: Path | None, name: str | None, pipeline: bool,
    testbench: Path | None, queries: Path | None, benchmarks: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Write UNIT in another language: a file that needs nothing else.

    The file is a SystemVerilog module, a C99 header, a circuit for solvers (BTOR2, SMT-LIB), or a WebAssembly
    module with its loader in JavaScript and the loader's types beside it. It has the unit's source and
    parameters; the stages have the names that `tcsmt explain` shows.

    Without UNIT, writes self-contained SMT-LIB 2.6 scripts with the expected answer.

    \b
    Examples:
      tcsmt export h100 --as c --output hopper.h
      tcsmt export h100 --as systemverilog --pipeline --output dot.sv --name dot --testbench dot_tb.sv
      tcsmt export h100 --as wasm --output hopper.wasm
      tcsmt export --queries scripts
      tcsmt export --benchmarks set
    """
    of_unit = {
        "--as": language,
        "--output": output,
        "--name": name,
        "--pipeline": pipeline,
        "--testbench": testbench,
    }
    sources = {"UNIT": unit, "--queries": queries, "--benchmarks": benchmarks}
    chosen = [option for option, value in sources.items() if value is not None]
    if len(chosen) != 1:
        raise TcsmtError(f"expected one of {', '.join(sources)}; given: {' and '.join(chosen) or 'none'}")
    if unit is not None:
        _unit(unit, language, output, name, pipeline, testbench, as_json)
        return
    extra = [option for option, value in of_unit.items() if value]
    if extra:
        raise TcsmtError(f"{extra[0]} is of a UNIT, which is not given with {chosen[0]}")
    set_of = scripts.curated() if benchmarks is None else scripts.hard()
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


def _unit(
    unit: str, language: str | None, output: Path | None, name: str | None, pipeline: bool,
    testbench: Path | None, as_json: bool,
) -> None:  # fmt: skip
    from tcsmt.face.api.export import LANGUAGES
    from tcsmt.face.api.export import export as exported

    if language is None:
        raise TcsmtError(f"--as is missing: one of {', '.join(LANGUAGES)}")
    made = exported(unit, language, name=name, pipeline=pipeline)
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
