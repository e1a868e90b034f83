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
* CUTLASS: small·big, big·small, big·big in each block, c in the epilogue. Its kernels accumulate in stages:
  the sum of each tile of K, here of 32 products, is added outside to what the tiles before it gave
  (``every=0``: one chain along all of K, as before CUTLASS 2.9). Its loop shifts them, as its sum is taken
  after the first instruction of each tile: ``first=instruction``. The first stage is then one instruction
  long, and each further one begins with a tile's second instruction. So do its FP8 kernels on Ada.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import Row, sequences_of
from tcsmt.matrix_units.catalogue.row import by_use
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.resolve import none_fits, resolve
from tcsmt.programs.recipes.algorithm import Algorithm, Sum
from tcsmt.programs.recipes.emulation.named import emulation_recipe, is_emulation
from tcsmt.programs.recipes.files import is_recipe_file, read_recipe
from tcsmt.programs.recipes.recipe import INSTRUCTION, PARAMETERS, Recipe, written_out
from tcsmt.programs.steps.running_sum import COMPENSATIONS
from tcsmt.programs.steps.split import F32, Split
from tcsmt.support.errors import InternalError, TcsmtError, UnknownName, choose

OOTOMO = "Ootomo and Yokota 2022"
VALPEY = "Valpey et al. 2025, section 6"
FASI = "Fasi et al. 2023; Khattak and Mikaitis 2025, V-B"
CUTLASS_FP8 = "CUTLASS, example 58, include/cutlass/gemm/threadblock/mma_multistage.h"
CUTLASS = "CUTLASS, include/cutlass/gemm/warp/mma_tensor_op_fast_f32.h, threadblock/mma_multistage.h"


def _one(*products: tuple[int, int], every: int = 0) -> tuple[Sum, ...]:
    return (Sum(products, every),)


def _split(name: str, words: int, **parameters: object) -> Split:
    return Split(format=FORMATS[name], words=words, **parameters)  # type: ignore[arg-type]


def _kept(words: int, most: int) -> tuple[tuple[int, int], ...]:
    """Return the products of words i and j with i + j at most so much, the largest first."""
    pairs = [(i, j) for i in range(words) for j in range(words) if i + j <= most]
    return tuple(sorted(pairs, key=lambda pair: (sum(pair), pair)))


_CORRECTIONS = ((1, 0), (0, 1))


def _ootomo(name: str, fmt: str, *, fourth: bool = False) -> Recipe:
    sums = (Sum(((0, 0),), every=INSTRUCTION), Sum(_CORRECTIONS), *((Sum(((1, 1),)),) if fourth else ()))
    title = f"two {fmt} words, residuals times 2^11, corrections apart, accumulated outside"
    return Recipe(
        name=name,
        title=title + (", with ΔA·ΔB" if fourth else ""),
        source=f"{OOTOMO}; {VALPEY}",
        split=_split(fmt, 2, scale=11),
        sums=sums,
        c_enters="last",
    )


def _multiword(fmt: str, words: int) -> Recipe:
    products = _kept(words, words - 1)
    return Recipe(
        name=f"fasi-{fmt}x{words}",
        title=f"{words} {fmt} words, {len(products)} products, all inside",
        source=FASI,
        split=_split(fmt, words),
        sums=_one(*products),
        interleaved=False,
    )


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
            name="cutlass-3xtf32", title="two tf32 words, three products, added outside every 32",
            source=CUTLASS,
            split=_split("tf32", 2, rounding=ROUNDINGS["RTZ"], residual=ROUNDINGS["RNA"]),
            sums=_one((1, 0), (0, 1), (0, 0), every=32), c_enters="last",
        ),
        Recipe(
            name="bf16x9", title="three bf16 words, all nine products inside, the smallest first",
            source="CUTLASS and cuBLAS (emulation of binary32 by bf16)",
            split=_split("bf16", 3), sums=_one(*reversed(_kept(3, 4))), c_enters="last",
        ),
        *(
            Recipe(
                name=f"bf16x3-{name}",
                title=f"three bf16 words, six products, added outside: {one.title}",
                source=f"{FASI}; {one.source}", split=_split("bf16", 3),
                sums=_one(*_kept(3, 2), every=INSTRUCTION), c_enters="last", compensated=name,
            )
            for name, one in COMPENSATIONS.items()
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
            name="cutlass-fp8", title="one e4m3 word, added outside every 128, first after one instruction",
            source=CUTLASS_FP8, split=_split("e4m3", 1),
            sums=(Sum(((0, 0),), every=128, first=INSTRUCTION),), c_enters="last",
        ),
        Recipe(
            name="fp32-fma", title="binary32 fused multiply-adds on ordinary cores", source="IEEE 754-2019",
            split=_split("f32", 1), sums=_one((0, 0)), ordinary=True,
        ),
    )
}  # fmt: skip


