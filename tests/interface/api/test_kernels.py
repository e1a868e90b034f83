"""``tcsmt.gemm``, ``reduction`` and ``epilogue``: names instead of data, and what they stand for."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tcsmt

A = np.arange(12, dtype=np.float16).reshape(3, 4)
B = np.arange(8, dtype=np.float16).reshape(4, 2) - 3


def test_names_mean_the_data_that_they_say() -> None:
    """Small integers: every order gives the exact sums, and alpha and beta count once."""
    exact = A.astype(int) @ B.astype(int)
    for reduction in ("chained", tcsmt.reduction("split-k:2"), "split-k:2"):
        assert tcsmt.gemm(A, B, unit="volta", reduction=reduction).tolist() == exact.tolist()
    c = np.full((3, 2), 5, np.float32)
    wanted = (2 * exact + 3 * c).tolist()
    assert tcsmt.gemm(A, B, c, unit="volta", alpha=2, beta=3).tolist() == wanted
    assert tcsmt.gemm(A, B, c, unit="volta", epilogue="alpha=2,beta=3").tolist() == wanted
    # a number of the call is instead of the epilogue's
    assert tcsmt.gemm(A, B, c, unit="volta", epilogue="alpha=7,beta=3", alpha=2).tolist() == wanted
    half = tcsmt.gemm(A, B, unit="volta", epilogue=tcsmt.epilogue("out=f16"))
    assert half.dtype == np.float16 and half.tolist() == exact.tolist()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"reduction": "splitk:2"}, "unknown reduction 'splitk': did you mean split-k"),
        ({"epilogue": "gamma=2"}, "unknown option of an epilogue 'gamma'"),
        ({"b": B[:3]}, "number of columns of A must equal the number of rows of B"),
        ({"c": np.zeros((2, 2), np.float32)}, r"C has shape \(2, 2\): must be \(3, 2\)"),
        ({"unit": "voltage"}, "unknown architecture 'voltage': did you mean volta"),
    ],
)
def test_shapes_and_names_that_do_not_fit_are_refused(changed: dict[str, object], message: str) -> None:
    given = {"a": A, "b": B, "unit": "volta"} | changed
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.gemm(**given)


def test_alpha_of_each_row() -> None:
    """fma(sum, alpha of the row, beta·C), as one product for each row gives it; a bias in any format."""
    rng = np.random.default_rng(11)
    a, b = rng.standard_normal((2, 5, 32)).astype(np.float16), rng.standard_normal((32, 4)).astype(np.float16)
    c = rng.standard_normal((2, 5, 4)).astype(np.float32)
    alpha, bias = (
        rng.standard_normal((2, 5)).astype(np.float32),
        np.array([1, 2, -3, 0.5], ml_dtypes.bfloat16),
    )
    whole = tcsmt.gemm(a, b, c, unit="h100", alpha=alpha, beta=0.5, bias=bias, epilogue="bias")
    for i, j in np.ndindex(2, 5):
        row = tcsmt.gemm(
            a[i, j : j + 1],
            b,
            c[i, j : j + 1],
            unit="h100",
            alpha=float(alpha[i, j]),
            beta=0.5,
            bias=bias.astype(np.float32),
            epilogue="bias,c=epilogue",
        )
        assert np.array_equal(row[0], whole[i, j])
    ones = tcsmt.gemm(a[0], b, unit="h100", alpha=np.ones(5))
    assert np.array_equal(ones, tcsmt.gemm(a[0], b, unit="h100"))
    assert np.array_equal(
        tcsmt.gemm(a, b, unit="h100", alpha=np.float32(2)), tcsmt.gemm(a, b, unit="h100", alpha=2)
    )
    for given, match in (
        (np.ones(4), r"alpha has shape \(4,\): must be \(5,\)"),
        (np.ones(5), "nor alpha fits"),
    ):
        with pytest.raises(tcsmt.TcsmtError, match=match):
            tcsmt.gemm(a[0], b, unit="h100", alpha=given, epilogue="" if len(given) == 4 else "alpha=2")


def nan_words(unit: str, epilogue: str, reduction: str = "split-k:2") -> set[int]:
    """Words of a product's first row, every element of which is a NaN; a stack gives the same ones."""
    a = np.ones((2, 32), np.float16)
    a[0, 3] = np.nan
    c = np.ones((2, 2), np.float32)
    d = tcsmt.gemm(a, a.T, c, unit=unit, epilogue=epilogue, reduction=reduction)
    stack = tcsmt.gemm(np.stack([a, a]), a.T, c, unit=unit, epilogue=epilogue, reduction=reduction)
    unsigned = f"u{d.itemsize}"
    assert (stack.view(unsigned) == d.view(unsigned)).all()
    return {int(word) for word in d[0].view(unsigned)}


@pytest.mark.parametrize("unit", ["volta", "a100", "h100"])
def test_nan_words_are_those_of_the_vendor(unit: str) -> None:
    """PTX's additions and conversions give the canonical NaN; a rule that is named counts before it."""
    for epilogue in ("", "c=epilogue", "alpha=2", "out=f32,saturate"):
        assert nan_words(unit, epilogue) == {0x7FFFFFFF}
    assert nan_words(unit, "out=bf16", "chained") == nan_words(unit, "out=f16:bf16") == {0x7FFF}
    assert nan_words(unit, "out=f16") == {0x7FFF}
    assert nan_words(unit, "out=bf16,nan=quiet") == {0x7FC0}
    assert nan_words("mi300x", "out=f16") == {0x7E00} and nan_words("mi300x", "nan=ones") == {0x7FFFFFFF}
