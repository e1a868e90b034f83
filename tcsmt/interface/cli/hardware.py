"""Commands about implementations and their data: check, vectors, validate, probe."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcsmt.interface.api.terminal import TcsmtError, counted, ignore
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.parameters import PATH, function_named
from tcsmt.interface.cli.printing import answer, echo_json, link_options, links_wanted

if TYPE_CHECKING:
    from tcsmt.interface.api.check import StoppedCheck


@declared(
    "check.check", "kits.check_kit", unit="[UNIT]", kit="[--kit FOLDER]", implementation=None,
    rows=click.IntRange(1),
    options="solver timeout=20 memory jobs scheduler store",
)  # fmt: skip
@click.option("--data", type=PATH, help="Recorded rows and results, as `validate` reads them.")
@click.option(
    "--python", "function", metavar="MODULE:FUNCTION", help="This function of NumPy arrays a, b, c."
)
@click.option(
    "--solve/--no-solve",
    default=False,
    help="Let solvers look for rows that exclude what the others do not.  [default: no-solve, because it may "
    "take minutes]",
)
@click.option(
    "--output",
    type=PATH,
    help="Write rows with answers (.json): the fewest that exclude as much as all, and some others.",
)
@link_options
def check(
    call: DeclaredCall,
    data: Path | None,
    function: str | None,
    solve: bool,
    output: Path | None,
    link: bool,
    page: str | None,
    as_json: bool,
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

    With --kit, instead of UNIT, the functions of a shared library are called on the rows of a folder that
    `tcsmt export --as c-kit` made.

    Exit code: 0 every answer is the unit's, 1 some answer is not, 2 usage error.

    \b
    Examples:
      tcsmt check h100 --device --rows 1000000
      tcsmt check --kit hopper-kit --library ./libmine.so
      tcsmt check volta --python my_emulator:dot
      tcsmt check volta --command ./my_emulator --protocol batches
      tcsmt check volta --data answers.npz
      tcsmt check volta --data inputs.csv --results results.npy
    """
    command, resume = call["command"], call["resume"]
    if call["kit"] is not None:
        if call["unit"] is not None or data or function or command or call["device"]:
            raise click.UsageError("--kit takes --library, and neither UNIT nor an implementation of a unit")
        answer(found := call.of("check_kit")(), as_json=as_json, text=str(found))
        return
    if call["unit"] is None:
        raise click.UsageError("expected a UNIT, or --kit FOLDER")
    if call["library"] is not None:
        raise click.UsageError("--library needs --kit")
    if sum([call["device"], command is not None, function is not None, data is not None]) != 1:
        raise click.UsageError("give one of --device, --command, --python and --data")
    if call["protocol"] != "lines" and command is None:
        raise click.UsageError("--protocol needs --command")
    if call["results"] is not None and data is None:
        raise click.UsageError("--results needs --data")
    if data is not None and (solve or resume is not None):
        raise click.UsageError(f"--data asks nothing: {'--solve' if solve else '--resume'} is not allowed")
    if output is not None and output.suffix.lower() != ".json":
        raise TcsmtError(f"--output {output}: allowed suffix: .json")

    def stopped(state: StoppedCheck) -> None:
        if as_json:
            echo_json(state.as_json())
        else:
            click.echo(f"{state}{'' if resume else '; --resume FILE keeps answers'}")

    result = call.with_progress(
        lines=False, implementation=function_named(function) if function else data,
        options=call["options"] if solve else None, differs=ignore if as_json else click.echo,
        stopped=stopped,
    )  # fmt: skip
    if output is not None:
        result.save(output)
        click.echo(f"{output}: written", err=True)
    answer(result, as_json=as_json, text=result.conclusion, links=links_wanted(result, link, page))


