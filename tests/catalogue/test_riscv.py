"""RISC-V's bulk normalisation: sums that are rounded to odd, and the pseudo-code, which truncates."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.catalogue import row_named, rows
from tests.support.catalogue_words import lanes, word_of

TWO = "riscv/rvbna.n2.f32.bf16.bf16"


def to_odd(x: Fraction, bits: int = 24) -> Fraction:
    """So many significant bits; the last one is set where anything is cut off."""
    if not x:
        return x
    size, exponent = abs(x), 0
    while size >= 2:
        size, exponent = size / 2, exponent + 1
    while size < 1:
        size, exponent = size * 2, exponent - 1
    whole, rest = divmod(size * 2 ** (bits - 1), 1)
    whole |= bool(rest)
    return whole * Fraction(2) ** (exponent - bits + 1) * (1 if x > 0 else -1)


FACTORS = st.builds(
    lambda sign, fraction, exponent: sign * (128 + fraction) * 2.0 ** (exponent - 7),
    st.sampled_from((1, -1)), st.integers(0, 127), st.integers(-20, 20),
)  # fmt: skip


@given(a=FACTORS, b=FACTORS, c=FACTORS)
@settings(max_examples=60, deadline=None)
def test_one_product_and_c_are_rounded_to_odd(a: float, b: float, c: float) -> None:
    """The product is exact; Spike adds c to it and rounds to odd."""
    exact = to_odd(Fraction(a) * Fraction(b) + Fraction(c))
    assert lanes(TWO, {0: (a, b)}, c) == exact


@given(a=FACTORS, b=FACTORS)
@settings(max_examples=60, deadline=None)
def test_products_of_one_sign_are_rounded_to_odd_together(a: float, b: float) -> None:
    """Two positive products: aligning and rounding to odd is rounding to odd once."""
    exact = to_odd(Fraction(a) ** 2 + Fraction(b) ** 2)
    assert lanes(TWO, {0: (a, a), 1: (b, b)}) == exact


def test_the_pseudo_code_truncates() -> None:
    """1 + 2^-40: odd, where the pseudo-code gives 1."""
    terms = {0: (1.0, 1.0), 1: (2.0**-20, 2.0**-20)}
    assert lanes(TWO, terms) == 1 + Fraction(1, 2**23)
    assert lanes(f"{TWO}@pseudo-code", terms) == 1
    assert row_named(f"{TWO}@pseudo-code").status == "refuted"


def test_the_canonical_nan() -> None:
    assert word_of(TWO, a0=0x7F80, b0=0) == word_of(TWO, a1=0xFFC1) == 0x7FC00000


@pytest.mark.parametrize("length", [2, 32])
def test_longer_sums_have_more_guard_bits(length: int) -> None:
    """One bit for each doubling, so that the sum of all lanes keeps 23 fraction bits of its largest."""
    name = f"riscv/rvbna.n{length}.f32.bf16.bf16"
    model = row_named(name).model
    assert model.k == length
    guard = {2: 1, 32: 5}[length]
    # what is left of 1 - 1 is the last bit of the alignment, to odd
    tiny = {0: (1.0, 1.0), 1: (-1.0, 1.0)} | ({2: (2.0**-30, 2.0**-30)} if length > 2 else {})
    if length > 2:
        assert lanes(name, tiny) == Fraction(1, 2 ** (23 + guard))
    else:
        assert lanes(name, {0: (1.0, 1.0), 1: (-(2.0**-30), 2.0**-30)}) == 1 - Fraction(1, 2**24)


def test_spike_s_outputs_are_held_of_four_of_five_pairs() -> None:
    units = [row for row in rows(claims=False) if row.architecture == "riscv"]
    published = {row.instruction.partition(".f32.")[2] for row in units if row.evidence == "published"}
    assert published == {"e5m2.e4m3"}
