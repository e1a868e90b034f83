"""``tcsmt certificate check``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tcsmt.face.api.certificates import checked_in
from tcsmt.face.api.terminal import Exit, counted
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@options.as_json
def check(folder: Path, as_json: bool) -> None:
    """Check every proof in FOLDER from its files alone.

    Builds the models, formulas and clauses again, checks each refutation line by line, and that the steps
    end in what is stated. No solver is asked. Below each title, which is only what the author wrote, stands
    all that the statement says: assumptions, inputs, formats, models with their parameters.

    Exit code: 0 everything is proved, 1 something is not, 2 usage error or a file that cannot be read.

    \b
    Examples:
      tcsmt certificate check proofs
      tcsmt certificate check proofs --json
    """
    done = []
    for one in checked_in(folder):
        done.append(one)
        if not as_json:
            state = f"NOT PROVED: {one.flaw}" if one.flaw else f"proved, {counted(len(one.lemmas), 'lemma')}"
            click.echo(f"{one.title}: {state}")
            for line in one.states.lines() if one.states else ():
                click.echo(f"  {line}")
    flawed = sum(bool(one.flaw) for one in done)
    lemmas = {name for one in done for name in one.lemmas}
    if as_json:
        echo_json({"proved": not flawed, "statements": [one.as_json() for one in done]})
    elif flawed:
        click.echo(f"{flawed} of {counted(len(done), 'statement')} NOT PROVED")
    else:
        click.echo(f"all proved: {counted(len(done), 'statement')}, {counted(len(lemmas), 'lemma')}")
    sys.exit(Exit.DIFFERS if flawed else Exit.ANSWERED)
