"""Steps on enclosures against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.tolerance.enclosures import Enclosure, EnclosureRules, of_matrices, of_rows
from tcsmt.analysis.tolerance.instruction import InstructionLoss, Linear
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.steps.operations import multiply_add
from tcsmt.programs.steps.program import ProductRun

F = Fraction
F32, F16 = FORMATS["f32"], FORMATS["f16"]
NEAREST = ROUNDINGS["RNE"]
UNIT = multiply_add(F32)
EXACT = InstructionLoss(2, -14, Linear(before=F(1)), F(2) ** 127, 15)


def steps(count: int) -> EnclosureRules:
    return EnclosureRules((count,), of_rows(np.zeros((count, 1)), np.zeros((count, 1)), (-14, -14)), EXACT)


def chain(rules: EnclosureRules, length: int, c: Enclosure | None) -> Enclosure:
    return rules.chain(c, unit=UNIT, runs=[ProductRun(np.arange(length))])


def enclosed(*values: float, off: float = 0.0) -> Enclosure:
    x = np.array(values)
    return Enclosure(x, np.zeros_like(x), np.full_like(x, off))


def test_products() -> None:
    """Their sum, its error, Σ of their sizes with subnormal numbers counted up, and the largest."""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((3, 40)), rng.standard_normal((40, 4))
    a[1, 3] = 2.0**-17
    whole = of_matrices(a, b, (-14, -14))(np.arange(5, 33))
    for i in range(3):
        for j in range(4):
            alone = of_rows(a[i : i + 1], b[:, j][None], (-14, -14))(np.arange(5, 33))
            terms = [F(a[i, k]) * F(b[k, j]) for k in range(5, 33)]
            for value, error, size, largest in (
                (whole.value[i, j], whole.error[i, j], whole.size[i, j], whole.largest[i, j]),
                (alone.value[0], alone.error[0], alone.size[0], alone.largest[0]),
            ):
                assert abs(F(float(value)) - sum(terms)) <= F(float(error))
                assert F(float(size)) >= sum(map(abs, terms))
                assert F(float(size)) >= F(float(largest)) >= max(map(abs, terms))
    lifted = of_rows(np.array([[2.0**-20]]), np.array([[3.0]]), (-14, -14))(np.arange(1))
    assert lifted.size[0] >= 3 * 2.0**-14


def test_a_chain_adds_its_products_to_c() -> None:
    a, b = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]), np.array([[2.0, 2.0, 2.0, 2.0, 2.0]])
    loss = InstructionLoss(2, -14, Linear(before=F(1), sums=F(1, 8), always=F(1, 16)), F(100), 15)
    run = EnclosureRules((1,), of_rows(a, b, (-14, -14)), loss)
    result = chain(run, 5, enclosed(-6.0))
    assert result.value.tolist() == [24.0] and result.error[0] < 1e-12
    # partial sums: -6, 0, 14, 24; each bounded by the mean of both ends and of the products
    wanted = sum(F(x + y + size, 2) for x, y, size in ((6, 0, 6), (0, 14, 14), (14, 24, 10))) / 8 + F(3, 16)
    assert wanted <= F(float(result.off[0])) <= wanted * (1 + F(1, 2**30))
    assert not run.overflows.any()
    high = EnclosureRules((1,), of_rows(a, b, (-14, -14)), InstructionLoss(2, -14, loss.loss, F(30), 15))
    chain(high, 5, enclosed(-6.0))
    assert high.overflows.all()


def test_zeros_lose_nothing() -> None:
    loss = InstructionLoss(2, -14, Linear(before=F(1), sums=F(1, 8), always=F(1, 16)), F(100), 15)
    run = EnclosureRules((2,), of_rows(np.array([[0.0], [1.0]]), np.array([[3.0], [0.0]]), (-14, -14)), loss)
    assert chain(run, 1, None).off.tolist() == [0.0, 0.0]
    assert run.add(
        run.constant_zero(), enclosed(1.0, 2.0), fmt=F32, shift=0, rounding=NEAREST
    ).off.tolist() == [0.0, 0.0]


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


def test_multiply_add() -> None:
    run = steps(1)
    alpha = run.constant(fmt=F32, word=0x3FC00000)
    result = run.multiply_add(enclosed(3.0, off=0.25), alpha, enclosed(0.5, off=0.125), fmt=F32)
    assert result.value.tolist() == [5.0]
    assert np.allclose(result.off, [0.5 + (5 + 0.5) * 2.0**-24], rtol=1e-12)
    with pytest.raises(Unbounded, match="inf in f32"):
        run.constant(fmt=F32, word=0x7F800000)
