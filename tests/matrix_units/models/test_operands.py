"""Operands: one value with its scales, and what a model refuses."""

import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Operands
from tcsmt.support.errors import TcsmtError

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
SCALED = row_named("rtx-blackwell/mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").model


@pytest.mark.parametrize("model", [VOLTA, SCALED], ids=["no scales", "scales"])
def test_split_and_flat_are_inverse(model):
    names = tuple(model.input_names)
    given = model.operands(names)
    assert given.flat() == names
    assert [len(part) for name, part in given.named.items() if name != "c"] == list(
        model.operand_lengths.values()
    )
    assert given.c == "c"
    assert given.named.keys() == model.operand_formats.named.keys()
    for wrong in (names[:-1], (*names, "one more")):
        with pytest.raises(ValueError, match="words for k"):
            model.operands(wrong)


def test_the_order_is_that_of_the_names():
    given = Operands("a", "b", "c", "sa", "sb")
    assert given.parts == ("a", "b", "c", "sa", "sb")
    assert list(given.named) == ["a", "b", "c", "scale_a", "scale_b"]
    assert Operands("a", "b", "c").parts == ("a", "b", "c")
    assert given.map(str.upper) == Operands("A", "B", "C", "SA", "SB")


def test_a_model_refuses_operands_that_do_not_fit():
    trace = SCALED.trace
    a, b, c = trace.a, trace.b, trace.c
    for wrong in (Operands(a, b, c), Operands(a[:-1], b, c, *trace.operands.parts[3:])):
        with pytest.raises(TcsmtError, match="operands of lengths"):
            SCALED.apply(wrong)
    volta = VOLTA.trace
    with pytest.raises(TcsmtError, match="operands of lengths"):
        VOLTA.apply(Operands(volta.a, volta.b, volta.c, volta.a, volta.b))
    assert VOLTA.apply(volta.operands).output is volta.output
