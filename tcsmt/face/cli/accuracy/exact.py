"""``tcsmt accuracy exact``."""

from __future__ import annotations

import click

from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.exact import exact as exact_of
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer


@click.command(cls=options.SolvingCommand)
@click.argument("name", metavar="UNIT|ALGORITHM", type=UNIT)
@click.option("--arch", type=UNIT, help="The unit, where an algorithm is given.")
@click.option("--integers", type=int, help="Largest magnitude of the integers in a and b.")
@click.option("--k", type=int, help="Products in the dot product.")
@click.option("--search/--no-search", default=True, help="Whether to look for inputs beyond what is proved.")
@options.as_json
@options.solving("solver", "timeout", "confirm", "certificate")
def exact(
    name: str,
    arch: str | None,
    integers: int | None,
    k: int | None,
    search: bool,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Is the chained result of UNIT, or of ALGORITHM on --arch, exactly the dot product of integers?

    With --integers, the largest K for which that is proved for all inputs, c being 0; with --k, the
    largest integers; with both, whether it is so. Then the smallest input beyond that was found on which the
    result is another one.

    Exit code: 0 exactness is proved; 1 an input shows that it does not hold; 2 usage error; 3 neither;
    4 an input contradicts the proof, which is a defect in tcsmt and never an answer.

    \b
    Examples:
      tcsmt accuracy exact h100/wgmma.m64nNk32.f32.e4m3.e4m3 --integers 16
      tcsmt accuracy exact ampere/mma.m16n8k32.s32.s8.s8.s32 --k 4096
      tcsmt accuracy exact fp8-promoted --arch h100 --integers 15 --k 128
      tcsmt accuracy exact ozaki1-int8,slices=3 --arch ampere --k 64
    """
    exactness = exact_of(
        arch or name,
        algorithm=name if arch else "",
        integers=integers,
        k=k,
        search=search,
        options=solving,
    )
    answer(exactness, as_json=as_json)
