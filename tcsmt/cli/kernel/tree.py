"""``tcsmt kernel tree``."""

from __future__ import annotations

from typing import Any

import click

from tcsmt.api.kernel_tree import kernel_tree
from tcsmt.api.units import row_of
from tcsmt.cli import options
from tcsmt.cli.functions import function_named
from tcsmt.cli.names import UNIT
from tcsmt.cli.printing import echo_json
from tcsmt.kernels.kernel import kernel_named


@click.command()
@click.option(
    "--python", "function", metavar="MODULE:FUNCTION", help="This function of NumPy arrays A and B gives D."
)
@click.option("--kernel", type=UNIT, metavar="UNIT[+REDUCTION]", help="This kernel, simulated.")
@click.option("--k", type=click.IntRange(2), required=True, metavar="N", help="Products of an element of D.")
@click.option(
    "--format", "format_name", metavar="FORMAT",
    help="Format of A and B.  [default: f32; the unit's with --kernel]",
)  # fmt: skip
@click.option(
    "--shape", type=(int, int), metavar="M N",
    help="Rows of A and columns of B; smaller ones take more calls.  [default: K K, one call]",
)  # fmt: skip
@options.as_json
def tree(
    function: str | None,
    kernel: str | None,
    k: int,
    format_name: str | None,
    shape: tuple[int, int] | None,
    as_json: bool,
) -> None:
    """Read in which order a matrix product adds up the products of an element, from its results alone.

    One call asks about all pairs of products: large numbers of both signs swallow what meets them before they
    meet each other. Prints sums of products p0, p1, ... The elements of D must be summed up alike, which is
    checked; libraries choose the order by the shape of the matrices.

    \b
    Examples:
      tcsmt kernel tree --python numpy:matmul --k 256
      tcsmt kernel tree --python my_kernels:gemm --k 1024 --format f16
      tcsmt kernel tree --kernel h100+split-k:2 --k 128
    """
    if (function is None) == (kernel is None):
        raise click.UsageError("give one of --python and --kernel")
    multiply: Any
    if function is not None:
        multiply, fmt = function_named(function), format_name or "f32"
    else:
        made = kernel_named(str(kernel), row_of)
        multiply, fmt = made.multiply, format_name or made.unit.model.a_format.name
    found = kernel_tree(multiply, k, operands=fmt, shape=shape)
    if as_json:
        echo_json(found.as_json())
    else:
        click.echo(str(found))
