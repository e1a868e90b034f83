"""One instruction on ranges of integers: exact where it is said to be, refused where no lemma is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.analysis.exactness.lattice import Inexact, Lattice
from tcsmt.analysis.exactness.units import ExactUnit, require_held
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.models import FusedDotAdd
from tests.support.sums_of_integers import NARROW, RESULTS, asked, chain


def test_units_beyond_the_lemmas_are_refused() -> None:
    d = RESULTS[2]
    common = {"a_format": NARROW, "b_format": NARROW, "c_format": d, "d_format": d, "k": 2, "n_fma": 2}
    short = FusedDotAdd.of(**common, fraction_bits=4, zero_exponent=None, rounding="RTZ", carry_bits=0)
    found = asked(short, integers=2)
    assert found.k == 0
    assert "may wrap" in found.ends
    every = FusedDotAdd.of(
        **common, fraction_bits=4, zero_exponent=-9, carry_bits=None, rounding="RTZ", normalisation="every"
    )
    assert asked(every, integers=1).k == 0


def test_a_result_is_c_and_the_products_or_refused() -> None:
    """A unit whose limits are known: 2^-3 below the largest exponent is kept, of a sum four bits."""
    d = RESULTS[1]
    model = FusedDotAdd.of(a_format=NARROW, b_format=NARROW, c_format=d, d_format=d, k=2, n_fma=2,
                        fraction_bits=3, zero_exponent=None, carry_bits=None, rounding="RTZ")  # fmt: skip
    unit = ExactUnit(chain(), model)
    ones = Lattice(Fraction(-1), Fraction(1), 0)
    found = unit.result(ones.times(6), [ones, ones])
    assert (found.low, found.high, found.last) == (-8, 8, 0)
    with pytest.raises(Inexact, match="a sum may reach"):
        unit.result(ones.times(15), [ones, ones])
    with pytest.raises(Inexact, match="c may be subnormal"):
        unit.result(Lattice(Fraction(-1), Fraction(1), -9), [ones])


@pytest.mark.parametrize("name", ["e4m3", "e2m3", "e5m2"])
def test_numbers_that_a_format_is_said_to_have(name: str) -> None:
    """Every multiple in the range is a number of the format; refused ranges have one that is not."""
    fmt = FORMATS[name]
    held = {fmt.value(word) for word in range(1 << fmt.width) if not fmt.is_special(word)}
    for last in range(-18, 10):
        for most in (1, 3, 7, 8, 9, 15, 16, 17):
            step = Fraction(2) ** last
            there = all(n * step in held for n in range(-most, most + 1))
            try:
                require_held(fmt, Lattice(-most * step, most * step, last), "x")
            except Inexact:
                assert not there
            else:
                assert there


def test_formats_without_a_sign_or_a_zero() -> None:
    ones = Lattice(Fraction(-1), Fraction(1), 0)
    with pytest.raises(Inexact, match="ue4m3 has no sign"):
        require_held(FORMATS["ue4m3"], ones, "x")
    require_held(FORMATS["ue4m3"], ones * Lattice(Fraction(0), Fraction(0), 0), "x")
    with pytest.raises(Inexact, match="ue8m0 has no zero"):
        require_held(FORMATS["ue8m0"], Lattice(Fraction(0), Fraction(1), 0), "x")
