"""An emulation without its unit, and what can be changed in it by a name such as ``ozaki1-int8,slices=7``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, format_named
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, rounding_named
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.emulation.schemes import (
    Emulation,
    Residues,
    Slices,
    moduli,
)
from tcsmt.programs.recipes.recipe import pairs_of, pairs_text, whole_number
from tcsmt.programs.steps.digits import residue_range
from tcsmt.programs.steps.slicing import Slicing, has_integers
from tcsmt.support.errors import TcsmtError, choose

#: No modulus is larger.
_LARGEST_MODULUS = 1 << 12


@dataclass(frozen=True, kw_only=True)
class EmulationRecipe:
    """The fields of both kinds. format: of the unit's operands. every: as in :class:`.Emulation`."""

    name: str
    title: str
    source: str
    format: AnyFormat
    every: int = 0

    #: What can be changed: a parameter's name, and how its text changes a recipe.
    parameters: ClassVar[Mapping[str, Callable[[Any, str], Any]]]

    def on(self, unit: Model) -> Emulation:
        """Return the emulation on a unit. Raises :class:`.TcsmtError`."""
        raise NotImplementedError

    def takes(self, unit: Model) -> bool:
        """Return whether a unit has operands of the format, and results that it can go on from."""
        narrow = unit.a_format == unit.b_format == self.format and unit.scale_format is None
        has_32_bits = unit.c_format == unit.d_format and unit.d_format.width == 32
        return narrow and has_32_bits

    def written_out(self) -> str:
        """Return the name that says all of it: that of an emulation of its kind, and every parameter."""
        raise NotImplementedError

    def changed(self, parameter: str, text: str) -> Any:
        """Return it with one parameter changed. Raises :class:`.TcsmtError`."""
        change = self.parameters[choose("parameter of an emulation", parameter, self.parameters)]
        return change(self, text)


def _set(field: str, least: int, name: str = "") -> Callable[[Any, str], Any]:
    return lambda recipe, text: replace(recipe, **{field: whole_number(name or field, text, least)})


_COMMON: Mapping[str, Callable[[Any, str], Any]] = {
    "format": lambda recipe, text: replace(recipe, format=format_named(text)),
    "every": _set("every", 0),
}


@dataclass(frozen=True, kw_only=True)
class SlicesRecipe(EmulationRecipe):
    """Ozaki's scheme I. Fields as in :class:`.Slicing`.

    products: ``triangle``, the larger ones, whose digits' places add up to the number of slices plus 1 at
    most; ``all``; or pairs of digits from 0. reversed: the smallest are added first.
    """

    bits: int
    slices: int
    rounding: str = "RTZ"
    products: str | tuple[tuple[int, int], ...] = "triangle"
    reversed: bool = False

    parameters: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {
        **_COMMON,
        "slices": _set("slices", 1),
        "bits": _set("bits", 1),
        "split": lambda recipe, text: replace(
            recipe, rounding=choose("split", rounding_named(text).name, ("RTZ", "RNE"))
        ),
        "products": lambda recipe, text: replace(recipe, products=recipe.products_of(text)),
        "order": lambda recipe, text: replace(
            recipe, reversed=choose("order", text, ("written", "reversed")) == "reversed"
        ),
    }

    def products_of(self, text: str) -> str | tuple[tuple[int, int], ...]:
        """``triangle``, ``all``, or digits' numbers, ``0.0+1.0``. Raises :class:`.TcsmtError`."""
        if "." in text:
            return pairs_of("products", text, self.slices)
        return choose("products", text, ("triangle", "all"))

    def written_out(self) -> str:
        """Return the text of scheme I on INT8, with every parameter changed to this one's."""
        products = self.products if isinstance(self.products, str) else pairs_text(self.products)
        return (
            f"ozaki1-int8,format={self.format.name},every={self.every},slices={self.slices},bits={self.bits},"
            f"split={self.rounding},products={products},order={'reversed' if self.reversed else 'written'}"
        )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the products, in the order in which they are computed."""
        pairs = self.products
        if isinstance(pairs, str):
            most = self.slices - 1 if pairs == "triangle" else 2 * self.slices
            every = [(i, j) for i in range(self.slices) for j in range(self.slices) if i + j <= most]
            pairs = tuple(sorted(every, key=lambda pair: (sum(pair), pair)))
        return pairs[::-1] if self.reversed else pairs

    def on(self, unit: Model) -> Slices:
        """Return the emulation on a unit. Raises :class:`.TcsmtError`."""
        cut = Slicing(bits=self.bits, count=self.slices, rounding=ROUNDINGS[self.rounding])
        return Slices(unit=unit, every=self.every, cut=cut, products=self.pairs)


@dataclass(frozen=True, kw_only=True)
class ResiduesRecipe(EmulationRecipe):
    """Ozaki's scheme II. moduli: how many; the largest that the format has residues for. Others as in
    :class:`.Residues`.
    """

    moduli: int
    base: int = 0
    bits: int = 0

    parameters: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = {
        **_COMMON,
        "moduli": _set("moduli", 1),
        "base": _set("base", 0),
        "bits": _set("bits", 0),
    }

    def written_out(self) -> str:
        """Return the text of scheme II on INT8, with every parameter changed to this one's."""
        return (
            f"ozaki2-int8,format={self.format.name},every={self.every},moduli={self.moduli},"
            f"base={self.base},bits={self.bits}"
        )

    @property
    def largest(self) -> int:
        """Return the largest modulus whose residues, or their digits, the format has."""
        if self.base == 1 or self.base % 2:
            raise TcsmtError(f"base = {self.base}: must be 0, or even")
        moduli = (
            modulus
            for modulus in range(_LARGEST_MODULUS, 1, -1)
            if has_integers(self.format, *residue_range(modulus, self.base))
        )
        largest = next(moduli, 0)
        if not largest:
            raise TcsmtError(f"base = {self.base}: {self.format.name} does not have the residues' digits")
        return largest

    def on(self, unit: Model) -> Residues:
        """Return the emulation on a unit. Raises :class:`.TcsmtError`."""
        chosen = moduli(self.moduli, self.largest)
        return Residues(unit=unit, every=self.every, moduli=chosen, base=self.base, bits=self.bits)
