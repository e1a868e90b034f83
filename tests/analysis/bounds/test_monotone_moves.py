"""What the lemmas about one sum need of it, before any solver is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcsmt.analysis.bounds.fused_loss import C, Unbounded
from tcsmt.analysis.bounds.monotone_moves import Moves, require_sum
from tcsmt.analysis.bounds.steps import FusedStep, steps_of
from tcsmt.analysis.sweeps.findings import TYPE1
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, accumulate
from tcsmt.programs.recipes import algorithm_named
from tests.support.proofs import shared_proof

TOP = Exponent(var("top", 5), 0, 20)


def moves(unit: str = "hopper", k: int = 2) -> Moves:
    algorithm, _ = algorithm_named("single-f16", unit, k)
    steps = steps_of(shared_proof(), algorithm.unit, -15, 15)
    return Moves.of(algorithm, TYPE1, steps)


def test_numbers_of_a_sum() -> None:
    """Each of the sixteen products and c is one addend, and enters the largest exponent once."""
    found = moves()
    assert found.lanes == 2
    assert found.c
    found.shape(found.fused.numbers)
    whole = found.aligned
    without = [place for place in found.fused.numbers if place != C]
    refused: list[tuple[Moves, list[int], str]] = [
        (found, without, "not a sum of terms"),
        (replace(found, aligned=replace(whole, addends=whole.addends[1:])), [*without, C], "not a sum of"),
        (replace(found, aligned=replace(whole, word=whole.word + 1)), [*without, C], "not that of its terms"),
        (replace(found, aligned=replace(whole, fraction_bits=20)), [*without, C], "not a sum of terms"),
    ]
    for one, places, why in refused:
        with pytest.raises(Unbounded, match=why):
            one.shape(places)


def test_a_number_is_given_other_words() -> None:
    found = moves()
    x, y = var("x", 16), var("y", 16)
    aligned, enters = found.given(0, [x, y], var("other top", found.top.term.width))
    assert aligned.width < found.fused.sum.word.width
    again, entered = found.given(1, [x, y], var("other top", found.top.term.width))
    assert (aligned, enters) == (again, entered)


def addend(name: str, width: int) -> Fixed:
    return Fixed(var(name, width), TOP, 3)


@pytest.mark.parametrize(("width", "fits"), [(7, True), (6, False), (5, False)])
def test_registers_that_may_wrap_are_refused(width: int, fits: bool) -> None:
    """Three words of 5 bits in two's complement reach from -48 to 45."""
    whole = accumulate([addend(name, 5) for name in "xyz"], width)
    if fits:
        require_sum(whole)
        return
    with pytest.raises(Unbounded, match="may wrap"):
        require_sum(whole)


def test_other_steps_are_refused() -> None:
    algorithm, _ = algorithm_named("single-f16", "hopper", 2)
    (step,) = steps_of(shared_proof(), algorithm.unit, -15, 15)
    assert isinstance(step, FusedStep)
    other: list[FusedStep] = [replace(step, start=None), replace(step, sources=step.sources[::-1])]
    for one in other:
        with pytest.raises(Unbounded, match="one fused sum with c"):
            Moves.of(algorithm, TYPE1, [one])
