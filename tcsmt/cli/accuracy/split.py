"""``tcsmt accuracy split``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from tcsmt import __version__
from tcsmt.algorithms.certified import certify_split
from tcsmt.algorithms.split_analysis import (
    counted,
    enumerated,
    name_of,
    proved,
    record,
    splits,
    statement,
    traced,
)  # fmt: skip
from tcsmt.api.certificates import certificates_in
from tcsmt.cli import options
from tcsmt.cli.printing import echo_json
from tcsmt.interpret.digest import digest_of_graph
from tcsmt.prove.prover import prover
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes.split import Split
from tcsmt.statements.trust import Trust, sure
from tcsmt.statements.verdict import record_text
from tcsmt.support.checkpoint import Checkpoint, Layout, Record
from tcsmt.support.errors import Exit
from tcsmt.support.files import make_folder
from tcsmt.support.progress import shown


@click.command()
@click.option(
    "--format", "formats", multiple=True, help="Format of the words: f16, tf32, bf16 (may be repeated)."
)
@click.option("--prove", is_flag=True, help="Have a solver prove it for all inputs.")
@click.option(
    "--enumerate",
    "go_through",
    is_flag=True,
    help="Try all 2^32 inputs on two back ends (three minutes each on one core).",
)
@options.solver
@options.timeout()
@options.confirm
@options.certificate
@options.kept
@options.resumed()
@options.as_json
def split(
    formats: tuple[str, ...],
    prove: bool,
    go_through: bool,
    solver: str,
    timeout: float,
    confirm: bool,
    certificate: Path | None,
    kept: bool | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Show what a split of an FP32 number into narrower words keeps, and where its residual underflows.

    For each split: the error in units in the last place (ulp) of x, the share of exact significands,
    the expected number of mantissa bits kept (of 23), and the probabilities that the last word
    underflows, or is subnormal, by exponent. --prove and --enumerate show, for all inputs, that the error is
    what the closed form says. Only a proof has a certificate; the inputs that were tried have none.

    Exit code: 0 all inputs agree with the closed form, 1 some input does not, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy split --prove
      tcsmt accuracy split --format bf16 --prove --certificate proofs
    """
    if certificate is not None and not prove:
        raise click.UsageError("--certificate needs --prove")
    folder = certificates_in(certificate)
    solving, trust = Solving(Settings(solver, timeout), confirm=confirm), Trust(confirm, kept)
    chosen = splits(formats)
    if output is not None:
        make_folder(output.parent)
    records = []
    with Checkpoint(output, _LAYOUT, "--output") as file:
        for one in chosen:
            name = name_of(one)
            data = {**record(one), "models": {name: _asked(one)}}
            about = {"asked": _asked(one), "code": prover("algorithms", "recipes", "simulator")}
            before = {k: v for k, v in file.records.get(name, {}).items() if k in (*_FOUND, "about")}
            labels = before.setdefault("about", {})
            counting = {
                k: v
                for k, v in before.items()
                if k in _FOUND
                and labels.get(k) == about
                and _answered(k, v)
                and trust.takes(sure=_sure(k, v))
            }

            def keep(found: Record, name: str = name, before: Record = before) -> None:
                # what does not count in this run stays in the file until it is found again
                file.keep(name, {k: v for k, v in (before | found).items() if k != "earlier"})

            if counting:
                data |= {**counting, "earlier": list(counting)}
            keep(data)
            if prove and "proof" not in data:
                _say(f"{name}: proving")
                data["proof"], labels["proof"] = proved(one, solving), about
                keep(data)
            if go_through and "by" not in data.get("all_inputs", {}):
                data["all_inputs"], labels["all_inputs"] = _all_inputs(one), about
                keep(data)
            certified = None
            if folder is not None and all(found["verdict"] == "equivalent" for found in data["proof"]):
                _say(f"{name}: writing the certificate")
                certified = certify_split(folder, one)
                data["certificate"] = certified.as_json()
            records.append(data)
            if not as_json:
                _show(data)
                if certified is not None:
                    click.echo(f"  {certified}")
    if as_json:
        echo_json({"splits": records})
    verdicts = [answer["verdict"] for data in records for answer in data.get("proof", ())]
    wrong = "distinguished" in verdicts or any(data.get("all_inputs", {}).get("differ") for data in records)
    sys.exit(Exit.DIFFERS if wrong else Exit.UNKNOWN if "unknown" in verdicts else Exit.ANSWERED)


