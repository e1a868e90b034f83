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
    for statement in checked_in(folder):
        done.append(statement)
        if not as_json:
            proved = f"proved, {counted(len(statement.lemmas), 'lemma')}"
            state = f"NOT PROVED: {statement.flaw}" if statement.flaw else proved
            click.echo(f"{statement.title}: {state}")
            for line in statement.states.lines() if statement.states else ():
                click.echo(f"  {line}")
    flawed = sum(bool(statement.flaw) for statement in done)
    lemmas = {name for statement in done for name in statement.lemmas}
    if as_json:
        echo_json({"proved": not flawed, "statements": [statement.as_json() for statement in done]})
    elif flawed:
        click.echo(f"{flawed} of {counted(len(done), 'statement')} NOT PROVED")
    else:
        click.echo(f"all proved: {counted(len(done), 'statement')}, {counted(len(lemmas), 'lemma')}")
    sys.exit(Exit.DIFFERS if flawed else Exit.ANSWERED)
