"""Criteria, against the functions of NumPy that tests call."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest

from tcsmt.analysis.power.criteria import CriterionFunction, criterion_named
from tcsmt.support.errors import TcsmtError

RNG = np.random.default_rng(0)


def test_closeness_is_numpys() -> None:
    for size, rtol, atol in product((1e-4, 1e-2, 1.0), (0.0, 1e-2), (0.0, 1e-3)):
        expected = RNG.standard_normal(50)
        actual = expected * (1 + size * RNG.standard_normal(50) * 1e-2)
        expected[0] = actual[0] = np.inf
        criterion = criterion_named(f"rtol={rtol},atol={atol}")
        assert criterion.accepts(actual, expected) == np.allclose(actual, expected, rtol, atol)
        narrow = criterion_named(f"rtol={rtol},atol={atol},precision=bf16")
        x, y = (z.astype(ml_dtypes.bfloat16) for z in (actual, expected))
        with np.errstate(invalid="ignore"):
            close = (x == y) | (np.abs(x - y) <= x.dtype.type(atol) + x.dtype.type(rtol) * np.abs(y))
        assert narrow.accepts(actual, expected) == bool(close.all())


def test_nans() -> None:
    x = np.array([np.nan, 1.0])
    assert not criterion_named("equal").accepts(x, x)
    assert criterion_named("rtol=0,atol=0,equal_nan").accepts(x, x)
    assert not criterion_named("rtol=0,atol=9,equal_nan").accepts(x, x[::-1])
    assert not criterion_named("cosine>=0").accepts(x, x)


def test_a_share_may_be_outside() -> None:
    expected = np.ones(100)
    actual = expected.copy()
    actual[:5] = 9
    assert criterion_named("rtol=0.1,atol=0,outside=0.05").accepts(actual, expected)
    assert not criterion_named("rtol=0.1,atol=0,outside=0.04").accepts(actual, expected)


def test_measures() -> None:
    x, y = RNG.standard_normal(300), RNG.standard_normal(300)
    mixed = x + 0.1 * y
    values = {
        "cosine": x @ mixed / np.linalg.norm(x) / np.linalg.norm(mixed),
        "pcc": np.corrcoef(x, mixed)[0, 1],
        "norm": np.linalg.norm(mixed - x) / np.linalg.norm(x),
        "max": np.abs(mixed - x).max(),
    }
    for name, value in values.items():
        sign, step = (">=", -1e-9) if name in ("cosine", "pcc") else ("<=", 1e-9)
        assert criterion_named(f"{name}{sign}{value + step}").accepts(mixed, x)
        assert not criterion_named(f"{name}{sign}{value - step}").accepts(mixed, x)


def test_functions() -> None:
    x = np.ones(3)
    assert CriterionFunction(np.testing.assert_array_equal).accepts(x, x)
    assert not CriterionFunction(np.testing.assert_array_equal).accepts(x, 2 * x)
    assert not CriterionFunction(lambda actual, expected: False).accepts(x, x)


@pytest.mark.parametrize(
    "text", ["", "cosine<=0.9", "norm=3", "rtol=x", "rtol=-1", "atol=1,precision=f8", "pcc", "rtoll=1"]
)
def test_refused(text: str) -> None:
    with pytest.raises(TcsmtError):
        criterion_named(text)
