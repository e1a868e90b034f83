"""The steps of an instruction, read from its trace; refused where the trace is not what it says."""

from dataclasses import replace

import pytest

from tcsmt.analysis.bounds.fused_loss import C, Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import FusedStep, IeeeStep, StepResult, steps_of
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.ieee import MultiplyAdd, RoundedSum
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import IeeeDotAdd, Kind, Model, Trace
from tests.support.proofs import shared_proof

LOW, HIGH = -14, 15


@pytest.fixture(scope="module")
def chain() -> StepwiseProof:
    return shared_proof()


def ieee(k: int, **changes: object) -> IeeeDotAdd:
    given: dict[str, object] = {
        "a_format": "f16", "b_format": "f16", "k": k,
        **{f"{name}_format": "f32" for name in ("c", "d", "sum")},
    }  # fmt: skip
    return IeeeDotAdd.of(**(given | changes))


def sources(model: Model, chain: StepwiseProof) -> list[tuple[object, ...]]:
    return [step.sources for step in steps_of(chain, model, LOW, HIGH)]


def test_ieee_operations_in_the_order_of_the_method(chain: StepwiseProof) -> None:
    convert = (StepResult(2),)
    assert sources(ieee(2, c_first=True), chain) == [(C, 0), (StepResult(0), 1), (StepResult(1),)]
    # the first product alone is rounded, too
    assert sources(ieee(2, c_first=False), chain) == [(0,), (StepResult(0), 1), (StepResult(1), C), convert]
    assert sources(ieee(2, product_format="f32"), chain) == [
        (0,), (1,), (C, StepResult(0)), (StepResult(2), StepResult(1)), (StepResult(3),)
    ]  # fmt: skip
    assert sources(ieee(2, method="pairwise"), chain) == [
        (0,), (1,), (StepResult(0), StepResult(1)), (StepResult(2), C), (StepResult(3),)
    ]  # fmt: skip
    assert sources(ieee(2, method="exact", order=(1, 0)), chain) == [(1, 0, C), (StepResult(0),)]


def test_roundings_and_formats_are_those_of_the_stages(chain: StepwiseProof) -> None:
    model = ieee(1, product_format="f16", product_rounding="RTZ", rounding="RTP", d_rounding="RTN")
    steps = steps_of(chain, model, LOW, HIGH)
    found = [(s.operation.format.name, s.operation.rounding.name) for s in steps if isinstance(s, IeeeStep)]
    assert found == [("f16", "RTZ"), ("f32", "RTP"), ("f32", "RTN")]
    product, total, result = steps
    assert isinstance(product, IeeeStep)
    assert isinstance(total, IeeeStep)
    assert isinstance(result, IeeeStep)
    assert (product.fine, product.fits) == (False, frozenset())  # a product has bits below f16's last
    assert total.fits == {C, StepResult(0)}
    assert total.fine
    assert result.fits == {StepResult(1)}


def test_words_of_a_unit_that_flushes(chain: StepwiseProof) -> None:
    row = next(row for row in rows("cdna2", claims=False) if row.model.a_format.name == "bf16")
    assert isinstance(row.model, IeeeDotAdd)
    assert row.model.reading.flush_inputs and row.model.results.flush_outputs
    steps = steps_of(chain, row.model, -100, 100)
    assert len(steps) == 2 * row.model.k
    assert all(isinstance(step, IeeeStep) and step.operation.flush and not step.fits for step in steps)
    assert [step.drops for step in steps if isinstance(step, IeeeStep) and C in step.sources] == [True]
    with pytest.raises(Unbounded, match="a factor has the value of the operand"):
        steps_of(chain, row.model, -126, 0)  # subnormal operands are read as zero


@pytest.mark.slow
def test_operations_that_flush_by_themselves(chain: StepwiseProof) -> None:
    """As the words of a unit that flushes: of the operands that count, none is subnormal."""
    flushed = {"flush_inputs": True, "flush_outputs": True, "tininess": "after"}
    for changes in ({}, {"flush_to_positive": True}, {"order": (1, 0), "nan": "a, b, c, 0xffc00000"}):
        unit = ieee(2, a_format="bf16", b_format="bf16", method="fma", **flushed, **changes)
        first = (1, 0) if "order" in changes else (0, 1)
        one, two = steps_of(chain, unit, -100, 100)
        assert isinstance(one, IeeeStep)
        assert isinstance(two, IeeeStep)
        assert (one.sources, two.sources) == ((C, first[0]), (StepResult(0), first[1]))
        assert (one.drops, two.drops) == (True, False)
        assert not one.fits and not two.fits
        with pytest.raises(Unbounded, match="a factor has the value of the operand"):
            steps_of(chain, unit, -126, 0)
    two_chains = ieee(4, method="fma", chains=2, flush_c=True, flush_outputs=True)
    assert sources(two_chains, chain) == [
        (0,), (StepResult(0), 2), (1,), (StepResult(2), 3), (StepResult(1), StepResult(3)), (C, StepResult(4))
    ]  # fmt: skip
    c_last = ieee(2, method="exact", c_first=False)
    assert sources(c_last, chain) == [(0, 1), (C, StepResult(0))]


