"""Error sweeps: the exact reference, matrices, units and records."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.analysis.sweeps.sweep import (
    DISTRIBUTIONS,
    NAMES,
    Exact,
    errors,
    exact_product,
    exact_product_of_integers,
    models_for,
    named,
    point,
    rows_for,
    to_nearest,
)
from tcsmt.matrix_units.catalogue.surveyed import SWEPT
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.programs.recipes import arrays, recipe_named


def value(x: float) -> Fraction:
    return Fraction(float(x))


@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=20))
def test_the_reference_is_exact(pairs: list[tuple[float, float]]) -> None:
    a = np.nan_to_num(np.array([[x for x, _ in pairs]], np.float32))
    b = np.nan_to_num(np.array([[y] for _, y in pairs], np.float32))
    exact = sum((value(x) * value(y) for x, y in zip(a[0], b[:, 0], strict=True)), Fraction(0))
    found = exact_product(a, b)
    pair = value(found.high[0, 0]) + value(found.low[0, 0])
    assert abs(pair - exact) <= abs(exact) / 2**106


def test_the_error_is_more_than_binary64_sees() -> None:
    """1 + 2^-60 as a sum: binary64 alone would call 1 exact."""
    a = np.float32([[1, 2.0**-30, 2.0**-70]])
    b = np.float32([[1], [2.0**-30], [1]])
    error = exact_product(a, b).error(np.float32([[1]]))
    assert error[0, 0] == -(2.0**-60 + 2.0**-70)


def test_figures_of_errors_are_right_on_three_elements() -> None:
    """Exact: 1 + 2^-24, -3 and 4; found: 1 (rounded rightly, to even), 3 (a wrong sign), one ulp too much."""
    exact = Exact(np.float64([[1 + 2.0**-24, -3, 4]]), np.zeros((1, 3)), np.float64([[2, 3, 4]]))
    found = errors([np.float32([[1, 3, 4 + 2.0**-21]])], [exact])
    assert found["rounded"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["wrong_sign"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["relative"] == 2
    assert found["cancellation"] == 1
    assert found["quantiles"][-1] == 2.0**3 / 4
    assert found["quantiles"][0] == pytest.approx(-6 / 3 * 2**24, rel=1e-4)
    assert errors([np.float32([[np.inf, 3, 4]])], [exact]) == {"not_finite": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("name", "a", "b"), [("type1", (-15, 14), (-15, 14)), ("type2", (-15, 14), (-35, -15)),
                         ("type4-bc", (-35, -15), (-100, -35))],
)  # fmt: skip
def test_exponents(name: str, a: tuple[int, int], b: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    for draw, wanted in ((DISTRIBUTIONS[name].a, a), (DISTRIBUTIONS[name].b, b)):
        x = draw(rng, (50, 100))
        assert x.dtype == np.float32
        exponents = np.frexp(x)[1] - 1
        assert (exponents.min(), exponents.max()) == wanted
        assert 0.4 < (x < 0).mean() < 0.6


def test_powers_fit_fp16() -> None:
    rng = np.random.default_rng(1)
    for draw, axis in ((DISTRIBUTIONS["powers"].a, 1), (DISTRIBUTIONS["powers"].b, 0)):
        largest = np.abs(draw(rng, (30, 40))).max(axis=axis)
        assert largest.max() <= 65504
        assert largest.min() > 65504 / 2


@pytest.mark.parametrize("name", ["shared", "shared-positive"])
def test_shared_entries_are_exact_in_both_formats(name: str) -> None:
    x = DISTRIBUTIONS[name].a(np.random.default_rng(1), (50, 100))
    assert np.array_equal(x.astype(np.float16).astype(np.float32), x)
    assert not (x.view(np.uint32) & 0xFFFF).any()  # the upper half of the word is the BF16 word
    exponents = np.frexp(x)[1] - 1
    assert (exponents.min(), exponents.max()) == (-7, 0)
    assert (x > 0).all() if name == "shared-positive" else 0.4 < (x < 0).mean() < 0.6


def test_units() -> None:
    labels = models_for(recipe_named("ootomo-tf32tf32"), SWEPT)
    assert not any("volta" in label or "cdna1" in label for label in labels)
    assert "ampere, ada" in labels
    fp8 = {label: row.instruction for label, row in rows_for(recipe_named("fp8"), ["h100", "b200"]).items()}
    assert fp8 == {  # as GEMM libraries do: other arithmetic than mma's, and than each other's
        "hopper/wgmma.m64nNk32.f32.e4m3.e4m3": "wgmma.m64nNk32.f32.e4m3.e4m3",
        "blackwell/tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e4m3": "tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e4m3",
    }
    assert list(models_for(recipe_named("fp8"), SWEPT))[-1] == "hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"
    assert list(models_for(recipe_named("fp32-fma"), SWEPT)) == ["ordinary cores"]
    for label, model in to_nearest(labels).items():
        assert isinstance(model, FusedDotAdd)
        plain = labels[label.removesuffix(", RNE").removesuffix(", all RNE")]
        changed = [
            f.name
            for f in fields(model.table())
            if getattr(model.parameters, f.name) != getattr(plain.parameters, f.name)
        ]
        assert changed == (["alignment", "rounding"] if "all" in label else ["rounding"])


def test_records_are_what_the_algorithm_gives() -> None:
    recipe = recipe_named("markidis")
    (record,) = point([recipe], ["volta"], DISTRIBUTIONS["uniform"], 32, size=4, seeds=1)
    rng = np.random.default_rng([0, 32])
    a, b = DISTRIBUTIONS["uniform"].a(rng, (4, 32)), DISTRIBUTIONS["uniform"].b(rng, (32, 4))
    unit = models_for(recipe, ["volta"])["volta"]
    product = arrays.multiply(recipe.on(unit, unit.k), a, b)
    exact = [[sum(value(x) * value(y) for x, y in zip(row, col, strict=True)) for col in b.T] for row in a]
    wrong = sum(
        (value(d) - e) ** 2 for r, s in zip(product, exact, strict=True) for d, e in zip(r, s, strict=True)
    )
    whole = sum(e**2 for row in exact for e in row)
    residual = record["units"]["volta"]["residual"]
    assert residual == pytest.approx(float(wrong / whole) ** 0.5, rel=1e-4)
    assert record["units"]["volta"]["closest"] == 1
    assert {label.partition(", ")[2] for label in record["units"]} == {"", "RNE", "all RNE"}


@pytest.mark.long
def test_bias_of_units_of_several_vendors() -> None:
    """RDNA3 is biased with random signs, too; RDNA4 only with one sign; VDPBF16PS rounds to nearest: neither.

    The bound on the mean of what is unbiased is four standard errors.
    """
    rdna = [f"rdna{number}/v_wmma_f32_16x16x16_bf16_w32" for number in (3, 4)]
    for name, biased in (("shared", rdna[:1]), ("shared-positive", rdna)):
        recipe, few = recipe_named("single-bf16"), {"size": 12, "seeds": 2}
        (record,) = point([recipe], [*rdna, "x86/vdpbf16ps"], DISTRIBUTIONS[name], 1024, **few)
        found = {label: (one["mean"], one["deviation"]) for label, one in record["units"].items()}
        assert len(found) == 3
        for label, (mean, deviation) in found.items():
            assert (mean < -4 * deviation / 288**0.5) == (label in biased), (name, label)


def test_every_algorithm_of_the_sweep_exists() -> None:
    for name in NAMES:
        assert models_for(recipe_named(name), SWEPT)


def test_the_reference_of_binary64_is_exact() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 9)), rng.standard_normal((9, 2)) * 2.0 ** rng.integers(-40, 40, (9, 2))
    a[0, 3] = 0.0
    found = exact_product_of_integers(a, b)
    for i, j in np.ndindex(2, 2):
        products = [value(x) * value(y) for x, y in zip(a[i], b[:, j], strict=True)]
        exact = sum(products, Fraction(0))
        pair = value(found.high[i, j]) + value(found.low[i, j])
        assert abs(pair - exact) <= abs(exact) / 2**105
        assert found.high[i, j] == float(exact)
        assert abs(value(found.magnitude[i, j]) / sum(map(abs, products)) - 1) < 2**-52


def test_emulations_with_more_slices_are_closer() -> None:
    """More slices are closer, and the inputs have more bits than binary32 has."""
    recipes = [named("ozaki1-int8,slices=2"), named("ozaki1-int8,slices=5")]
    two, five = point(recipes, ["turing"], DISTRIBUTIONS["normal"], 16, size=2, seeds=1)
    assert two["in"] == "2^-53"
    assert two["units"]["turing"]["residual"] > 1e-5
    assert 1e-13 < five["units"]["turing"]["residual"] < 1e-8
    assert five["instructions"] == {"turing": "mma.m8n8k16.s32.s8.s8.s32"}
