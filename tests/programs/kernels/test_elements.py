"""Elements that tell the most, by exact fractions; what kernels give on some elements, by whole products."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.kernels.elements import Product, SampledElements, on_elements, places_that_tell
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.kernels.reduction import reduction_named
from tcsmt.support.errors import TcsmtError

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
F16, F32, BF16 = FORMATS["f16"], FORMATS["f32"], FORMATS["bf16"]


def product(m: int, k: int, n: int, out: str = "f32", seed: int = 4) -> Product:
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = rng.standard_normal((m, n)).astype(np.float32)
    d = tcsmt.gemm(a, b, c, unit="volta", epilogue="" if out == "f32" else f"out={out}")
    return Product.of(a, b, c, d, (F16, F16, F32, FORMATS[out]))


def gap_to_middle(value: Fraction) -> Fraction:
    """From the middle of two bfloat16 numbers, in parts of their gap."""
    size, step = abs(value), Fraction(1, 128)
    while size >= 2 * 128 * step:
        step *= 2
    while size < 128 * step:
        step /= 2
    return abs(size / step % 1 - Fraction(1, 2))


def test_sums_near_the_middle_of_two_results_come_first() -> None:
    found = product(20, 16, 15, "bf16")
    places = places_that_tell(found, 9, 40, PLAIN, seed=1)
    assert len({tuple(place) for place in places.tolist()}) == len(places) == 40
    gaps = {}
    for i in range(20):
        for j in range(15):
            pairs = zip(found.a[i].tolist(), found.b[:, j].tolist(), strict=True)
            exact = sum((F16.value(x) * F16.value(y) for x, y in pairs), Fraction(0))
            assert found.c is not None
            gaps[i, j] = gap_to_middle(exact + F32.value(int(found.c[i, j])))
    nearest = sorted(gaps, key=gaps.__getitem__)[:9]
    assert [tuple(place) for place in places[:9].tolist()] == nearest


def test_elements_of_wide_results_are_drawn_by_chance() -> None:
    found = product(6, 8, 5)
    one, two = (places_that_tell(found, 4, 12, PLAIN, seed) for seed in (1, 2))
    assert one.tolist() != two.tolist()
    assert len({tuple(place) for place in one.tolist()}) == 12
    assert len(places_that_tell(found, 40, 99, PLAIN, 1)) == 30  # all there are


@pytest.mark.parametrize("text", ["chained", "split-k:3", "stream-k:5,tile=4x2x4", "split-k:2,order=1-0"])
def test_some_elements_are_those_of_the_whole_product(text: str) -> None:
    found = product(12, 20, 10)
    kernel = Kernel(VOLTA, reduction_named(text), Epilogue(c="epilogue"))
    whole: Any = kernel.multiply(found.a, found.b, found.c).view(np.uint32)
    places = places_that_tell(found, 4, 50, PLAIN, seed=3)
    ((same, words),) = on_elements([kernel], SampledElements.of(found, places))
    assert same is kernel
    assert words.tolist() == [int(whole[i, j]) for i, j in places]


def test_every_order_of_parts_is_a_result() -> None:
    found = product(6, 24, 5)
    places = places_that_tell(found, 4, 30, PLAIN, seed=3)
    sampled = SampledElements.of(found, places)
    any_order = Kernel(VOLTA, reduction_named("split-k:3,any"), Epilogue(c="epilogue"))
    orders = [Kernel(VOLTA, one, any_order.epilogue) for one in any_order.reduction.orders(24, 4, c=True)]
    ((_, words),) = on_elements([any_order], sampled)
    each = {kernel.name: given.tolist() for kernel, given in on_elements(orders, sampled)}
    assert words.tolist() == [each[kernel.name] for kernel in orders]
    last = words[-1].astype(np.uint32)
    whole = np.zeros(found.d.shape, np.uint32)
    whole[places[:, 0], places[:, 1]] = last
    recorded = Product(found.a, found.b, found.c, whole, F16, F16, F32, F32)
    assert not recorded.missed(words, places).any()  # one of the orders is enough
    whole[tuple(places[7])] ^= 1 << 12
    assert np.flatnonzero(recorded.missed(words, places)).tolist() == [7]


def test_results_of_another_shape_are_refused() -> None:
    a = np.zeros((3, 4), np.float16)
    with pytest.raises(TcsmtError, match=r"D has shape \(3, 3\): must be \(3, 2\)"):
        Product.of(a, np.zeros((4, 2), np.float16), None, np.zeros((3, 3), np.float32), (F16, F16, None, F32))
