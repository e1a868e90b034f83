"""Algorithms by name: which there are, on which units they run, and what is said of others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.row import by_use
from tcsmt.programs.recipes.arrays import multiply
from tcsmt.programs.recipes.named import RECIPES, algorithm_named, recipe_named, units_for
from tcsmt.programs.recipes.recipe import written_out
from tcsmt.support.errors import TcsmtError, UnknownName


def test_names_are_keys() -> None:
    assert all(recipe.name == name and recipe.source and recipe.title for name, recipe in RECIPES.items())
    assert all(recipe_named(name.upper()) == recipe for name, recipe in RECIPES.items())


@pytest.mark.parametrize("name", RECIPES)
def test_each_runs_somewhere(name: str) -> None:
    """With the unit's own K, or another one."""
    architecture = "hopper"
    algorithm, row = algorithm_named(name, architecture)
    assert row.architecture == architecture or RECIPES[name].ordinary
    assert algorithm.k == row.model.k
    assert algorithm_named(name, row, 5)[0].k == 5


@pytest.mark.slow
def test_cutlass_accumulates_in_stages() -> None:
    """The mean squared error that was published of its kernel on an A100, and that of one chain."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 1024), (1024, 32)))
    exact = a.astype(float) @ b.astype(float)
    errors = {}
    for name in ("cutlass-3xtf32", "cutlass-3xtf32,every=32", "cutlass-3xtf32,every=0"):
        algorithm, _ = algorithm_named(name, "ampere")
        errors[name] = float(((multiply(algorithm, a, b) - exact) ** 2).mean())
    staged, named, chained = errors.values()
    assert staged == named and 1e-10 < staged < 5e-10 and 5e-8 < chained < 2e-7


@pytest.mark.parametrize(
    ("name", "unit", "k", "ends"),
    [
        ("cutlass-fp8", "ada", 384, [32, 160, 288, 384]),
        ("cutlass-fp8", "ada", 20, [20]),
        ("cutlass-3xtf32,first=instruction", "ampere", 96, [8, 40, 72, 96]),
        ("cutlass-3xtf32", "ampere", 96, [32, 64, 96]),
    ],
)
def test_cutlass_takes_its_sum_after_the_first_instruction_of_a_tile(
    name: str, unit: str, k: int, ends: list[int]
) -> None:
    algorithm, _ = algorithm_named(name, unit)
    assert [steps[-1][2].stop for _, steps in algorithm.chains(k)] == ends
    assert algorithm_named(written_out(recipe_named(name)), unit)[0] == algorithm


def test_stages_of_ada_are_chains_that_are_added_in_binary32() -> None:
    """The sums of the unit's own chains, added by NumPy."""
    rng = np.random.default_rng(3)
    sixteenths = (rng.integers(-60, 60, shape) / 16 for shape in ((5, 384), (384, 6)))
    a, b = (x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32) for x in sixteenths)
    algorithm, row = algorithm_named("cutlass-fp8", "ada")
    total = np.zeros((5, 6), np.float32)
    for first, last in ((0, 32), (32, 160), (160, 288), (288, 384)):
        parts = (x.astype(ml_dtypes.float8_e4m3fn) for x in (a[:, first:last], b[first:last]))
        total = total + np.asarray(tcsmt.gemm(*parts, unit=row.name)).view(np.float32)
    assert np.array_equal(multiply(algorithm, a, b), total)
    assert not np.array_equal(multiply(algorithm_named("fp8-promoted,c=last", "ada")[0], a, b), total)


def test_changes_stand_in_the_name() -> None:
    found = recipe_named("markidis,split=RTZ,c=last")
    assert found.name == "markidis,split=RTZ,c=last"
    assert (found.split.rounding.name, found.c_enters) == ("RTZ", "last")
    assert recipe_named("markidis").split.rounding.name == "RNE"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("markidi", r"unknown algorithm 'markidi': did you mean markidis"),
        ("markidis,spilt=RTZ", r"unknown parameter of an algorithm 'spilt': did you mean split"),
        ("markidis,split", "''"),
    ],
)
def test_unknown_algorithms_and_parameters_are_refused(text: str, message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        recipe_named(text)
    assert issubclass(UnknownName, TcsmtError)


def test_units_that_take_the_words() -> None:
    """What GEMM libraries use first; one row stands for ordinary cores."""
    markidis = RECIPES["markidis"]
    rows = units_for(markidis, "hopper")
    assert rows and all((r.model.a_format.name, r.model.d_format.name) == ("f16", "f32") for r in rows)
    assert rows == by_use(rows)
    assert len(units_for(RECIPES["fp32-fma"], "hopper")) == 1
    one = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
    assert units_for(markidis, one) == [one]
    assert units_for(RECIPES["cutlass-3xtf32"], one) == []
    with pytest.raises(
        TcsmtError, match=r"cutlass-3xtf32 on volta: it needs a unit from tf32 to f32; there is "
    ):
        algorithm_named("cutlass-3xtf32", "volta")
    with pytest.raises(
        TcsmtError, match=r"fp8 on volta/.*: it needs a unit from e4m3 to f32; there is one from f16"
    ):
        algorithm_named("fp8", one)