_LAYOUT = Layout(
    "splits", key=lambda record: str(record["split"]), head=lambda records: {"tcsmt": __version__}
)
#: What took time, and is taken from an earlier run.
_FOUND = ("proof", "all_inputs")


def _answered(what: str, found: Any) -> bool:
    """Whether it is an answer; what stayed unknown is asked again."""
    return what != "proof" or all(one["verdict"] != "unknown" for one in found)


def _sure(what: str, found: Any) -> bool:
    """Whether no solver stands alone for what was found."""
    return what != "proof" or all(sure(one) for one in found if one["verdict"] == "equivalent")


def _asked(one: Split) -> str:
    """What is proved of a split, and what is counted for every input."""
    t = traced(one)
    return digest_of_graph(statement(one), t.error, t.kind)


def _all_inputs(one: Split) -> dict[str, Any]:
    started = time.perf_counter()

    _say(f"{name_of(one)}: all inputs")
    with shown(lines=False) as progress:
        found = enumerated(one, lambda done: progress(done, 512, name_of(one)))
    tallies = found.tallies
    closed = {field: counted(one, field) for field in range(256)}
    special = [tally for field, tally in enumerate(tallies) if closed[field] is None]
    return {
        "by": found.how,
        "inputs": sum(tally.inputs for tally in tallies),
        "wrong": sum(tally.kinds[-1] for tally in tallies),
        "binades_by_closed_form": sum(tally is not None for tally in closed.values()),
        "differ": [f for f, tally in closed.items() if tally is not None and tally != tallies[f]],
        "inputs_beyond_that_fit": sum(tally.split for tally in special),
        "exact_of_them": sum(tally.lengths[0] for tally in special),
        "exact_in_all": sum(tally.lengths[0] for tally in tallies),
        "seconds": round(time.perf_counter() - started, 1),
    }


def _say(text: str) -> None:
    click.echo(text, err=True)


def _show(data: dict[str, Any]) -> None:
    click.echo(data["split"])
    click.echo("  exponents of x   error, ulp <=    exact   kept bits   underflow   or gradual")
    for row in data["ranges"]:
        low, high = row["exponents"]
        span = f"{low}" if low == high else f"{low} to {high}"
        error = row["largest_error_ulp"]
        click.echo(
            f"  {span:<14}{error:>14}{row['exact']:>13.4%}{row['kept_bits']:>10.4f}"
            f"{row['underflow']:>13.4%}{row['underflow_or_gradual']:>12.4%}"
        )
    marks = dict.fromkeys(data.get("earlier", ()), " (kept from an earlier run)")
    for answer in data.get("proof", ()):
        where = answer["exponent_field"]
        where = "all 2^32 inputs" if where.startswith("x") else f"exponent field {where}"
        said = record_text(answer, f"NOT SO, x = {answer.get('x')},")
        click.echo(f"  {where}: {said}, {answer['seconds']:.2f} s{marks.get('proof', '')}")
    if "all_inputs" in data:
        found = data["all_inputs"]
        mark = f"DIFFERS at exponent fields {found['differ']}" if found["differ"] else "as the closed form"
        click.echo(
            f"  {found['inputs']} inputs tried: {mark}; {found['exact_in_all']} are split exactly"
            f"{marks.get('all_inputs', '')}\n  (by {found.get('by', 'one back end')})"
        )
