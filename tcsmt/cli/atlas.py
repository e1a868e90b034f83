"""``tcsmt atlas``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tcsmt.api.certificates import require_sat_solver
from tcsmt.catalogue import architecture_named, rows
from tcsmt.cli import options
from tcsmt.cli.certified import say_certified
from tcsmt.cli.names import ARCHITECTURE
from tcsmt.prove.solvers.run import Settings
from tcsmt.statements.domain import Domain
from tcsmt.support.errors import Exit, UnknownName
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.progress import shown
from tcsmt.survey.atlas import groups, run
from tcsmt.survey.heat_map import as_page, as_table
from tcsmt.survey.settle import Asking, verdicts_in


@click.command()
@click.option(
    "--arch",
    "architectures",
    type=ARCHITECTURE,
    multiple=True,
    help="Only units of this architecture (may be repeated).",
)
@click.option(
    "--types", multiple=True, help="Only these formats, D.A.B.C, e.g. f32.f16.f16.f32 (may be repeated)."
)
@click.option("--claims", is_flag=True, help="Include published models that are refuted or disputed.")
@options.finite
@options.jobs(2)
@options.scheduler
@options.solver
@options.timeout()
@options.memory
@options.confirmed
@options.store("atlas-store.json")
@options.kept
@options.certificate
@click.option("--output", type=click.Path(path_type=Path), help="Folder for atlas.json, .txt and .html.")
@options.as_json
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
    kept: bool | None,
    certificate: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare all units that have the same formats and K, pair by pair; can be stopped and resumed.

    Exit code: 0 every pair has a verdict, 2 usage error, 3 some pair remained unknown.

    \b
    Examples:
      tcsmt atlas --arch volta --arch ampere --output results
    """
    require_sat_solver(certificate)
    asking = Asking(Settings(solver, timeout, memory), confirm, jobs, scheduler, kept, certificate)
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
    with verdicts_in(store) as verdicts, shown() as progress:
        made = run(chosen, Domain(finite=finite), verdicts, asking, progress)
    data = made.as_json()
    text = json.dumps(data, indent=1, ensure_ascii=False)
    table = as_table(made)
    if output is not None:
        replace_text(output / "atlas.json", text + "\n")
        replace_text(output / "atlas.txt", table)
        replace_text(output / "atlas.html", as_page(made))
    click.echo(text if as_json else table, nl=as_json)
    say_certified(certificate, made.records.values())
    unknown = [r for r in made.records.values() if r["verdict"] == "unknown"]
    sys.exit(Exit.UNKNOWN if unknown else Exit.ANSWERED)
