"""The order of sums of IEEE dot products, on carriers of the tests' own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.matrix_units.models.ieee_schedule import IeeeSchedule


class Texts:
    """Steps whose results are expressions."""

    c, zero = "c", "0"

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
    ("schedule", "text"),
    [
        (IeeeSchedule("fma"), "((((c+p0)+p1)+p2)+p3)"),
        (IeeeSchedule("sequential", c_first=False), "((((p0+p1)+p2)+p3)+c)"),
        (IeeeSchedule("fma", chains=2), "(c+(((0+p0)+p2)+((0+p1)+p3)))"),
        (IeeeSchedule("pairwise"), "(((p0+p1)+(p2+p3))+c)"),
        (IeeeSchedule("pairwise", n_fma=2), "((p2+p3)+((p0+p1)+c))"),
        (IeeeSchedule("exact"), "[p0+p1+p2+p3+c]"),
        (IeeeSchedule("exact", n_fma=2), "[p2+p3+[p0+p1+c]]"),
        (IeeeSchedule("exact", n_fma=2, c_first=False), "((c+[p0+p1])+[p2+p3])"),
    ],
)
def test_sums_are_in_the_order_that_the_method_says(schedule, text):
    assert schedule.run(Texts(4)) == text


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
    method = data.draw(st.sampled_from(("sequential", "fma", "pairwise", "exact")))
    chains = data.draw(st.sampled_from((1, size))) if method == "fma" else 1
    numbers = data.draw(
        st.lists(st.integers(-(10**6), 10**6), min_size=size * blocks, max_size=size * blocks)
    )
    noted = Noted(numbers, data.draw(st.integers(-(10**6), 10**6)))
    n_fma = size if method in ("pairwise", "exact") else None
    schedule = IeeeSchedule(method, n_fma=n_fma, chains=chains, c_first=data.draw(st.booleans()))
    assert schedule.run(noted) == sum(numbers) + noted.c
    assert len(set(noted.places)) == len(noted.places)
