"""``tcsmt accuracy slices``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from tcsmt.analysis.certified import certify_slices
from tcsmt.analysis.exactness.table import SOURCES, families, record, table
from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.terminal import __version__, shown
from tcsmt.face.cli import options
from tcsmt.face.cli.certified import say_certified
from tcsmt.face.cli.printing import echo_json
from tcsmt.matrix_units.catalogue import rows
from tcsmt.prove.engine.prover import prover
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.certified import has_certificate
from tcsmt.support.checkpoint import Checkpoint, Layout, Record


@click.command(cls=options.SolvingCommand)
@click.option("--only", default="", metavar="TEXT", help="Only units with this text in their names.")
@options.as_json
@options.resumed()
@options.solving("solver", "timeout", "confirm", "certificate")
def slices(
    only: str,
    as_json: bool,
    output: Path | None,
    solving: SolvingOptions,
) -> None:
    """Prove for every unit up to which K slices are multiplied exactly.

    A slice of b bits is an integer of at most 2^b in magnitude, as Ozaki's schemes have them. Prints a
    Markdown table. In it, the K in bold are the largest ones: an input with the next K, replayed, has
    another result.

    \b
    Examples:
      tcsmt accuracy slices --only volta/mma.m8n8k4.f32 --output exact.json
      tcsmt accuracy slices --only turing/mma.m8n8k16.s32 --certificate proofs
    """
    engine = Solving(solving)
    asked = prover(*SOURCES) + (" confirmed" if solving.confirm else "")
    wanted = [family for family in families(rows(claims=False)) if only in family[0].name]
    with Checkpoint(output, _LAYOUT, "--output") as kept, shown() as seen:
        # what no code has proved yet comes before what other code has
        order = sorted(wanted, key=lambda family: family[0].name in kept.records)
        for number, family in enumerate(order, 1):
            name = family[0].name
            before = kept.records.get(name, {})
            models = {row.name: family[0].model.digest for row in family}
            found = before
            if (before.get("asked"), before.get("models")) != (asked, models):
                found = record(family, engine) | {"asked": asked}
            certified = all(has_certificate(one, solving.certificates) for one in _proofs([found]))
            if engine.certificates is not None and not certified:
                found = certify_slices(engine.certificates, family[0], found)
            if found is not before:
                kept.keep(name, found)
            seen(number, len(wanted), name)
        known = [kept.records[family[0].name] for family in wanted]
    say_certified(solving, _proofs(known))
    if as_json:
        echo_json({"tcsmt": __version__, "families": known})
        return
    click.echo("\n".join(table(known)))


def _proofs(records: Iterable[Record]) -> list[Record]:
    """What is proved of each number of bits, as records of verdicts."""
    return [{**one, "verdict": "equivalent"} for record in records for one in record["slices"] if one["k"]]


def _key(one: Record) -> str:
    return str(one["unit"])


def _head(records: Mapping[str, Record]) -> Record:
    return {
        "tcsmt": __version__,
        "question": "up to which K are products of slices summed exactly, with c = 0?",
    }


_LAYOUT = Layout("families", _key, _head)
