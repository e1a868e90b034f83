"""Emulations without their unit: products in order, moduli, parameters."""

from __future__ import annotations

import pytest

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.recipes.emulation.named import EMULATIONS, emulation_recipe
from tcsmt.programs.recipes.emulation.recipe import ResiduesRecipe, SlicesRecipe
from tcsmt.support.errors import TcsmtError


def test_products() -> None:
    triangle, square, reverse = (
        emulation_recipe(f"ozaki1-int8,slices=3{more}") for more in ("", ",products=all", ",order=reversed")
    )
    assert isinstance(triangle, SlicesRecipe)
    assert triangle.pairs == ((0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0))
    assert isinstance(square, SlicesRecipe)
    assert len(square.pairs) == 9
    assert isinstance(reverse, SlicesRecipe)
    assert reverse.pairs == triangle.pairs[::-1]


def test_moduli_that_a_format_has_residues_for() -> None:
    whole = {name: one.largest for name, one in EMULATIONS.items() if isinstance(one, ResiduesRecipe)}
    assert whole == {"ozaki2-int8": 256, "ozaki2-e4m3": 1056}
    assert emulation_recipe("ozaki2-e4m3,base=0").largest == 33  # type: ignore[attr-defined]
    with pytest.raises(TcsmtError, match="base = 3: must be 0, or even"):
        emulation_recipe("ozaki2-int8,base=3").on(row_named("turing/mma.m8n8k16.s32.s8.s8.s32").model)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ozaki1-int8,slices=x", "slices = 'x': must be an integer, 1 or more"),
        ("ozaki1-int8,slice=3", "unknown parameter of an emulation 'slice'"),
        ("ozaki2-int8,slices=3", "unknown parameter of an emulation 'slices'"),
        ("ozaki1-int8,products=some", "unknown products 'some'"),
        ("ozaki1-int8,split=RNA", "unknown split 'RNA'"),
    ],
)
def test_errors(name: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        emulation_recipe(name)
