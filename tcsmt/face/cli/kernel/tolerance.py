"""``tcsmt kernel tolerance``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.array_files import read_array
from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.tolerance import tolerance as tolerance_of
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer

_PATH = click.Path(path_type=Path)


@click.command(cls=options.SolvingCommand)
@click.argument("kernel", type=UNIT, metavar="KERNEL")
@click.option("--a", "a_path", type=_PATH, required=True, help="A, (..., M, K), .npy.")
@click.option("--b", "b_path", type=_PATH, required=True, help="B, (..., K, N), .npy.")
@click.option("--c", "c_path", type=_PATH, help="C, (..., M, N), .npy.")
@click.option("--bias", "bias_path", type=_PATH, help="A bias, (..., N), .npy, where the epilogue has one.")
@click.option("--d", "d_path", type=_PATH, help="D, (..., M, N), .npy: is each element within its bound?")
@click.option("--against", type=UNIT, metavar="KERNEL", help="How far the results of both can be apart.")
@click.option("--a-format", metavar="FORMAT", help="Format of A's words.  [default: by the dtype]")
@click.option("--b-format", metavar="FORMAT", help="Format of B's words.  [default: by the dtype]")
@options.operands
@click.option("--output", type=_PATH, metavar="ATOL.npy", help="Write atol, float64, (..., M, N).")
@click.option(
    "--search",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Look for the largest error beside the bounds for so long (0: not at all).",
)
@options.as_json
@options.solving("solver", "timeout", "memory", "confirm", "reuse")
def tolerance(
    kernel: str,
    a_path: Path,
    b_path: Path,
    c_path: Path | None,
    bias_path: Path | None,
    d_path: Path | None,
    against: str | None,
    a_format: str | None,
    b_format: str | None,
    operands: str | None,
    output: Path | None,
    search: float,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Bound how far each element of KERNEL's product of A and B can be from the exact one: proved.

    KERNEL is UNIT+REDUCTION+EPILOGUE, as `tcsmt gemm` takes them: h100+split-k:6,parts=bf16+out=bf16. The
    bounds are an array atol of D's shape: each element is within atol of the exact one, for these matrices.
    The command says whether the tolerance is vacuous, and how large an error a search finds beside it. With
    --d it says whether a result is within its bounds; if it is not, the worst element, and what kind of bug
    looks like that. np.save writes bfloat16 and 8-bit floats without their names: give --a-format and
    --b-format.

    Exit code: 0 proved, and D within its bounds; 1 some element of D is not; 2 usage error, or no lemma
    covers a step of the kernel, which is named; 4 an error was found that is larger than its bound, a defect
    in tcsmt.

    \b
    Examples:
      tcsmt kernel tolerance h100+split-k:2 --a A.npy --b B.npy --output atol.npy
      tcsmt kernel tolerance h100+chained+out=f16 --a A.npy --b B.npy --d D.npy
    """
    c, bias, d = (None if path is None else read_array(path) for path in (c_path, bias_path, d_path))
    result = tolerance_of(
        read_array(a_path),
        read_array(b_path),
        c,
        kernel=kernel,
        against=against,
        bias=bias,
        a_format=a_format,
        b_format=b_format,
        operands=operands,
        search=search,
        options=solving,
    )
    if output is not None:
        result.save(output)
    if d is None:
        answer(result, as_json=as_json)
    answer(result.check(d), as_json=as_json)
