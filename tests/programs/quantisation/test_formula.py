"""Formulas of quantisers, against fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.conversion import UNKNOWN
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, format_named
from tcsmt.programs.quantisation.formula import Approximate, Formula
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import UnitProgram, read
from tcsmt.support.errors import TcsmtError
from tests.oracles.rationals import rounded

F32 = FORMATS["f32"]
NORMAL = st.floats(2.0**-40, 2.0**40, width=32)


def value(
    text: str, x: float, m: float = 1.0, element: str = "e4m3", *, nearest: bool = False
) -> tuple[AnyFormat, int]:
    """Return format and word of what a formula makes of one number and a largest magnitude."""
    program, fmt = written(text, element, nearest)
    words = {name: np.array([number], np.float32).view(np.uint32) for name, number in (("x", x), ("m", m))}
    found = read(program, ArrayRules((1,), no_chain, UNKNOWN), words)
    return fmt, int(np.asarray(found).reshape(-1)[0])


@cache
def written(text: str, element: str, nearest: bool) -> tuple[UnitProgram, AnyFormat]:
    build = Builder()
    values = {name: build.input(name, F32, "a") for name in "xm"}
    result = Formula(build, format_named(element), values, nearest=nearest).write(f"s = {text}")["s"]
    return build.program(result), result.format


def fl(exact: Fraction) -> Fraction:
    return rounded(exact, 24, -126, "RNE")


def number(text: str, *numbers: float, **how: str) -> Fraction:
    fmt, word = value(text, *numbers, **how)
    return fmt.value(word)


@given(NORMAL, NORMAL)
@settings(max_examples=20, deadline=None)
def test_each_operation_is_rounded_once(x: float, m: float) -> None:
    """The five orders of one formula, each rounding where its operations say."""
    a, b = Fraction(x), Fraction(m)
    assert number("x * (448 / m)", x, m) == fl(a * fl(448 / b))
    assert number("x / (m / 448)", x, m) == fl(a / fl(b / 448))
    assert number("x * (1 / (m / 448))", x, m) == fl(a * fl(1 / fl(b / 448)))
    assert number("x * (1 / (m * (1 / 448)))", x, m) == fl(a * fl(1 / fl(b * fl(Fraction(1, 448)))))
    assert number("x / (m * (1 / 448))", x, m) == fl(a / fl(b * fl(Fraction(1, 448))))


@given(NORMAL, st.sampled_from([1, 2, 3]))
@settings(max_examples=20, deadline=None)
def test_even_adds_half_a_unit(x: float, bits: int) -> None:
    """The word plus half of a unit of so many fraction bits, and the exponent of that."""
    word = int(np.float32(x).view(np.uint32)) + (1 << (22 - bits))
    fmt, found = value(f"down(even(x, {bits}))", x)
    assert (fmt.name, found) == ("ue8m0", word >> 23)


@pytest.mark.parametrize(
    ("exponent", "wrong"), [(-126, 22), (-5, 1), (-4, 0), (0, 0), (3, 0), (4, 1), (17, 5), (127, 22)]
)
def test_logarithm_just_above_a_power(exponent: int, wrong: int) -> None:
    """QUANTISERS.md: of 2^k (1 + j 2^-23), torch's logarithm in binary32 is that of 2^k for so many j."""
    for steps in (1, wrong, wrong + 1):
        x = float(Fraction(2) ** exponent * (1 + Fraction(steps, 1 << 23)))
        _, found = value("up(log2(x))", x)
        assert found == min(exponent + 127 + (steps > wrong), 254)


@pytest.mark.parametrize(("exponent", "right"), [(-2, False), (-1, True), (0, True), (2, True), (3, False)])
def test_logarithm_just_below_a_power(exponent: int, right: bool) -> None:
    _, found = value("down(log2(x))", float(Fraction(2) ** exponent * (1 - Fraction(1, 1 << 24))))
    assert found == exponent + 127 - right


@given(st.floats(-300, 300, width=32), st.sampled_from(["s8", "s4"]))
@settings(max_examples=20, deadline=None)
def test_integers(x: float, name: str) -> None:
    """To nearest even, or towards zero, within the format."""
    end = 1 << (int(name[1]) - 1)
    for text, whole in (("integer(x)", round(Fraction(x))), ('integer(x, "RTZ")', int(x))):
        assert number(text, x, element=name) == min(max(whole, -end), end - 1)
    assert value("integer(x)", float("nan"), element=name) == (F32, 0)


def test_ties_and_what_is_next_below_half() -> None:
    """QUANTISERS.md: 0.75 at scale 1 is 1 or 0.5, 0.25 is 0 or 0.5, and 0.24999999 becomes 0.5."""
    below = float(np.uint32(0x3E7FFFFF).view(np.float32))
    codes = {text: value(text, x, element="e2m1")[1] for text, x in (
        ("saturated(x)", 0.75), ('saturated(x, "RNZ")', 0.75), ('saturated(x, "RNA")', 0.25),
        ("saturated(half(x))", below), ("saturated(half(-x))", below),
        ("saturated(x, nan=1.5)", float("nan")),
    )}  # fmt: skip
    assert list(codes.values()) == [2, 1, 1, 1, 9, 3]
    assert value("saturated(x)", below, element="e2m1")[1] == 0


def test_refusals() -> None:
    """Approximations, unless the nearest number is asked for; names and operations that are none."""
    with pytest.raises(Approximate, match=r"div\.full\.f32: no document says"):
        value("div_full(x, m)", 1.0)
    assert value("div_full(x, m)", 1.0, 2.0, nearest=True)[1] == 0x3F000000
    assert value("rcp_approx(x)", 2.0**-130, nearest=True)[1] == 0x7F800000  # subnormal numbers are zeros
    for text, told in (
        ("y + 1", "'y'"),
        ("sqrt(x)", "'sqrt'"),
        ("x % m", "Mod"),
        ("x if m else x", "no rule"),
    ):
        with pytest.raises(TcsmtError, match=told):
            value(text, 1.0)
    with pytest.raises(TcsmtError, match="one format is expected, not f32 and f64"):
        value("x + f64(m)", 1.0)
