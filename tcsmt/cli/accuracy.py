"""``tcsmt accuracy``."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from tcsmt import __version__
from tcsmt.algorithms.bound import Bound
from tcsmt.algorithms.bound import bound as bound_of
from tcsmt.algorithms.compare import Comparison, Pair
from tcsmt.algorithms.compare import compare as compare_pair
from tcsmt.algorithms.error import Inputs
from tcsmt.algorithms.flaws import FLAWS, Case, Finding, find
from tcsmt.algorithms.named import RECIPES, algorithm_named
from tcsmt.algorithms.split import F32
from tcsmt.algorithms.walk import Move, parting, walk
from tcsmt.catalogue import Row
from tcsmt.cli.reduced import reduced
from tcsmt.cli.split import split
from tcsmt.cli.sweep import sweep
from tcsmt.cli.variants import variants
from tcsmt.errors import TcsmtError, UnknownName, choose
from tcsmt.explain import signed_text
from tcsmt.investigate import shown
from tcsmt.pictures.build import draw
from tcsmt.pictures.sheet import Sheet
from tcsmt.pictures.text import as_text
from tcsmt.query import Distinguished, Equivalent, Solving, Unknown
from tcsmt.solvers.run import CHOICES, Settings

#: Domains by name: Valpey et al.'s exponents (Ootomo and Yokota's Type 1), and their other range.
DOMAINS = {"type1": (-15, 14), "small": (-35, -15)}


@click.group()
def accuracy() -> None:
    """How accurate algorithms are that multiply binary32 matrices on a matrix unit."""


for command in (reduced, split, sweep, variants):
    accuracy.add_command(command)


def exponents_of(text: str) -> tuple[int, int]:
    """``type1``, ``small`` or ``LOW:HIGH``."""
    if text in DOMAINS:
        return DOMAINS[text]
    low, colon, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        if colon:
            raise TcsmtError(f"domain {text!r}: allowed is LOW:HIGH, two whole numbers, as -15:14") from None
        raise UnknownName("domain", text, [*DOMAINS, "LOW:HIGH"]) from None


def domain_options(command: Any) -> Any:
    """The options that choose inputs."""
    for option in (
        click.option("--bits", nargs=2, type=int, default=(24, 24), metavar="A B", show_default=True,
                     help="Significand bits of a and of b."),
        click.option("--positive", is_flag=True, help="No sign bit set."),
        click.option("--c-zero", is_flag=True, help="c is +0."),
        click.option("--domain", default="type1", show_default=True,
                     help=f"Exponents of a, b and c: {', '.join(DOMAINS)} or LOW:HIGH. Zeros count, too."),
    ):  # fmt: skip
        command = option(command)
    return command


def inputs_of(domain: str, c_zero: bool, positive: bool, bits: tuple[int, int]) -> Inputs:
    """The inputs that the options choose."""
    low, high = exponents_of(domain)
    return Inputs(low=low, high=high, c_zero=c_zero, positive=positive, bits=bits)


@accuracy.command("algorithms")
def algorithms() -> None:
    """The algorithms, what they do and where they come from."""
    for recipe in RECIPES.values():
        click.echo(f"{recipe.name:<20} {recipe.title}\n{'':<20} {recipe.source}")


@accuracy.command()
@click.argument("one")
@click.argument("two")
@click.option("--arch", required=True, help="Architecture, GPU, ARCH/INSTRUCTION or a model file.")
@click.option("--k", type=int, help="Products in the dot product.  [default: the unit's own K]")
@domain_options
@click.option("--search", default=5.0, help="Seconds for the simulator.", show_default=True)
@click.option("--solver", default="auto", help=f"One of {', '.join(CHOICES)}.", show_default=True)
@click.option("--timeout", default=60.0, help="Seconds for each query.", show_default=True)
@click.option("--memory", default=8192, help="MiB for each solver process.", show_default=True)
@click.option("--confirm", is_flag=True, help="Have a second solver check every proof.")
@click.option("--explain", is_flag=True, help="Both algorithms on the witness, step by step.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--dump-smt", type=click.Path(path_type=Path), help="Write the SMT-LIB scripts here.")
def compare(
    one: str,
    two: str,
    arch: str,
    k: int | None,
    domain: str,
    c_zero: bool,
    positive: bool,
    bits: tuple[int, int],
    search: float,
    solver: str,
    timeout: float,
    memory: int,
    confirm: bool,
    explain: bool,
    as_json: bool,
    dump_smt: Path | None,
) -> None:
    """Is algorithm ONE ever less accurate than TWO: an input, or a proof that there is none.

    Errors are absolute, against the exact dot product c + Σ a·b. Exit code: 0 never (proved),
    1 there is such an input, 2 usage error, 3 unknown.
    """
    inputs = inputs_of(domain, c_zero, positive, bits)
    check_length(k, search)
    pair, rows = pair_of((one, two), arch, k, inputs)
    solving = Solving(Settings(solver, timeout, memory), confirm=confirm, dump=dump_smt)
    found = compare_pair(pair, solving, search=search)
    if as_json:
        data = {"tcsmt": __version__, "arch": [row.name for row in rows], **comparison_json(found)}
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        click.echo(comparison_text(found, rows))
        if explain and isinstance(found.verdict, Distinguished):
            click.echo("\n" + walk_text(found, rows))
    sys.exit({Equivalent: 0, Distinguished: 1, Unknown: 3}[type(found.verdict)])


def pair_of(names: tuple[str, str], arch: str, k: int | None, inputs: Inputs) -> tuple[Pair, tuple[Row, Row]]:
    """Two algorithms on one architecture; k is that of the first one's unit where not given."""
    one, row = algorithm_named(names[0], arch, k)
    two, other = algorithm_named(names[1], arch, one.k)
    return Pair(names, (one, two), inputs), (row, other)


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The comparison as plain data."""
    pair, verdict = found.pair, found.verdict
    data: dict[str, Any] = {"algorithms": list(pair.names), "k": pair.k, "domain": str(pair.domain)}
    match verdict:
        case Distinguished():
            judgement = found.judgement
            assert judgement is not None
            data |= {"verdict": "worse", "solver": verdict.solver, "version": verdict.version}
            data["inputs"] = {name: shown(F32, word) for name, word in verdict.values.items()}
            data["exact"] = signed_text(judgement.exact)
            data["results"] = [
                {"algorithm": name, **shown(F32, word), "error": _text(error)}
                for name, word, error in zip(pair.names, judgement.words, judgement.errors, strict=True)
            ]
            data["excess"] = {"ulp": _float(judgement.excess), "2^-24 Σ|ab|": _float(judgement.relative)}
            moves = [walk(a, verdict.values) for a in pair.algorithms]
            data["steps"] = [[move.as_json() for move in one] for one in moves]
            data["parts_at"] = parting(*moves)
        case Equivalent():
            data |= {"verdict": "never worse", "solver": verdict.solver, "version": verdict.version}
            data |= {"stage": verdict.stage, "scripts": list(verdict.scripts), "confirmed": verdict.confirmed}
        case Unknown():
            data |= {"verdict": "unknown", "reason": verdict.reason}
    return data | {"seconds": round(verdict.seconds, 3)}


def comparison_text(found: Comparison, rows: tuple[Row, Row]) -> str:
    """The comparison for people."""
    pair, verdict = found.pair, found.verdict
    lines = [f"{n}: {r.name}, evidence: {r.evidence}" for n, r in zip(pair.names, rows, strict=True)]
    lines += [f"K = {pair.k}; domain: {pair.domain}", ""]
    match verdict:
        case Distinguished():
            judgement = found.judgement
            assert judgement is not None
            by = f"{verdict.solver} {verdict.version}".strip()
            lines.append(f"WORSE: found by {by} in {verdict.seconds:.2f} s, replayed in exact fractions")
            for name, word in verdict.values.items():
                if word:
                    seen = shown(F32, word)
                    lines.append(f"  {name:>5} = {seen['word']}  {seen['value']:<32} {seen['decimal']}")
            lines.append(f"  exact = {signed_text(judgement.exact)}")
            for name, word, error in zip(pair.names, judgement.words, judgement.errors, strict=True):
                lines.append(f"  {name}: {F32.hex(word)}  {F32.describe(word)}  error {_text(error)}")
            if judgement.excess is not None and judgement.relative is not None:
                lines.append(
                    f"  worse by {float(judgement.excess):.4g} ulp of the exact result, "
                    f"{float(judgement.relative):.4g}·2^-24 of |c| + Σ|a·b|"
                )
            parts = parting(*(walk(a, verdict.values) for a in pair.algorithms))
            if parts:
                lines.append(f"  they part at '{parts}' (after the split)")
        case Equivalent():
            where = f"; {verdict.stage}" if verdict.stage else ""
            confirmed = f", confirmed by {verdict.confirmed}" if verdict.confirmed else ""
            by = f"{verdict.solver} {verdict.version}".strip()
            lines.append(f"NEVER WORSE: proved by {by} in {verdict.seconds:.2f} s{where}{confirmed}")
        case Unknown():
            lines.append(f"UNKNOWN: {verdict.reason}; {verdict.seconds:.1f} s")
    return "\n".join(lines)


def walk_text(found: Comparison, rows: tuple[Row, Row], width: int = 110) -> str:
    """Both algorithms on the witness: every step, and the instruction that loses most, bit by bit."""
    assert isinstance(found.verdict, Distinguished)
    lines, sheets = [], []
    moves = [walk(a, found.verdict.values) for a in found.pair.algorithms]
    parts = parting(*moves)
    for name, row, steps in zip(found.pair.names, rows, moves, strict=True):
        lines.append(f"{name} on {row.name}")
        for move in steps:
            mark = "  <- they part here" if move.name == parts else ""
            lines.append(f"  {move.text}{mark}")
        lines.append("")
        worst = max((m for m in steps if m.kind == "unit" and m.lost), key=_lost, default=None)
        if worst is not None and row.model.kind == "fused-dot-add":
            sheets.append(f"{name}, {worst.name}:")
            sheets.append(as_text(Sheet((draw(row.name, row.model, worst.inputs),)), width))
    return "\n".join(lines + sheets)


def _lost(move: Move) -> Fraction:
    return abs(move.lost or Fraction(0))


def _text(error: Fraction | None) -> str:
    return "infinite" if error is None else signed_text(error)


def _float(number: Fraction | None) -> float | None:
    return None if number is None else float(number)


@accuracy.command()
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="JSON; goes on where it stopped."
)
@click.option("--search", default=2.0, help="Seconds for each simulator search.", show_default=True)
@click.option("--timeout", default=60.0, help="Seconds for each query.", show_default=True)
def findings(output: Path, search: float, timeout: float) -> None:
    """Whether Ootomo-Yokota is ever worse than Markidis, on every unit, and what follows from it.

    Prints the comparisons as a Markdown table.
    """
    from tcsmt.algorithms.findings import entries, table, write

    work = entries(Solving(Settings("auto", timeout)), search)
    click.echo(table(write(output, work, lambda line: click.echo(line, err=True))))


@accuracy.command()
@click.argument("algorithm")
@click.option("--arch", required=True, help="Architecture, GPU, ARCH/INSTRUCTION or a model file.")
@click.option("--k", type=int, default=1, help="Products in the dot product.", show_default=True)
@domain_options
@click.option("--search", default=20.0, help="Seconds for the search.", show_default=True)
@click.option("--solver", default="auto", help=f"One of {', '.join(CHOICES)}.", show_default=True)
@click.option("--timeout", default=60.0, help="Seconds for each query.", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bound(
    algorithm: str,
    arch: str,
    k: int,
    domain: str,
    c_zero: bool,
    positive: bool,
    bits: tuple[int, int],
    search: float,
    solver: str,
    timeout: float,
    as_json: bool,
) -> None:
    """The largest error of ALGORITHM that is found, and the smallest bound that is proved.

    Exit code: 0 a bound is proved, 2 usage error, 3 none is: what is shown is found, not proved.
    """
    inputs = inputs_of(domain, c_zero, positive, bits)
    check_length(k, search)
    chosen, row = algorithm_named(algorithm, arch, k)
    found = bound_of(chosen, inputs, Solving(Settings(solver, timeout)), seconds=search)
    data = {"algorithm": algorithm, "unit": row.name, "k": k, "domain": str(inputs), **bound_json(found)}
    click.echo(json.dumps(data, indent=1, ensure_ascii=False) if as_json else bound_text(data))
    sys.exit(3 if found.proved is None else 0)


@accuracy.command("find")
@click.argument("question")
@click.argument("algorithm")
@click.option("--arch", required=True, help="Architecture, GPU, ARCH/INSTRUCTION or a model file.")
@click.option("--k", type=int, default=1, help="Products in the dot product.", show_default=True)
@domain_options
@click.option("--search", default=5.0, help="Seconds for the simulator.", show_default=True)
@click.option("--solver", default="auto", help=f"One of {', '.join(CHOICES)}.", show_default=True)
@click.option("--timeout", default=60.0, help="Seconds for each query.", show_default=True)
@click.option("--confirm", is_flag=True, help="Have a second solver check every proof.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def find_flaw(
    question: str,
    algorithm: str,
    arch: str,
    k: int,
    domain: str,
    c_zero: bool,
    positive: bool,
    bits: tuple[int, int],
    search: float,
    solver: str,
    timeout: float,
    confirm: bool,
    as_json: bool,
) -> None:
    """Does ALGORITHM have a flaw: an input, or a proof that there is none.

    QUESTION ``monotone``: does its result fall where one word, and with it the exact c + Σ a·b,
    grows? ``sign``: is its result zero or of the wrong sign where the exact sum is not zero?
    Exit code: 0 never (proved), 1 there is such an input, 2 usage error, 3 unknown.
    """
    inputs = inputs_of(domain, c_zero, positive, bits)
    check_length(k, search)
    kind = FLAWS[choose("question", question, FLAWS)]
    chosen, row = algorithm_named(algorithm, arch, k)
    solving = Solving(Settings(solver, timeout), confirm=confirm)
    found = find(kind(algorithm, chosen, inputs), solving, search=search)
    if as_json:
        data = {"tcsmt": __version__, "question": question, "unit": row.name, **finding_json(found)}
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        click.echo(finding_text(found, row))
    sys.exit({Equivalent: 0, Distinguished: 1, Unknown: 3}[type(found.verdict)])


def finding_json(found: Finding) -> dict[str, Any]:
    """The finding as plain data."""
    flaw, verdict = found.flaw, found.verdict
    data: dict[str, Any] = {"algorithm": flaw.name, "k": flaw.k, "domain": str(flaw.domain)}
    match verdict:
        case Distinguished():
            data |= {"verdict": flaw.title.lower(), "solver": verdict.solver, "version": verdict.version}
            data |= {"short": _case_json(found.short), "worst": _case_json(found.worst)}
        case Equivalent():
            data |= {"verdict": flaw.absent.lower(), "solver": verdict.solver, "version": verdict.version}
            data |= {"stage": verdict.stage, "scripts": list(verdict.scripts), "confirmed": verdict.confirmed}
        case Unknown():
            data |= {"verdict": "unknown", "reason": verdict.reason}
    return data | {"seconds": round(verdict.seconds, 3)}


def _case_json(case: Case | None) -> dict[str, Any]:
    assert case is not None
    data: dict[str, Any] = {
        "inputs": {name: shown(F32, word) for name, word in case.values.items()},
        "exact": signed_text(case.exact), "result": shown(F32, case.result),
    }  # fmt: skip
    if case.moved:
        data |= {
            "moved": case.moved,
            "to": shown(F32, case.word),
            "exact_after": signed_text(case.exact_after),
        }
        data["result_after"] = shown(F32, case.after)
    return data | {"size": float(case.size), "ulps": float(case.ulps)}


def finding_text(found: Finding, row: Row) -> str:
    """The finding for people."""
    flaw, verdict = found.flaw, found.verdict
    lines = [f"{flaw.name}: {row.name}, evidence: {row.evidence}", f"K = {flaw.k}; domain: {flaw.domain}", ""]
    match verdict:
        case Distinguished():
            assert found.short is not None
            assert found.worst is not None
            by = f"{verdict.solver} {verdict.version}".strip()
            lines.append(
                f"{flaw.title}: found by {by} in {verdict.seconds:.2f} s, replayed in exact fractions"
            )
            lines += _case_lines(found.short)
            worst = found.worst
            lines.append(
                f"the worst found ({flaw.measure}): {float(worst.size):.4g}, {float(worst.ulps):.4g} ulp"
            )
            lines += _case_lines(worst)
        case Equivalent():
            confirmed = f", confirmed by {verdict.confirmed}" if verdict.confirmed else ""
            by = f"{verdict.solver} {verdict.version}".strip()
            lines.append(
                f"{flaw.absent}: proved by {by} in {verdict.seconds:.2f} s; {verdict.stage}{confirmed}"
            )
        case Unknown():
            lines.append(f"UNKNOWN: {verdict.reason}; {verdict.seconds:.1f} s")
    return "\n".join(lines)


def _case_lines(case: Case) -> list[str]:
    lines = [
        f"  {n:>5} = {F32.hex(w)}  {F32.describe(w)}" for n, w in case.values.items() if w or n == case.moved
    ]
    lines.append(f"  exact {signed_text(case.exact)}, result {F32.describe(case.result)}")
    if case.moved:
        lines.append(f"  {case.moved:>5} = {F32.hex(case.word)}  {F32.describe(case.word)}")
        lines.append(f"  exact {signed_text(case.exact_after)}, result {F32.describe(case.after)}")
    return lines


def check_length(k: int | None, search: float) -> None:
    """Refuse lengths and times that nothing can be done with."""
    if k is not None and not 1 <= k <= 64:
        raise TcsmtError(f"k = {k}: allowed is 1 to 64 (the terms of longer dot products are too large)")
    if not 0 < search <= 1e6:
        raise TcsmtError(f"search = {search:g}: allowed is over 0 and up to 1000000 seconds")


def bound_json(found: Bound) -> dict[str, Any]:
    """The bound as plain data; relative errors in 2^-24 of |c| + Σ|a·b|."""
    data: dict[str, Any] = {}
    for name, one in (("relative", found.relative), ("ulps", found.ulps)):
        data[name] = one and {
            "inputs": {n: shown(F32, w) for n, w in one.values.items() if w},
            "result": shown(F32, one.result), "exact": signed_text(one.exact),
            "error": signed_text(one.error), "relative": float(one.relative), "ulps": float(one.ulps),
        }  # fmt: skip
    data["proved"] = _float(found.proved)
    if found.proof is not None:
        data["proof"] = {"steps": found.proof.stage, "scripts": list(found.proof.scripts)}
    return data | {"open": found.open, "seconds": round(found.seconds, 2)}


def bound_text(data: dict[str, Any]) -> str:
    """The bound for people."""
    lines = [f"{data['algorithm']} on {data['unit']}, K = {data['k']}; domain: {data['domain']}", ""]
    for name, title in (("relative", "relative to |c| + Σ|a·b|"), ("ulps", "in ulps of the exact result")):
        one = data[name]
        if one is None:
            lines.append(f"largest error found, {title}: none at all")
            continue
        size = f"{one['relative']:.6g}·2^-24" if name == "relative" else f"{one['ulps']:.6g}"
        lines.append(f"largest error found, {title}: {size}")
        lines += [f"  {n:>5} = {v['word']}  {v['value']}" for n, v in one["inputs"].items()]
        lines.append(f"  result {one['result']['value']}, exact {one['exact']}")
    low = data["relative"]["relative"] if data["relative"] else 0
    if data["proved"] is None:
        lines.append(f"found, not proved: at least {low:.6g}·2^-24; no bound ({data['open']})")
    else:
        lines.append(
            f"the largest relative error lies in [{low:.6g}, {data['proved']:.6g}]·2^-24: found, proved"
        )
        lines.append(f"  proved: {data['proof']['steps']}")
        if data["open"]:
            lines.append(f"  not closed: {data['open']}")
    return "\n".join(lines)
