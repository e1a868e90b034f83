"""Investigations: which lanes a witness goes to, and what a proof is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.prove.engine.engine import Decision
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.question import Question
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.surveys.properties.investigation import Investigation


@pytest.mark.parametrize("architecture", ["hopper", "blackwell"])
def test_witnesses_of_interleaved_rows_go_to_the_lanes_of_one_sum(architecture: str) -> None:
    """1 + 2^-24 + 2^-24 in one fused sum: lanes 0, 1 and 4 of the instruction (lane 2 has another)."""
    row = row_named(f"{architecture}/mma.m16n8k32.f32.e5m2.e5m2.f32")

    def told(question: Question, solving: Solving) -> Decision:
        values = dict.fromkeys(question.formats, 0)
        word = row.model.a_format.word
        values |= {"a0": word(Fraction(1)), "b0": word(Fraction(1))}
        for lane in (1, 2):
            values |= dict.fromkeys((f"a{lane}", f"b{lane}"), word(Fraction(1, 1 << 12)))
        return Decision(question, Distinguished(values=values, solver="told", version="", seconds=0.0))

    ask = Investigation(row, Solving(), decide=told)
    unit = ask.unit
    ask.differ("F", ("as it is", unit), ("F = 23", unit.replace(fraction_bits=23)))
    assert ask.findings[0].supported == ("as it is",)
