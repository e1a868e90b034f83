"""``tcsmt kernel invariant``."""

from __future__ import annotations

import click

from tcsmt.face.api.asked import Domain, SolvingOptions
from tcsmt.face.api.kernel_invariant import kernel_invariant
from tcsmt.face.api.terminal import progress_bar
from tcsmt.face.cli import options
from tcsmt.face.cli.domain import domain_of_models
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer

_USUAL = "chained,split-k:2,split-k:4,split-k:4,pairs"


@click.command(cls=options.SolvingCommand)
@click.argument("unit", type=UNIT)
@click.option(
    "--reductions",
    default=_USUAL,
    show_default=True,
    metavar="REDUCTION,...",
    help="Those to compare, such as `tcsmt gemm` takes.",
)
@click.option(
    "--k", type=click.IntRange(1), metavar="N", help="Products.  [default: tells most of them apart]"
)
@click.option("--epilogue", default="", metavar="EPILOGUE", help="The epilogue of all kernels.")
@domain_of_models
@click.option(
    "--narrow/--no-narrow",
    default=True,
    show_default=True,
    help="Look for narrower domains in which more of them agree.",
)
@options.as_json
@options.solving("solver", "timeout", "memory", "confirm", "reuse", "certificate", timeout=20.0, confirm=True)
def invariant(
    unit: str,
    reductions: str,
    k: int | None,
    epilogue: str,
    domain: Domain,
    narrow: bool,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Decide which ways to cut K and to add up the parts give the same bits on UNIT.

    Prints groups of reductions that are proved to agree for all inputs of the domain, and for each pair of
    groups an input with few products on which they differ. Then the same for narrower domains in which more
    of them agree, and for integers that all of them add up exactly. All of this is about dot products of the
    length --k.

    Exit code: 0 all agree (proved), 1 some differ, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt kernel invariant h100 --reductions chained,split-k:2,split-k:4
      tcsmt kernel invariant volta --reductions split-k:2,split-k:2,reversed --epilogue c=epilogue
    """
    with progress_bar(lines=False) as progress:
        result = kernel_invariant(
            unit, reductions, domain, k=k, epilogue=epilogue, narrow=narrow, options=solving,
            progress=progress,
        )  # fmt: skip
    answer(result, as_json=as_json)
