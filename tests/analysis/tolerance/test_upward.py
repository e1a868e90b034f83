"""Bounds are rounded upward, never below the exact result."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.analysis.tolerance.upward import added, dot_error, multiplied, number_above, scaled

SIZES = st.floats(0, 1e300, allow_subnormal=True)
FACTORS = st.fractions(0, 1000)


@given(SIZES, SIZES, SIZES, FACTORS)
def test_no_less_than_exact(x: float, y: float, z: float, factor: Fraction) -> None:
    exact, arrays = [Fraction(v) for v in (x, y, z)], [np.array([v]) for v in (x, y, z)]
    for bound, wanted in (
        (added(*arrays), sum(exact)),
        (scaled(arrays[0], factor), exact[0] * factor),
        (multiplied(arrays[0], arrays[1]), exact[0] * exact[1]),
    ):
        (value,) = bound.tolist()
        assert value == np.inf or Fraction(value) >= wanted
        assert bool(value) == bool(wanted)  # what is 0 stays 0
        if wanted and value != np.inf and value > 1e-290:
            assert Fraction(value) <= wanted * (1 + Fraction(1, 2**50))


@given(FACTORS)
def test_a_number_above(x: Fraction) -> None:
    assert 0 <= Fraction(number_above(x)) - x <= x * Fraction(1, 2**52)


def test_zero_times_infinity_is_zero() -> None:
    none, infinite = np.zeros(1), np.full(1, np.inf)
    assert multiplied(none, infinite).tolist() == [0.0]
    assert scaled(infinite, Fraction(0)).tolist() == [0.0]


@given(
    st.lists(
        st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: not 0 < abs(x) < 1e-100),
        min_size=1,
        max_size=60,
    )
)
def test_a_dot_product(values: list[float]) -> None:
    x = np.array(values)
    y = x[::-1].copy()
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    size = sum(abs(Fraction(a) * Fraction(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    assert abs(Fraction(float(x @ y)) - exact) <= dot_error(len(values)) * size