@declared("vectors.vectors", unit="UNIT", kind="", rows=click.IntRange(1))
@click.option(
    "--format",
    "written",
    type=click.Choice(["json", "csv", "hex", "readmemh", "npz"]),
    help="Format of the file.  [default: by the suffix of --output; json]",
)
def vectors(call: DeclaredCall, written: str | None, as_json: bool) -> None:
    """Write test vectors of UNIT: inputs with the expected result.

    Kinds: deciding (the fewest that exclude other units and changes of one parameter, what excludes most
    first), edge (special values, inputs near the boundaries of the arithmetic), random (half of these, half
    random words), all (the three, in this order).

    Formats: json, csv, hex (a line of words for each row), readmemh (one number for each row, for Verilog),
    npz. A run that is stopped leaves the deciding ones in --output FILE, unless that file existed before.
    `tcsmt validate`, `tcsmt check --data` and `tcsmt audit` read all of them.

    \b
    Examples:
      tcsmt vectors volta --kind deciding
      tcsmt vectors h100 --rows 10000 --output h100.mem
    """
    from tcsmt.interface.api.vectors import FILE_FORMATS, file_format

    output = call["output"]
    if output is not None:
        by_suffix = file_format(output)
        if written not in (None, by_suffix):
            raise TcsmtError(
                f"--output {output}: the suffix of --format {written} is {FILE_FORMATS[str(written)]}"
            )
    elif written == "npz":
        raise TcsmtError("--format npz needs --output FILE.npz")
    elif as_json and written not in (None, "json"):
        raise click.UsageError("--json needs --output, or no other --format")
    made = call.with_progress(lines=False)
    if output is None:
        click.echo(made.as_bytes(written or "json"), nl=False)
        click.echo(made.summary, err=True)
        return
    click.echo(f"{output}: {made.summary}", err=True)
    if as_json:
        echo_json(made.as_json() | {"output": str(output)})


@declared("validate.validate", against="UNIT", examples=click.IntRange(min=0))
def validate(call: DeclaredCall, as_json: bool) -> None:
    """Replay measured data sets: .npz with a manifest, JSON, or the published text files.

    Predictions in files are shown beside the models' results.

    Also reads what `tcsmt run --output` and `tcsmt vectors` write (JSON, CSV, .npz, .hex, .mem), and files of
    the same form.

    Exit code: 0 every row matches, 1 some do not, or a model differs from a prediction, 2 usage error, or
    nothing fits --against.

    \b
    Examples:
      tcsmt validate ../shared/hardware ../shared/units
      tcsmt validate results.csv --against volta
    """
    validation = call(say=ignore if as_json else click.echo)
    if as_json:
        echo_json(validation.as_json())
    else:
        click.echo(validation.conclusion)
    sys.exit(validation.exit_code)


@declared(
    "probe.probe", unit="UNIT", properties="--property", vectors="--vectors --plan", emit="", run="",
    made_by=None, was={"--properties": "--folder"}, options="solver timeout memory",
)  # fmt: skip
@click.option(
    "--output",
    type=PATH,
    help="The file to write; with --run, it gets the answers.  [default: standard output; with --run, none]",
)
def probe(call: DeclaredCall, output: Path | None, as_json: bool) -> None:
    """Write a program that runs vectors through the instruction UNIT and prints its answers.

    The vectors are the witnesses of all properties that apply, of some properties (--property), or the
    rows of a file (--vectors). Where no property applies, they are those that decide between UNIT, other
    units and changes of one parameter, as in `tcsmt vectors --kind deciding`. Each comes with the result
    that each hypothesis predicts. `tcsmt validate` reads the answers.

    Exit code: 0 done, 1 (with --run) the device's answers differ from the model's, 2 usage error.

    \b
    Examples:
      tcsmt probe volta --property carry-bits --emit cuda --output probe.cu
      tcsmt probe x86/vdpbf16ps --run
    """
    emit, run = call["emit"], call["run"]
    if call["vectors"] is not None and call["properties"]:
        raise click.UsageError("give --property or --vectors, not both")
    if run and emit in ("json", "csv"):
        raise click.UsageError("--run asks the device: leave out --emit json and csv")
    if run and output is not None and output.suffix.lower() != ".json":
        raise click.UsageError(f"--output {output}: with --run, the answers are JSON: give FILE.json")
    if not run and emit is None:
        raise click.UsageError("give --emit (cuda, hip, c, json, csv) or --run")
    if as_json and output is None and emit != "json" and not run:
        raise click.UsageError(
            "--json describes what was written: give --output FILE, or use --emit json instead"
        )
    made = call.with_progress(
        lines=False, late=True, made_by=shlex.join(["tcsmt", *sys.argv[1:]]),
        say=partial(click.echo, err=True),
    )  # fmt: skip
    if run:
        answer(made.run(output), as_json=as_json)
    if output is None:
        click.echo(made.text(str(emit)), nl=False)
        return
    made.save(output, str(emit))
    click.echo(f"{output}: {counted(len(made), 'vector')}", err=True)
    if as_json:
        echo_json({"model": made.row.name, "output": str(output), "emitted": emit, "vectors": len(made)})
