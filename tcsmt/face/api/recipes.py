"""The algorithms and emulations that have a name: ``tcsmt.accuracy.recipes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tcsmt.compose.recipes.emulation.named import EMULATIONS
from tcsmt.compose.recipes.named import RECIPES
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result

__all__ = ["Recipes", "recipes"]


class Recipes(Result, dict[str, str]):
    """What each algorithm does, by its name; print it, with the sources."""

    @property
    def sources(self) -> dict[str, str]:
        """Where each algorithm comes from."""
        return {name: (RECIPES.get(name) or EMULATIONS[name]).source for name in self}

    def _facts(self) -> dict[str, Any]:
        sources = self.sources
        return {
            "algorithms": [
                {"name": name, "title": title, "source": sources[name]} for name, title in self.items()
            ]
        }

    def _lines(self) -> Iterator[str]:
        sources = self.sources
        for name, title in self.items():
            yield f"{name:<20} {title}"
            yield f"{'':<20} {sources[name]}"

    @property
    def _title(self) -> str:
        return f"of {len(self)} algorithms"


@ieee_floats
def recipes() -> Recipes:
    """Return the algorithms by name, each with what it does; ``NAME,PARAMETER=VALUE,...`` changes one.

    >>> import tcsmt
    >>> tcsmt.accuracy.recipes()["ozaki1-int8"]
    'binary64 by 8 s8 slices of 7 bits, toward zero'
    """
    titles = {recipe.name: recipe.title for recipe in RECIPES.values()}
    return Recipes(titles | {recipe.name: recipe.title for recipe in EMULATIONS.values()})