def recipe_named(text: str) -> Recipe:
    """Return the algorithm ``NAME`` or ``NAME,PARAMETER=VALUE,...``; NAME may be a recipe file.

    Raises :class:`.TcsmtError`.
    """
    name, *changes = text.split(",")
    if is_emulation(text):
        raise TcsmtError(
            f"{text} multiplies binary64 matrices by integers: what is asked here is about algorithms on "
            "binary32; `tcsmt accuracy bound`, `exact`, `multiply` and `sweep` take emulations, too"
        )
    if is_recipe_file(name):
        recipe = replace(read_recipe(Path(name), RECIPES), name=name)
    elif name.lower() in RECIPES:
        recipe = RECIPES[name.lower()]
    else:
        raise UnknownName("algorithm", name, RECIPES, "tcsmt accuracy algorithms")
    for change in changes:
        parameter, _, value = change.partition("=")
        recipe = PARAMETERS[choose("parameter of an algorithm", parameter, PARAMETERS)](recipe, value)
    return replace(recipe, name=text) if changes else recipe


def without_file(name: str) -> str:
    """Return the name of the same algorithm, or emulation, that rests on no file: of a file, all of it
    written out.

    >>> without_file("markidis,c=last")
    'markidis,c=last'
    """
    if not is_recipe_file(name.partition(",")[0]):
        return name
    emulation = is_emulation(name)
    recipe: Any = emulation_recipe(name) if emulation else recipe_named(name)
    text = recipe.written_out() if emulation else written_out(recipe)
    read = emulation_recipe(text) if emulation else recipe_named(text)
    if replace(recipe, name="", title="", source="") != replace(read, name="", title="", source=""):
        raise InternalError(f"{text} is not the algorithm of {name}")
    return text


def units_for(recipe: Recipe, unit: str | Row) -> list[Row]:
    """Return the rows that ``unit`` means and on which the algorithm runs, what GEMM libraries use first.

    An architecture's sequences of instructions come before its instructions.
    """
    rows = resolve(unit).units if isinstance(unit, str) else [unit]
    if recipe.ordinary:
        return rows[:1]
    sequences = sequences_of(rows[0].architecture) if len(rows) > 1 else []
    return by_use(row for row in (*sequences, *rows) if _takes(row.model, recipe))


def algorithm_named(name: str, unit: str | Row, k: int | None = None) -> tuple[Algorithm, Row]:
    """Return the algorithm on ``ARCH``'s first unit that can run it, or on ``ARCH/INSTRUCTION``, and that
    unit.

    k: length of the dot product (None: the unit's own). Raises :class:`.TcsmtError`.
    """
    recipe = recipe_named(name)
    rows = units_for(recipe, unit)
    if not rows:
        raise none_fits(name, unit, f"from {recipe.split.format.name} to f32")
    row = rows[0]
    return recipe.on(row.model, row.model.k if k is None else k), row


def _takes(unit: Model, recipe: Recipe) -> bool:
    fmt = recipe.split.format
    narrow = fmt.has_fields_of(unit.a_format) and fmt.has_fields_of(unit.b_format)
    is_single = F32.has_fields_of(unit.c_format) and F32.has_fields_of(unit.d_format)
    return narrow and is_single and unit.scale_format is None
