"""``tcsmt accuracy bound``."""

from __future__ import annotations

import click

from tcsmt.face.api.asked import Domain, SolvingOptions
from tcsmt.face.api.error_bound import bound as bound_of
from tcsmt.face.cli import options
from tcsmt.face.cli.accuracy.inputs import k_option, search_option
from tcsmt.face.cli.domain import domain_of_algorithm
from tcsmt.face.cli.names import ALGORITHM, UNIT
from tcsmt.face.cli.printing import answer


@click.command(cls=options.SolvingCommand)
@click.argument("algorithm", type=ALGORITHM)
@click.option(
    "--arch", type=UNIT, help="Architecture, GPU, ARCH/INSTRUCTION or a model file; of a kernel, none."
)
@k_option
@domain_of_algorithm
@search_option(20.0)
@click.option("--full", is_flag=True, help="Print all words of the inputs, and every step of the proof.")
@options.as_json
@options.solving("solver", "timeout", "confirm", "certificate")
def bound(
    algorithm: str,
    arch: str | None,
    k: int,
    domain: Domain,
    search: float,
    full: bool,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Print the largest error of ALGORITHM that is found, and the smallest bound that is proved.

    The bound is the sum of what each kind of step can lose: the split, products that are left out,
    alignment and rounding in the unit, and additions outside the unit. A result that is not finite counts
    as an infinite error. Of an emulation of binary64, all is in 2^-53, and there is a second bound, relative
    to K times the largest numbers of A's row and B's column.

    ALGORITHM may be a kernel at one K, UNIT+REDUCTION+EPILOGUE@K, without --arch: then the error is relative
    to the sum of all magnitudes, of the products times alpha, of beta times c, and of the bias, in units of
    2^-p of a result with p significand bits.

    The answer comes first, then the inputs with the largest errors found, briefly.

    Exit code: 0 a bound is proved; 2 usage error; 3 no bound is proved, and the error shown is only found;
    4 an error was found that is larger than the bound, which is a defect in tcsmt and never an answer.

    \b
    Examples:
      tcsmt accuracy bound single-f16 --arch volta --k 4 --confirm
      tcsmt accuracy bound h100+split-k:6,parts=bf16+out=bf16@4096
      tcsmt accuracy bound ozaki1-int8,slices=7 --arch ampere --k 1024 --exponents=0:0
    """
    if arch is None:
        if "@" not in algorithm:
            raise click.UsageError("Missing option '--arch'.")
        answer(bound_of(algorithm, domain=domain, search=search, options=solving), as_json=as_json)
    result = bound_of(algorithm, arch, k=k, domain=domain, search=search, options=solving)
    answer(result, as_json=as_json, text=result.text(full=full))
