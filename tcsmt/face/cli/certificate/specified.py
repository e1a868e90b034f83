"""``tcsmt certificate specified``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.specified_units import specified_in
from tcsmt.face.api.terminal import Exit, counted
from tcsmt.face.api.units import side_of
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("units", type=UNIT, nargs=-1, required=True)
@click.option(
    "--books",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the prover's books and refutations here; refutations that are there are taken.",
)
@options.as_json
def specified(units: tuple[str, ...], books: Path | None, as_json: bool) -> None:
    """Have ACL2 certify that UNITS compute what the specification says.

    The specification, results/theorems/acl2/specification.lisp, is one page, written by hand: the truncated
    fused sum over integers and rational numbers, with the parameters as arguments. The theorem: for all
    words, infinities and NaNs included, the unit's function, which is written from its graph, gives the word
    that the specification gives. ACL2 (Debian: acl2, acl2-books, acl2-books-certs) checks it from a lemma for
    each stage. CaDiCaL, which finds the refutations of the lemmas, is not trusted. A unit takes a minute or
    two.

    Exit code: 0 all are certified, 1 one is not, 2 usage error or a unit that the specification has no
    parameters for.

    \b
    Examples:
      tcsmt certificate specified volta
      tcsmt certificate specified volta h100/mma.m16n8k16.f32.f16 --books books
      tcsmt certificate specified mine.toml --json
    """
    done = []
    for unit in specified_in([side_of(unit).row for unit in units], books):
        done.append(unit)
        if not as_json:
            click.echo(str(unit))
    flawed = sum(bool(unit.flaw) for unit in done)
    if as_json:
        echo_json({"certified": not flawed, "units": [unit.as_json() for unit in done]})
    elif flawed:
        click.echo(f"{flawed} of {counted(len(done), 'unit')} NOT CERTIFIED by acl2")
    else:
        click.echo(f"all certified by acl2: {counted(len(done), 'unit')}")
    sys.exit(Exit.DIFFERS if flawed else Exit.ANSWERED)
