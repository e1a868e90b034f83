"""A flat table and closed alternatives, on a composition of the test's own."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, TypeAlias

import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd
from tcsmt.matrix_units.models.base import Parameters, choice, number
from tcsmt.matrix_units.models.composition import GIVEN, composed, flattened, part
from tcsmt.matrix_units.models.ieee_parts import Chains, ExactProducts
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast


@dataclass(frozen=True, kw_only=True)
class Table(Parameters):
    """What an oven is given."""

    weight: int
    method: str = choice("bake", "grill")
    minutes: int = number(0, 60, default=20)
    side: int | None = number(1, 2, default=None)
    steam: int | None = number(1, 9, default=None)


@part({"steam": GIVEN})
class Steamed:
    """With water."""

    steam: int


@part({})
class Dry:
    """Without."""


Air: TypeAlias = Steamed | Dry


@part({"method": "grill"})
class Grill:
    """From above, on one side."""

    side: int | None


@part({"method": "bake"})
class Bake:
    """In hot air."""

    minutes: int
    air: Air


Heat: TypeAlias = Grill | Bake


@dataclass(frozen=True, kw_only=True)
class Dish:
    """The whole."""

    weight: int
    heat: Heat


def test_values_choose_their_parts() -> None:
    assert composed(Dish, Table(weight=3)) == Dish(weight=3, heat=Bake(minutes=20, air=Dry()))
    assert composed(Dish, Table(weight=3, steam=2)).heat == Bake(minutes=20, air=Steamed(steam=2))
    assert composed(Dish, Table(weight=3, method="grill", side=2)).heat == Grill(side=2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": "grill", "minutes": 5}, "minutes = 5: must be 20 when method = grill"),
        ({"method": "grill", "steam": 5}, "steam = 5: must be None when method = grill"),
        ({"side": 1}, "side = 1: must be None when method = bake"),
    ],
)
def test_values_without_a_place_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(TcsmtError, match=f"^{message}$"):
        composed(Dish, Table(weight=1, **values))


def test_what_is_accepted_is_read_back() -> None:
    accepted = 0
    for method, minutes, side, steam in product(("bake", "grill"), (0, 20), (None, 1), (None, 1)):
        table = Table(weight=1, method=method, minutes=minutes, side=side, steam=steam)
        try:
            dish = composed(Dish, table)
        except TcsmtError:
            continue
        accepted += 1
        assert Table(**flattened(dish, Table)) == table
    assert accepted == 6


@part({"steam": GIVEN})
class Kettle:
    """What only steamed dishes go into."""

    steam: int


@part({"weight": GIVEN})
class Steamer:
    """A whole whose only part needs a value."""

    weight: int
    kettle: Kettle


def test_a_part_without_an_alternative_asks_for_what_it_needs() -> None:
    with pytest.raises(TcsmtError, match=r"steam = None: .*weight = 1"):
        composed(Steamer, Table(weight=1))


def test_parts_are_frozen_and_named() -> None:
    assert [f.name for f in fields(Bake)] == ["minutes", "air"]
    with pytest.raises(AttributeError):
        Grill(side=None).side = 2  # type: ignore[misc]


def test_a_model_of_parts_that_its_values_do_not_choose_is_refused() -> None:
    """One chain from +0 is another function than a chain from c, and their parameters are the same ones."""
    fma = IeeeDotAdd.of(
        **{f"{name}_format": "f32" for name in ("a", "b", "c", "d", "sum")}, k=2, method="fma"
    )
    with pytest.raises(TcsmtError, match="its parameters stand for other parts"):
        replace(fma, sum=Chains(products=ExactProducts(), chains=1))


def test_parts_are_held_to_declared_ranges() -> None:
    unit = checked_cast(row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model, FusedDotAdd)
    with pytest.raises(TcsmtError, match="fraction_bits = 5000: must be from 1 to 1024"):
        replace(unit, sum=replace(unit.sum, fraction_bits=5000))
