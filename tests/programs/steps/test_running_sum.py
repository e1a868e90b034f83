"""Compensated sums: on terms and on arrays they are what the papers say, operation by operation."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.recipes.arrays import multiply, simulate
from tcsmt.programs.recipes.named import algorithm_named
from tcsmt.programs.steps.running_sum import COMPENSATIONS
from tcsmt.programs.steps.split import F32, Split
from tests.oracles.rationals import rounded

_FMA = IeeeDotAdd.of(
    a_format=F32, b_format=F32, c_format=F32, d_format=F32, k=1, method="fma", sum_format=F32
)


def near(x: Fraction) -> Fraction:
    """To the nearest binary32 number, ties to even."""
    return rounded(x, 24, -126, "RNE")


def two_sum(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
    """Knuth, The Art of Computer Programming, volume 2, section 4.2.2."""
    total = near(x + y)
    first = near(total - y)
    second = near(total - first)
    return total, near(near(x - first) + near(y - second))


def fast_two_sum(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
    """Dekker 1971."""
    total = near(x + y)
    return total, near(y - near(total - x))


def kahan(numbers: list[Fraction]) -> Fraction:
    """Kahan 1965, with the correction that is subtracted."""
    total, correction = numbers[0], Fraction(0)
    for x in numbers[1:]:
        y = near(x - correction)
        after = near(total + y)
        correction = near(near(after - total) - y)
        total = after
    return total


def cascaded(numbers: list[Fraction], exactly: bool) -> Fraction:
    """Ogita, Rump and Oishi 2005, algorithm 4.4 (Sum2); with FastTwoSum in place of TwoSum."""
    total, errors = numbers[0], Fraction(0)
    for x in numbers[1:]:
        total, lost = two_sum(total, x) if exactly else fast_two_sum(total, x)
        errors = near(errors + lost)
    return near(total + errors)


def double_word(numbers: list[Fraction]) -> Fraction:
    """Joldes, Muller and Popescu 2017, algorithm 4 (DWPlusFP)."""
    high, low = numbers[0], Fraction(0)
    for x in numbers[1:]:
        total, lost = two_sum(high, x)
        high, low = fast_two_sum(total, near(low + lost))
    return high


ORACLES = {
    "kahan": kahan,
    "fast-two-sum": lambda numbers: cascaded(numbers, exactly=False),
    "two-sum": lambda numbers: cascaded(numbers, exactly=True),
    "double-word": double_word,
}


def adding(compensated: str, k: int, c_enters: str) -> Algorithm:
    """Each product by an instruction of its own, all of them added outside: a sum of k numbers times 1."""
    return Algorithm(
        k=k,
        unit=_FMA,
        split=Split(format=F32, words=1),
        sums=(Sum(((0, 0),), every=1),),
        c_enters=c_enters,
        compensated=compensated,
    )


def test_every_way_to_compensate_has_an_oracle() -> None:
    assert ORACLES.keys() == COMPENSATIONS.keys()


@pytest.mark.parametrize("c_enters", ["first", "last"])
@pytest.mark.parametrize("compensated", COMPENSATIONS)
@pytest.mark.slow_cases("double-word-first", "double-word-last")
def test_sums_are_what_the_papers_say(compensated: str, c_enters: str) -> None:
    """Words of rows, of a matrix product, and of the graph's evaluation, against fractions."""
    rng = np.random.default_rng(3)
    k, count = 7, 60
    exponents = rng.integers(-14, 15, (count, k + 1))
    numbers = (rng.standard_normal((count, k + 1)) * 2.0**exponents).astype(np.float32)
    numbers[::5, 3] = -numbers[::5, 2]
    numbers[::7, 1] = 0
    a, c = numbers[:, :k], numbers[:, k]
    algorithm = adding(compensated, k, c_enters)
    ordered = np.concatenate([c[:, None], a] if c_enters == "first" else [a, c[:, None]], axis=1)
    wanted = [ORACLES[compensated]([Fraction(float(x)) for x in row]) for row in ordered]
    results = simulate(algorithm, a, np.ones_like(a), c)
    assert [Fraction(float(x)) for x in results] == wanted
    products = multiply(algorithm, a, np.ones((k, 1), np.float32), c[:, None])
    assert (products[:, 0].view(np.uint32) == results.view(np.uint32)).all()
    for row in range(0, count, 9):
        words = {f"a{n}": int(x) for n, x in enumerate(a[row].view(np.uint32))}
        words |= {f"b{n}": 0x3F800000 for n in range(k)} | {"c": int(c[row : row + 1].view(np.uint32)[0])}
        (word,) = evaluate([algorithm.trace.output], words)
        assert word == int(results[row : row + 1].view(np.uint32)[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "compensated",
    [pytest.param(name, marks=() if name == "kahan" else pytest.mark.long) for name in COMPENSATIONS],
)
def test_a_long_sum_is_better_than_a_plain_one(compensated: str) -> None:
    """Of 4,096 numbers like 1 + 2^-12, the plain sum is off by far more than the compensated one."""
    random = Random(5)
    numbers = np.array([1 + random.random() / 4096 for _ in range(4096)], np.float32)[None]
    exact = sum(Fraction(float(x)) for x in numbers[0])

    def error(name: str) -> Fraction:
        result = simulate(adding(name, 4096, "last"), numbers, np.ones_like(numbers), np.float32(0))
        return abs(Fraction(float(result[0])) - exact) / exact

    assert error(compensated) <= Fraction(1, 2**23) < error("none")


@pytest.mark.slow
def test_corrections_are_scaled_before_they_are_added() -> None:
    """Terms and arrays agree where a sum outside is multiplied by 2^-11 first."""
    algorithm, _ = algorithm_named("ootomo-halfhalf,compensated=two-sum", "volta", 6)
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((20, 6)).astype(np.float32) for _ in "ab")
    c = rng.standard_normal(20).astype(np.float32)
    results = simulate(algorithm, a, b, c).view(np.uint32)
    for row in range(20):
        words = {
            f"{side}{n}": int(x[row].view(np.uint32)[n]) for side, x in (("a", a), ("b", b)) for n in range(6)
        }
        (word,) = evaluate([algorithm.trace.output], words | {"c": int(c.view(np.uint32)[row])})
        assert word == int(results[row])
