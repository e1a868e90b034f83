"""Recipes by name."""

from __future__ import annotations

import pytest

from tcsmt.programs.quantisation.recipe import RECIPES, recipe_named
from tcsmt.support.errors import TcsmtError


def test_names_and_sources() -> None:
    names = "bf16 fp16 tf32 fp8-tensor fp8-row fp8-block fp8-block-torchao mxfp8 mxfp8-up mxfp4 nvfp4"
    assert list(RECIPES) == names.split()
    assert all(
        recipe.source and recipe.title and recipe_named(name) is recipe for name, recipe in RECIPES.items()
    )
    with pytest.raises(TcsmtError, match=r"fp8-raw.*did you mean fp8-row"):
        recipe_named("fp8-raw")


def test_roles() -> None:
    """Gradients in E5M2 where one scale is of a tensor; weights in blocks of rows."""
    tensor, block = RECIPES["fp8-tensor"], RECIPES["fp8-block"]
    assert [tensor.formats_of(role)[0] for role in ("activation", "weight", "gradient")] == [
        "e4m3",
        "e4m3",
        "e5m2",
    ]
    rows = [block.scales_of(role) for role in ("activation", "weight", "gradient")]
    assert [rule.rows for rule in rows if rule] == [1, 128, 1]
    assert RECIPES["mxfp8"].block_scales == "ue8m0" and block.block_scales is None
