"""RISC-V's bulk normalisation: sums that are rounded to odd, and the pseudo-code, which truncates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt import compare
from tcsmt.language.terms import const, substitute, var
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import Operands
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.engine.witnesses import cost
from tcsmt.simulate.rows import run_words
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


def test_every_nan_result_is_the_canonical_nan() -> None:
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


# --- the shortest input that tells text and pseudo-code apart ----------------------------------------


def differing(columns: dict[str, np.ndarray]) -> np.ndarray:
    """Where both readings have other results; inputs that are not named are zero."""
    count = len(next(iter(columns.values())))
    given = {name: columns.get(name, np.zeros(count, np.uint16)) for name in ("a0", "a1", "b0", "b1")}
    a, b = (np.stack([given[f"{side}0"], given[f"{side}1"]], axis=1) for side in "ab")
    operands = Operands(a, b, np.zeros(count, np.uint32))
    one, two = (run_words(row_named(name).model, operands) for name in (TWO, f"{TWO}@pseudo-code"))
    return one != two


def powers(*columns: np.ndarray) -> list[np.ndarray]:
    """BF16's words of powers of two; 0: of 1."""
    return [((127 + column) << 7).astype(np.uint16) for column in columns]


def test_no_shorter_witness_than_the_one_that_compare_prints() -> None:
    """Fewest inputs that are not zero, then fewest significand bits, then exponents nearest to zero."""
    traces = [row_named(name).model.trace for name in (TWO, f"{TWO}@pseudo-code")]
    for none in (("b0", "b1"), ("a0", "a1"), ("a0", "b1"), ("a1", "b0")):
        # without a product, whatever the other inputs are
        zeros = {var(name, 16): const(0, 16) for name in none}
        one, two = (substitute([trace.output], zeros)[0] for trace in traces)
        assert Solving().ask(one.ne(two)).answer == "unsat"
    found = compare(TWO, f"{TWO}@pseudo-code").witness
    assert found is not None
    formats = row_named(TWO).model.input_formats
    lanes_used, bits, distance, signs = cost(formats, found)
    assert (lanes_used, bits, signs) == (2, 0, 0)
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(-126, 129), np.arange(-126, 129)))
    differ = differing(dict(zip(("a0", "b0"), powers(x, y), strict=True)))
    assert distance == (abs(x) + abs(y))[differ].min() == 127


def test_no_shorter_witness_of_the_last_rounding() -> None:
    """Two products of powers of two, 24 places apart: the manual's own example is as short as any."""
    ours = {"a0": 0x3F80, "b0": 0x3F80, "a1": 0x3980, "b1": 0x3980}
    assert differing({name: np.array([word], np.uint16) for name, word in ours.items()}).all()
    formats = row_named(TWO).model.input_formats
    assert cost(formats, ours | {"c": 0}) == (4, 0, 24, 0)
    # one product of normal size is exact
    significands = np.arange(0x3F80, 0x4000, dtype=np.uint16)
    x, y = (grid.ravel() for grid in np.meshgrid(significands, significands))
    assert not differing({"a0": x, "b0": y}).any()
    exponents = np.arange(-24, 25)
    near = [grid.ravel() for grid in np.meshgrid(*[exponents] * 3)]
    for last in range(-24, 25):
        distance = np.abs(near).sum(axis=0) + abs(last)
        kept = [x[distance <= 24] for x in near]
        kept.append(np.full(len(kept[0]), last))
        differ = differing(dict(zip(("a0", "b0", "a1", "b1"), powers(*kept), strict=True)))
        assert (distance[distance <= 24][differ] == 24).all()
