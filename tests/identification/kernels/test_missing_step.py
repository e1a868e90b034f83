"""Steps that no kernel tried has leave signs: each is made by hand, and said; a plain product has none."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.compose.kernels.elements import Product
from tcsmt.identification.kernels.missing_step import signs
from tcsmt.matrix_units.arithmetic.formats import FORMATS, format_named
from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS

F32 = FORMATS["f32"]
RNG = np.random.default_rng(11)
A, B = RNG.standard_normal((12, 96), np.float32), RNG.standard_normal((96, 10), np.float32)
C = RNG.standard_normal((12, 10), np.float32)


def chained(a: Any, b: Any, start: Any = 0.0) -> Any:
    total = np.zeros((len(a), b.shape[1]), np.float32) + np.float32(start)
    for k in range(a.shape[1]):
        total = total + a[:, k : k + 1] * b[k]
    return total


def of(d: Any, nearest: Any = None, c: Any = None) -> dict[str, str]:
    product = Product.of(A, B, c, d, (F32, F32, None if c is None else F32, F32))
    near = chained(A, B, 0.0 if c is None else c) if nearest is None else nearest
    return {one.kind: one.text for one in signs(product, near.view(np.uint32))}


def cut(x: Any) -> Any:
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def to_nearest(x: Any) -> Any:
    words = x.view(np.uint32).astype(np.uint64)
    return ((words + 0xFFF + (words >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)


def test_a_missing_factor_is_named() -> None:
    found = of(np.float32(-0.25) * chained(A, B))
    assert found.keys() == {"scaling"} and "D is -0.25 times A·B, " in found["scaling"]


def test_a_missing_addend_is_named() -> None:
    bias = RNG.standard_normal(10).astype(np.float32)
    assert "the same number in each column" in of(chained(A, B) + bias)["addend"]
    rows = RNG.standard_normal((12, 1)).astype(np.float32)
    assert "the same number in each row" in of(chained(A, B) + rows)["addend"]
    assert "D is A·B + 3 C" in of(chained(A, B) + 3 * C, c=C)["addend"]


@pytest.mark.parametrize(("rounded", "rule"), [(cut, "truncate"), (to_nearest, "nearest-even")])
def test_operands_that_were_rounded(rounded: Any, rule: str) -> None:
    """Cut and rounded operands are told apart: TF32's on a GPU, and in a library."""
    found = of(chained(rounded(A), rounded(B)))
    assert f"A and B rounded to tf32 ({rule})" in found["operands"]


def test_d_that_is_exactly_the_product_of_rounded_operands() -> None:
    """Nothing is left of the error: bfloat16 words of A, which a unit matrix leaves as they are."""
    a = np.array([[0.1, 0.3], [0.7, 0.9]], np.float32)
    b, d = np.eye(2, dtype=np.float32), a.astype(ml_dtypes.bfloat16).astype(np.float32)
    product = Product.of(a, b, None, d, (F32, F32, None, F32))
    told = [one.text for one in signs(product, a.view(np.uint32)) if one.kind == "operands"]
    assert told == [
        "D is exactly the product of A and B rounded to bf16 (nearest-even): operands that were rounded"
    ]


def test_formats_and_orders() -> None:
    half = chained(A, B).astype(np.float16).astype(np.float32)
    assert "every number of D is one of f16" in of(half)["result"]
    assert of(half)["format"].endswith("in a narrower format, or cut bits")
    exact = (A.astype(np.float64) @ B.astype(np.float64)).astype(np.float32)
    poor = chained(A, B) + RNG.standard_normal((12, 10), np.float32) * np.float32(1e-3)
    assert "sums in a wider format" in of(exact, nearest=poor)["format"]
    assert of(chained(A[:, ::-1], B[::-1])).keys() == {"order"}


def test_the_part_of_d_that_differs_is_named() -> None:
    d = chained(A, B)
    d[3, 5] += 1
    assert "all elements but some in rows 3 to 3, columns 5 to 5" in of(d)["region"]
    assert "region" not in of(d + 1)


def test_nothing_is_said_without_numbers_or_measure() -> None:
    nothing = np.full((12, 10), np.nan, np.float32)
    assert of(nothing, nearest=nothing) == {}
    one = np.ones((2, 2), np.int8)
    integers = (INTEGERS["s8"], INTEGERS["s8"], None, INTEGERS["s32"])
    words = one.view(np.uint8)
    assert signs(Product.of(words, words, None, np.ones((2, 2), np.uint32), integers), None) == ()
    wide = (format_named("f64"),) * 2
    double = np.ones((2, 2))
    assert signs(Product.of(double, double, None, double, (*wide, None, wide[0])), None) == ()
