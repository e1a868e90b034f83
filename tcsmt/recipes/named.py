"""The algorithms of the literature, as data; where sources differ, a parameter says which reading it is.

Markidis and Ootomo-Yokota by the slides ("Recovering single precision accuracy from Tensor Cores",
2022) and by Valpey et al. 2025, section 6. What differs between them:

* c: Valpey et al. add it inside the unit for Markidis and, to nearest, after everything for
  Ootomo-Yokota; so do we. Ootomo and Yokota's library begins with it outside (``c=first``).
* the products A·B of Ootomo-Yokota leave the unit after each instruction (``every`` is the unit's
  K); the corrections stay inside, and are multiplied by 2^-11 once, at the end.
* the order of Markidis' four products: as in the slides, A·B first; ``order=reversed`` is the other
  way round. Each block of K sees all products (``interleaved=no``: one product after the other along
  all of K, as four calls of a GEMM do).
* CUTLASS: small·big, big·small, big·big in each block, c in the epilogue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tcsmt.arithmetic.formats import FORMATS, format_named
from tcsmt.arithmetic.rounding import ROUNDINGS, rounding_named
from tcsmt.catalogue import Row
from tcsmt.catalogue.preferred import by_use
from tcsmt.data.model_files import rows_given
from tcsmt.models import IeeeDotAdd, Model
from tcsmt.recipes.algorithm import Algorithm, Sum
from tcsmt.recipes.split import F32, Split
from tcsmt.support.errors import TcsmtError, UnknownName, choose

__all__ = ["RECIPES", "Recipe", "algorithm_named", "recipe_named", "units_for"]

OOTOMO = "Ootomo and Yokota 2022"
VALPEY = "Valpey et al. 2025, section 6"
FASI = "Fasi et al. 2023; Khattak and Mikaitis 2025, V-B"
CUTLASS = "CUTLASS, include/cutlass/gemm/warp/mma_tensor_op_fast_f32.h"

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


_ORDINARY = IeeeDotAdd(
    a_format=F32, b_format=F32, c_format=F32, d_format=F32, k=1, method="fma", sum_format=F32
)  # fmt: skip


def _one(*products: tuple[int, int], every: int = 0) -> tuple[Sum, ...]:
    return (Sum(products, every),)


def _split(name: str, words: int, **parameters: object) -> Split:
    return Split(format=FORMATS[name], words=words, **parameters)  # type: ignore[arg-type]


def _kept(words: int, most: int) -> tuple[tuple[int, int], ...]:
    """The products of words i and j with i + j at most so much, the largest first."""
    pairs = [(i, j) for i in range(words) for j in range(words) if i + j <= most]
    return tuple(sorted(pairs, key=lambda pair: (sum(pair), pair)))


_CORRECTIONS = ((1, 0), (0, 1))


def _ootomo(name: str, fmt: str, *, fourth: bool = False) -> Recipe:
    sums = (Sum(((0, 0),), every=INSTRUCTION), Sum(_CORRECTIONS), *((Sum(((1, 1),)),) if fourth else ()))
    title = f"two {fmt} words, residuals times 2^11, corrections apart, accumulated outside"
    return Recipe(
        name=name, title=title + (", with ΔA·ΔB" if fourth else ""), source=f"{OOTOMO}; {VALPEY}",
        split=_split(fmt, 2, scale=11), sums=sums, c_enters="last",
    )  # fmt: skip


def _multiword(fmt: str, words: int) -> Recipe:
    products = _kept(words, words - 1)
    return Recipe(
        name=f"fasi-{fmt}x{words}", title=f"{words} {fmt} words, {len(products)} products, all inside",
        source=FASI, split=_split(fmt, words), sums=_one(*products), interleaved=False,
    )  # fmt: skip


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        *(
            Recipe(
                name=f"single-{fmt}", title=f"one {fmt} word: the unit as it is", source=OOTOMO,
                split=_split(fmt, 1), sums=_one((0, 0)),
            )
            for fmt in ("f16", "bf16", "tf32")
        ),
        Recipe(
            name="markidis", title="two f16 words, four products, all inside",
            source=f"Markidis et al. 2018, by {OOTOMO} and {VALPEY}",
            split=_split("f16", 2), sums=_one((0, 0), (1, 0), (0, 1), (1, 1)),
        ),
        _ootomo("ootomo-halfhalf", "f16"),
        _ootomo("ootomo-halfhalf-4", "f16", fourth=True),
        _ootomo("ootomo-tf32tf32", "tf32"),
        _ootomo("ootomo-tf32tf32-4", "tf32", fourth=True),
        *(_multiword(f, w) for f, w in (("f16", 2), ("f16", 3), ("bf16", 2), ("bf16", 3), ("e5m2", 4))),
        Recipe(
            name="cutlass-3xtf32", title="two tf32 words, three products, all inside", source=CUTLASS,
            split=_split("tf32", 2, rounding=ROUNDINGS["RTZ"], residual=ROUNDINGS["RNA"]),
            sums=_one((1, 0), (0, 1), (0, 0)), c_enters="last",
        ),
        Recipe(
            name="bf16x9", title="three bf16 words, all nine products inside, the smallest first",
            source="CUTLASS and cuBLAS (emulation of binary32 by bf16)",
            split=_split("bf16", 3), sums=_one(*reversed(_kept(3, 4))), c_enters="last",
        ),
        Recipe(
            name="fp8", title="one e4m3 word, accumulated inside", source="DeepSeek-V3 2024, 3.3",
            split=_split("e4m3", 1), sums=_one((0, 0)),
        ),
        Recipe(
            name="fp8-promoted", title="one e4m3 word, promoted to binary32 every 128 products",
            source="DeepSeek-V3 2024, 3.3.2", split=_split("e4m3", 1), sums=_one((0, 0), every=128),
            c_enters="first",
        ),
        Recipe(
            name="fp32-fma", title="binary32 fused multiply-adds on ordinary cores", source="IEEE 754-2019",
            split=_split("f32", 1), sums=_one((0, 0)), ordinary=True,
        ),
    )
}  # fmt: skip


def _yes(text: str) -> bool:
    return choose("interleaved", text, ("yes", "no")) == "yes"


def _number(name: str, text: str, least: int) -> int:
    if not text.isdigit() or int(text) < least:
        raise TcsmtError(f"{name} = {text!r}: must be an integer, {least} or more")
    return int(text)


def _on_sums(recipe: Recipe, change: Callable[[Sum], Sum]) -> Recipe:
    return replace(recipe, sums=tuple(map(change, recipe.sums)))


def _order(recipe: Recipe, text: str) -> Recipe:
    if choose("order", text, ("written", "reversed")) == "written":
        return recipe
    return _on_sums(recipe, lambda s: replace(s, products=s.products[::-1]))


def _every(recipe: Recipe, text: str) -> Recipe:
    number = INSTRUCTION if text == "instruction" else _number("every", text, 0)
    first, *others = recipe.sums
    return replace(recipe, sums=(replace(first, every=number), *others))


def _on_split(recipe: Recipe, **changes: object) -> Recipe:
    return replace(recipe, split=replace(recipe.split, **changes))  # type: ignore[arg-type]


#: What can be changed in an algorithm's name, ``markidis,split=RTZ,c=last``.
PARAMETERS: Mapping[str, Callable[[Recipe, str], Recipe]] = {
    "format": lambda r, t: _on_split(r, format=format_named(t)),
    "split": lambda r, t: _on_split(r, rounding=rounding_named(t)),
    "residual": lambda r, t: _on_split(r, residual=rounding_named(t)),
    "scale": lambda r, t: _on_split(r, scale=_number("scale", t, 0)),
    "order": _order,
    "every": _every,
    "interleaved": lambda r, t: replace(r, interleaved=_yes(t)),
    "c": lambda r, t: replace(r, c_enters=choose("c", t, ("unit", "first", "last"))),
    "outside": lambda r, t: replace(r, rounding=rounding_named(t).name),
}


def recipe_named(text: str) -> Recipe:
    """The algorithm ``NAME`` or ``NAME,PARAMETER=VALUE,...``. Raises :class:`.TcsmtError`."""
    name, *changes = text.split(",")
    if name.lower() not in RECIPES:
        raise UnknownName("algorithm", name, RECIPES, "tcsmt accuracy algorithms")
    recipe = RECIPES[name.lower()]
    for change in changes:
        parameter, _, value = change.partition("=")
        recipe = PARAMETERS[choose("parameter of an algorithm", parameter, PARAMETERS)](recipe, value)
    return replace(recipe, name=text) if changes else recipe


def units_for(recipe: Recipe, unit: str | Row) -> list[Row]:
    """Of the rows that ``unit`` means, those on which the algorithm runs, what GEMM libraries use first."""
    rows = rows_given(unit) if isinstance(unit, str) else [unit]
    return rows[:1] if recipe.ordinary else by_use(row for row in rows if _takes(row.model, recipe))


def algorithm_named(name: str, unit: str | Row, k: int | None = None) -> tuple[Algorithm, Row]:
    """The algorithm on ``ARCH``'s first unit that can run it, or on ``ARCH/INSTRUCTION``, and that unit.

    k: length of the dot product (None: the unit's own). Raises :class:`.TcsmtError`.
    """
    recipe = recipe_named(name)
    rows = units_for(recipe, unit)
    if not rows:
        given, label = (rows_given(unit), unit) if isinstance(unit, str) else ([unit], unit.name)
        formats = sorted({f"{r.model.a_format.name} to {r.model.d_format.name}" for r in given})
        raise TcsmtError(
            f"{name} on {label}: it needs a unit from {recipe.split.format.name} to f32; "
            f"there is one from {', from '.join(formats)}"
        )
    row = rows[0]
    return recipe.on(row.model, row.model.k if k is None else k), row


def _takes(unit: Model, recipe: Recipe) -> bool:
    fmt = recipe.split.format
    narrow = unit.a_format == unit.b_format == fmt and unit.scale_format is None
    return narrow and unit.c_format == unit.d_format == F32
