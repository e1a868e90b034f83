"""``tcsmt atlas``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tcsmt.face.api.certificates import require_sat_solver
from tcsmt.face.api.chained import SHARED, chained_atlas_of
from tcsmt.face.cli import options
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.names import ARCHITECTURE
from tcsmt.face.pictures.chained_atlas import as_chained_page, as_chained_svg
from tcsmt.face.pictures.heat_map import as_page, as_table
from tcsmt.matrix_units.catalogue import Row, architecture_named, rows
from tcsmt.prove.engine.asking import Asking
from tcsmt.prove.engine.solvers.run import Settings
from tcsmt.prove.statements.domain import Domain
from tcsmt.study.survey.atlas import groups, run
from tcsmt.study.survey.chained import ChainedAtlas, chained_groups
from tcsmt.study.survey.chained_table import as_chained_table
from tcsmt.study.survey.verdict_store import verdicts_in
from tcsmt.support.errors import Exit, TcsmtError, UnknownName
from tcsmt.support.files import make_folder, replace_text
from tcsmt.support.progress import shown


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
@click.option(
    "--chained",
    is_flag=True,
    help="Chain smaller units to the same K, and search the largest simple domain on which units are equal.",
)
@click.option(
    "--k", type=int, metavar="N",
    help="With --chained: length of the dot product.  [default: the shortest for all units]",
)  # fmt: skip
@options.finite
@options.jobs(2)
@options.scheduler
@options.solver
@options.timeout()
@options.memory
@options.confirmed
@options.store
@options.kept
@options.certificate
@click.option("--output", type=click.Path(path_type=Path), help="Folder for atlas.json, .txt and .html.")
@options.as_json
def atlas(
    architectures: tuple[str, ...],
    types: tuple[str, ...],
    claims: bool,
    chained: bool,
    k: int | None,
    finite: bool,
    jobs: int,
    scheduler: str,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    store: Path | None,
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
      tcsmt atlas --chained --types f32.f16.f16.f32 --no-confirm --timeout 5
    """
    if chained and finite:
        raise TcsmtError("--chained has domains of its own: it cannot be used with --finite")
    if k is not None and not chained:
        raise TcsmtError("--k needs --chained: other comparisons are over the units' own K")
    require_sat_solver(certificate)
    asking = Asking(Settings(solver, timeout, memory), confirm, jobs, scheduler, kept, certificate)
    names = {architecture_named(name) for name in architectures}
    having = [
        row
        for row in rows()
        if (claims or row.status == "accepted") and (not names or row.architecture in names)
    ]
    if chained:
        sys.exit(_chained(having, types or SHARED, k, store, asking, output, as_json))
    chosen = groups(having)
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


def _chained(
    having: Sequence[Row],
    types: Sequence[str],
    k: int | None,
    store: Path | None,
    asking: Asking,
    output: Path | None,
    as_json: bool,
) -> Exit:
    """The atlas of chained units: printed and written."""
    chained_groups(having, types, k)  # what is wrong with them is said before anything is written
    if output is not None:
        make_folder(output)
    with verdicts_in(store) as verdicts, shown() as progress:
        made = chained_atlas_of(having, types, k, verdicts, asking, progress)
    text = json.dumps(made.as_json(), indent=1, ensure_ascii=False)
    table = as_chained_table(made)
    if output is not None:
        replace_text(output / "chained.json", text + "\n")
        replace_text(output / "chained.txt", table)
        replace_text(output / "chained.html", as_chained_page(made))
        replace_text(output / "chained.svg", as_chained_svg(made))
    click.echo(text if as_json else table, nl=as_json)
    say_certified(asking.certificates, _records(made))
    return Exit.UNKNOWN if made.unknown else Exit.ANSWERED


def _records(made: ChainedAtlas) -> list[dict[str, Any]]:
    pairs = [record for known in made.known for here in known for record in here.records.values()]
    sums = [record for record in made.integers.values() if "proof" in record]
    return [*pairs, *({**record, "verdict": "equivalent"} for record in sums)]
