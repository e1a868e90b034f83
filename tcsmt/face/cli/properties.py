"""``tcsmt properties``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.cli import options
from tcsmt.face.cli.printing import echo_json
from tcsmt.study.properties.discovery import properties as find_properties


@click.command()
@options.folders
@options.as_json
def properties(folders: tuple[Path, ...], as_json: bool) -> None:
    """List the properties that can be asked of a unit.

    \b
    Examples:
      tcsmt properties
    """
    found = find_properties(folders).values()
    if as_json:
        data = [{"name": p.name, "title": p.title, "file": str(p.path)} for p in found]
        echo_json({"properties": data})
        return
    width = max(len(p.name) for p in found)
    for p in found:
        click.echo(f"{p.name:<{width}}  {p.title}")
