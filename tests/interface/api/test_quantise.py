"""Matrices in narrow numbers: what they stand for, what is counted, what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.quantise import RECIPES, Side


def matrix(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("recipe", RECIPES)
def test_sides_are_transposed(recipe: str) -> None:
    """B (K, N) is quantised as its transpose is as A; what numbers stand for is near the matrix."""
    x = matrix(64, 48)
    as_a, as_b = tcsmt.quantise(x.T, recipe), tcsmt.quantise(x, recipe, side="b")
    assert as_b.values.shape == x.shape and as_b.error == as_a.error
    word = np.dtype(f"u{as_a.values.itemsize}")
    assert np.array_equal(as_a.values.T.view(word), as_b.values.view(word))
    if as_a.scales is not None and as_b.scales is not None:
        assert np.array_equal(as_a.scales.T.astype(float), as_b.scales.astype(float))
    numbers = as_a.values.astype(np.float64)
    if as_a.scales is not None:
        scales: Any = as_a.scales.astype(np.float64)
        if scales.ndim:
            scales = np.kron(scales, np.ones((48 // len(scales), 64 // scales.shape[1])))
        numbers *= scales
    numbers *= 1 if as_a.whole is None else float(as_a.whole)
    error = np.linalg.norm(numbers - x.T) / np.linalg.norm(x)
    assert error == pytest.approx(as_a.error, rel=1e-6) and 0 < error < 0.12


def test_vectors_and_what_is_counted() -> None:
    """A vector is a row; numbers beyond the end and numbers that become zero are counted."""
    x = np.array([1e6, -1.0, 0.0, 1e-9], np.float32)
    plain, scaled = tcsmt.quantise(x, "fp16"), tcsmt.quantise(x, "fp8-row")
    assert plain.values.shape == (4,) and (plain.saturated, plain.flushed) == (1, 1)
    assert np.isinf(plain.values[0]) and plain.error == pytest.approx(1e-9, rel=0.2)
    assert scaled.values.astype(float).tolist() == [448, 0, 0, 0] and scaled.flushed == 2
    assert tcsmt.quantise(matrix(4, 4).astype(ml_dtypes.bfloat16), "bf16").error == 0


def test_refusals() -> None:
    for match, arguments in {
        r"has shape \(\)": (np.float32(1), "bf16"),
        "unknown recipe 'mxfp9': did you mean mxfp": (matrix(2, 2), "mxfp9"),
        "unknown role": (matrix(2, 2), "bf16", "weights"),
        "float64: must be float32 or narrower": (np.ones((2, 2)), "bf16"),
    }.items():
        with pytest.raises(tcsmt.TcsmtError, match=match):
            tcsmt.quantise(*arguments)
    with pytest.raises(tcsmt.TcsmtError, match="unknown side 'c'"):
        tcsmt.quantise(matrix(2, 2), "bf16", side="c")


@pytest.mark.parametrize(
    ("recipe", "row"), [("mxfp8", "torchao/to_mx.floor"), ("nvfp4", "torchao/nvfp4.two-level")]
)
@pytest.mark.parametrize("side", ["a", "b"])
def test_a_row_of_the_catalogue_in_place_of_a_recipe(recipe: str, row: str, side: Side) -> None:
    """The same values, scales, counts and error as the recipe with its bits; a refusal of approximations."""
    x = matrix(32, 64)
    one, other = (tcsmt.quantise(x, name, side=side) for name in (recipe, row))
    assert (one.values.view(np.uint8) == other.values.view(np.uint8)).all()
    assert one.scales is not None and other.scales is not None
    assert (one.scales.view(np.uint8) == other.scales.view(np.uint8)).all()
    for key in ("scales", "whole", "saturated", "flushed", "shape", "format"):
        assert one.as_json()[key] == other.as_json()[key]
    assert abs(one.error - other.error) < 1e-12
    with pytest.raises(tcsmt.TcsmtError, match="div"):
        tcsmt.quantise(x, "deepseek-v3/act_quant")
    with pytest.raises(tcsmt.TcsmtError, match="takes a matrix of float32"):
        tcsmt.quantise(x[0], row)
