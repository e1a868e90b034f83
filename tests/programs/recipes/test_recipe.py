"""What can be changed in an algorithm by its name: each parameter changes just that."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import IeeeDotAdd
from tcsmt.programs.recipes.algorithm import Sum
from tcsmt.programs.recipes.named import RECIPES, recipe_named
from tcsmt.programs.recipes.recipe import INSTRUCTION, PARAMETERS, Recipe, whole_number, written_out
from tcsmt.programs.steps.split import Split
from tcsmt.support.errors import TcsmtError

BASE = Recipe(
    name="x", title="y", source="z", split=Split(format=FORMATS["f16"], words=2),
    sums=(Sum(((0, 0), (1, 0))), Sum(((0, 1),))),
)  # fmt: skip
VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


def split(**changes: object) -> Recipe:
    return replace(BASE, split=replace(BASE.split, **changes))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("format", "bf16", split(format=FORMATS["bf16"])),
        ("split", "RTZ", split(rounding=ROUNDINGS["RTZ"])),
        ("residual", "rna", split(residual=ROUNDINGS["RNA"])),
        ("scale", "11", split(scale=11)),
        ("order", "reversed", replace(BASE, sums=(Sum(((1, 0), (0, 0))), Sum(((0, 1),))))),
        ("order", "written", BASE),
        ("every", "64", replace(BASE, sums=(Sum(((0, 0), (1, 0)), every=64), Sum(((0, 1),))))),
        ("every", "instruction",
         replace(BASE, sums=(Sum(((0, 0), (1, 0)), every=INSTRUCTION), Sum(((0, 1),))))),
        ("first", "8", replace(BASE, sums=(Sum(((0, 0), (1, 0)), first=8), Sum(((0, 1),))))),
        ("first", "instruction",
         replace(BASE, sums=(Sum(((0, 0), (1, 0)), first=INSTRUCTION), Sum(((0, 1),))))),
        ("interleaved", "no", replace(BASE, interleaved=False)),
        ("interleaved", "yes", BASE),
        ("c", "last", replace(BASE, c_enters="last")),
        ("outside", "RTZ", replace(BASE, rounding="RTZ")),
        ("compensated", "two-sum", replace(BASE, compensated="two-sum")),
        ("words", "3", split(words=3)),
        ("sums", "0.0+1.1@instruction/0.1@8/1.0",
         replace(BASE, sums=(Sum(((0, 0), (1, 1)), every=INSTRUCTION), Sum(((0, 1),), 8), Sum(((1, 0),))))),
        ("sums", "0.0@instruction+32/0.1@8+16",
         replace(BASE, sums=(Sum(((0, 0),), 32, INSTRUCTION), Sum(((0, 1),), 16, 8)))),
    ],
)  # fmt: skip
def test_each_parameter_changes_just_that(name: str, text: str, expected: Recipe) -> None:
    assert PARAMETERS[name](BASE, text) == expected


def test_every_parameter_is_tried_above() -> None:
    tried = {"format", "split", "residual", "scale", "order", "every", "interleaved", "c", "outside"}
    assert set(PARAMETERS) == tried | {"compensated", "words", "sums", "first"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("scale", "-1", r"scale = '-1': must be an integer, 0 or more"),
        ("scale", "x", "scale = 'x'"),
        ("sums", "0.0+0.2", "sums: '0.2' must be WORD.WORD, words 0 to 1"),
        ("sums", "0.0+", "sums: '' must be WORD.WORD"),
        ("sums", "0.0@-1", "every = '-1': must be an integer, 0 or more"),
        ("compensated", "kahn", "kahan"),
        ("every", "", "every = ''"),
        ("interleaved", "maybe", "unknown interleaved 'maybe'"),
        ("order", "x", "unknown order 'x'"),
        ("c", "middle", "unknown c 'middle'"),
        ("split", "RXX", "RXX"),
        ("format", "f17", "f17"),
        ("outside", "RXX", "RXX"),
    ],
)
def test_malformed_parameters_are_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        PARAMETERS[name](BASE, text)


def test_on_a_unit() -> None:
    """An instruction's worth of products is the unit's K; an ordinary one ignores the unit."""
    plain = BASE.on(VOLTA, 16)
    assert (plain.unit, plain.k, plain.split, plain.sums) == (VOLTA, 16, BASE.split, BASE.sums)
    every = PARAMETERS["every"](BASE, "instruction").on(VOLTA, 16)
    assert [total.every for total in every.sums] == [4, 0]
    assert PARAMETERS["outside"](BASE, "RTZ").on(VOLTA, 4).rounding is ROUNDINGS["RTZ"]
    ordinary = replace(
        BASE, split=Split(format=FORMATS["f32"], words=1), sums=(Sum(((0, 0),)),), ordinary=True
    )
    unit = ordinary.on(VOLTA, 16).unit
    assert isinstance(unit, IeeeDotAdd) and unit.parameters.method == "fma" and unit.k == 1
    assert {field.name for field in fields(Recipe)} >= {"name", "title", "source", "ordinary"}


@pytest.mark.parametrize("text", ["0", "-1", "²", "1.5", "", " 3"])
def test_texts_that_are_not_whole_numbers_are_refused(text: str) -> None:
    with pytest.raises(TcsmtError, match=r"^slices = .*: must be an integer, 1 or more$"):
        whole_number("slices", text, 1)
    assert [whole_number("slices", given, 0) for given in ("0", "07", "12")] == [0, 7, 12]


@pytest.mark.parametrize("name", ["x", *RECIPES])
def test_a_name_says_all_of_an_algorithm(name: str) -> None:
    """Read back, it is the same algorithm, whatever its parameters."""
    recipe = RECIPES.get(name, replace(BASE, compensated="kahan", c_enters="first", rounding="RTZ"))
    read = recipe_named(written_out(recipe))
    assert replace(read, name="", title="", source="") == replace(recipe, name="", title="", source="")
