"""The largest errors found beside bounds."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tcsmt.analysis.tolerance.bounded import BoundedKernel, results_of
from tcsmt.analysis.tolerance.instruction import Linear
from tcsmt.analysis.tolerance.kernels import MatrixWords, bounds_of_product, least_operand, loss_on
from tcsmt.analysis.tolerance.search import largest_errors
from tcsmt.interface.api.units import side_of
from tcsmt.programs.kernels.epilogue import epilogue_named
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named
from tcsmt.support.errors import Contradiction
from tests.support.proofs import shared_proof

UNIT = side_of("ieee/fma.f32").row
RNG = np.random.default_rng(4)
A, B, C = (RNG.standard_normal(shape).astype("f4") for shape in ((9, 30), (30, 8), (9, 8)))
OPERANDS = MatrixWords(A.view("u4"), B.view("u4"), C.view("u4"), np.ones(8, "f4").view("u4"))
LOSS = loss_on(shared_proof(), UNIT.model, least_operand(UNIT.model, OPERANDS))


def kernel(text: str) -> Kernel:
    reduction, _, epilogue = text.partition("+")
    return Kernel(UNIT, reduction_named(reduction), epilogue_named(epilogue))


@pytest.mark.parametrize("text", ["chained+bias", "split-k:3+bias,out=f16", "stream-k:2,tile=4x4x8+bias"])
def test_elements_apart_are_those_of_the_product(text: str) -> None:
    """Their results, and bounds that are no wider than those of the whole."""
    chosen = kernel(text)
    d = chosen.multiply(A, B, C, bias=np.ones(8, "f4"))
    bounds = bounds_of_product(chosen, OPERANDS, LOSS)
    found = largest_errors(BoundedKernel(chosen, LOSS), OPERANDS, 0.2)
    assert found is not None and found.elements == 72 and found.variants
    error = np.abs(d.astype("f8") - bounds.exact)
    at = found.row, found.column
    assert 0 < found.share <= found.varied <= 1
    assert found.error == pytest.approx(error[at], rel=1e-6)
    assert found.atol <= bounds.atol[at] * (1 + 1e-9)
    assert found.share >= (error / bounds.atol).max() * (1 - 1e-6)


def test_random_bits_are_drawn() -> None:
    chosen = kernel("chained+bias,out=bf16,stochastic=8")
    elements = OPERANDS.elements(np.array([[0, 1], [8, 7]]))
    assert results_of(chosen, elements, chosen.reduction).shape == (2,)
    assert largest_errors(BoundedKernel(chosen, LOSS), OPERANDS, 0.01) is not None


def test_an_error_beyond_its_bound_is_a_defect() -> None:
    narrow = replace(LOSS, loss=Linear(before=Fraction(1)))
    with pytest.raises(Contradiction, match="no element"):
        largest_errors(BoundedKernel(kernel("chained+bias"), narrow), OPERANDS, 0.1)
