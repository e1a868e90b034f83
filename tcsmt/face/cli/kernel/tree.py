"""``tcsmt kernel tree``."""

from __future__ import annotations

import click

from tcsmt.face.api.kernel_tree import PRODUCTS, kernel_tree
from tcsmt.face.api.terminal import progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.functions import function_named
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer


@click.command()
@click.option(
    "--python", "function", metavar="MODULE:FUNCTION", help="This function of NumPy arrays A and B gives D."
)
@click.option("--kernel", type=UNIT, metavar="UNIT[+REDUCTION]", help="This kernel, simulated.")
@click.option("--k", type=click.IntRange(2), required=True, metavar="N", help="Products of an element of D.")
@click.option(
    "--format",
    "format_name",
    metavar="FORMAT",
    help="Format of A and B.  [default: f32; the unit's with --kernel]",
)
@click.option(
    "--shape",
    type=(int, int),
    metavar="M N",
    help="Rows of A and columns of B, by which libraries choose the order.  [default: K K]",
)
@click.option(
    "--products",
    type=click.IntRange(PRODUCTS),
    default=PRODUCTS,
    show_default=True,
    metavar="N",
    help="Random products on which every tree is tried.",
)
@options.as_json
def tree(
    function: str | None,
    kernel: str | None,
    k: int,
    format_name: str | None,
    shape: tuple[int, int] | None,
    products: int,
    as_json: bool,
) -> None:
    """Read in which order a matrix product adds up the products of an element, from its results alone.

    Large numbers of both signs swallow what meets them before they meet each other. Prints sums of products
    p0, p1, ..., and the formats to which sums and products are rounded, by region of D where elements differ.
    Every tree is tried on random products with both signs and wide exponents, and must give every bit of
    their results. A function that no tree describes is refused: with the element that differs, both values,
    and why.

    Exit code: 0 a tree for every element, 2 usage error or no tree, 3 a tree for some elements.

    \b
    Examples:
      tcsmt kernel tree --python numpy:matmul --k 256
      tcsmt kernel tree --python numpy:matmul --k 48 --shape 1 1
      tcsmt kernel tree --python my_kernels:gemm --k 1024 --format f16
      tcsmt kernel tree --kernel h100+split-k:2 --k 128 --shape 8 8
    """
    if (function is None) == (kernel is None):
        raise click.UsageError("give one of --python and --kernel")
    multiply = str(kernel) if function is None else function_named(function)
    with progress_bar(lines=False) as progress:
        result = kernel_tree(
            multiply, k, operands=format_name, shape=shape, products=products, progress=progress
        )
    answer(result, as_json=as_json)
