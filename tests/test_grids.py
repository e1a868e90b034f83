"""Sums on two alignment grids: equal where nothing is cut, and never called equal where something is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcsmt import ieee
from tcsmt.catalogue import row_named
from tcsmt.engine import Comparison, compare
from tcsmt.grids import Block, multiple
from tcsmt.interpret.exact import evaluate
from tcsmt.models import FusedDotAdd
from tcsmt.pool import rows as pool_rows
from tcsmt.query import Distinguished, Domain, Equivalent, Question, Side, Solving
from tcsmt.solvers.run import Settings
from tcsmt.terms import TRUE, Term


def e4m3_unit(k: int, n: int, interleave: int, fraction_bits: int) -> FusedDotAdd:
    unit = row_named("hopper/mma.m16n8k32.f32.e4m3.e4m3.f32").model
    assert isinstance(unit, FusedDotAdd)
    return replace(unit, k=k, n_fma=n, interleave=interleave, fraction_bits=fraction_bits)


def on_f16(unit: FusedDotAdd) -> Comparison:
    """The unit against itself with FP16 operands, on converted inputs."""
    half = row_named("hopper/mma.m16n8k16.f32.f16.f16.f32").model
    wide = replace(unit, a_format=half.a_format, b_format=half.b_format)
    inputs = unit.trace
    left, right = (
        [ieee.widen(x, unit.a_format, half.a_format) for x in side] for side in (inputs.a, inputs.b)
    )
    trace = replace(wide.apply(left, right, inputs.c), a=inputs.a, b=inputs.b)
    where = Domain(finite=False).holds(unit, inputs)
    question = Question(
        title="FP8 on FP16", sides=(Side("FP8", unit, inputs), Side("FP16", unit, trace)),
        goal=where & inputs.output.ne(trace.output), domain=where, formats=unit.input_formats,
        domain_text="all words",
    )  # fmt: skip
    return compare(question, Solving(Settings(timeout=60)))


@pytest.mark.parametrize(("k", "n", "interleave"), [(2, 2, 0), (4, 2, 1)])
def test_other_grids_that_cut_nothing(k: int, n: int, interleave: int) -> None:
    """25 fraction bits hold whatever a subnormal factor leaves: proved, in a chain too."""
    found = on_f16(e4m3_unit(k, n, interleave, 25))
    assert isinstance(found.verdict, Equivalent), found.verdict
    assert any("shifted" in step.what for step in found.steps)


@pytest.mark.parametrize("fraction_bits", [19, 13])
def test_other_grids_that_cut(fraction_bits: int) -> None:
    """A product with a subnormal factor has its last bit at 2^-18, its grid 2^(2 - F): 20 are enough."""
    found = on_f16(e4m3_unit(2, 2, 0, fraction_bits))
    assert isinstance(found.verdict, Distinguished), found.verdict
    assert evaluate([found.question.goal], found.verdict.values) == [1]


def test_the_fewest_bits_that_cut_nothing() -> None:
    assert isinstance(on_f16(e4m3_unit(2, 2, 0, 20)).verdict, Equivalent)


def test_a_fact_holds_on_random_inputs() -> None:
    """What was proved of a result's last bit is so; one bit higher it is neither proved nor so."""
    unit = e4m3_unit(2, 2, 0, 25)
    block = Block.of(unit.trace.stages[:-1], {})
    assert block is not None
    solving = Solving()

    def prove(what: str, goal: Term) -> bool:
        return solving.ask(goal, 30.0).answer == "unsat" if goal.value is None else goal.value == 0

    assert block.last_bit == -18
    fact = multiple(block, block.last_bit, TRUE, prove)
    assert fact is not None
    assert multiple(block, block.last_bit + 1, TRUE, prove) is None
    columns = pool_rows(unit.input_formats, 200, np.random.default_rng(5))
    for i in range(200):
        assert evaluate([fact], {name: int(words[i]) for name, words in columns.items()}) == [1]


def test_units_that_align_otherwise() -> None:
    """Normalised at every addition: there is no common grid."""
    unit = replace(e4m3_unit(2, 2, 0, 25), c_position="aligned", normalisation="every")
    assert Block.of(unit.trace.stages, {}) is None
