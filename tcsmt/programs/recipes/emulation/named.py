"""The emulations of binary64 by name, as data; and files that change one.

What published codes do otherwise: ozIMMU's users choose the number of slices (3 to 18; its automatic mode
looks at the matrices). Mukunoki et al. choose the bits of a digit by K; ``every`` is here instead, so that
one setting is exact at any K. GEMMul8 scales rows and columns by estimates of their norms, and evaluates the
Chinese remainder theorem in binary64; here every row gets the bits that the largest numbers allow, and the
integer is exact.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, format_named
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.row import by_use
from tcsmt.matrix_units.resolve import none_fits, resolve
from tcsmt.programs.recipes.emulation.recipe import EmulationRecipe, ResiduesRecipe, SlicesRecipe
from tcsmt.programs.recipes.emulation.schemes import Emulation
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.toml_files import TomlFile, read_toml, shown_value

_OZIMMU = "Ootomo, Ozaki and Yokota 2024 (ozIMMU)"
_MUKUNOKI = "Mukunoki, Ozaki, Ogita and Imamura 2020"
_FP8 = "Mukunoki 2025 (FP8); bits and promotion as proved here"
_SCHEME_2 = "Ozaki, Uchino and Imamura 2025 (GEMMul8)"


def _slices(name: str, fmt: AnyFormat, source: str, **parameters: Any) -> SlicesRecipe:
    rounding, bits, slices = (parameters[key] for key in ("rounding", "bits", "slices"))
    how = "to nearest" if ROUNDINGS[rounding].nearest else "toward zero"
    title = f"binary64 by {slices} {fmt.name} slices of {bits} bits, {how}"
    return SlicesRecipe(name=name, title=title, source=source, format=fmt, **parameters)


EMULATIONS: dict[str, EmulationRecipe] = {
    one.name: one
    for one in (
        _slices("ozaki1-int8", format_named("s8"), _OZIMMU, bits=7, slices=8, rounding="RTZ"),
        *(
            _slices(
                f"ozaki1-{name}", format_named(name), _MUKUNOKI, bits=8, slices=7, rounding="RNE", every=1024
            )
            for name in ("f16", "bf16")
        ),
        _slices("ozaki1-e4m3", format_named("e4m3"), _FP8, bits=5, slices=11, rounding="RNE", every=64),
        ResiduesRecipe(
            name="ozaki2-int8", title="binary64 by residues modulo 15 numbers up to 256", source=_SCHEME_2,
            format=format_named("s8"), moduli=15,
        ),
        ResiduesRecipe(
            name="ozaki2-e4m3", title="binary64 by residues modulo 12 numbers up to 1056, of two digits each",
            source=_SCHEME_2, format=format_named("e4m3"), moduli=12, base=32, every=64,
        ),
    )
}  # fmt: skip

_ABOUT = ("base", "title", "source")


def is_emulation(text: str) -> bool:
    """Return whether a name, or a file, means an emulation of binary64."""
    name = text.partition(",")[0]
    if not name.lower().endswith(".toml"):
        return name.lower() in EMULATIONS
    return str(read_toml(Path(name))[1].get("base", "")).lower() in EMULATIONS


def emulation_recipe(text: str) -> EmulationRecipe:
    """Return the emulation ``NAME`` or ``NAME,PARAMETER=VALUE,...``; NAME may be a file.

    Raises :class:`.TcsmtError`.
    """
    name, *changes = text.split(",")
    if name.lower().endswith(".toml"):
        recipe = _read(Path(name))
    elif name.lower() in EMULATIONS:
        recipe = EMULATIONS[name.lower()]
    else:
        raise UnknownName("emulation", name, EMULATIONS, "tcsmt accuracy algorithms")
    for change in changes:
        parameter, _, value = change.partition("=")
        recipe = recipe.changed(parameter, value)
    return replace(recipe, name=text) if changes else recipe


def units_for(recipe: EmulationRecipe, unit: str | Row) -> list[Row]:
    """Return the rows that ``unit`` means and that can run it, what GEMM libraries use first."""
    rows = resolve(unit).units if isinstance(unit, str) else [unit]
    return by_use(row for row in rows if recipe.takes(row.model))


def emulation_named(name: str, unit: str | Row) -> tuple[Emulation, Row]:
    """Return the emulation on ``ARCH``'s first unit that can run it, or on ``ARCH/INSTRUCTION``, and that
    unit.

    Raises :class:`.TcsmtError`.
    """
    recipe = emulation_recipe(name)
    rows = units_for(recipe, unit)
    if not rows:
        raise none_fits(name, unit, f"from {recipe.format.name} to 32 bits that can be chained")
    return recipe.on(rows[0].model), rows[0]


def _read(path: Path) -> EmulationRecipe:
    """A file: base = NAME, and the parameters of names; ``products`` may be pairs of slices."""
    file = TomlFile(path, *read_toml(path))
    table = file.given
    base = str(table.get("base", ""))
    if base.lower() not in EMULATIONS:
        raise file.error("base", str(UnknownName("emulation", base, EMULATIONS, "tcsmt accuracy algorithms")))
    recipe: Any = EMULATIONS[base.lower()]
    for key, value in table.items():
        if key not in (*_ABOUT, *recipe.parameters):
            allowed = [*_ABOUT, *recipe.parameters]
            raise file.error(key, str(UnknownName("key of an emulation", key, allowed)))
        if key in ("title", "source"):
            recipe = replace(recipe, **{key: file.text(key)})
        elif key == "products" and isinstance(value, list):
            fine = bool(value) and all(
                isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair)
                for pair in value
            )
            if not fine:
                raise file.error(
                    key, f"products = {shown_value(value)}: must be pairs [slice of a, slice of b]"
                )
            recipe = replace(recipe, products=tuple((i, j) for i, j in value))
        elif key != "base":
            if isinstance(value, bool) or not isinstance(value, (int, str)):
                raise file.error(key, f"{key} = {shown_value(value)}: must be a number or a name")
            try:
                recipe = recipe.changed(key, str(value))
            except TcsmtError as why:
                raise file.error(key, str(why)) from None
    result: EmulationRecipe = replace(recipe, name=str(path))
    return result
