"""Comparisons of quantisers: blocks that replay, proofs, and domains that are kept."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.identification.quantisers.comparison import QuantiserDecision, compare_quantisers
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.quantisation.quantiser import quantiser_named
from tcsmt.prove.engine.options import SolvingOptions
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import TcsmtError

OPTIONS = SolvingOptions(timeout=60)


def decided(left: str, right: str, domain: Domain | None = None, **how: bool) -> QuantiserDecision:
    rows = quantiser_named(left), quantiser_named(right)
    return compare_quantisers(*rows, domain or Domain(), Solving(OPTIONS), **how)


#: QUANTISERS.md: what differs, the block, and what the caller gives.
FOUND = [
    ("torchao/float8.axiswise", "torchao/Float8Tensor.per-row", "scale", (11,), None),
    ("torchao/float8.axiswise", "torchao/Float8Tensor.per-row", "element", (52, 39), None),
    ("torchao/float8.axiswise", "deepgemm/fp8", "element", (76, 57), None),
    ("deepgemm/fp8", "deepgemm/fp8.cuda", "scale", (3,), None),
    ("vllm/int8.dynamic", "compressed-tensors/int8", "element", (4, 3), None),
    ("torchao/nvfp4.two-level", "te/nvfp4", "scale", (9,), 12),
    ("torchao/nvfp4.two-level", "te/nvfp4", "element", (7, 2), 8),
    ("torchao/nvfp4.two-level", "torchao/nvfp4.two-level.cuda", "scale", (23,), 28),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "what", "block", "given"), FOUND)
def test_the_known_blocks_are_found_again(
    left: str, right: str, what: str, block: tuple[int, ...], given: int | None
) -> None:
    """Of integers, the least pair; replayed as terms."""
    decision = decided(left, right)
    (witness,) = (one for one in decision.witnesses if one.what == what)
    assert tuple(int(witness.format.value(word)) for word in witness.numbers) == block
    assert decision.equal is False and witness.words[0] != witness.words[1]
    if given is not None:
        assert FORMATS["f32"].value(witness.given or 0) == given


def test_next_to_a_power_of_two() -> None:
    """1.75 (1 + 2^-23): what FP32's logarithm does not see; a smaller domain has no such number."""
    pair = "torchao/to_mx.rceil", "torchao/to_mx.rceil.cvt"
    scale, element = decided(*pair).witnesses
    assert scale.numbers == element.numbers == (0x3FE00001,)
    far = decided(*pair, Domain(exponents=(10, 20)))
    assert FORMATS["f32"].value(far.witnesses[0].numbers[0]) >= Fraction(2) ** 10


@pytest.mark.slow
def test_what_solvers_prove() -> None:
    """Dividing by 448, and multiplying by its reciprocal, round up to the same power, for all numbers."""
    decision = decided("te/mxfp8", "cublas/block_scales.ue8m0", Domain(positive=True))
    assert decision.equal and [text.split(" of")[0] for text, _ in decision.proofs] == [
        "the scale",
        "an element",
    ]


@pytest.mark.slow
def test_a_nan_tells_apart_what_no_number_does() -> None:
    """TransformerEngine ignores a NaN in its block, and torchao's scale is the NaN."""
    scale, _ = decided("te/mxfp8.older", "torchao/to_mx.rceil.cvt", Domain(finite=False)).witnesses
    assert any(FORMATS["f32"].is_nan(word) for word in scale.numbers)


def test_refusals() -> None:
    """Elements of two formats; approximations, unless they are to be the nearest numbers."""
    with pytest.raises(TcsmtError, match="elements of one format"):
        decided("te/mxfp8", "te/nvfp4")
    with pytest.raises(TcsmtError, match=r"div\.full"):
        decided("deepseek-v3/act_quant", "deepgemm/fp8")
    assert decided("deepseek-v3/act_quant", "deepgemm/fp8", nearest=True).equal is False
