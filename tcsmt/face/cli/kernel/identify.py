"""``tcsmt kernel identify``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.array_files import read_array
from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.kernel_identify import kernel_identify
from tcsmt.face.api.terminal import interrupted_once, progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json

_PATH = click.Path(path_type=Path)


@click.command(cls=options.SolvingCommand)
@click.option("--a", "a_path", type=_PATH, required=True, help="A, (M, K), .npy.")
@click.option("--b", "b_path", type=_PATH, required=True, help="B, (K, N), .npy.")
@click.option("--d", "d_path", type=_PATH, required=True, help="The product that was recorded, (M, N), .npy.")
@click.option("--c", "c_path", type=_PATH, help="C, (M, N), .npy.")
@click.option("--a-format", metavar="FORMAT", help="Format of A's words.  [default: by the dtype]")
@click.option("--b-format", metavar="FORMAT", help="Format of B's words.  [default: by the dtype]")
@click.option("--c-format", metavar="FORMAT", help="Format of C's words.  [default: by the dtype]")
@click.option("--d-format", metavar="FORMAT", help="Format of D's words.  [default: by the dtype]")
@click.option(
    "--unit", "units", type=UNIT, multiple=True, help="Only kernels on this unit (may be repeated)."
)
@click.option("--alpha", type=float, default=1.0, show_default=True, help="alpha of the call.")
@click.option("--beta", type=float, default=1.0, show_default=True, help="beta of the call.")
@click.option("--seed", default=1, show_default=True, help="Seed of the elements that are looked at first.")
@click.option(
    "--plan",
    type=_PATH,
    metavar="DIR",
    help="Write A.npy and B.npy here, whose product tells the kernels apart that explain D.",
)
@options.operands
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop after this time with what was found, as Ctrl-C does.  [default: none]",
)
@options.as_json
@options.solving("timeout", "memory", timeout=20.0)
def identify(
    a_path: Path,
    b_path: Path,
    d_path: Path,
    c_path: Path | None,
    a_format: str | None,
    b_format: str | None,
    c_format: str | None,
    d_format: str | None,
    units: tuple[str, ...],
    alpha: float,
    beta: float,
    seed: int,
    plan: Path | None,
    operands: str | None,
    time_limit: float | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Find the kernels that give D of A and B bit for bit: unit, order along K, partial sums, epilogue.

    All hypotheses are tried on a few elements of D, the simplest first, those that survive on more, and
    the last ones on all.
    np.save writes bfloat16 and 8-bit floats without their names: give --a-format, --b-format, --d-format.
    Files are never unpickled.

    Where none explains D, prints the nearest, and which kind of step D looks as if it had besides.

    Exit code: 0 explained, 1 no hypothesis explains D, 2 usage error, 3 stopped before one did.

    \b
    Examples:
      tcsmt kernel identify --a A.npy --b B.npy --d D.npy
      tcsmt kernel identify --a A.npy --b B.npy --d D.npy --a-format bf16 --b-format bf16 --d-format bf16
    """
    a, b, d = read_array(a_path), read_array(b_path), read_array(d_path)

    def tell(kernel: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"gives all of D: {kernel}", err=True)

    with interrupted_once(), progress_bar(lines=False) as progress:
        result = kernel_identify(
            a, b, d, None if c_path is None else read_array(c_path), a_format=a_format, b_format=b_format,
            c_format=c_format, d_format=d_format, units=units or None, alpha=alpha, beta=beta,
            operands=operands, seed=seed, time_limit=time_limit, progress=progress,
            explained=lambda kernel: tell(kernel.name),
        )  # fmt: skip
        made = None
        if plan is not None and result.kernels:
            made = result.plan(options=solving, seed=seed, progress=progress)
    if made is not None and plan is not None:
        made.save(plan)
    if as_json:
        echo_json(result.as_json() | ({"plan": made.as_json()} if made is not None else {}))
    else:
        click.echo(str(result))
        if made is not None:
            click.echo(str(made))
    sys.exit(result.exit_code)
