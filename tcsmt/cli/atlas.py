"""``tcsmt atlas``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tcsmt.atlas import groups, run
from tcsmt.catalogue import architecture_named, rows
from tcsmt.errors import UnknownName
from tcsmt.files import make_folder, replace_text
from tcsmt.pairs import Asking
from tcsmt.pictures.matrix import as_page, as_table
from tcsmt.query import Domain
from tcsmt.solvers.run import CHOICES, Settings
from tcsmt.store import Store


@click.command()
@click.option("--arch", "architectures", multiple=True, help="Only rows of this architecture (repeatable).")
@click.option("--types", multiple=True, help="Only these types, D.A.B.C, as f32.f16.f16.f32 (repeatable).")
@click.option("--claims", is_flag=True, help="With the rows that were refuted or are disputed.")
@click.option("--finite/--all-words", default=False, help="Without NaN and infinity.  [default: all words]")
@click.option("--jobs", type=click.IntRange(1, 256), default=2, show_default=True, help="Pairs at a time.")
@click.option(
    "--scheduler", default="", metavar="ADDRESS",
    help="Ask on the workers of this Dask scheduler, as tcp://host:8786 (needs the extra dask).",
)  # fmt: skip
@click.option("--solver", default="auto", help=f"One of {', '.join(CHOICES)}.", show_default=True)
@click.option("--timeout", default=60.0, help="Seconds for each query.", show_default=True)
@click.option("--memory", default=8192, help="MiB for each solver process.", show_default=True)
@click.option("--confirm/--no-confirm", default=True, help="Second solver for proofs.  [default: confirm]")
@click.option(
    "--store", type=click.Path(path_type=Path), default=Path("atlas.sqlite"), show_default=True,
    help="Verdicts are kept here, and not asked again.",
)  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path), help="Folder for atlas.json, .txt and .html.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def atlas(
    architectures: tuple[str, ...],
    types: tuple[str, ...],
    claims: bool,
    finite: bool,
    jobs: int,
    scheduler: str,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    store: Path,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare all catalogue rows with the same types and K, pair by pair; can be stopped and resumed.

    Exit code: 0 every pair has a verdict, 2 usage error, 3 some pair stayed unknown.
    """
    asking = Asking(Settings(solver, timeout, memory), confirm, jobs, scheduler)
    names = {architecture_named(name) for name in architectures}
    chosen = groups(
        row
        for row in rows()
        if (claims or row.status == "accepted") and (not names or row.architecture in names)
    )
    known = {group.types for group in chosen}
    for given in types:
        if given not in known:
            raise UnknownName("types", given, sorted(known))
    chosen = [group for group in chosen if not types or group.types in types]
    if output is not None:
        make_folder(output)
    with Store(store) as kept:
        made = run(chosen, Domain(finite=finite), kept, asking, progress)
    data = made.as_json()
    text = json.dumps(data, indent=1, ensure_ascii=False)
    table = as_table(made)
    if output is not None:
        replace_text(output / "atlas.json", text + "\n")
        replace_text(output / "atlas.txt", table)
        replace_text(output / "atlas.html", as_page(made))
    click.echo(text if as_json else table, nl=as_json)
    unknown = [r for r in made.records.values() if r["verdict"] == "unknown"]
    sys.exit(3 if unknown else 0)


def progress(done: int, count: int, what: str) -> None:
    """A bar on a terminal, lines elsewhere."""
    if sys.stderr.isatty():
        bar = "#" * (30 * done // max(count, 1))
        click.echo(f"\r\033[K[{bar:<30}] {done}/{count} {what[:100]}", err=True, nl=done == count)
    else:
        click.echo(f"{done}/{count} {what}", err=True)
