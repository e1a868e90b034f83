"""``tcsmt export``: the curated SMT-LIB scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
@click.option(
    "--benchmarks",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Instead, write hard queries here, as a benchmark set for SMT solvers.",
)
@options.as_json
def export(queries: Path, benchmarks: Path | None, as_json: bool) -> None:
    """Write the curated SMT-LIB 2.6 scripts: self-contained, with the expected answer.

    \b
    Examples:
      tcsmt export --queries scripts
      tcsmt export --benchmarks set
    """
    written = []
    for name, path, text in _curated(queries) if benchmarks is None else _hard(benchmarks):
        make_folder(path.parent)
        replace_text(path, text)
        if not as_json:
            click.echo(path)
        status = re.search(r"\(set-info :status (\w+)\)", text)
        written.append({"name": name, "file": str(path), "status": status[1] if status else "unknown"})
    if as_json:
        echo_json({"scripts": written})


def _curated(folder: Path) -> Iterator[tuple[str, Path, str]]:
    from tcsmt.ask.scripts import scripts

    for name, text in scripts():
        yield name, folder / f"{name}.smt2", text


def _hard(folder: Path) -> Iterator[tuple[str, Path, str]]:
    from tcsmt.papers.hard_queries import hard_queries

    for query in hard_queries():
        yield f"{query.family}/{query.name}", folder / query.path, query.text
