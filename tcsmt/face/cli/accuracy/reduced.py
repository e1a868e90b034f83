"""``tcsmt accuracy reduced``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tcsmt.analysis.sweeps.reduced import FACTS, PROOFS, WIDTHS, Limits, ReducedFact, narrow_format, survey
from tcsmt.face.api.asked import SolvingOptions
from tcsmt.face.api.terminal import Exit, TcsmtError, __version__, choose, shown
from tcsmt.face.cli import options
from tcsmt.face.cli.names import UNIT
from tcsmt.matrix_units.catalogue import rows
from tcsmt.matrix_units.catalogue.surveyed import DISTINCT_FP16_UNITS
from tcsmt.prove.statements.verdict import said_by
from tcsmt.support.checkpoint import Checkpoint, Layout
from tcsmt.support.jobs.tasks import Workers

_LAYOUT = Layout("entries", head=lambda records: {"tcsmt": __version__})


@click.command(cls=options.SolvingCommand)
@click.option(
    "--question", "questions", multiple=True, help="One of the facts (may be repeated).  [default: all]"
)
@click.option(
    "--arch",
    "units",
    type=UNIT,
    multiple=True,
    default=DISTINCT_FP16_UNITS,
    show_default=True,
    help="A unit (may be repeated).",
)
@click.option(
    "--widths",
    default="2:11",
    show_default=True,
    help="Significant bits of the narrow format: 2,3,4 or LOW:HIGH.",
)
@click.option("--inputs", default=28, show_default=True, help="Try at most 2^INPUTS inputs.")
@click.option(
    "--seconds", default=60.0, show_default=True, help="Time limit for trying all inputs of one fact."
)
@options.as_json
@options.resumed()
@options.solving("solver", "timeout", "confirm", "reuse", "jobs", "scheduler")
def reduced(
    questions: tuple[str, ...],
    units: tuple[str, ...],
    widths: str,
    inputs: int,
    seconds: float,
    as_json: bool,
    output: Path | None,
    solving: SolvingOptions,
) -> None:
    """Check facts about algorithms on smaller formats: on all inputs where possible, then with solvers.

    A format of p significant bits stands for FP16, one of 2p + 2 stands for FP32, and the unit between them
    is scaled in the same way; p = 11 is the real case.

    Exit code: 0 every fact holds at every width, 1 some input refutes a fact, 2 usage error, 3 no fact is
    refuted, but some fact is open at some width.

    \b
    Examples:
      tcsmt accuracy reduced --output reduced.json
    """
    chosen = [FACTS[choose("question", name, FACTS)] for name in questions] or list(FACTS.values())
    for unit in units:
        rows(unit, claims=False)
    numbers = widths_of(widths)
    limits = Limits(inputs, seconds, solving)
    with Checkpoint(output, _LAYOUT, "--output") as file, shown() as progress:
        made = survey(
            chosen, units, numbers, file, limits, Workers(solving.jobs, solving.scheduler), progress
        )
    found = {
        key: {**entry, "earlier": True} if key in made.earlier and entry["verdict"] in PROOFS else entry
        for key, entry in made.records.items()
    }
    if as_json:
        click.echo(json.dumps({"tcsmt": __version__, "entries": found}, ensure_ascii=False, indent=1))
    else:
        for fact in chosen:
            click.echo("\n".join(_lines(fact, [e for e in found.values() if e["fact"] == fact.name])))
    verdicts = {entry["verdict"] for entry in found.values()}
    if "not so" in verdicts:
        sys.exit(Exit.DIFFERS)
    unknown = made.failed or verdicts & {"open", "largest found"}
    sys.exit(Exit.UNKNOWN if unknown else Exit.ANSWERED)


def widths_of(text: str) -> list[int]:
    """``2,3,4`` or ``LOW:HIGH``. Raises :class:`.TcsmtError`."""
    low, colon, high = text.partition(":")
    try:
        found = list(range(int(low), int(high) + 1)) if colon else [int(one) for one in text.split(",")]
    except ValueError:
        found = []
    if not found:
        allowed = f"must be numbers from {WIDTHS[0]} to {WIDTHS[-1]}, such as 2,3,4 or 2:6"
        raise TcsmtError(f"--widths {text}: {allowed}")
    for width in found:
        narrow_format(width)
    return sorted(set(found))


def _lines(fact: ReducedFact, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The fact, a line for each unit, and the counterexample of the smallest width."""
    yield f"{fact.name}: {fact.title}"
    for unit in dict.fromkeys(entry["unit"] for entry in entries):
        mine = [entry for entry in entries if entry["unit"] == unit]
        say = _errors(mine) if fact.kind == "error" else _verdicts(mine)
        yield f"  {'any unit' if fact.ordinary else unit:<10}" + "; ".join(say)
        wrong = [entry for entry in mine if entry["verdict"] == "not so"]
        if wrong:
            yield f"            {_shown(wrong[0])}"


