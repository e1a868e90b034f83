"""``tcsmt accuracy bound``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from tcsmt.algorithms.bound import bound as bound_of
from tcsmt.algorithms.records import bound_json
from tcsmt.cli import options
from tcsmt.cli.accuracy.inputs import arch_option, check_length, k_option, search_option
from tcsmt.cli.domain import domain_of_algorithm
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.recipes.algorithm import Algorithm
from tcsmt.recipes.named import algorithm_named
from tcsmt.statements.domain import Domain
from tcsmt.statements.verdict import said_by
from tcsmt.support.errors import Exit
from tcsmt.support.text import ranges


@click.command()
@click.argument("algorithm")
@arch_option
@k_option
@domain_of_algorithm
@search_option(20.0)
@options.solver
@options.timeout()
@options.confirm
@options.as_json
def bound(
    algorithm: str,
    arch: str,
    k: int,
    domain: Domain,
    search: float,
    solver: str,
    timeout: float,
    confirm: bool,
    as_json: bool,
) -> None:
    """The largest error of ALGORITHM that is found, and the smallest bound that is proved.

    The bound adds up what each kind of step can lose: the split, products that are left out,
    alignment and rounding in the unit, additions outside.
    A result that is not finite counts as an infinite error.
    Exit code: 0 a bound is proved, 2 usage error, 3 none is: what is shown is found, not proved; 4 an
    error was found that is larger than the bound: a defect of tcsmt, never an answer.
    """
    check_length(k, search, most=Algorithm.longest)
    chosen, row = algorithm_named(algorithm, arch, k)
    found = bound_of(chosen, domain, Solving(Settings(solver, timeout), confirm=confirm), seconds=search)
    data = {"algorithm": algorithm, "unit": row.name, "k": k, "domain": str(domain), **bound_json(found)}
    click.echo(json.dumps(data, indent=1, ensure_ascii=False) if as_json else bound_text(data))
    sys.exit(Exit.UNKNOWN if found.proved is None else Exit.ANSWERED)


def bound_text(data: dict[str, Any]) -> str:
    """The bound for people."""
    lines = [f"{data['algorithm']} on {data['unit']}, K = {data['k']}; domain: {data['domain']}", ""]
    for name, title in (("relative", "relative to |c| + Σ|a·b|"), ("ulps", "in ulps of the exact result")):
        one = data[name]
        if one is None:
            lines.append(f"largest error found, {title}: none at all")
            continue
        size = _size(one, name)
        lines.append(f"largest error found, {title}: {size}")
        lines += [f"  {names:>5} = {word}  {value}" for names, word, value in _inputs(one["inputs"])]
        lines.append(f"  result {one['result']['value']}, exact {one['exact']}")
    low = _size(data["relative"], "relative") if data["relative"] else "0"
    if data["proved"] is None:
        lines.append(f"found, not proved: at least {low}; no bound ({data['open']})")
        return "\n".join(lines)
    most = f"{data['proved']:.6g}·2^-24"
    lines.append(f"the largest relative error is at least {low} (found) and at most {most} (proved)")
    lines += [f"  {loss:>12.6g}  {name}" for name, loss in data["shares"].items()]
    if data["proved_ulps"] is not None:
        lines.append(f"  and so at most {data['proved_ulps']:.6g} ulps of the exact result")
    elif data["ulps"] is not None:
        lines.append("  in ulps there is no bound: the exact sum may cancel")
    proof = data["proof"]
    by = f"by {said_by(proof)}, {len(proof['scripts'])} queries" if proof["scripts"] else "without a solver"
    lines.append(f"proved {by}:")
    lines += [f"  {step}" for step in proof["stage"].split("; ")]
    if data["open"]:
        lines.append(f"not closed: {data['open']}")
    return "\n".join(lines)


def _inputs(inputs: dict[str, dict[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Names, word and value of the inputs: those in a row that hold the same word are one line."""
    groups = groupby(inputs.items(), lambda item: (item[0][0], item[1]["word"], item[1]["value"]))
    for (_, word, value), group in groups:
        yield ", ".join(ranges([name for name, _ in group])), word, value


def _size(one: dict[str, Any], measure: str) -> str:
    if one[measure] is None:
        return "infinite"
    return f"{one[measure]:.6g}·2^-24" if measure == "relative" else f"{one[measure]:.6g}"
