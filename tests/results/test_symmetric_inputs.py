"""Inputs that are left out because others stand for them, held against exact integers and every input."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np
import pytest
import symmetric_inputs
from symmetric_inputs import left_out, to_run

from tcsmt.interop.implementations import rtl
from tcsmt.language.run import jit
from tcsmt.language.terms import TRUE, Term
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.matrix_units.models.circuit import Circuit
from tcsmt.prove.engine.enumeration import Enumeration
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import Question, difference
from tests.oracles import numbers
from tests.oracles.exact import Array
from tests.support.three_terms import EXACT, NAMES, NARROW, design, finite, rows, wrong

#: An addend of few words, so that all inputs are few.
SMALL = Format(name="s3m1", exponent_bits=3, fraction_bits=1, bias=3)
FEW = EXACT.replace(c_format=SMALL, d_format=SMALL, sum_format=SMALL)
WORDS = [finite(SMALL if name == "c" else NARROW) for name in NAMES]
needs_yosys = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")
needs_llvm = pytest.mark.skipif(not jit.available(), reason="the extra `fast` (llvmlite) is not installed")


def asked(model: Circuit | IeeeDotAdd, exact: IeeeDotAdd = EXACT) -> Question:
    return difference("", ("design", model), ("exact", exact), Domain())


def on_all(term: Term) -> Array:
    """A truth value on every finite input, with one axis for each word."""
    grid = np.meshgrid(*WORDS, indexing="ij")
    columns = {name: words.ravel() for name, words in zip(NAMES, grid, strict=True)}
    return numbers.truth(term, columns).astype(bool).reshape(grid[0].shape)


def exact_sums() -> Array:
    """In units of a 64th."""
    values = [
        np.array([int(64 * numbers.finite(SMALL if name == "c" else NARROW, int(w))) for w in words])  # type: ignore[operator]
        for name, words in zip(NAMES, WORDS, strict=True)
    ]
    a0, b0, a1, b1, c = np.meshgrid(*values, indexing="ij", sparse=True)
    return a0 * b0 + a1 * b1 + 64 * c


def negated(table: Array) -> Array:
    """The table at the inputs whose a0, a1 and c have the other sign: words of one sign are one half."""
    for axis in (0, 2, 4):
        table = np.roll(table, table.shape[axis] // 2, axis)
    return table


def uncovered(inside: Array, apart: Array, sums: Array) -> int:
    """How many inputs are decided by none that is run.

    apart: where products may be exchanged; all signs may be changed where the sum is not zero.
    """
    exchanged = (2, 3, 0, 1, 4)
    other_signs = (sums != 0) & negated(inside)
    either = inside | other_signs
    return int((~(either | apart & either.transpose(exchanged))).sum())


@pytest.mark.long
def test_every_input_is_run_or_follows_from_one(no_luck: None) -> None:
    sums = exact_sums()
    assert (negated(sums) == -sums).all()
    assert (sums == 0).sum() > 1000
    apart = on_all(left_out(NARROW)["different exponents"] | left_out(NARROW)["the first product is zero"])
    assert not (apart & apart.transpose(2, 3, 0, 1, 4)).any()
    inside = on_all(to_run([asked(FEW, FEW)]).domain)
    assert uncovered(inside, apart, sums) == 0
    assert 0.2 < inside.mean() < 0.5
    # and what is left out is not too much: without one reason to run an input, others are uncovered
    positive = inside & (WORDS[4] < 1 << SMALL.sign_bit)
    assert uncovered(positive, apart, sums) > 0
    assert uncovered(inside, apart & (sums > 0), sums) > 0


@pytest.mark.long
def test_inputs_are_run_where_any_of_the_sums_may_be_zero(no_luck: None) -> None:
    """Of two sums, here one of products that count twice."""
    twice = FEW.replace(product_exponent=1)
    each = [on_all(to_run([asked(one, one)]).domain) for one in (FEW, twice)]
    both = on_all(to_run([asked(FEW, FEW), asked(twice, twice)]).domain)
    assert (each[0] != each[1]).any()
    assert (both == each[0] | each[1]).all()


#: Single inputs at which a design is wrong, by why they are left out.
RARE = {
    "different exponents": {"a0": 1, "b0": 1, "a1": 3, "b1": 4, "c": 0x0A5},
    "the first product is zero": {"a0": 0, "b0": 4, "a1": 3, "b1": 9, "c": 0x0A5},
    "all signs changed": {"a0": 3, "b0": 4, "a1": 3, "b1": 4, "c": 0x2A5},
}


@pytest.mark.slow
@needs_yosys
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.long if n else ()) for n, case in enumerate(RARE)]
)
def test_a_design_that_is_not_symmetric_is_refused(case: str, no_luck: None) -> None:
    refused_at(RARE[case], case)


def refused_at(rare: Mapping[str, int], case: str) -> None:
    model = design(rare=rare)
    assert wrong(model, {name: np.array([word]) for name, word in rare.items()}) == 1
    with pytest.raises(SystemExit, match=case):
        to_run([asked(model)])


@needs_yosys
@needs_llvm
@pytest.mark.long
def test_a_design_is_run(no_luck: None) -> None:
    """One that is right, one that rounds ties otherwise, and one whose zero has the wrong sign once."""
    assert Enumeration(to_run([asked(design())])).run().answer == "unsat"
    assert Enumeration(to_run([asked(design(4))])).run().answer == "sat"
    # 1 * 1 + 1 * 1 - 2, and -1 * 1 + 1 * 1 - 0
    for rare in (
        {"a0": 2, "b0": 2, "a1": 2, "b1": 2, "c": 0x300},
        {"a0": 10, "b0": 2, "a1": 2, "b1": 2, "c": 0x200},
    ):
        model = design(rare=rare, bit=9)
        assert wrong(model, {name: np.array([word]) for name, word in rare.items()}) == 1
        found = Enumeration(to_run([asked(model)])).run()
        assert (found.answer, found.values) == ("sat", rare)


@needs_yosys
@needs_llvm
@pytest.mark.long
def test_no_single_wrong_input_is_passed_over(no_luck: None) -> None:
    rng = Random(17)
    for _ in range(12):
        every = rows(1_000_003, rng.randrange(1_000_003))
        at = rng.randrange(len(every["c"]))
        rare = {name: int(words[at]) for name, words in every.items()}
        model = design(rare=rare, bit=rng.randrange(10))
        try:
            found = Enumeration(to_run([asked(model)])).run()
        except SystemExit:
            continue
        assert found.answer == "sat", rare


def test_lemmas_decide_what_is_left_out(no_luck: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case for which products may not be exchanged: a unit that is not symmetric there."""
    asymmetric = FEW.replace(method="sequential", sum_format=SMALL)
    with pytest.raises(SystemExit, match="different exponents"):
        to_run([asked(asymmetric, FEW)])
    monkeypatch.setattr(symmetric_inputs, "left_out", lambda fmt: {"everything": TRUE})
    with pytest.raises(SystemExit, match="everything"):
        to_run([asked(asymmetric, FEW)])
