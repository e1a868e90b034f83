"""Chains of instructions on enclosures against fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tcsmt.analysis.tolerance.enclosures import Enclosure
from tcsmt.analysis.tolerance.instruction import InstructionLoss, Linear
from tcsmt.analysis.tolerance.products import EnclosureRules, of_matrices, of_rows
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.steps.operations import multiply_add
from tcsmt.programs.steps.program import ProductRun

F = Fraction
F32 = FORMATS["f32"]
NEAREST = ROUNDINGS["RNE"]
UNIT = multiply_add(F32)


def rules(count: int, loss: InstructionLoss) -> EnclosureRules:
    return EnclosureRules((count,), lambda unit, low, high: loss)


def chain(rules: EnclosureRules, a: np.ndarray, b: np.ndarray, c: Enclosure | None) -> Enclosure:
    operands = [rules.given(F32, side.astype("f4").view("u4"), known=True) for side in (a, b)]
    return rules.chain(c, *operands, unit=UNIT, runs=[ProductRun(np.arange(a.shape[1]))])


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
    run = rules(1, loss)
    result = chain(run, a, b, enclosed(-6.0))
    assert result.value.tolist() == [24.0] and result.error[0] < 1e-12
    # partial sums: -6, 0, 14, 24; each bounded by the mean of both ends and of the products
    wanted = sum(F(x + y + size, 2) for x, y, size in ((6, 0, 6), (0, 14, 14), (14, 24, 10))) / 8 + F(3, 16)
    assert wanted <= F(float(result.off[0])) <= wanted * (1 + F(1, 2**30))
    assert not run.overflows.any()
    high = rules(1, replace(loss, limit=F(30)))
    chain(high, a, b, enclosed(-6.0))
    assert high.overflows.all()


def test_zeros_lose_nothing() -> None:
    loss = InstructionLoss(2, -14, Linear(before=F(1), sums=F(1, 8), always=F(1, 16)), F(100), 15)
    run, a, b = rules(2, loss), np.array([[0.0], [1.0]]), np.array([[3.0], [0.0]])
    assert chain(run, a, b, None).off.tolist() == [0.0, 0.0]
    assert run.add(
        run.constant_zero(), enclosed(1.0, 2.0), fmt=F32, shift=0, rounding=NEAREST
    ).off.tolist() == [0.0, 0.0]


def test_an_instruction_of_padding_alone_loses_of_c() -> None:
    loss = InstructionLoss(2, -14, Linear(before=F(2), sums=F(1, 8), top=F(1, 16), always=F(1, 4)), F(9), 15)
    run = rules(2, loss)
    result = run.padding(enclosed(-8.0, 0.0, off=0.5), unit=UNIT)
    wanted = [2 * (F(1, 2) + 1 + F(1, 2) + F(1, 4)), 2 * (F(1, 2) + F(1, 4))]
    assert result.value.tolist() == [-8.0, 0.0]
    assert all(w <= F(float(x)) <= w * (1 + F(1, 2**30)) for w, x in zip(wanted, result.off, strict=True))
    assert run.overflows.tolist() == [True, False]
