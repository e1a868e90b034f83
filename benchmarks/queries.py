"""The carry-bit queries: our encoding in every solver, beside the published encoding.

The published encoding (Valpey et al. 2025) states each product through the floating-point theory;
ours multiplies significands. Both ask for an input at which k and k + 1 carry bits differ.
Usage: python benchmarks/queries.py [--limit SECONDS] [--published] [--output results/benchmarks/queries.json]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from machine import machine

import tcsmt
from tcsmt.language.terms import var
from tcsmt.language.write.smtlib import definitions
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.options import SOLVERS, SolvingOptions
from tcsmt.prove.engine.solvers.run import solve
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.engine.witnesses import narrowed
from tcsmt.prove.statements.question import difference
from tcsmt.surveys.properties.investigation import one_block

#: What a solver said, and its seconds.
Answer = dict[str, Any]


def ours(arch: str, bits: int, solver: str, limit: float) -> Answer:
    unit = one_block(row_named(arch).model)
    assert isinstance(unit, FusedDotAdd)
    pair = [(str(n), unit.replace(carry_bits=n)) for n in (bits, bits + 1)]
    enough = bits >= unit.enough_carry_bits
    question = difference("", pair[0], pair[1], lanes=(), alike=not enough)
    solving = Solving(SolvingOptions(solver, limit))
    if enough:
        verdict = decide(question, solving).verdict
        return {"answer": type(verdict).__name__.lower(), "seconds": round(verdict.seconds, 3)}
    # the solver's own witness: the engine would find one by evaluation, and ask no solver
    found = narrowed(question, question.smaller(), solving.ask)
    if found is None:
        return {"answer": "unknown", "seconds": limit}
    return {"answer": "distinguished", "seconds": round(found.answer.seconds, 3)}


def published(products: int, fraction_bits: int, bits: int, solver: str, limit: float) -> Answer:
    """Products are FP32 words, tied to FP16 inputs by the floating-point theory."""
    f32 = FORMATS["f32"]
    words = [var(f"p{i}", 32) for i in range(products)] + [var("c", 32)]
    numbers = [dp.decode(f32, word) for word in words]
    top = dp.largest([x.exponent for x in numbers])
    aligned = [dp.align(x, top, fraction_bits, ROUNDINGS["RTZ"]) for x in numbers]
    widths = [2 + fraction_bits + n for n in (bits, bits + 1)]
    sums = [dp.accumulate(aligned, width).word.sext(widths[1]) for width in widths]
    lines, (differ,) = definitions([sums[0].ne(sums[1])])
    declared = [f"(declare-const {side}{i} (_ BitVec 16))" for side in "ab" for i in range(products)]
    single = "((_ to_fp 8 24) RTZ ((_ to_fp 5 11) {}))"
    ties = [
        f"(assert (= ((_ to_fp 8 24) p{i}) (fp.mul RTZ {single.format(f'a{i}')} {single.format(f'b{i}')})))"
        for i in range(products)
    ]
    finite = [
        f"(assert (not (or (fp.isNaN {x}) (fp.isInfinite {x}))))"
        for x in (f"((_ to_fp 8 24) {w.data})" for w in words)
    ]
    text = "\n".join(
        [
            "(set-logic QF_BVFP)",
            *lines,
            *declared,
            *ties,
            *finite,
            f"(assert {differ})",
            "(check-sat)",
        ]
    )
    answer = solve(text, SolvingOptions(solver, limit))
    return {"answer": answer.answer, "seconds": round(answer.seconds, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each query")
    parser.add_argument("--published", action="store_true", help="the published encoding too")
    parser.add_argument("--output", type=Path, help="a JSON file for the table")
    chosen = parser.parse_args()
    units = (("volta", 4, 23, 2), ("ampere", 8, 24, 3), ("hopper", 16, 25, 4))
    queries: list[dict[str, Any]] = []

    def keep(name: str, encoding: str, answers: list[Answer]) -> None:
        cells = [f"{answer['answer']} {answer['seconds']:.3f} s" for answer in answers]
        print(f"{name:<28}{encoding:<12}" + "".join(f"{cell:>24}" for cell in cells), flush=True)
        queries.append({"query": name, "encoding": encoding, **dict(zip(SOLVERS, answers, strict=True))})

    print(f"{'query':<28}{'encoding':<12}" + "".join(f"{s:>24}" for s in SOLVERS))
    for arch, products, fraction_bits, few in units:
        for bits in (few, few + 1):
            name = f"{arch}: {bits} against {bits + 1}"
            keep(name, "ours", [ours(arch, bits, s, chosen.limit) for s in SOLVERS])
        if chosen.published:
            name = f"{arch}: {few} against {few + 1}"
            answers = [published(products, fraction_bits, few, s, chosen.limit) for s in SOLVERS]
            keep(name, "published", answers)
    if chosen.output:
        rows = [row_named(arch) for arch, *_ in units]
        models = {row.name: row.model.digest for row in rows}
        record = {"machine": machine(), "tcsmt": tcsmt.__version__, "models": models, "queries": queries}
        chosen.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
