"""What is tried to make a witness of integers simpler."""

from __future__ import annotations

import pytest

from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS, IntegerFormat
from tcsmt.prove.engine.simpler_integers import integer_cost, scaled_integer, simpler_integers
from tests.oracles import integers

S4, U4 = INTEGERS["s4"], INTEGERS["u4"]
Q5 = IntegerFormat(name="q5", bits=5, fraction_bits=2)


@pytest.mark.parametrize("fmt", [S4, U4, Q5], ids=lambda fmt: fmt.name)
def test_only_words_are_tried_and_every_number_gets_to_one(fmt: IntegerFormat) -> None:
    for word in integers.words(fmt):
        reached, todo = set(), {word}
        while todo:
            one = todo.pop()
            reached.add(one)
            tried = set(simpler_integers(fmt, one))
            assert tried <= set(integers.words(fmt))
            todo |= {other for other in tried if integer_cost(fmt, other) < integer_cost(fmt, one)} - reached
        assert word == 0 or 1 in reached


def test_costs_are_in_the_order_of_simplicity() -> None:
    order = [0, 1, 0xF, 2, 4, 0x8, 3, 6, 5, 7]  # 0, 1, -1, 2, 4, -8, 3, 6, 5, 7
    costs = [integer_cost(S4, word) for word in order]
    assert costs == sorted(costs)
    assert integer_cost(S4, 0) < integer_cost(S4, 1)


@pytest.mark.parametrize("fmt", [S4, U4, Q5], ids=lambda fmt: fmt.name)
def test_scaled(fmt: IntegerFormat) -> None:
    every = {integers.count(fmt, word): word for word in integers.words(fmt)}
    for word in integers.words(fmt):
        for step in range(-6, 7):
            number = integers.count(fmt, word) * 2**step
            assert scaled_integer(fmt, word, step) == every.get(number), (word, step)
