"""``tcsmt properties``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.properties import property_list
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import answer


@click.command()
@options.folders
@options.as_json
def properties(folders: tuple[Path, ...], as_json: bool) -> None:
    """List the properties that can be asked of a unit.

    \b
    Examples:
      tcsmt properties
    """
    answer(property_list(folders), as_json=as_json)
