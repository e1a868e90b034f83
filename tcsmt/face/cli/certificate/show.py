"""``tcsmt certificate show``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.certificates import described_in
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@options.as_json
def show(folder: Path, as_json: bool) -> None:
    """Print what the certificate in FOLDER states, its models, and the steps of each proof.

    Nothing is checked: see `tcsmt certificate check`.

    \b
    Examples:
      tcsmt certificate show proofs
      tcsmt certificate show proofs --json
    """
    statements = described_in(folder)
    if as_json:
        echo_json({"statements": [statement.as_json() for statement in statements]})
    else:
        click.echo("\n\n".join(map(str, statements)))
