"""The steps of a program's text that a recipe of quantisation writes: ``quantise`` and ``product``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import FORMATS, float_format, format_named
from tcsmt.matrix_units.models import Model
from tcsmt.programs.quantisation.operands import check_unit, write_finished, write_quantised
from tcsmt.programs.quantisation.recipe import ROLES, recipe_named
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Value
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.support.errors import choose

#: What takes a value, as the other steps of a text do.
Scalar = Callable[[Tokens], Value]


def quantised(build: Builder, tokens: Tokens, scalar: Scalar, length: int) -> tuple[Value, ...]:
    """Write ``A, RECIPE[, role=, format=, largest=]``: return an operand's words, its scales, and the factor
    of all numbers, those that there are. length: K.
    """
    x = scalar(tokens)
    tokens.expect(",")
    recipe = recipe_named(tokens.name("a recipe"))
    given = _options(tokens, scalar, ("role", "format", "largest"))
    role = given.get("role", "activation")
    form = given.get("format", FORMATS[recipe.formats_of(role)[0]])
    choose(f"format of recipe {recipe.name}", form.name, recipe.formats_of(role))
    return write_quantised(build, x, recipe, role, float_format(form), length, given.get("largest")).all


def quantised_product(build: Builder, unit: Model, tokens: Tokens, scalar: Scalar, length: int) -> Value:
    """Write ``, RECIPE, A·B[, role_b=, largest_a=, ...]``: return the product of both operands, binary32.

    Both are quantised, the unit multiplies them, and their scales multiply the sum. length: K.
    """
    tokens.expect(",")
    recipe = recipe_named(tokens.name("a recipe"))
    tokens.expect(",")
    x = scalar(tokens)
    if not (tokens.take("·") or tokens.take("*")):
        raise Wrong("expected a product A·B")
    y = scalar(tokens)
    given = _options(tokens, scalar, ("role_a", "role_b", "largest_a", "largest_b"))
    roles = {side: given.get(f"role_{side}", "activation") for side in "ab"}
    check_unit(recipe, unit, roles["a"], roles["b"])
    formats = {"a": float_format(unit.a_format), "b": float_format(unit.b_format)}
    a, b = (
        write_quantised(build, one, recipe, roles[side], formats[side], length, given.get(f"largest_{side}"))
        for side, one in (("a", x), ("b", y))
    )
    return write_finished(build, unit, recipe, a, b, length)


def _options(tokens: Tokens, scalar: Scalar, allowed: Sequence[str]) -> dict[str, Any]:
    """Take what follows: roles, a format, and values of largest magnitudes."""
    given: dict[str, Any] = {}
    while tokens.take(","):
        name = choose("option", tokens.name("an option"), allowed)
        tokens.expect("=")
        match name.partition("_")[0]:
            case "role":
                given[name] = choose("role", tokens.name("a role"), ROLES)
            case "format":
                given[name] = format_named(tokens.name("a format"))
            case _:
                given[name] = scalar(tokens)
    return given
