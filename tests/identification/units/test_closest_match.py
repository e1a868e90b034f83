"""What an implementation looks like: the emulators that one writes first are each named, by what they do."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tcsmt.identification.units.closest_match import closest_match
from tcsmt.interface.api.implementations import given_asked
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd, IeeeDotAdd, Model
from tcsmt.simulate.rows import Words, run_words
from tcsmt.surveys.units.vectors import edges

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
EDGES = edges(VOLTA, 1, 1000).inputs
Array = np.ndarray[Any, np.dtype[Any]]


def products(a: Array, b: Array, dtype: type = np.float32) -> list[Array]:
    return [x * y for x, y in zip(a.astype(dtype).T, b.astype(dtype).T, strict=True)]


def in_order(a: Array, b: Array, c: Array) -> Array:
    for one in products(a, b):
        c = c + one
    return c


def backwards(a: Array, b: Array, c: Array) -> Array:
    return in_order(a[:, ::-1], b[:, ::-1], c)


def c_last(a: Array, b: Array, c: Array) -> Array:
    first, *others = products(a, b)
    return sum(others, first) + c


def in_pairs(a: Array, b: Array, c: Array) -> Array:
    one, two, three, four = products(a, b)
    return ((one + two) + (three + four)) + c


def double(a: Array, b: Array, c: Array) -> Array:
    total = c.astype(np.float64)
    for one in products(a, b, np.float64):
        total = total + one
    return total.astype(np.float32)


def exact(a: Array, b: Array, c: Array) -> Array:
    """Fractions, rounded once; what is not finite, and the signs of zeros, as ``double`` has them."""
    found = double(a, b, c)
    for row, (x, y, z) in enumerate(zip(a, b, c, strict=True)):
        values = [*map(float, x), *map(float, y), float(z)]
        if not np.isfinite(values).all():
            continue
        total = Fraction(float(z)) + sum(
            Fraction(float(p)) * Fraction(float(q)) for p, q in zip(x, y, strict=True)
        )
        if total:
            found[row] = rounded(total)
        elif found[row]:
            found[row] = 0
    return found


def rounded(value: Fraction) -> np.float32:
    """To nearest, ties to even: of the double's two neighbours and itself."""
    near = np.float32(float(value))
    if not np.isfinite(near):
        return near
    tries = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    return min(
        (one for one in tries if np.isfinite(one)),
        key=lambda one: (abs(Fraction(float(one)) - value), int(one.view(np.uint32)) & 1),
    )


def chain(model: Model, **parameters: Any) -> IeeeDotAdd:
    """IEEE operations with a unit's interface."""
    formats: dict[str, Any] = {f"{side}_format": getattr(model, f"{side}_format") for side in "abcd"}
    return IeeeDotAdd.of(**formats, k=model.k, **parameters)


def asked(model: Model) -> Callable[[Words], Array]:
    return lambda words: run_words(model, words)


def quiet(function: Callable[..., Array]) -> Callable[[Words], Array]:
    def run(*given: Array) -> Array:
        with np.errstate(all="ignore"):
            return function(*given)

    return given_asked(VOLTA, run).run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "texts"),
    [
        (in_order, ("IEEE additions in f32, in order, k0 first, from c on",
                    "a chain of fused multiply-adds in f32, in order, k0 first, from c on")),
        (backwards, ("IEEE additions in f32, backwards, k3 first, from c on",
                     "a chain of fused multiply-adds in f32, backwards, k3 first, from c on")),
        (c_last, ("IEEE additions in f32, in order, k0 first, c added last",)),
        (in_pairs, ("IEEE additions in f32 in pairs, neighbouring lanes first, c added last",)),
        (double, ("IEEE additions in f64, in order, k0 first, from c on, rounded to f32 at the end",
                  "a chain of fused multiply-adds in f64, in order, k0 first, from c on, rounded to f32 at "
                  "the end")),
        (exact, ("the exact sum of all products and c, rounded once to f32",)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)  # fmt: skip
def test_usual_ways_to_write_a_dot_product_are_named(
    function: Callable[..., Array], texts: tuple[str, ...]
) -> None:
    """Products of FP16 words are exact in FP32, so that fused multiply-adds are the same function."""
    ask = quiet(function)
    found = closest_match(VOLTA.model, EDGES, ask(EDGES), ask, 1)
    assert found.texts[: len(texts)] == texts
    others = ("rounded to f64", "rounded once to f64")  # twice rounded: inputs that show it are rare
    assert all(any(one in text for one in others) for text in found.texts[len(texts) :])
    assert found.more == 0 and found.near is None


@pytest.mark.slow
def test_fused_multiply_adds_are_told_from_rounded_products() -> None:
    row = row_named("cdna3/v_mfma_f32_16x16x4_f32")
    rows = edges(row, 1, 1000).inputs
    m = row.model
    kinds = {"fma": None, "sequential": m.d_format}
    for method, of_product in kinds.items():
        box = chain(m,
            method=method, product_format=of_product, sum_format=m.d_format,
        )  # fmt: skip
        found = closest_match(m, rows, run_words(box, rows), asked(box), 1)
        (text,) = found.texts
        assert text.startswith("a chain of fused" if method == "fma" else "IEEE additions in f32, in order")
        assert found.nans


@pytest.mark.slow
def test_other_roundings_and_orders_are_found_among_the_hypotheses() -> None:
    m = VOLTA.model
    box = chain(m,
        method="pairwise", product_format=m.d_format, sum_format=m.d_format, rounding=ROUNDINGS["RTZ"],
        order=(0, 2, 1, 3), flush_outputs=True,
    )  # fmt: skip
    found = closest_match(m, EDGES, run_words(box, EDGES), asked(box), 1)
    assert "in pairs, in the order k0, k2, k1, k3, c added last, sums rounded RTZ" in found.texts[0]
    assert "subnormal results flushed to zero" in found.texts[0]


@pytest.mark.slow
def test_two_changed_parameters_are_named() -> None:
    assert isinstance(VOLTA.model, FusedDotAdd)
    box = VOLTA.model.replace(fraction_bits=24, rounding=ROUNDINGS["RNE"])
    found = closest_match(VOLTA.model, EDGES, run_words(box, EDGES), asked(box), 1)
    assert found.texts[0] == "this unit with fraction_bits = 24, rounding = RNE"


@pytest.mark.slow
def test_functions_that_resemble_nothing_are_not_named() -> None:
    def mostly(words: Words) -> Array:
        found = quiet(in_order)(words)
        found[(words.c >> 1) % 64 == 3] ^= 1
        return found

    found = closest_match(VOLTA.model, EDGES, mostly(EDGES), mostly, 1)
    assert not found.texts
    assert found.near is not None
    text, rows = found.near
    assert text == "IEEE additions in f32, in order, k0 first, from c on"
    assert 0.9 * found.rows < rows < found.rows
    strange = closest_match(VOLTA.model, EDGES, EDGES.c ^ EDGES.a[:, 0], None, 1)
    assert (strange.texts, strange.near) == ((), None)


def test_recorded_answers_alone() -> None:
    found = closest_match(VOLTA.model, EDGES, quiet(in_pairs)(EDGES), None, 1)
    assert "IEEE additions in f32 in pairs, neighbouring lanes first, c added last" in found.texts
    assert found.rows == len(EDGES.c)
