"""Sums of integers as polynomials: against every input of tiny units, by the oracle of integers."""

from __future__ import annotations

import itertools

import pytest

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.exactness.integer_units import polynomial
from tcsmt.language.terms import const, var
from tcsmt.matrix_units.arithmetic.formats import integers_from
from tcsmt.matrix_units.models import IntegerDotAdd
from tests.support.sums_of_integers import asked, wrong

S6 = integers_from(-32, 31, 0)


def test_integers_wrap_where_the_oracle_says() -> None:
    s3 = integers_from(-4, 3, 0)
    for overflow, block in itertools.product(("wrap", "saturate"), (None, 1)):
        model = IntegerDotAdd(
            a_format=s3, b_format=s3, c_format=S6, d_format=S6, k=2, n_fma=block, overflow=overflow
        )
        found = asked(model, integers=4)
        assert (found.k, found.closed) == (1, True)  # 2 · 16 is beyond 31
        assert not wrong(model, 4, 1)
        assert wrong(model, 4, 2)
        smaller = asked(model, k=2)
        assert smaller.integers == 3
        assert not wrong(model, 3, 2)


def test_a_polynomial_is_not_read_where_a_word_may_wrap() -> None:
    x, y = var("x", 4), var("y", 4)
    s4 = integers_from(-8, 7, 0)
    leaves = {x: s4, y: s4}
    wide = x.sext(8) * y.sext(8)
    assert polynomial(wide + 1, leaves) == {tuple(sorted((x, y), key=lambda t: t.digest)): 1, (): 1}
    assert polynomial((x.sext(5) + y.sext(5)).sext(9), leaves) == {(x,): 1, (y,): 1}
    for bad in ((x + y).sext(8), x.zext(8), x & y, x >> const(1, 4)):
        with pytest.raises(Unbounded):
            polynomial(bad, leaves)
