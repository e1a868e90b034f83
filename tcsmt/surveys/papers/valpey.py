"""Valpey, Li, Pai, Gopalakrishnan, "An SMT Formalization of Mixed-Precision Matrix Multiplication" (2025).

Table 4's queries with our encoding and every solver, beside the published times; Tables 1, 3 and 5
recomputed as printed, and what was meant where the print cannot be right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format, power_text
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, Model
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.finding import Finding
from tcsmt.prove.statements.verdict import Distinguished, Equivalent
from tcsmt.support.invariants import checked_cast
from tcsmt.surveys.papers.experiment import Experiment, Paper
from tcsmt.surveys.properties.discovery import choose_row, load
from tcsmt.surveys.properties.investigation import Investigation

F16, F32 = FORMATS["f16"], FORMATS["f32"]


def _any(finding: Finding) -> bool:
    return True


def _witness(finding: Finding) -> bool:
    return isinstance(finding.verdict, Distinguished)


def _proof(finding: Finding) -> bool:
    return not isinstance(finding.verdict, Distinguished)


def _ieee(finding: Finding) -> bool:
    return "IEEE" in finding.question.title


@dataclass(frozen=True)
class TableRow:
    """A row of Table 4: its name, how we ask it, the published seconds (None: no answer in 6 h)."""

    query: str
    prop: str
    arch: str
    chosen: Callable[[Finding], bool] = _any
    z3: float | None = None
    cvc5: float | None = None
    instruction: str | None = None
    published: bool = True


ROWS = (
    TableRow("Exact Multiplication", "exact-product", "volta", _any, 0.55, 0.027),
    TableRow("Exact Addition in FP16", "exact-sum-f16", "volta", _any, 27.59, 0.12),
    TableRow("Rounding of Final Result", "final-rounding", "volta", _any, 0.52, 0.008, "f16.f16.f16.f16"),
    TableRow("Rounding of Accumulator", "accumulator-rounding", "volta", _any, 0.34, 0.017),
    TableRow("Accumulation Order", "accumulation-order", "volta", _ieee, 9.87, 0.25),
    TableRow("Normalization", "normalization-in-addition", "volta", _any, 9.63, 0.25),
    TableRow("3 Carry Bits", "carry-bits", "volta", _witness, 410.25, 72.793),
    TableRow("4 Carry Bits (Ampere)", "carry-bits", "ampere", _witness),
    TableRow("a 4th carry bit changes nothing (Volta)", "carry-bits", "volta", _proof, published=False),
    TableRow("a 5th carry bit changes nothing (Ampere)", "carry-bits", "ampere", _proof, published=False),
    TableRow("5 Carry Bits (Hopper)", "carry-bits", "hopper", _witness, published=False),
    TableRow("a 6th carry bit changes nothing (Hopper)", "carry-bits", "hopper", _proof, published=False),
)


def table_four(timeout: float = 60.0) -> Iterator[dict[str, Any]]:
    """Each row of Table 4, and the proofs and Hopper's bits beyond it: seconds by solver.

    A row may need several questions (every pair of rounding modes, say): their times are added.
    """
    for row in ROWS:
        data: dict[str, Any] = {
            "query": row.query,
            "property": row.prop,
            "arch": row.arch,
            "in_paper": row.published,
            "published": {"z3 4.8.9": row.z3, "cvc5 1.0.2": row.cvc5},
        }
        for solver in SOLVERS:
            data[solver] = _ask(row, solver, timeout)
        yield data


def _ask(row: TableRow, solver: str, timeout: float) -> dict[str, Any]:
    prop = load(row.prop)
    name = f"{row.arch}/{row.instruction}" if row.instruction else row.arch
    unit = choose_row(prop, rows(name, claims=False))
    ask = Investigation(unit, Solving(SolvingOptions(solver, timeout)))
    prop.investigate(ask)
    findings = [f for f in ask.findings if row.chosen(f)]
    kinds = {type(f.verdict).__name__.lower() for f in findings}
    return {
        "answer": "+".join(sorted(kinds)),
        "questions": len(findings),
        "seconds": round(sum(f.verdict.seconds for f in findings), 4),
        "unknown": [
            f.question.title for f in findings if not isinstance(f.verdict, Distinguished | Equivalent)
        ],
    }


def printed_tables() -> list[dict[str, Any]]:
    """Tables 1, 3 and 5: what is printed, what our evaluator computes, and what was meant."""
    return [_table_one(), _table_three(), _table_five()]


def _table_one() -> dict[str, Any]:
    a, b = Fraction("1.2587890625") / 2**15, Fraction("1.3681640625") / 2
    significand = "1.4162635803222656"
    printed = Fraction(significand) / 2**17
    # FP16's subnormals have exponent -14 and no implicit one; read as a normal number of exponent
    # field 0 (2^-15, implicit one) they print as the table has them
    meant = (a * 2**15 - 1) / 2**14
    half = (Fraction("1.1767578125") - 1) / 2**14
    exact, rounded = meant * b, _run(_product(F16), [meant], [b], Fraction(0))
    return {
        "table": 1,
        "printed": {"a": power_text(a), "b": power_text(b), "exact": f"{significand}·2^-17"},
        "as_printed": f"a is {'an' if _holds(a) else 'no'} FP16 number; a*b = {power_text(a * b)}",
        "reproduces": bool(_holds(a) and a * b == printed),
        "meant": f"a is the FP16 subnormal {power_text(meant)}, printed with an implicit one",
        "with_it": {
            "exact": power_text(exact),
            "exact_agrees": abs(exact - printed) < Fraction(1, 10**16),
            "fp16_result": power_text(F16.value(rounded)),
            "fp16_agrees": F16.value(rounded) == half,
        },
    }


def _product(fmt: Format) -> Model:
    return IeeeDotAdd.of(a_format=F16, b_format=F16, c_format=fmt, d_format=fmt, k=1, sum_format=fmt)


def _table_three() -> dict[str, Any]:
    volta = _volta()
    rtz = IeeeDotAdd.of(
        a_format=F16, b_format=F16, c_format=F32, d_format=F32, k=1, sum_format=F32,
        rounding=ROUNDINGS["RTZ"],
    )  # fmt: skip
    c = -Fraction(1, 2**40)
    unit = F32.value(_run(volta, [Fraction(2)], [Fraction(1)], c))
    ieee = F32.value(_run(rtz, [Fraction(2)], [Fraction(1)], c))
    return {
        "table": 3,
        "printed": {"a": "2^1", "c": "-2^-40", "rtz": "2-2^-23", "tensor core": "2^1"},
        "computed": {"rtz": power_text(ieee), "volta": power_text(unit)},
        "reproduces": ieee == 2 - Fraction(1, 2**23) and unit == 2,
    }


_A = (("1.0009765625", -8), ("1.326171875", -14), ("1", -12), ("1", -12))
_B = (("1.998046875", -7), ("1.4443359375", -7), ("1", -12), ("1", -12))


def _table_five() -> dict[str, Any]:
    """M adds c inside the unit, O-Y outside with nearest rounding; FP16 inputs leave no residual."""
    c = Fraction(1, 2**24)
    printed = _both(_volta(), _values(_A), _values(_B), c)
    wanted = (1 + Fraction(1, 2**23), Fraction(1))
    # one printed exponent changed within FP16's range, on the published model and on the exact one
    fits = []
    for side in range(2):
        for lane in range(4):
            for exponent in range(-24, 16):
                table = [list(_A), list(_B)]
                table[side][lane] = (table[side][lane][0], exponent)
                a, b = (_values(tuple(t)) for t in table)
                if not all(_holds(x) for x in (*a, *b)):
                    continue
                if _both(_published(), a, b, c) == wanted:
                    name = f"{'ab'[side]}{lane + 1}"
                    exact = _both(_volta(), a, b, c)
                    fits.append(
                        {
                            "input": name,
                            "exponent": exponent,
                            "exact_volta": [power_text(x) for x in exact],
                        }
                    )
    return {
        "table": 5,
        "printed": {"M": "1+2^-23", "O-Y": "1.0"},
        "as_printed": {"M": power_text(printed[0]), "O-Y": power_text(printed[1])},
        "reproduces": printed == wanted,
        "single_exponents_that_reproduce_it": fits,
    }


def _both(model: FusedDotAdd, a: list[Fraction], b: list[Fraction], c: Fraction) -> tuple[Fraction, Fraction]:
    inside = F32.value(_run(model, a, b, c))
    outside = F32.value(_run(model.replace(c_position="last"), a, b, c))
    return inside, outside


def _values(table: tuple[tuple[str, int], ...]) -> list[Fraction]:
    return [Fraction(s) * Fraction(2) ** e for s, e in table]


def _holds(value: Fraction) -> bool:
    try:
        F16.word(value)
    except ValueError:
        return False
    return True


def _volta() -> FusedDotAdd:
    model = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
    return checked_cast(model, FusedDotAdd)


def _published() -> FusedDotAdd:
    model = row_named("volta/mma.m8n8k4.f32.f16.f16.f32@valpey").model
    return checked_cast(model, FusedDotAdd)


def _run(model: Model, a: list[Fraction], b: list[Fraction], c: Fraction) -> int:
    zeros = [Fraction(0)] * (model.k - len(a))
    numbers = [*a, *zeros, *b, *zeros, c]
    formats = list(model.input_formats.values())
    words = [fmt.word(x) for fmt, x in zip(formats, numbers, strict=True)]
    values = dict(zip(model.input_names, words, strict=True))
    return evaluate([model.trace.output], values)[0]


_HEAD = (
    f"{'Table 4 (seconds of solving)':<42}{''.join(f'{solver:>16}' for solver in SOLVERS)}"
    "   published: Z3 4.8.9, cvc5 1.0.2"
)


def _query_lines(row: dict[str, Any]) -> Iterator[str]:
    cells = "".join(f"{_cell(row[solver]):>16}" for solver in SOLVERS)
    published = ", ".join("none in 6 h" if t is None else f"{t:g}" for t in row["published"].values())
    yield f"{row['query']:<42}{cells}   {published if row['in_paper'] else '(not asked)'}"


def _cell(result: dict[str, Any]) -> str:
    mark = "?" if result["unknown"] else ""
    kind = "+".join(word[:3] for word in result["answer"].split("+"))
    return f"{result['seconds']:.3f}{mark} {kind}"


def _table_lines(table: dict[str, Any]) -> Iterator[str]:
    verdict = "reproduces as printed" if table["reproduces"] else "does not reproduce as printed"
    yield f"\nTable {table['table']}: {verdict}"
    for key, value in table.items():
        if key not in ("table", "reproduces"):
            yield f"  {key}: {json.dumps(value, ensure_ascii=False)}"


PAPER = Paper(
    (
        Experiment("table 4", lambda run: table_four(run.options.timeout), _query_lines, _HEAD),
        Experiment("printed tables", lambda run: printed_tables(), _table_lines),
    )
)