def _errors(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for entry in entries:
        if "largest_error" not in entry:
            yield f"p = {entry['width']}: open"
            continue
        mark = "" if entry["verdict"] == "largest of all inputs" else " at least"
        mark += _EARLIER * ("earlier" in entry)
        where = _exponents(entry["enumerated"]["domain"])
        yield f"p = {entry['width']}: {entry['largest_error']:.4f}{mark} ({where})"
    if entries:
        yield "in half ulps: 2^-(2p + 2) of |c| + Σ|a·b|"


def _verdicts(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    def widths(kept: Sequence[Mapping[str, Any]]) -> str:
        return "p = " + ", ".join(str(entry["width"]) for entry in kept)

    for verdict in ("holds for all inputs", "proved", "not so"):
        for said in dict.fromkeys(_said(entry) for entry in entries if entry["verdict"] == verdict):
            yield f"{said}: {widths([entry for entry in entries if _said(entry) == said])}"
    left = [entry for entry in entries if entry["verdict"] == "open"]
    part = [e for e in left if e.get("enumerated", {}).get("whole")]
    for where in dict.fromkeys(_exponents(entry["enumerated"]["domain"]) for entry in part):
        kept = [entry for entry in part if _exponents(entry["enumerated"]["domain"]) == where]
        yield f"holds for {where}, open beyond: {widths(kept)}"
    rest = [entry for entry in left if entry not in part]
    reasons = [entry.get("solver", {}).get("reason", "") for entry in rest]
    for why in dict.fromkeys(reasons):
        kept = [entry for entry, reason in zip(rest, reasons, strict=True) if reason == why]
        yield f"open: {widths(kept)}" + f" ({why})" * bool(why)


#: What is said of a proof that was in the file.
_EARLIER = ", kept from an earlier run"


def _said(entry: Mapping[str, Any]) -> str:
    """A verdict; for a solver's proof, by whom."""
    said: str = entry["verdict"]
    if said == "proved":
        said += f" by {said_by(entry['solver'])}"
    return said + _EARLIER * ("earlier" in entry)


def _exponents(domain: str) -> str:
    return domain.partition(",")[0]


def _shown(entry: Mapping[str, Any]) -> str:
    found = entry["witness"]
    inputs = ", ".join(f"{name} = {one['value']}" for name, one in found["inputs"].items())
    if "results" in found:
        results = {one["algorithm"]: one["value"] for one in found["results"]}
    else:
        results = {"result": found["result"]["value"]}
    if "moved" in found:
        results[f"with {found['moved']} = {found['to']['value']}"] = found["result_after"]["value"]
    said = ", ".join(f"{name} {value}" for name, value in results.items())
    share = ""
    if entry.get("enumerated", {}).get("counterexamples"):
        tally = entry["enumerated"]
        share = f" ({tally['counterexamples']} of {tally['inputs']} inputs)"
    return f"p = {entry['width']}{share}: {inputs}: exact {found['exact']}, {said}"
