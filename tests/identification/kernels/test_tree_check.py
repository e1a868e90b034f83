"""Trees held against results: what is counted, what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcsmt.identification.kernels.tree import Arithmetic, SumTree
from tcsmt.identification.kernels.tree_check import Summed, first_fitting, held_against, repeats, why_not
from tcsmt.identification.kernels.tree_order import MatrixProduct
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tests.support.libraries import AnyOrder, backwards, single, truncated

F32 = FORMATS["f32"]
FORWARD = SumTree(((0, 1), (2,), (3,), (4,)), Arithmetic(F32, F32))
BACKWARD = SumTree(((4, 3), (2,), (1,), (0,)), Arithmetic(F32, F32))
SHAPE = (3, 2)
ALL = np.ones(SHAPE, bool)


def product_of(multiply: Any) -> MatrixProduct:
    product = MatrixProduct(multiply, F32, 5, SHAPE)
    repeats(product, 0)  # its format is known then
    return product


def test_every_element_of_every_product_is_compared() -> None:
    done: list[int] = []
    (held,) = held_against(product_of(single), [Summed(ALL, FORWARD)], 250, 3, done.append)
    assert (held.products, held.elements, held.differing, held.first) == (250, 1500, 0, None)
    assert done[-1] == 250


def test_parts_are_compared_with_their_own_trees() -> None:
    def multiply(a: Any, b: Any) -> Any:
        found = single(a, b)
        found[1] = backwards(a, b)[1]
        return found

    own = np.zeros(SHAPE, bool)
    own[1] = True
    right = [Summed(~own, FORWARD), Summed(own, BACKWARD)]
    assert [(one.elements, one.differing) for one in held_against(product_of(multiply), right, 50, 0)] == [
        (200, 0), (100, 0),
    ]  # fmt: skip
    (one,) = held_against(product_of(multiply), [Summed(ALL, FORWARD)], 50, 0)
    assert 0 < one.differing < 100
    assert one.first is not None
    _, place, ours, theirs = one.first
    assert place[0] == 1 and ours != theirs


def test_the_first_tree_that_fits() -> None:
    product = product_of(backwards)
    assert first_fitting(product, [FORWARD, BACKWARD], ALL, 1) == BACKWARD
    assert first_fitting(product, [FORWARD], ALL, 1) is None


def test_functions_that_change_are_noticed() -> None:
    assert repeats(product_of(single), 0)
    assert not repeats(MatrixProduct(AnyOrder(), F32, 5, SHAPE), 0)


@pytest.mark.parametrize(("multiply", "said"), [
    (backwards, "the order depends on data, as"), (truncated, "rounded in a way that a tree cannot state"),
])  # fmt: skip
def test_differing_elements_are_reported_with_the_reason(multiply: Any, said: str) -> None:
    product, part = product_of(multiply), Summed(ALL, FORWARD)
    (held,) = held_against(product, [part], 200, 5)
    text = why_not(product, part, held, 5)
    assert said in text and f"{held.differing} of 1200 elements differ" in text
    assert held.first is not None
    assert f"D[{held.first[1][0]}, {held.first[1][1]}] of random product {held.first[0] + 1} is 0x" in text
