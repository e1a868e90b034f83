"""``tcsmt accuracy compare``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.asked import Domain, SolvingOptions
from tcsmt.face.api.error_comparison import compare as compare_algorithms
from tcsmt.face.cli import options
from tcsmt.face.cli.accuracy.inputs import arch_option, search_option
from tcsmt.face.cli.domain import domain_of_algorithm
from tcsmt.face.cli.dumped import say_dumped
from tcsmt.face.cli.names import ALGORITHM
from tcsmt.face.cli.picture import form_of, show_picture
from tcsmt.face.cli.printing import show


@click.command(cls=options.SolvingCommand)
@click.argument("one", type=ALGORITHM)
@click.argument("two", type=ALGORITHM)
@arch_option
@click.option("--k", type=int, help="Products in the dot product.  [default: the unit's own K]")
@domain_of_algorithm
@search_option(5.0)
@click.option("--explain", is_flag=True, help="Draw both algorithms on the witness, step by step.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write that picture here: .svg, .html or .txt."
)
@options.as_json
@options.solving("solver", "timeout", "memory", "confirm", "certificate", "dump_smt")
def compare(
    one: str,
    two: str,
    arch: str,
    k: int | None,
    domain: Domain,
    search: float,
    explain: bool,
    output: Path | None,
    as_json: bool,
    solving: SolvingOptions,
) -> None:
    """Decide whether algorithm ONE is ever less accurate than TWO: an input, or a proof that there is none.

    Errors are absolute: the distance from the exact dot product c + Σ a·b.

    Exit code: 0 never less accurate (proved), 1 an input shows that it is, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy compare ootomo-halfhalf markidis --arch volta
    """
    form = form_of(output)
    comparison = compare_algorithms(one, two, arch, k=k, domain=domain, search=search, options=solving)
    say_dumped(solving, comparison.scripts)
    picture = comparison.picture() if explain or output is not None else None
    show(comparison, as_json=as_json)
    if explain and picture is not None and not as_json:
        click.echo()
        show_picture(picture, None, None, as_json=False)
    if output is not None and picture is not None:
        show_picture(picture, form, output, as_json=False)
    elif output is not None:
        click.echo(f"no witness: {output} is not written", err=True)
    sys.exit(comparison.exit_code)
