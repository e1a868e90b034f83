"""``tcsmt export``: the curated SMT-LIB scripts."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.support.files import make_folder, replace_text


@click.command()
@click.option(
    "--queries",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("queries"),
    show_default=True,
    help="Folder for the scripts.",
)
def export(queries: Path) -> None:
    """Write the curated SMT-LIB 2.6 scripts: self-contained, with the expected answer."""
    from tcsmt.ask.scripts import scripts

    make_folder(queries)
    for name, text in scripts():
        replace_text(queries / f"{name}.smt2", text)
        click.echo(f"{queries / name}.smt2")
