"""``tcsmt accuracy compare``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tcsmt import __version__
from tcsmt.algorithms.compare import AlgorithmPair, ErrorComparison
from tcsmt.algorithms.compare import compare as compare_pair
from tcsmt.algorithms.picture import Walked, walked_sheet
from tcsmt.algorithms.records import comparison_json, error_text
from tcsmt.algorithms.walk import parting, walk
from tcsmt.catalogue import Row
from tcsmt.cli import options
from tcsmt.cli.accuracy.inputs import arch_option, check_length, search_option
from tcsmt.cli.domain import domain_of_algorithm
from tcsmt.cli.dumped import say_dumped
from tcsmt.cli.picture import form_of, show_sheet
from tcsmt.cli.verdict import EXIT, verdict_text
from tcsmt.pictures.drawing import Sheet
from tcsmt.pictures.explain import signed_text
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes.named import algorithm_named
from tcsmt.recipes.split import F32
from tcsmt.statements.domain import Domain
from tcsmt.statements.finding import shown
from tcsmt.statements.verdict import Distinguished


@click.command()
@click.argument("one")
@click.argument("two")
@arch_option
@click.option("--k", type=int, help="Products in the dot product.  [default: the unit's own K]")
@domain_of_algorithm
@search_option(5.0)
@options.solver
@options.timeout()
@options.memory
@options.confirm
@click.option("--explain", is_flag=True, help="Both algorithms on the witness, step by step.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write that picture here: .svg, .html or .txt."
)
@options.as_json
@options.dump_smt
def compare(
    one: str,
    two: str,
    arch: str,
    k: int | None,
    domain: Domain,
    search: float,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    explain: bool,
    output: Path | None,
    as_json: bool,
    dump_smt: Path | None,
) -> None:
    """Is algorithm ONE ever less accurate than TWO: an input, or a proof that there is none.

    Errors are absolute, against the exact dot product c + Σ a·b. Exit code: 0 never (proved),
    1 there is such an input, 2 usage error, 3 unknown.
    """
    form = form_of(output)
    check_length(k, search)
    pair, rows = pair_of((one, two), arch, k, domain)
    solving = Solving(Settings(solver, timeout, memory), confirm=confirm, dump=dump_smt)
    found = compare_pair(pair, solving, search=search)
    say_dumped(solving)
    if as_json:
        data = {"tcsmt": __version__, "arch": [row.name for row in rows], **comparison_json(found)}
        if isinstance(found.verdict, Distinguished):
            moves = [walk(algorithm, found.verdict.values) for algorithm in pair.algorithms]
            data["steps"] = [[move.as_json() for move in one] for one in moves]
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        click.echo(comparison_text(found, rows))
        if explain and isinstance(found.verdict, Distinguished):
            click.echo()
            show_sheet(sheet_of(found, rows), None, None, as_json=False)
    if output is not None and isinstance(found.verdict, Distinguished):
        show_sheet(sheet_of(found, rows), form, output, as_json=False)
    elif output is not None:
        click.echo(f"no witness: {output} is not written", err=True)
    sys.exit(EXIT[type(found.verdict)])


def pair_of(
    names: tuple[str, str], arch: str, k: int | None, domain: Domain
) -> tuple[AlgorithmPair, tuple[Row, Row]]:
    """Two algorithms on one architecture; k is that of the first one's unit where not given."""
    one, row = algorithm_named(names[0], arch, k)
    two, other = algorithm_named(names[1], arch, one.k)
    return AlgorithmPair(names, (one, two), domain), (row, other)


def comparison_text(found: ErrorComparison, rows: tuple[Row, Row]) -> str:
    """The comparison for people."""
    pair, verdict, judgement = found.pair, found.verdict, found.judgement
    lines = [f"{n}: {r.name}, evidence: {r.evidence}" for n, r in zip(pair.names, rows, strict=True)]
    lines += [f"K = {pair.k}; domain: {pair.domain}", ""]
    lines.append(verdict_text(verdict, "WORSE", "NEVER WORSE"))
    if isinstance(verdict, Distinguished) and judgement is not None:
        for name, word in verdict.values.items():
            if word:
                seen = shown(F32, word)
                lines.append(f"  {name:>5} = {seen['word']}  {seen['value']:<32} {seen['decimal']}")
        lines.append(f"  exact = {signed_text(judgement.exact)}")
        for name, word, error in zip(pair.names, judgement.words, judgement.errors, strict=True):
            lines.append(f"  {name}: {F32.hex(word)}  {F32.describe(word)}  error {error_text(error)}")
        if judgement.excess is not None and judgement.relative is not None:
            lines.append(
                f"  worse by {float(judgement.excess):.4g} ulp of the exact result, "
                f"{float(judgement.relative):.4g}·2^-24 of |c| + Σ|a·b|"
            )
        parts = parting(*(walk(a, verdict.values) for a in pair.algorithms))
        if parts is not None:
            lines.append(f"  they part at '{parts.name}' (after the split)")
    return "\n".join(lines)


def sheet_of(found: ErrorComparison, rows: tuple[Row, Row]) -> Sheet:
    """Both algorithms on the witness: every step, and bit by bit where they part."""
    assert isinstance(found.verdict, Distinguished)
    values = found.verdict.values
    each = zip(found.pair.names, rows, found.pair.algorithms, strict=True)
    return walked_sheet([Walked.on(name, row, algorithm, values) for name, row, algorithm in each], values)
