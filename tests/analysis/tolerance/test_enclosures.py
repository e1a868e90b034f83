"""Steps on enclosures against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.enclosures import ElementRules, Enclosure
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS

F = Fraction
F32, F16 = FORMATS["f32"], FORMATS["f16"]
NEAREST = ROUNDINGS["RNE"]


def steps(count: int) -> ElementRules:
    return ElementRules((count,))


def enclosed(*values: float, off: float = 0.0) -> Enclosure:
    x = np.array(values)
    return Enclosure(x, np.zeros_like(x), np.full_like(x, off))


def test_additions_and_conversions_lose_half_of_the_last_bit() -> None:
    run = steps(2)
    total = run.add(enclosed(3.0, -1.0, off=0.5), enclosed(1.0, 1.0), fmt=F32, shift=0, rounding=NEAREST)
    assert total.value.tolist() == [4.0, 0.0]
    assert np.allclose(total.off, [0.5 + 4.5 * 2.0**-24, 0.5 + 0.5 * 2.0**-24], rtol=1e-12)
    same = enclosed(1.5, -2.0)
    assert run.convert(same, source=F16, target=F32, rounding=ROUNDINGS["RNE"], saturate=False) is same
    for name, share in (("RNE", 0.5), ("RTZ", 1.0), ("RTP", 1.0)):
        lost = run.convert(
            enclosed(1.5, 2.0**-24), source=F32, target=F16, rounding=ROUNDINGS[name], saturate=False
        ).off
        assert np.allclose(lost, [1.5 * share * 2.0**-10, share * 2.0**-24], rtol=1e-12)
    randomly = run.convert_randomly(
        enclosed(1.5, 1.0), run.constant_zero(), source=F32, target=F16, bits=4, saturate=False
    ).off
    assert np.allclose(randomly, [1.5 * 2.0**-10, 2.0**-10], rtol=1e-12)
    assert not run.overflows.any()


def test_what_is_too_large_overflows_or_saturates() -> None:
    run = steps(2)
    run.convert(enclosed(65504.0, 1.0), source=F32, target=F16, rounding=ROUNDINGS["RNE"], saturate=False)
    assert run.overflows.tolist() == [True, False]
    run = steps(2)
    cut = run.convert(
        enclosed(-70000.0, 1.0), source=F32, target=F16, rounding=ROUNDINGS["RNE"], saturate=True
    )
    assert cut.off[0] >= 70000 - 65504 and not run.overflows.any()


def test_nothing_is_known_of_what_is_divided_by_zero() -> None:
    """Although the program's infinity saturates to a number."""
    run = steps(2)
    one = run.constant(fmt=F32, word=0x3F800000)
    zero = run.given(F32, np.array([0, 0x40000000], np.uint32), known=True)
    quotient = run.divide(one, zero, fmt=F32, rounding=NEAREST)
    narrow = run.convert(quotient, source=F32, target=F16, rounding=NEAREST, saturate=True)
    assert narrow.words is not None and narrow.words.tolist() == [0x7BFF, 0x3800]
    assert np.isinf(narrow.off).tolist() == np.isinf(narrow.error).tolist() == [True, False]


def test_multiply_add() -> None:
    run = steps(1)
    alpha = run.constant(fmt=F32, word=0x3FC00000)
    result = run.multiply_add(enclosed(3.0, off=0.25), alpha, enclosed(0.5, off=0.125), fmt=F32)
    assert result.value.tolist() == [5.0]
    assert np.allclose(result.off, [0.5 + (5 + 0.5) * 2.0**-24], rtol=1e-12)
    with pytest.raises(Unbounded, match="inf in f32"):
        run.constant(fmt=F32, word=0x7F800000)


def test_what_may_be_negative_has_no_bound_in_a_format_without_a_sign() -> None:
    how, ue4m3 = {"source": F32, "target": FORMATS["ue4m3"], "saturate": True}, [False, True, True, False]
    run = steps(4)
    run.convert(enclosed(1.0, -1.0, 0.25, 0.75, off=0.5), rounding=NEAREST, **how)
    assert run.overflows.tolist() == ue4m3
    run = steps(4)
    run.convert_randomly(enclosed(1.0, -1.0, 0.25, 0.75, off=0.5), run.constant_zero(), bits=4, **how)
    assert run.overflows.tolist() == ue4m3
    run = steps(2)
    run.negate(enclosed(1.0, 0.0), fmt=FORMATS["ue4m3"])
    assert run.overflows.tolist() == [True, False]
    with pytest.raises(Unbounded, match="ue8m0 has no zero"):
        run.convert(enclosed(1.0, 1.0), rounding=NEAREST, **{**how, "target": FORMATS["ue8m0"]})
