"""Matrices in narrow numbers: the public call and the command, against ml_dtypes and products of units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

import tcsmt
from tcsmt.face.api.quantise import RECIPES
from tcsmt.face.cli import main


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


def test_command_and_the_product_of_its_files(tmp_path: Path) -> None:
    """Values and scales go to ``tcsmt gemm`` as they are; D is the product of what they stand for."""
    a, b = matrix(8, 64), matrix(64, 6, seed=1)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    run = CliRunner()

    def path(name: str) -> str:
        return str(tmp_path / f"{name}.npy")

    for side in "ab":
        files = ["--output", path(f"q{side}"), "--scales", path(f"s{side}")]
        done = run.invoke(main, ["quantise", "mxfp8", path(side), "--side", side, *files, "--json"])
        assert done.exit_code == 0, done.output
        facts = json.loads(done.stdout)
        assert facts["scales"]["format"] == "ue8m0" and facts["format"] == "e4m3"
        assert 0.01 < facts["error"] < 0.04
    options = ["gemm", "b200", "--output", path("d")]
    for side in "ab":
        options += [
            f"--{side}",
            path(f"q{side}"),
            f"--{side}-format",
            "e4m3",
            f"--scale-{side}",
            path(f"s{side}"),
        ]
    done = run.invoke(main, options)
    assert done.exit_code == 0, done.output
    left, right = tcsmt.quantise(a, "mxfp8"), tcsmt.quantise(b, "mxfp8", side="b")
    assert left.scales is not None and right.scales is not None
    exact = (left.values.astype(float) * left.scales.astype(float).repeat(32, 1)) @ (
        right.values.astype(float) * right.scales.astype(float).repeat(32, 0)
    )
    assert np.allclose(np.load(tmp_path / "d.npy"), exact, atol=1e-3)

    def refused(*more: str) -> str:
        done = run.invoke(main, ["quantise", *more])
        assert done.exit_code == 2
        return done.output + done.stderr

    assert "has scales: name a file" in refused("mxfp8", path("a"), "--output", path("x"))
    assert "has no scales" in refused("bf16", path("a"), "--output", path("x"), "--scales", path("y"))
    assert "(--output)" in refused("mxfp8", path("a"), "--scales", path("y"))
    assert "must end in .npy" in refused("bf16", path("a"), "--output", str(tmp_path / "x.bin"))
    assert "mxfp8-up" in refused("mxfp7", path("a"))
