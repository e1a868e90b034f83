"""What an instruction loses, as a linear function."""

from fractions import Fraction

import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.instruction import Linear, instruction_loss, least_exponent
from tcsmt.interface.api.units import side_of
from tests.support.proofs import shared_proof

F = Fraction


def test_a_multiply_add_is_one_rounding() -> None:
    """Half of the last bit of the sum, whose own error is there; below, half of the smallest number."""
    loss = instruction_loss(shared_proof(), side_of("ieee/fma.f32").row.model, -40)
    half = F(1, 2**24)
    assert loss.loss == Linear(before=1 + half, sums=half, always=F(1, 2**150))
    assert loss.limit == F(2**24 - 1, 2**24) * 2**128
    assert loss.growth(3) >= (1 + half) ** 3


def test_a_product_that_is_rounded_alone_counts_by_its_size() -> None:
    loss = instruction_loss(shared_proof(), side_of("ieee/mul-add.f32").row.model, -40).loss
    half = F(1, 2**24)
    assert loss.products == half * (1 + half) and loss.sums == half


def test_linear() -> None:
    x = Linear(before=F(1), top=F(2))
    assert (x + Linear(top=F(3), always=F(4))).times(F(2)) == Linear(before=F(2), top=F(10), always=F(8))


def test_exponents_are_asked_about_from_a_few_on() -> None:
    half, wide = (side_of(f"ieee/fma.f32.{name}").row.model for name in ("f16", "bf16"))
    assert [least_exponent(half, low) for low in (3, -1, -14)] == [-14, -14, -14]
    assert [least_exponent(wide, low) for low in (3, -20, -21, -126)] == [-20, -20, -40, -126]


def test_block_scales_are_refused() -> None:
    with pytest.raises(Unbounded, match="block scales"):
        instruction_loss(
            shared_proof(),
            side_of("b200/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0").row.model,
            -20,
        )
