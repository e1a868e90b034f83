"""Quantised operands and their products as steps: against the quantiser and the products of arrays, and the
terms against both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, var
from tcsmt.matrix_units.arithmetic.conversion import QUIET, are_nan
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.programs.quantisation.operands import check_unit, write_finished, write_quantised
from tcsmt.programs.quantisation.product import finished, scaled_sum
from tcsmt.programs.quantisation.quantise import quantise
from tcsmt.programs.quantisation.recipe import RECIPES, OperandRecipe, Role
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.program import UnitProgram, Value, read, read_values
from tcsmt.support.errors import TcsmtError

Array = np.ndarray[Any, np.dtype[Any]]
F32 = FORMATS["f32"]
FP8 = "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"
UNITS = {
    "bf16": "hopper/wgmma.m64nNk16.f32.bf16.bf16",
    "fp16": "hopper/wgmma.m64nNk16.f32.f16.f16",
    "tf32": "hopper/wgmma.m64nNk8.f32.tf32.tf32",
    "mxfp8": "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
    "mxfp8-up": "blackwell/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
    "mxfp4": "blackwell/tcgen05.mMnNk64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    "nvfp4": "blackwell/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
}
#: Rules with one scale for several rows.
TOGETHER = ("fp8-tensor", "nvfp4")


def matrix(rows: int, k: int, seed: int = 3) -> Array:
    """Numbers of all sizes, and rows of zeros, of subnormal numbers, with infinities, with a NaN."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 32, (rows, k), dtype=np.uint32).view(np.float32)
    x = np.where(np.isfinite(words), words, np.float32(1))
    x[1] = rng.standard_normal(k)
    x[2], x[2, ::3] = 0, -0.0
    x[3] = rng.integers(0, 1 << 23, k, dtype=np.uint32).view(np.float32)
    x[4, k // 2] = np.inf
    x[5, k // 3] = np.nan
    x[6] = 2.0**-30 * rng.standard_normal(k)
    return x


def needs_largest(recipe: OperandRecipe, role: Role) -> bool:
    return recipe.name in TOGETHER or (role == "weight" and recipe.weights is not None)


def largest_of_others(x: Array, recipe: OperandRecipe, role: Role) -> Array:
    """The largest magnitudes of all rows, (rows, 1) or (rows, blocks): NaN where there is one."""
    size = np.abs(x)
    if role != "weight" or recipe.weights is None:
        return np.full((len(x), 1), size.max())
    blocks = [size[:, at : at + 128].max() for at in range(0, size.shape[1], 128)]
    return np.broadcast_to(np.array(blocks, np.float32), (len(x), len(blocks)))


def quantiser(
    recipe: OperandRecipe, role: Role, form: str, k: int, side: str
) -> tuple[UnitProgram, list[int]]:
    build = Builder()
    x, others = build.input(side, F32, side), None
    if needs_largest(recipe, role):
        blocks = role == "weight" and recipe.weights is not None
        others = build.input("largest", F32, f"{side}/128" if blocks else side.lower())
    given = write_quantised(build, x, recipe, role, FORMATS[form], k, others)
    return build.program(given.values), [value.number for value in given.all]


CASES = [
    (name, role, form)
    for name, recipe in RECIPES.items()
    for role in (("activation", "weight") if recipe.weights else ("activation",))
    for form in recipe.formats_of(role)
]


@pytest.mark.parametrize(("name", "role", "form"), CASES)
@pytest.mark.parametrize("side", ["A", "B"])
def test_steps_are_the_quantiser(name: str, role: Role, form: str, side: str) -> None:
    """Words, scales and the factor of all: bit for bit, NaNs being one word; zeros and infinities as well.

    A NaN in a format without one is left out: no document says which number it becomes.
    """
    recipe, x = RECIPES[name], matrix(9, 200)
    if name in TOGETHER:
        x[4:6] = 1.0
    wanted = quantise(x, recipe, role, form)
    program, numbers = quantiser(recipe, role, form, x.shape[1], side)
    given = {side: x, "largest": largest_of_others(x, recipe, role)}
    words = {
        key: value.view(np.uint32) if side == "A" else value.T.view(np.uint32) for key, value in given.items()
    }
    shape = (len(x), 1) if side == "A" else (1, len(x))
    values = read_values(program, ArrayRules(shape, of_matrices, QUIET), words, numbers)
    found = [own if side == "A" else own.T for own in values]
    expected = [wanted.values, wanted.scales, wanted.whole]
    rules = recipe.scales_of(role)
    formats = [FORMATS[form], None if rules is None else FORMATS[rules.format], F32]
    for own, array, fmt in zip(found, (part for part in expected if part is not None), formats, strict=False):
        assert fmt is not None
        other = np.broadcast_to(np.asarray(array).view(unsigned(fmt)), own.shape)
        nan = np.isnan(x) if fmt.nan_word is None else are_nan(fmt, own) & are_nan(fmt, other)
        assert ((own == other) | nan).all()


def product(name: str, k: int) -> UnitProgram:
    recipe, unit = RECIPES[name], row_named(UNITS.get(name, FP8)).model
    build = Builder()

    def operand(side: str) -> Any:
        others = build.input(f"largest_{side}", F32, side.lower()) if name in TOGETHER else None
        fmt: Any = unit.a_format if side == "A" else unit.b_format
        return write_quantised(build, build.input(side, F32, side), recipe, "activation", fmt, k, others)

    check_unit(recipe, unit, "activation", "activation")
    return build.program(write_finished(build, unit, recipe, operand("A"), operand("B"), k))


@pytest.mark.parametrize("name", RECIPES)
def test_products_are_those_of_quantised_matrices(name: str) -> None:
    recipe, unit = RECIPES[name], row_named(UNITS.get(name, FP8)).model
    a, b = matrix(9, 160), matrix(8, 160, 5)
    if name in TOGETHER:
        a, b = a[:4], b[:3]
    given = {"A": a, "B": b.T}
    for side, x in (("A", a), ("B", b.T)):
        given[f"largest_{side}"] = np.full((len(x), 1) if side == "A" else (1, x.shape[1]), np.abs(x).max())
    words = {key: np.ascontiguousarray(x).view(np.uint32) for key, x in given.items()}
    found = read(product(name, 160), ArrayRules((len(a), len(b)), of_matrices, QUIET), words)
    wanted = finished(
        scaled_sum(unit, recipe, quantise(a, recipe), quantise(b, recipe), nans=QUIET), nans=QUIET
    )
    assert (found == wanted.view(np.uint32)).all()
    assert np.isnan(wanted).any() != np.isfinite(wanted).all()


def terms(side: str, k: int) -> list[Term]:
    return [var(f"{side}{n}", 32) for n in range(k)]


@pytest.mark.parametrize(
    "name", ["mxfp8", "mxfp8-up", "mxfp4", "nvfp4", "fp8-row", "fp8-block", "fp8-tensor"]
)
def test_terms_are_the_steps_on_arrays(name: str) -> None:
    """Each word of a row, its scales, and those of a column."""
    recipe, k = RECIPES[name], 3
    x = matrix(12, k)
    form = recipe.formats_of("activation")[0]
    program, numbers = quantiser(recipe, "activation", form, k, "A")
    given: dict[str, Any] = {"A": x.view(np.uint32), "largest": np.abs(x[:, :1]).view(np.uint32)}
    held = read_values(program, ArrayRules((len(x), 1), of_matrices, QUIET), given, numbers)
    symbols: dict[str, Any] = {"A": terms("a", k), "largest": var("l", 32)}
    roots = read_values(program, TermRules([], QUIET), symbols, numbers)
    for terms_of, own in zip(roots, held, strict=True):
        root = terms_of if isinstance(terms_of, list) else [terms_of]
        for row, words in enumerate(own.tolist()):
            values = {f"a{n}": int(x.view(np.uint32)[row, n]) for n in range(k)}
            values["l"] = int(given["largest"][row, 0])
            assert list(evaluate(root, values)) == words


def test_terms_of_a_product_are_its_words() -> None:
    name, k = "mxfp8", 34
    a, b = matrix(9, k), matrix(7, k, 5)
    words: dict[str, Any] = {"A": a.view(np.uint32), "B": np.ascontiguousarray(b.T).view(np.uint32)}
    program = product(name, k)
    found = read(program, ArrayRules((9, 7), of_matrices, QUIET), words)
    word = read(program, TermRules([], QUIET), {"A": terms("a", k), "B": terms("b", k)})
    for i, j in ((0, 0), (1, 1), (6, 2), (3, 6), (5, 1), (1, 4)):
        values = {f"a{n}": int(words["A"][i, n]) for n in range(k)}
        values |= {f"b{n}": int(words["B"][n, j]) for n in range(k)}
        assert list(evaluate([word], values)) == [int(found[i, j])]


def test_what_does_not_fit_is_refused() -> None:
    build = Builder()
    x, others = build.input("A", F32, "A"), build.input("others", F32, "a")
    e4m3 = FORMATS["e4m3"]

    def refused(message: str, recipe: str, x: Value, largest: Value | None = None) -> None:
        with pytest.raises(TcsmtError, match=message):
            write_quantised(build, x, RECIPES[recipe], "activation", e4m3, 64, largest)

    refused("must be given, since scales are for several rows", "nvfp4", x)
    refused("largest magnitude of other rows is not taken", "mxfp8", x, others)
    refused("binary32 numbers of A or B", "mxfp8", others)
    for recipe, unit, message in (
        ("mxfp8", FP8, "a unit with ue8m0 scales of blocks is needed"),
        ("fp8-row", UNITS["mxfp8"], "a unit with no scales of blocks is needed"),
        ("mxfp8", UNITS["mxfp4"], "A becomes e4m3, and the unit takes e2m1"),
    ):
        with pytest.raises(TcsmtError, match=message):
            check_unit(RECIPES[recipe], row_named(unit).model, "activation", "activation")
