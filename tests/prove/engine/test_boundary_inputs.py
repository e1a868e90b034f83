"""The fixed set of inputs: ties that show the exponent of zeros, and ties beside c."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.boundary_inputs import cancelling, near_ties, search, ties
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tcsmt.surveys.properties.investigation import one_block


@pytest.mark.parametrize(
    ("unit", "lowest"),
    [("volta/mma.m8n8k4.f16.f16.f16.f16", -20), ("ampere/mma.m16n8k8.f16.f16.f16.f16", -21)],
)
def test_ties_reach_the_end_of_the_grid_of_zeros(unit: str, lowest: int) -> None:
    """Each row is a tie of the result and a smaller power of two; one row shows the zero exponent."""
    model = one_block(row_named(unit).model)
    assert isinstance(model, FusedDotAdd)
    asked = difference("", ("one", model), ("other", model.replace(zero_exponent=lowest)), Domain())
    columns = ties(asked.formats)
    f16 = FORMATS["f16"]
    powers = set()
    for words in zip(*(columns[name] for name in ("a0", "b0", "a1", "b1")), strict=True):
        a0, b0, a1, b1 = (f16.value(int(word)) for word in words)
        assert a0 * b0 == Fraction(1, 2**25)
        powers.add(a1 * b1)
    assert powers == {sign * Fraction(1, 2**n) for n in range(26, 49) for sign in (1, -1)}
    assert Program([asked.goal]).run(columns)[0].any()


def test_no_ties_where_no_product_is_so_small() -> None:
    """E4M3 products are no half of the smallest FP32 number."""
    formats = {"a0": "e4m3", "b0": "e4m3", "a1": "e4m3", "b1": "e4m3", "c": "f32"}
    assert ties({name: FORMATS[fmt] for name, fmt in formats.items()})["a0"].size == 0


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [("f16", "f16", "f32"), ("e4m3", "e2m3", "f16"), ("e5m2", "e4m3", "f16"), ("bf16", "bf16", "f32")],
)
def test_sums_lie_beside_ties(a: str, b: str, c: str) -> None:
    """c and the first product are half way between two numbers of c's format; the other product is less."""
    formats = {name: FORMATS[fmt] for name, fmt in (("a0", a), ("b0", b), ("a1", a), ("b1", b), ("c", c))}
    columns = near_ties(formats)
    count = 0
    for words in zip(*columns.values(), strict=True):
        a0, b0, a1, b1, start = (fmt.value(int(w)) for fmt, w in zip(formats.values(), words, strict=True))
        tie = start + a0 * b0
        top = Fraction(start)  # a power of two; the sum is in its binade or in the one below
        last = (top if tie >= top else top / 2) / 2 ** FORMATS[c].fraction_bits
        assert top / 2 <= tie < 2 * top
        assert (tie / last) % 1 == Fraction(1, 2)
        assert 0 < abs(a1 * b1) < last / 2
        count += 1
    assert count >= 400


def test_products_cut_off_with_c_or_before_are_told_apart() -> None:
    """No solver found this in minutes, for 32 products."""
    model = row_named("blackwell/tcgen05.mMnNk32.kind::f8f6f4.f16.e4m3.e2m3").model
    summed = model.replace(c_position="summed")
    asked = difference("", ("one", model), ("other", summed), Domain(finite=True))
    found = search(asked)
    assert found is not None and evaluate([asked.goal], found) == [1]


FP4 = "blackwell/tcgen05.mMnNk64.kind::"


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "mxf4.block32.f32.e2m1.e2m1.ue8m0",
        pytest.param("mxf4nvf4.block16.f32.e2m1.e2m1.ue8m0", marks=pytest.mark.long),
        pytest.param("mxf4nvf4.block32.f32.e2m1.e2m1.ue8m0", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_blocks_that_cancel_show_how_the_others_are_summed(unit: str) -> None:
    """Both models of Blackwell's FP4 units differ on some; random rows do not show it."""
    left, right = ((name, row_named(name).model) for name in (f"{FP4}{unit}", f"{FP4}{unit}@sf-tensor"))
    asked = difference("", left, right, Domain())
    found = search(asked)
    assert found is not None
    assert evaluate([asked.goal], found) == [1]


def test_no_blocks_cancel_where_there_is_one() -> None:
    one = row_named("blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0").model
    for formats in (one.input_formats, row_named("volta").model.input_formats):
        assert {words.size for words in cancelling(formats, 100, np.random.default_rng(0)).values()} == {0}
