"""What compensated sums lose: never more than the limits say, in formats of a few bits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from tcsmt.analysis.bounds.compensated import CompensatedSum
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.compose.recipes.running_sum import COMPENSATIONS, RunningSum
from tcsmt.matrix_units.models import Kind
from tests.oracles.rationals import rounded


class Outside:
    """Additions of numbers of a few bits, without an end of the exponents; what is rounded is kept."""

    def __init__(self, precision: int, mode: str) -> None:
        self.precision, self.mode = precision, mode
        self.largest = Fraction(0)

    def plus(self, x: Fraction, shift: int, y: Fraction) -> Fraction:
        result = rounded(x / 2**shift + y, self.precision, -200, self.mode)
        self.largest = max(self.largest, abs(result))
        return result

    def negated(self, x: Fraction) -> Fraction:
        return -x

    def seen(self, kind: Kind, number: int | None, word: Fraction) -> Fraction:
        return word


def summed(compensated: str, numbers: list[Fraction], outside: Outside) -> Fraction:
    total: RunningSum[Fraction] = RunningSum(compensated, outside, Fraction(0))
    for number, x in enumerate(numbers):
        total.add(x, 0, number)
    return total.result()


def worst(
    random: Random,
    numbers: list[Fraction],
    lost: Callable[[list[Fraction]], Fraction],
    draw: Callable[[], Fraction],
) -> list[Fraction]:
    """Numbers with a large loss, by changing one after the other."""
    best = lost(numbers)
    for _ in range(60):
        place = random.randrange(len(numbers))
        other = [*numbers[:place], draw(), *numbers[place + 1 :]]
        if lost(other) >= best:
            numbers, best = other, lost(other)
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["RNE", "RTZ"])
@pytest.mark.parametrize("compensated", COMPENSATIONS)
def test_no_sum_loses_more(compensated: str, mode: str) -> None:
    """Sums of numbers of 6 to 9 bits, drawn and made worse by a search; the limits are not far off."""
    if mode != "RNE" and COMPENSATIONS[compensated].exact_error:
        pytest.skip("TwoSum is exact to nearest alone; the budget refuses it otherwise")
    random = Random(7)
    largest = Fraction(0)
    for _ in range(60):
        precision, count = random.randint(6, 9), random.randint(2, 8)
        share = Fraction(1, 2) if mode == "RNE" else Fraction(1)
        u = share / 2 ** (precision - 1)

        def draw(precision: int = precision) -> Fraction:
            digits = random.choice(
                [random.randrange(1 << precision), 1 << (precision - 1), (1 << precision) - 1]
            )
            return Fraction(random.choice([-1, 1]) * digits) * Fraction(2) ** random.randint(-8, 8)

        def lost(numbers: list[Fraction], precision: int = precision) -> Fraction:
            size = sum(map(abs, numbers))
            result = summed(compensated, numbers, Outside(precision, mode))
            return abs(result - sum(numbers)) / size if size else Fraction(0)

        numbers = worst(random, [draw() for _ in range(count)], lost, draw)
        limit = CompensatedSum(u=u, size=Fraction(1), count=count - 1, scaling=Fraction(0))
        bound = limit.lost(compensated)
        assert lost(numbers) <= bound
        largest = max(largest, lost(numbers) / bound)
        outside = Outside(precision, mode)
        summed(compensated, numbers, outside)
        assert outside.largest <= limit.reach(compensated) * sum(map(abs, numbers))
    assert largest > Fraction(1, 8)


@pytest.mark.parametrize("fault", ["half", "no error", "count"])
def test_limits_that_are_too_small_are_exceeded(fault: str) -> None:
    """The search above finds sums beyond limits that leave a rounding out: it can fail."""
    numbers = [Fraction(1)] + [Fraction(1, 2**6) * Fraction(33, 32)] * 8
    u = Fraction(1, 2**6)
    wrong = {"half": u / 4, "no error": u / 8, "count": u / 8}[fault]
    limit = CompensatedSum(u=wrong, size=Fraction(1), count=0 if fault == "count" else 8, scaling=Fraction(0))
    lost = abs(summed("none", numbers, Outside(6, "RNE")) - sum(numbers)) / sum(numbers)
    assert lost > limit.lost("two-sum")


@pytest.mark.slow
def test_two_sum_is_exact_to_nearest() -> None:
    """Every pair of numbers of 4 bits whose exponents differ by up to 7; toward zero it is not."""
    sizes = [Fraction(m) * Fraction(2) ** e for m in range(8, 16) for e in range(8)] + [Fraction(0)]
    exact = {"RNE": True, "RTZ": True}
    for x, y in product(sizes, [*sizes, *(-y for y in sizes)]):
        for mode in exact:
            outside = Outside(4, mode)
            total: RunningSum[Fraction] = RunningSum("two-sum", outside, Fraction(0), x)
            total.add(y, 0, 0)
            assert total.total is not None and total.error is not None
            exact[mode] &= total.total + total.error == x + y
    assert exact == {"RNE": True, "RTZ": False}


def test_too_many_summands_have_no_limits() -> None:
    summed_up = CompensatedSum(u=Fraction(1, 16), size=Fraction(1), count=5, scaling=Fraction(0))
    with pytest.raises(Unbounded, match="5 summands outside the unit"):
        summed_up.limits("kahan")
