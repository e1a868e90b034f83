"""``tcsmt export``: the curated SMT-LIB scripts."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tcsmt.cli import options
from tcsmt.cli.printing import echo_json
from tcsmt.support.files import make_folder, replace_text


@click.command()
@click.option(
    "--queries",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("queries"),
    show_default=True,
    help="Folder for the scripts.",
)
@options.as_json
def export(queries: Path, as_json: bool) -> None:
    """Write the curated SMT-LIB 2.6 scripts: self-contained, with the expected answer.

    \b
    Examples:
      tcsmt export --queries scripts
    """
    from tcsmt.ask.scripts import scripts

    make_folder(queries)
    written = []
    for name, text in scripts():
        path = queries / f"{name}.smt2"
        replace_text(path, text)
        if not as_json:
            click.echo(path)
        status = re.search(r"\(set-info :status (\w+)\)", text)
        written.append({"name": name, "file": str(path), "status": status[1] if status else "unknown"})
    if as_json:
        echo_json({"scripts": written})
