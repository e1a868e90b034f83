"""Rows of binary64: in their domain, with exact sums; and what the search finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcsmt.analysis.emulation.search import extreme_of, largest, random_rows
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.prove.statements.domain import Domain


def test_rows_lie_in_the_domain() -> None:
    rng = np.random.default_rng(1)
    for domain in (
        Domain(exponents=(-3, 4), bits=(53, 8)), Domain(exponents=(0, 0), positive=True, c_zero=True),
    ):  # fmt: skip
        for k in (1, 2, 40):
            rows = random_rows(domain, k, 30, rng)
            a, b = rows.whole(k)
            for side, x, bits in (("a", a, 0), ("b", b, 1)):
                assert x.shape == (30, k)
                sizes = np.abs(x[x != 0])
                assert ((sizes >= 2.0**domain.low) & (sizes < 2.0 ** (domain.high + 1))).all()
                kept = domain.bits_in(emulation_named("ozaki1-int8", "turing")[0].wide)[bits]
                whole = np.frexp(sizes)[0] * 2.0**kept
                assert (whole == np.rint(whole)).all(), side
                assert not domain.positive or (x >= 0).all()
            exact, size = rows.exact(3)
            terms = [Fraction(x) * Fraction(y) for x, y in zip(a[3].tolist(), b[3].tolist(), strict=True)]
            c = Fraction(float(rows.c[3]))
            assert (exact, size) == (sum(terms) + c, sum(map(abs, terms)) + abs(c))


def test_numbers_that_a_narrow_cut_loses_are_found() -> None:
    """A number of exponent -8 beside one of exponent 8 has no bit among 14."""
    emulation, _ = emulation_named("ozaki1-int8,slices=2,products=all", "turing")
    found, _ = largest(emulation, Domain(exponents=(-8, 8), c_zero=True), 3, 0.3)
    assert found is not None
    assert found.relative is not None
    assert found.relative > 2**52  # all of it
    again = extreme_of(emulation, found.values)
    assert again == found
    nothing, _ = largest(emulation, Domain(exponents=(0, 0), c_zero=True, bits=(7, 7)), 1, 0.1)
    assert nothing is None
