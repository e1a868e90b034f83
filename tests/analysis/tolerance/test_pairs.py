"""Limits for whole tests, attacked with the arithmetic of the tests themselves."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.analysis.tolerance.pairs import BoundedDifference
from tcsmt.matrix_units.arithmetic.formats import FORMATS

Array = np.ndarray[Any, np.dtype[Any]]
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def passes(actual: Array, expected: Array, rtol: Any, atol: Any) -> Array:
    """As torch.isclose and numpy.isclose write it, each operation rounded to the arrays' dtype."""
    dtype = actual.dtype.type
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(actual - expected) <= dtype(atol) + dtype(rtol) * np.abs(expected))


def farthest(dtype: Any, exact: Array, off: Array) -> list[Array]:
    """The numbers of a dtype that are farthest from exact within a bound, on both sides."""
    found = []
    for sign in (-1, 1):
        ends = (exact + sign * off).astype(dtype)
        inward = np.nextafter(ends, (exact - sign * off).astype(dtype)).astype(dtype)
        ends = np.where(np.abs(ends.astype(np.float64) - exact) > off, inward, ends)
        found.append(ends)
        assert (np.abs(ends.astype(np.float64) - exact) <= off).all()
    return found


@pytest.mark.parametrize("name", DTYPES)
def test_pairs_pass_the_farthest_results(name: str) -> None:
    """The bounds hold for each element, and tests of whole arrays compute in the format itself."""
    rng, dtype, fmt = np.random.default_rng(3), DTYPES[name], FORMATS[name]
    for scale, wide in product((1e-3, 1.0, 50.0), (0.0, 2.0)):
        exact = scale * rng.standard_normal(500) * np.exp2(wide * rng.standard_normal(500))
        exact[:3] = 0.0, exact[0], 1.0
        off = np.abs(exact) * 2.0**-7 * (1 + rng.random(500)) + scale * 2.0 ** -rng.integers(6, 9, 500)
        bounded = BoundedDifference(off, exact, np.zeros(500), fmt)
        expected = exact.astype(dtype)
        for actual in farthest(dtype, exact, off):
            for rtol in (0.0, 1e-3, 2.0**-8, 0.1):
                assert passes(actual, expected, rtol, bounded.atol(rtol)).all()
            some = exact != 0
            alone = BoundedDifference(off[some], exact[some], np.zeros(some.sum()), fmt)
            if np.isfinite(alone.rtol):
                assert passes(actual[some], expected[some], alone.rtol, 0).all()
        # and it is sharp: a result that uses up its bound fails with a tenth less
        worst = np.max(off - 0.0)
        assert bounded.atol(0.0) <= float(worst * 1.05 + np.max(np.abs(exact)) * 2.0 ** (1 - fmt.precision))


def test_every_pair_of_small_numbers() -> None:
    """All pairs (exact, actual) of few bits, each with its true distance as the bound: in FP16, all of it."""
    numbers = np.concatenate([[0.0], *(np.arange(1, 16) * 2.0**e for e in range(-26, 4))])
    exact, actual = (x.ravel() for x in np.meshgrid(numbers, numbers))
    expected = exact.astype(np.float16)
    held = actual.astype(np.float16).astype(float) == actual
    exact, actual, expected = exact[held], actual[held], expected[held]
    off = np.abs(actual - exact)
    for rtol in (0.0, 2.0**-11, 0.01, 0.7):
        atols = [
            BoundedDifference(off[n : n + 1], exact[n : n + 1], np.zeros(1), FORMATS["f16"]).atol(rtol)
            for n in range(0, len(exact), 977)
        ]
        some = slice(0, None, 977)
        good = passes(actual[some].astype(np.float16), expected[some], rtol, np.array(atols, np.float16))
        assert good.all()


def test_an_element_that_is_zero_exactly() -> None:
    zero = BoundedDifference(np.zeros(1), np.zeros(1), np.zeros(1), FORMATS["f32"])
    assert zero.rtol == 0 and zero.atol(0.0) < 1e-43
    assert BoundedDifference(np.ones(1), np.zeros(1), np.zeros(1), FORMATS["f32"]).rtol == np.inf


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("mean", [0.0, 3.0])
def test_cosine_norm_and_correlation(name: str, mean: float) -> None:
    """The worst vectors: the difference at right angles, along the reference, and to its mean."""
    rng, dtype = np.random.default_rng(5), DTYPES[name]
    exact = rng.standard_normal(400) + mean
    for size in (1e-6, 1e-3, 0.05, 0.3):
        off = np.full(400, size)
        bounded = BoundedDifference(off, exact, np.zeros(400), FORMATS[name])
        centred = exact - exact.mean()
        for direction in (
            rng.choice([-1, 1], 400), np.sign(exact), -np.sign(exact), np.sign(centred), -np.sign(centred),
            np.ones(400),
        ):  # fmt: skip
            actual = (exact + 0.999 * size * direction).astype(dtype)
            expected = exact.astype(dtype)
            d, r = (x / np.linalg.norm(x) for x in (actual, expected))
            assert float(d @ r) >= bounded.cosine
            assert (
                float(np.linalg.norm(actual - expected) / np.linalg.norm(expected)) <= bounded.relative_norm
            )
            assert float(np.corrcoef(actual, expected)[0, 1]) >= bounded.pcc
    small = BoundedDifference(np.full(400, 1e-3), exact, np.zeros(400), FORMATS["f64"])
    assert small.cosine > 1 - 1e-5 and small.pcc > 1 - 1e-5 and small.relative_norm < 1.1e-3


def test_nothing_is_proved_of_large_differences() -> None:
    bounded = BoundedDifference(np.full(9, 2.0), np.ones(9), np.zeros(9), FORMATS["f64"])
    assert bounded.cosine == bounded.pcc == -1
