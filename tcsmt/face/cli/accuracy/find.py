"""``tcsmt accuracy find``."""

from __future__ import annotations

import click

from tcsmt.face.api.asked import Domain, SolvingOptions
from tcsmt.face.api.result_flaws import find as find_in
from tcsmt.face.cli import options
from tcsmt.face.cli.accuracy.inputs import arch_option, k_option, search_option
from tcsmt.face.cli.domain import domain_of_algorithm
from tcsmt.face.cli.names import ALGORITHM
from tcsmt.face.cli.printing import answer


@click.command(cls=options.SolvingCommand)
@click.argument("question")
@click.argument("algorithm", type=ALGORITHM)
@arch_option
@k_option
@domain_of_algorithm
@search_option(5.0)
@options.as_json
@options.solving("solver", "timeout", "confirm", "certificate")
def find(
    question: str,
    algorithm: str,
    arch: str,
    k: int,
    domain: Domain,
    search: float,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Decide whether ALGORITHM has a flaw: an input that shows it, or a proof that there is none.

    QUESTION is monotone (can the result decrease when one input word increases, and the exact c + Σ a·b with
    it?) or sign (can the result be zero or have the wrong sign when the exact sum is not zero?).

    Exit code: 0 no flaw (proved), 1 an input shows the flaw, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy find monotone markidis --arch volta
      tcsmt accuracy find sign single-f16 --arch volta --c-zero --certificate proofs
    """
    finding = find_in(question, algorithm, arch, k=k, domain=domain, search=search, options=solving)
    answer(finding, as_json=as_json)