def test_products_that_are_multiplied_by_a_power_of_two_are_refused(chain: StepwiseProof) -> None:
    with pytest.raises(Unbounded, match="multiplied by a power of two"):
        steps_of(chain, ieee(2, method="exact", product_exponent=-5), LOW, HIGH)


def test_fused_sums_are_chained(chain: StepwiseProof) -> None:
    ampere = row_named("ampere/mma.m16n8k16.f32.f16.f16.f32").model
    one, two = steps_of(chain, ampere, LOW, HIGH)
    assert isinstance(one, FusedStep)
    assert isinstance(two, FusedStep)
    assert (one.start, two.start, one.least) == (C, StepResult(0), 2 * LOW)
    assert sorted((*one.sources, *two.sources)) == list(range(16))
    last = ampere.replace(c_position="last", c_rounding="RTP")
    first, second, added = steps_of(chain, last, LOW, HIGH)
    assert isinstance(first, FusedStep)
    assert isinstance(second, FusedStep)
    assert isinstance(added, IeeeStep)
    assert (first.start, second.start, added.sources) == (None, StepResult(0), (StepResult(1), C))
    assert added.operation.rounding is ROUNDINGS["RTP"]


@pytest.mark.long
def test_normalised_products_have_smaller_exponents(chain: StepwiseProof) -> None:
    volta = rows("volta", claims=False)[0].model
    (step,) = steps_of(chain, volta.replace(products="normalised"), LOW, HIGH)
    assert isinstance(step, FusedStep)
    assert step.least == 2 * LOW - 20
    (step,) = steps_of(chain, volta.replace(products="normalised"), -13, HIGH)  # no subnormal operands
    assert isinstance(step, FusedStep)
    assert step.least == -26


def changed(trace: Trace, of: Kind, **changes: object) -> Trace:
    stages = tuple(replace(s, **changes) if s.kind is of else s for s in trace.stages)
    return replace(trace, stages=stages)


def test_a_trace_that_is_not_what_it_says_is_refused(chain: StepwiseProof) -> None:
    unit = ieee(2, product_format="f32")
    product = next(s for s in unit.trace.stages if s.kind is Kind.PRODUCT)
    assert product.operation is not None
    wrong = replace(product.operation, rounding=ROUNDINGS["RTZ"])
    tampered = replace(unit)
    tampered.__dict__["trace"] = changed(unit.trace, Kind.PRODUCT, operation=wrong)
    with pytest.raises(Unbounded, match="is not the operation that it is said to be"):
        steps_of(chain, tampered, LOW, HIGH)
    tampered = replace(unit)
    tampered.__dict__["trace"] = replace(unit.trace, output=unit.trace.stages[0].term)
    with pytest.raises(Unbounded, match="not what its last step gives"):
        steps_of(chain, tampered, LOW, HIGH)
    volta = rows("volta", claims=False)[0].model
    tampered_volta = replace(volta)
    tampered_volta.__dict__["trace"] = changed(volta.trace, Kind.LARGEST_EXPONENT, kind=Kind.SCALED_GROUP)
    with pytest.raises(Unbounded, match="no lemma is about a stage of the kind 'scaled group'"):
        steps_of(chain, tampered_volta, LOW, HIGH)


def test_operands_in_other_lanes_are_refused(chain: StepwiseProof) -> None:
    volta = rows("volta", claims=False)[0].model
    trace = volta.trace
    swapped = replace(volta)
    b = (trace.b[1], trace.b[0], *trace.b[2:])
    swapped.__dict__["trace"] = replace(trace, operands=replace(trace.operands, b=b))
    with pytest.raises(Unbounded, match="a product is not one of the words of a lane"):
        steps_of(chain, swapped, LOW, HIGH)


def test_factors_that_are_no_operands_are_refused(chain: StepwiseProof) -> None:
    """A multiply-add of words of which one, or neither, is a lane's a or b."""
    unit = ieee(2, a_format="f32", b_format="f32", method="fma")
    trace = unit.trace
    assert all(isinstance(stage.operation, MultiplyAdd) for stage in trace.stages)
    others = tuple(var(f"other{lane}", 32) for lane in range(2))
    for changes in ({"b": others}, {"a": others, "b": others}, {"b": trace.b[::-1]}):
        tampered = replace(unit)
        tampered.__dict__["trace"] = replace(trace, operands=replace(trace.operands, **changes))
        with pytest.raises(Unbounded, match="an operation multiplies what are not the words of one lane"):
            steps_of(chain, tampered, LOW, HIGH)


def test_a_c_that_is_read_as_another_number_is_refused(chain: StepwiseProof) -> None:
    unit = ieee(1)
    stage = unit.trace.stages[0]
    assert isinstance(stage.operation, RoundedSum)
    for place, number in enumerate(stage.operation.terms):
        negated = replace(number, sign=~number.sign)
        terms = (*stage.operation.terms[:place], negated, *stage.operation.terms[place + 1 :])
        other = replace(stage.operation, terms=terms)
        tampered = replace(unit)
        changed_stage = replace(stage, operation=other, term=other.word())
        tampered.__dict__["trace"] = replace(unit.trace, stages=(changed_stage,), output=other.word())
        said = "c is read as it is, or a subnormal c as zero" if place == 0 else "that of its operands"
        with pytest.raises(Unbounded, match=said):
            steps_of(chain, tampered, LOW, HIGH)
