"""An algorithm without its unit, and what can be changed in it by a name such as ``markidis,split=RTZ``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tcsmt.compose.recipes.algorithm import Algorithm, Sum
from tcsmt.compose.recipes.split import F32, Split
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.arithmetic.rounding import rounding_named
from tcsmt.matrix_units.models import IeeeDotAdd, Model
from tcsmt.support.errors import TcsmtError, choose

__all__ = ["INSTRUCTION", "PARAMETERS", "Recipe", "whole_number"]

#: As ``Sum.every``: as many products as one instruction takes.
INSTRUCTION = -1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """An algorithm without its unit. Fields as in :class:`Algorithm` and :class:`Sum`.

    ordinary: it runs on ordinary cores, by binary32 fused multiply-adds, whatever the unit.
    """

    name: str
    title: str
    source: str
    split: Split
    sums: tuple[Sum, ...]
    interleaved: bool = True
    c_enters: str = "unit"
    rounding: str = "RNE"
    ordinary: bool = False

    def on(self, unit: Model, k: int) -> Algorithm:
        """The algorithm on a unit, for dot products of k. Raises :class:`.TcsmtError`."""
        unit = _ORDINARY if self.ordinary else unit
        sums = tuple(replace(s, every=unit.k) if s.every == INSTRUCTION else s for s in self.sums)
        return Algorithm(
            k=k, unit=unit, split=self.split, sums=sums, interleaved=self.interleaved,
            c_enters=self.c_enters, rounding=rounding_named(self.rounding),
        )  # fmt: skip


def whole_number(name: str, text: str, least: int) -> int:
    """The number in a text. Raises :class:`.TcsmtError` for what is none, or is less than ``least``."""
    if not text.isdecimal() or int(text) < least:
        raise TcsmtError(f"{name} = {text!r}: must be an integer, {least} or more")
    return int(text)


_ORDINARY = IeeeDotAdd.of(
    a_format=F32, b_format=F32, c_format=F32, d_format=F32, k=1, method="fma", sum_format=F32
)


def _yes(text: str) -> bool:
    return choose("interleaved", text, ("yes", "no")) == "yes"


def _on_sums(recipe: Recipe, change: Callable[[Sum], Sum]) -> Recipe:
    return replace(recipe, sums=tuple(map(change, recipe.sums)))


def _order(recipe: Recipe, text: str) -> Recipe:
    if choose("order", text, ("written", "reversed")) == "written":
        return recipe
    return _on_sums(recipe, lambda s: replace(s, products=s.products[::-1]))


def _every(recipe: Recipe, text: str) -> Recipe:
    number = INSTRUCTION if text == "instruction" else whole_number("every", text, 0)
    first, *others = recipe.sums
    return replace(recipe, sums=(replace(first, every=number), *others))


def _on_split(recipe: Recipe, **changes: object) -> Recipe:
    return replace(recipe, split=replace(recipe.split, **changes))  # type: ignore[arg-type]


#: What can be changed in an algorithm's name, ``markidis,split=RTZ,c=last``.
PARAMETERS: Mapping[str, Callable[[Recipe, str], Recipe]] = {
    "format": lambda r, t: _on_split(r, format=format_named(t)),
    "split": lambda r, t: _on_split(r, rounding=rounding_named(t)),
    "residual": lambda r, t: _on_split(r, residual=rounding_named(t)),
    "scale": lambda r, t: _on_split(r, scale=whole_number("scale", t, 0)),
    "order": _order,
    "every": _every,
    "interleaved": lambda r, t: replace(r, interleaved=_yes(t)),
    "c": lambda r, t: replace(r, c_enters=choose("c", t, ("unit", "first", "last"))),
    "outside": lambda r, t: replace(r, rounding=rounding_named(t).name),
}
