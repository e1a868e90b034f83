"""All finite inputs of designs of a*b + c*d + e, but for those that follow from others by symmetry.

    python results/make/symmetric_inputs.py DESIGN.toml EXACT.toml [...] --checkpoint FILE

Each pair is a design and the exact sum rounded once to nearest (``kind = "ieee-dot-add"``, ``method =
"exact"``), as model files; all take the same inputs. Bitwuzla proves first:

- exchanging the products changes nothing where their exponents (the sums of their factors') differ, and where
  the first one alone is zero;
- changing all signs changes the sign of the result and nothing else, where it is not zero; the exact sum is
  zero where its result is.

So it is enough to run one order of the products, and e without a sign; besides, with a sign, where the exact
sum may be zero: there the sums for the least and the greatest fraction of e do not have the same sign. All
pairs are run in one pass (:class:`tcsmt.prove.engine.enumeration.Enumeration`) by LLVM's code, a sample by
NumPy. Stopped, it goes on. ``tcsmt compare DESIGN.toml EXACT.toml --finite --exhaustive --no-confirm``
decides the same of one pair without these lemmas, with four times the rows.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tcsmt.language.terms import Term, any_of, const, operands_first, substitute, var
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.resolve import resolve
from tcsmt.prove.engine.engine import decide
from tcsmt.prove.engine.enumeration import LAYOUT, Enumeration
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.proof_steps import Lemmas
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import ComparedModel, Question, difference, difference_of_sides
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.checkpoint import Checkpoint

SOLVING = Solving(SolvingOptions("bitwuzla", 60.0, 8192))
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


def exchanged(side: ComparedModel, fmt: Format) -> ComparedModel:
    """The same model with its products in the other order."""
    one, two = ([var(name, fmt.width) for name in names] for names in LANES)
    other = dict(zip([*one, *two], [*two, *one], strict=True))
    (output,) = substitute([side.trace.output], other)
    return ComparedModel(f"{side.label}, exchanged", side.model, replace(side.trace, output=output))


def prove(side: ComparedModel, question: Question, fmt: Format) -> None:
    """That the order of the products does not matter where inputs are left out; ends the program else."""
    for what, case in left_out(fmt).items():
        other = exchanged(side, fmt)
        if other.trace.output is side.trace.output:
            print(f"{side.label}: the same graph with exchanged products", flush=True)
            return
        equal(f"{side.label}: products exchanged, {what}", (side, other), question, [case])


def equal(what: str, sides: tuple[ComparedModel, ...], question: Question, also: list[Term]) -> None:
    """That two sides are the same on finite inputs; ends the program else."""
    asked = difference_of_sides(what, sides, question.formats, Domain(finite=True), lanes=(), also=also)
    found = decide(asked, SOLVING, Lemmas(SOLVING, lasting=True))
    if not isinstance(found.verdict, Equivalent):
        sys.exit(f"{what}: {found.verdict}")
    said = f"proved by {found.verdict.by} in {len(found.steps)} steps, {found.verdict.seconds:.1f} s"
    print(f"{what}: {said}", flush=True)


def signs_changed(question: Question, output: Term) -> Term:
    """The output for inputs that all have the other sign; of each product, one factor."""
    words = [var(name, question.formats[name].width) for name in ("a0", "a1", "c")]
    return substitute([output], {word: word ^ const(1 << (word.width - 1), word.width) for word in words})[0]


def refuted(what: str, goal: Term) -> None:
    """That a goal has no solution; ends the program else."""
    found = Lemmas(SOLVING, lasting=True).prove(goal, SOLVING.options.timeout)
    if not found.holds:
        sys.exit(f"{what}: {found.answer.answer}")
    print(f"{what}: proved by {found.answer.by}, {found.answer.seconds:.1f} s", flush=True)


def sum_of(exact: ComparedModel) -> Term:
    """The signed word that holds the exact sum: the one of which the magnitude is taken."""
    nodes = operands_first([exact.trace.output])
    negated = {node.args[0] for node in nodes if node.op == "neg"}
    (found,) = (node for node in nodes if node.op == "add" and node in negated and len(node.args) > 2)
    return found


def prove_signs(question: Question) -> Term:
    """That inputs with a negative e need not be run, but for the condition that is returned."""
    design, exact = question.sides
    word, low = design.trace.output, design.trace.output.width - 2
    zero_free = word[low:0].ne(0)
    other = signs_changed(question, word)
    outputs = (
        (word[low + 1] & zero_free).concat(word[low:0]),
        (~other[low + 1] & zero_free).concat(other[low:0]),
    )
    sides = tuple(
        ComparedModel(label, design.model, replace(design.trace, output=output))
        for label, output in zip(("as given", "all signs changed"), outputs, strict=True)
    )
    equal(f"{design.label}: all signs changed", sides, question, [])

    total, word = sum_of(exact), exact.trace.output
    largest = 1 << (total.width - 1)
    refuted(f"{exact.label}: the least number is no sum", question.domain & total.eq(largest))
    refuted(
        f"{exact.label}: the sum, all signs changed",
        question.domain & (signs_changed(question, total) + total).ne(0),
    )
    free = var("sum", total.width)
    (result,) = substitute([word], {total: free})
    (other,) = substitute([signs_changed(question, word)], {signs_changed(question, total): -free})
    differ = other[low:0].ne(result[low:0]) | other[low + 1].eq(result[low + 1]) | result[low:0].eq(0)
    some = free.ne(0) & free.ne(largest)
    refuted(f"{exact.label}: the result of a sum, all signs changed", question.domain & some & differ)

    fmt = question.formats["c"]
    assert isinstance(fmt, Format)
    c, fraction_bits = var("c", fmt.width), fmt.fraction_bits
    ends = [
        substitute([total], {c: c[c.width - 1 : fraction_bits].concat(const(fraction, fraction_bits))})[0]
        for fraction in (0, (1 << fraction_bits) - 1)
    ]
    possible = ends[0].eq(0) | ends[1].eq(0) | ends[0][total.width - 1].ne(ends[1][total.width - 1])
    refuted(f"{exact.label}: where the sum may be zero", question.domain & total.eq(0) & ~possible)
    return c[c.width - 1].eq(0) | possible


def to_run(questions: Sequence[Question]) -> Question:
    """All questions in one, of the inputs that are left. Ends the program where a lemma is not proved."""
    first = questions[0]
    fmt = first.formats["a0"]
    assert isinstance(fmt, Format)
    assert len({str(first.formats[name]) for lane in LANES for name in lane}) == 1
    assert all(question.formats == first.formats for question in questions)
    for question in questions:
        for side in question.sides:
            prove(side, question, fmt)
    inside = first.domain
    for case in left_out(fmt).values():
        inside = inside & ~case
    inside = inside & any_of(prove_signs(question) for question in questions)
    goal = any_of(question.goal for question in questions)
    sides = tuple(side for question in questions for side in question.sides)
    return replace(first, sides=sides, goal=inside & goal, domain=inside, inputs=None)


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("models", nargs="+")
    given.add_argument("--checkpoint", type=Path)
    given.add_argument("--seconds", type=float, default=1e9, help="stop after so many")
    options = given.parse_args()
    end = time.monotonic() + options.seconds
    rows = [resolve(name).row for name in options.models]
    questions = [
        difference("", (f"{one.name} ({file})", one.model), (f"{two.name} ({other})", two.model), Domain())
        for file, other, one, two in zip(
            options.models[::2], options.models[1::2], rows[::2], rows[1::2], strict=True
        )
    ]
    enumeration = Enumeration(to_run(questions))
    print(f"{enumeration.said}: {enumeration.rows:.4g} rows, of which about a quarter are run", flush=True)

    def seen(done: int, count: int, what: str) -> None:
        print(f"{done}/{count} {what}, {time.process_time():.0f} s of CPU time", flush=True)
        if time.monotonic() > end:
            sys.exit("stopped; the same command goes on")

    with Checkpoint(options.checkpoint, LAYOUT, "--checkpoint") as kept:
        print(enumeration.run(kept, seen=seen))


if __name__ == "__main__":
    main()
