"""``tcsmt.accuracy.recipes``: algorithms by name, with their sources."""

from __future__ import annotations

from tcsmt import accuracy
from tcsmt.compose.recipes.emulation.named import EMULATIONS
from tcsmt.compose.recipes.named import RECIPES


def test_every_algorithm_has_a_title_and_a_source() -> None:
    recipes = accuracy.recipes()
    assert [*recipes] == [*RECIPES, *EMULATIONS] == [*recipes.sources]
    assert all(recipes.values()) and all(recipes.sources.values())
    text = str(recipes)
    assert all(title in text and recipes.sources[name] in text for name, title in recipes.items())
    fma = {"name": "fp32-fma", "title": recipes["fp32-fma"], "source": "IEEE 754-2019"}
    assert fma in recipes.as_json()["algorithms"]
    assert repr(recipes) == f"<Recipes of {len(recipes)} algorithms>"
