"""Operations of LLVM IR on every word of few bits, held against Python's integers."""

from __future__ import annotations

from itertools import product

import pytest

from tcsmt.interop.c_reader.llvm_operations import BINARY, INTRINSICS, PREDICATES, NotSupported
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, any_of, const, var

WIDTH = 4
X, Y, BIT = var("x", WIDTH), var("y", WIDTH), var("b", 1)
HALF, ALL = 1 << WIDTH - 1, 1 << WIDTH


def signed(word: int) -> int:
    return word - ALL if word >= HALF else word


def outcomes(terms: list[Term]) -> list[tuple[int, int, list[int]]]:
    return [(x, y, evaluate(terms, {"x": x, "y": y})) for x, y in product(range(ALL), repeat=2)]


@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_overflow(op: str) -> None:
    number = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}[op]
    plain = BINARY[op](X, Y, ())
    assert not plain.faults
    flagged = [any_of(bit for _, bit in BINARY[op](X, Y, (flag,)).faults) for flag in ("nsw", "nuw")]
    both = INTRINSICS[f"s{op}.with.overflow"]([X, Y]), INTRINSICS[f"u{op}.with.overflow"]([X, Y])
    also = [result.also for result in both if result.also is not None]
    for x, y, (value, over, wrap, over2, wrap2) in outcomes([plain.value, *flagged, *also]):
        assert value == number(x, y) % ALL
        assert over == over2 == (not -HALF <= number(signed(x), signed(y)) < HALF)
        assert wrap == wrap2 == (not 0 <= number(x, y) < ALL)


@pytest.mark.parametrize("op", ["shl", "lshr", "ashr"])
def test_shifts(op: str) -> None:
    shift = {
        "shl": lambda x, y: (x << y) % ALL,
        "lshr": lambda x, y: x >> y,
        "ashr": lambda x, y: (signed(x) >> y) % ALL,
    }[op]
    result = BINARY[op](X, Y, ())
    exact = any_of(bit for _, bit in BINARY[op](X, Y, ("nuw",) if op == "shl" else ("exact",)).faults)
    for x, y, (value, fault, loses) in outcomes([result.value, any_of(b for _, b in result.faults), exact]):
        assert fault == (y >= WIDTH)
        if not fault:
            assert value == shift(x, y)
            assert loses == (x << y >= ALL if op == "shl" else x >> y << y != x)


@pytest.mark.parametrize("divisor", [1, 2, 4])
def test_divisions_by_powers_of_two(divisor: int) -> None:
    names = ("udiv", "urem", "sdiv", "srem")
    results = [BINARY[op](X, const(divisor, WIDTH), ()).value for op in names]
    for x, _, (quotient, rest, toward_zero, remainder) in outcomes(results):
        assert (quotient, rest) == divmod(x, divisor)
        whole = abs(signed(x)) // divisor * (1 if signed(x) >= 0 else -1)
        assert (toward_zero, remainder) == (whole % ALL, (signed(x) - whole * divisor) % ALL)
    for divisor_term in (Y, const(3, WIDTH), const(0, WIDTH), const(HALF, WIDTH)):
        with pytest.raises(NotSupported, match="a power of two"):
            BINARY["sdiv"](X, divisor_term, ())


def test_comparisons() -> None:
    for x, y, found in outcomes(
        [PREDICATES[name](X, Y) for name in ("ult", "uge", "slt", "sge", "sle", "ugt")]
    ):
        a, b = signed(x), signed(y)
        assert found == [int(t) for t in (x < y, x >= y, a < b, a >= b, a <= b, x > y)]


def test_bits() -> None:
    one = const(1, 1)
    zeros, ends = INTRINSICS["ctlz"]([X, one]), INTRINSICS["cttz"]([X, one])
    faults = [any_of(bit for _, bit in result.faults) for result in (zeros, ends)]
    terms = [zeros.value, ends.value, INTRINSICS["ctpop"]([X]).value, *faults]
    for x, _, found in outcomes(terms):
        text = f"{x:0{WIDTH}b}"
        leading, trailing = len(text) - len(text.lstrip("0")), len(text) - len(text.rstrip("0"))
        assert found == [leading, trailing, text.count("1"), int(x == 0), int(x == 0)]


def test_numbers() -> None:
    names = ("smax", "smin", "umax", "umin", "uadd.sat", "usub.sat")
    terms = [INTRINSICS[name]([X, Y]).value for name in names]
    absolute = INTRINSICS["abs"]([X, const(1, 1)])
    terms += [absolute.value, absolute.faults[0][1], INTRINSICS["fshl"]([X, Y, const(1, WIDTH)]).value]
    for x, y, found in outcomes(terms):
        a, b = signed(x), signed(y)
        expected = [
            max(a, b) % ALL,
            min(a, b) % ALL,
            max(x, y),
            min(x, y),
            min(x + y, ALL - 1),
            max(x - y, 0),
        ]
        assert found == [*expected, abs(a) % ALL, int(a == -HALF), (x << 1 | y >> WIDTH - 1) % ALL]
