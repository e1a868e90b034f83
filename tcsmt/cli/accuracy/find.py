"""``tcsmt accuracy find``."""

from __future__ import annotations

import sys

import click

from tcsmt.algorithms import result_flaws
from tcsmt.algorithms.records import flaw_json
from tcsmt.algorithms.result_flaws import FLAWS, Case, FlawFinding
from tcsmt.catalogue import Row
from tcsmt.cli import options
from tcsmt.cli.accuracy.inputs import arch_option, check_length, k_option, search_option
from tcsmt.cli.domain import domain_of_algorithm
from tcsmt.cli.names import ALGORITHM
from tcsmt.cli.printing import echo_json
from tcsmt.cli.verdict import EXIT
from tcsmt.pictures.explain import signed_text
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes.named import algorithm_named
from tcsmt.recipes.split import F32
from tcsmt.statements.domain import Domain
from tcsmt.statements.verdict import verdict_text
from tcsmt.support.errors import choose


@click.command()
@click.argument("question")
@click.argument("algorithm", type=ALGORITHM)
@arch_option
@k_option
@domain_of_algorithm
@search_option(5.0)
@options.solver
@options.timeout()
@options.confirm
@options.as_json
def find(
    question: str,
    algorithm: str,
    arch: str,
    k: int,
    domain: Domain,
    search: float,
    solver: str,
    timeout: float,
    confirm: bool,
    as_json: bool,
) -> None:
    """Decide whether ALGORITHM has a flaw: an input that shows it, or a proof that there is none.

    QUESTION is ``monotone`` or ``sign``. ``monotone``: can the result decrease when one input word increases,
    and the exact c + Σ a·b with it? ``sign``: can the result be zero or have the wrong sign when the exact
    sum is not zero?

    Exit code: 0 never (proved), 1 there is such an input, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy find monotone markidis --arch volta
    """
    check_length(k, search)
    kind = FLAWS[choose("question", question, FLAWS)]
    chosen, row = algorithm_named(algorithm, arch, k)
    solving = Solving(Settings(solver, timeout), confirm=confirm)
    found = result_flaws.find(kind(algorithm, chosen, domain), solving, search=search)
    if as_json:
        data = {"question": question, "unit": row.name, **flaw_json(found)}
        echo_json(data)
    else:
        click.echo(finding_text(found, row))
    sys.exit(EXIT[type(found.verdict)])


def finding_text(found: FlawFinding, row: Row) -> str:
    """The finding for people."""
    flaw, short, worst = found.flaw, found.short, found.worst
    lines = [f"{flaw.name}: {row.name}, evidence: {row.evidence}", f"K = {flaw.k}; domain: {flaw.domain}", ""]
    lines.append(verdict_text(found.verdict, flaw.title, flaw.absent))
    if short is not None and worst is not None:
        size = f"{float(worst.size):.4g}, {float(worst.ulps):.4g} ulp"
        lines += [*_case_lines(short), f"the worst found ({flaw.measure}): {size}", *_case_lines(worst)]
    return "\n".join(lines)


def _case_lines(case: Case) -> list[str]:
    lines = [
        f"  {n:>5} = {F32.hex(w)}  {F32.describe(w)}" for n, w in case.values.items() if w or n == case.moved
    ]
    lines.append(f"  exact {signed_text(case.exact)}, result {F32.describe(case.result)}")
    if case.moved:
        lines.append(f"  {case.moved:>5} = {F32.hex(case.word)}  {F32.describe(case.word)}")
        lines.append(f"  exact {signed_text(case.exact_after)}, result {F32.describe(case.after)}")
    return lines
