"""The order of sums of IEEE dot products, on carriers of the tests' own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import IeeeDotAdd, IeeeParameters
from tcsmt.matrix_units.models.ieee_parts import (
    Chains,
    ExactProducts,
    ExactSums,
    FusedChain,
    InTurn,
    RoundedProducts,
    Trees,
)
from tcsmt.support.errors import TcsmtError

F32 = {f"{name}_format": "f32" for name in ("a", "b", "c", "d", "sum")}


def test_a_list_of_lanes_becomes_a_tuple() -> None:
    table = IeeeParameters(**F32, k=2, order=[1, 0])
    assert table.order == (1, 0)


def test_a_unit_has_them_all() -> None:
    unit = IeeeDotAdd.of(**F32, k=4, method="fma", chains=2)
    assert isinstance(unit.parameters, IeeeParameters)
    assert (unit.parameters.method, unit.parameters.chains, unit.parameters.c_first) == ("fma", 2, True)
    assert IeeeDotAdd.of(**vars(unit.parameters)) == unit


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"chains": 2}, "chains = 2: must be 1 when"),
        ({"method": "fma", "n_fma": 2}, "n_fma = 2: must be None when method = fma"),
        ({"method": "fma", "product_format": "f32"}, "product_format = f32: must be None when method = fma"),
        ({"negative_zero": False}, "negative_zero = False: must be True when"),
        ({"tininess": "before"}, "tininess = 'before': must be result when flush_outputs = False"),
        ({"flush_to_positive": True}, "flush_to_positive = True: must be False when"),
    ],
)
def test_what_has_no_effect_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        IeeeDotAdd.of(**F32 | {"k": 4} | values)


@pytest.mark.parametrize(
    ("method", "qualifier"),
    [("fma", {"c_first": False}), ("pairwise", {"c_first": False}), ("exact", {"product_rounding": "RTZ"})],
)
def test_what_qualifies_nothing_is_dropped(method: str, qualifier: dict[str, object]) -> None:
    """So that a change of the method need not change it, too."""
    plain = IeeeDotAdd.of(**F32, k=4, method=method)
    assert IeeeDotAdd.of(**F32 | {"k": 4, "method": method} | qualifier) == plain


EXACT = ExactProducts()
ROUNDED = RoundedProducts(product_format=FORMATS["f32"], product_rounding=ROUNDINGS["RNE"])


def exact_sums(n_fma=None, c_first=True):
    return ExactSums(products=EXACT, n_fma=n_fma, c_first=c_first, negative_zero=True)


class Texts:
    """Steps whose results are expressions."""

    c: Any = "c"
    zero: Any = "0"

    def __init__(self, k):
        self.k = k

    def products(self):
        return [f"p{lane}" for lane in range(self.k)]

    def start(self, x, place):
        return x

    def add(self, x, y, place):
        return f"({x}+{y})"

    def exact(self, products, c, place):
        return "[" + "+".join(products if c is None else [*products, c]) + "]"


@pytest.mark.parametrize(
    ("total", "text"),
    [
        (FusedChain(products=EXACT), "((((c+p0)+p1)+p2)+p3)"),
        (InTurn(products=ROUNDED, c_first=True), "((((c+p0)+p1)+p2)+p3)"),
        (InTurn(products=ROUNDED, c_first=False), "((((p0+p1)+p2)+p3)+c)"),
        (Chains(products=EXACT, chains=2), "(c+(((0+p0)+p2)+((0+p1)+p3)))"),
        (Trees(products=ROUNDED, n_fma=None), "(((p0+p1)+(p2+p3))+c)"),
        (Trees(products=EXACT, n_fma=2), "((p2+p3)+((p0+p1)+c))"),
        (exact_sums(), "[p0+p1+p2+p3+c]"),
        (exact_sums(n_fma=2), "[p2+p3+[p0+p1+c]]"),
        (exact_sums(n_fma=2, c_first=False), "((c+[p0+p1])+[p2+p3])"),
    ],
)
def test_sums_are_in_the_order_that_each_part_says(total, text):
    assert total.run(Texts(4)) == text


class Noted(Texts):
    """Steps on exact numbers, which note the places of the stages."""

    def __init__(self, numbers, c):
        self.numbers, self.c, self.zero, self.places = numbers, c, 0, []

    def products(self):
        return self.numbers

    def add(self, x, y, place):
        self.places.append(place)
        return x + y

    def exact(self, products, c, place):
        self.places.append(place)
        return sum(products) + (c or 0)


@given(st.data())
def test_every_schedule_adds_each_term_once_and_each_stage_has_a_place_of_its_own(data):
    size, blocks = data.draw(st.sampled_from((1, 2, 4, 8))), data.draw(st.integers(1, 4))
    c_first = data.draw(st.booleans())
    total = data.draw(
        st.sampled_from(
            (
                InTurn(products=ROUNDED, c_first=c_first),
                FusedChain(products=EXACT),
                Chains(products=EXACT, chains=size),
                Trees(products=ROUNDED, n_fma=size),
                exact_sums(size, c_first),
            )
        )
    )
    numbers = data.draw(
        st.lists(st.integers(-(10**6), 10**6), min_size=size * blocks, max_size=size * blocks)
    )
    noted = Noted(numbers, data.draw(st.integers(-(10**6), 10**6)))
    assert total.run(noted) == sum(numbers) + noted.c
    assert len(set(noted.places)) == len(noted.places)
