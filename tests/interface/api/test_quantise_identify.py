"""``tcsmt.identify_quantiser``: files as libraries keep them, and refusals."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt

X = np.random.default_rng(3).standard_normal((4, 64)).astype(np.float32)


@pytest.mark.parametrize(
    ("recipe", "row"),
    [
        ("mxfp8", "torchao/to_mx.floor"),
        ("mxfp8-up", "torchao/to_mx.rceil.cvt"),
        ("nvfp4", "torchao/nvfp4.two-level"),
        ("fp8-tensor", "torchao/float8.tensorwise"),
        ("fp8-row", "torchao/float8.axiswise"),
        ("fp8-block", "deepgemm/fp8"),
    ],
)
def test_recipes(recipe: str, row: str) -> None:
    """As A, and as B with the blocks along the first dimension."""
    q = tcsmt.quantise(X, recipe)
    assert row in tcsmt.identify_quantiser(X, q.values, q.scales).found
    q = tcsmt.quantise(X.T, recipe, side="b")
    assert row in tcsmt.identify_quantiser(X.T, q.values, q.scales, side="b").found


def test_pairs_of_numbers_flat_scales_and_other_elements() -> None:
    """E2M1 two in a byte; scales in one dimension; one element that is wrong excludes every row, by its
    place.
    """
    q = tcsmt.quantise(X, "mxfp4")
    codes = q.values.view(np.uint8)
    pairs = codes[:, ::2] | codes[:, 1::2] << 4
    assert q.scales is not None
    flat = np.ascontiguousarray(q.scales).view(np.uint8).ravel()
    found = tcsmt.identify_quantiser(X, pairs, flat, format="e2m1")
    assert "torchao/to_mx.floor:e2m1" in found.found and found.exit_code == 0
    wrong = codes.copy()
    wrong[2, 40] ^= 1
    none = tcsmt.identify_quantiser(X, wrong, flat, format="e2m1")
    assert none.found == () and none.exit_code == 1
    first = none.as_json()["excluded"][0]
    assert first["first"]["place"] == [2, 40] and (first["scales"], first["elements"]) == (0, 1)
    assert "no quantiser of the catalogue gives" in str(none) and "at (2, 40)" in str(none)


def test_other_blocks_and_bfloat16() -> None:
    """A row whose blocks have another size is named apart."""
    x = X.astype(ml_dtypes.bfloat16)
    scale = np.abs(x.astype(np.float32)).max(1) / np.float32(448)
    codes = (x.astype(np.float32) / scale[:, None]).astype(ml_dtypes.float8_e4m3fn)
    text = str(tcsmt.identify_quantiser(x, codes, scale))
    assert "aiter/pertoken_quant:e4m3" in text
    assert "with other blocks than the file has:" in text and "vllm/per_token_group_quant" in text


BAD: list[tuple[Any, Any, Any, str]] = [
    (X.astype(np.float64), X.astype(np.uint8), np.ones(4, np.float32), "float64"),
    (X, X, np.ones(4, np.float32), "of 8 bits"),
    (X, np.zeros((4, 7), np.uint8), np.ones(4, np.float32), "half of its columns"),
    (X, np.zeros(X.shape, np.uint8), np.ones((4, 7), np.float32), "not whole blocks"),
    (X, np.zeros(X.shape, np.uint8), np.ones((4, 2), np.int64), "int64"),
    (X, np.zeros(X.shape, np.uint8), np.ones((2, 2, 2), np.float32), "one for each block"),
    (X[:, :0], np.zeros((4, 0), np.uint8), np.ones(4, np.float32), "must be a matrix"),
]


@pytest.mark.parametrize(("x", "codes", "scales", "told"), BAD)
def test_refusals(x: Any, codes: Any, scales: Any, told: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=told):
        tcsmt.identify_quantiser(x, codes, scales)
