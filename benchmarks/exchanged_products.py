"""All finite inputs of designs of a*b + c*d + e; one order of the products, where the order does not matter.

    python benchmarks/exchanged_products.py DESIGN.toml EXACT.toml [...] --checkpoint FILE

Each pair is a design and what it is compared with, as model files; all take the same inputs. First the engine
proves that exchanging the products changes nothing where their exponents (the sums of their factors')
differ, and where one of them is zero. Then one of both orders is run, for all pairs in one pass
(:class:`tcsmt.prove.enumerating.Enumeration`), by LLVM's code, with a sample by NumPy. Stopped, it goes on.
``tcsmt compare DESIGN.toml EXACT.toml --finite --exhaustive --no-confirm`` decides the same for one pair
without that lemma, with twice the rows.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from tcsmt.arithmetic.formats import Format
from tcsmt.data.model_files import row_given
from tcsmt.prove.engine import decide
from tcsmt.prove.enumerating import LAYOUT, Enumeration
from tcsmt.prove.lemmas import Lemmas
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.statements.domain import Domain
from tcsmt.statements.question import Question, Side, difference, difference_of_sides
from tcsmt.statements.verdict import Equivalent
from tcsmt.support.checkpoint import Checkpoint
from tcsmt.terms import Term, const, substitute, var

#: Words of the first product, and of the second.
LANES = ("a0", "b0"), ("a1", "b1")


def zero(fmt: Format, names: tuple[str, str]) -> Term:
    """Whether a product is zero."""
    one, two = (var(name, fmt.width)[fmt.width - 2 : 0].eq(0) for name in names)
    return one | two


def exponent(fmt: Format, names: tuple[str, str]) -> Term:
    """The sum of the exponents of a product's factors."""
    fields = [var(name, fmt.width)[fmt.width - 2 : fmt.fraction_bits] for name in names]
    one, two = (f.eq(0).ite(const(1, f.width), f).zext(fmt.exponent_bits + 1) for f in fields)
    return one + two


def left_out(fmt: Format) -> dict[str, Term]:
    """Inputs that are not run, as the same ones with exchanged products are."""
    zeros, sums = [zero(fmt, names) for names in LANES], [exponent(fmt, names) for names in LANES]
    apart = sums[0].ult(sums[1]) & ~zeros[0] & ~zeros[1]
    return {"different exponents": apart, "the first product is zero": zeros[0] & ~zeros[1]}


def exchanged(side: Side, fmt: Format) -> Side:
    """The same model with its products in the other order."""
    one, two = ([var(name, fmt.width) for name in names] for names in LANES)
    other = dict(zip([*one, *two], [*two, *one], strict=True))
    (output,) = substitute([side.trace.output], other)
    return Side(f"{side.label}, exchanged", side.model, replace(side.trace, output=output))


def prove(side: Side, question: Question, fmt: Format) -> None:
    """That the order of the products does not matter where inputs are left out; ends the program else."""
    for what, case in left_out(fmt).items():
        other = exchanged(side, fmt)
        if other.trace.output is side.trace.output:
            print(f"{side.label}: the same graph with exchanged products", flush=True)
            return
        asked = difference_of_sides(
            what, (side, other), question.formats, Domain(finite=True), lanes=(), also=[case]
        )
        solving = Solving(Settings("bitwuzla", 60.0, 8192), confirm=False)
        found = decide(asked, solving, Lemmas(solving, lasting=True, kept=True))
        if not isinstance(found.verdict, Equivalent):
            sys.exit(f"{side.label}, {what}: {found.verdict}")
        print(
            f"{side.label}: products exchanged, {what}: proved by {found.verdict.by} in"
            f" {len(found.steps)} steps, {found.verdict.seconds:.1f} s",
            flush=True,
        )


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("models", nargs="+")
    given.add_argument("--checkpoint", type=Path)
    given.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    options = given.parse_args()
    end = time.monotonic() + options.seconds
    rows = [row_given(name) for name in options.models]
    questions = [
        difference("", (f"{one.name} ({file})", one.model), (f"{two.name} ({other})", two.model), Domain())
        for file, other, one, two in zip(
            options.models[::2], options.models[1::2], rows[::2], rows[1::2], strict=True
        )
    ]
    first = questions[0]
    fmt = first.formats["a0"]
    assert isinstance(fmt, Format)
    assert len({str(first.formats[name]) for lane in LANES for name in lane}) == 1
    for question in questions:
        for side in question.sides:
            prove(side, question, fmt)
    inside = first.domain
    for case in left_out(fmt).values():
        inside = inside & ~case
    goal = const(0, 1)
    for question in questions:
        goal = goal | question.goal
    sides = tuple(side for question in questions for side in question.sides)
    joint = replace(first, sides=sides, goal=inside & goal, domain=inside, inputs=None)
    enumeration = Enumeration(joint)
    print(f"{enumeration.said}: {enumeration.rows:.4g} rows, of which about half are run", flush=True)

    def seen(done: int, count: int, what: str) -> None:
        print(f"{done}/{count} {what}, {time.process_time():.0f} s of CPU time", flush=True)
        if time.monotonic() > end:
            sys.exit("stopped; the same command goes on")

    with Checkpoint(options.checkpoint, LAYOUT, "--checkpoint") as kept:
        print(enumeration.run(kept, seen=seen))


if __name__ == "__main__":
    main()
