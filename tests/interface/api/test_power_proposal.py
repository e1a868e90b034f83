"""Proposed tests: they accept every right kernel, and kill what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tcsmt.analysis.power.criteria import criterion_named
from tcsmt.analysis.power.wrong_kernels import WRONG_KERNELS
from tcsmt.interface.api.power import product_and_expected
from tcsmt.testing import operands, power, propose

UNIT = "ieee/fma.f32.bf16"
RIGHT = (f"{UNIT}+split-k:2+out=bf16", f"{UNIT}+chained+out=bf16", f"{UNIT}+promote:32,total=f32+out=bf16")


@pytest.mark.parametrize("generator", ["normal", "mixed", "uniform"])
def test_every_right_kernel_is_accepted(generator: str) -> None:
    """Results of the simulator for each of them, against the criteria as they are printed."""
    a, b = operands(generator, "bf16", (24, 16, 96), seed=5)
    proposal = propose(power(a, b, kernel=RIGHT[0], criterion="pcc>=0.99"), RIGHT[1:])
    exact = a.astype(float) @ b.astype(float)
    texts = [text for text, _ in proposal.criteria if "each" not in text]
    assert len(texts) == 5
    for name in RIGHT:
        _, reduction, epilogue = name.split("+")
        d = tcsmt.gemm(a, b, unit=UNIT, reduction=reduction, epilogue=epilogue).astype(float)
        assert all(criterion_named(text).accepts(d, exact) for text in texts)


def test_a_weak_test_is_mended(tmp_path: Path) -> None:
    weak = power(kernel=RIGHT[0], generator="uniform", shape=(16, 16, 512), rtol=1e-2, atol=1e-2)
    assert {"k-twice", "truncated"} <= {one.name for one in weak.survivors}
    proposal = propose(weak)
    best, survivors = proposal.criteria[0]
    assert not {"k-twice", "truncated"} & set(survivors) and "rtol" in best
    killed = {name for test in proposal.tests for name in test.kills}
    assert {"nan-leak"} <= killed and killed | set(proposal.open) == set(survivors)
    assert "np.isclose" in str(proposal) and proposal.as_json()["open"] == list(proposal.open)
    proposal.save(tmp_path / "tests.npz")
    by_name = {wrong.name: wrong for wrong in WRONG_KERNELS}
    with np.load(tmp_path / "tests.npz") as t:
        for test in proposal.tests:
            name = test.operands.partition(",")[0]
            a, b = (t[f"{name}_{side}"].astype(weak.test.arrays["a"].dtype) for side in "ab")
            product, _ = product_and_expected(RIGHT[0], {"a": a, "b": b}, None, "exact")

            def close(d: np.ndarray, name: str = name, t: object = t) -> bool:
                expected, atol = t[f"{name}_expected"], t[f"{name}_atol"]  # type: ignore[index]
                return bool(np.isclose(d, expected, rtol=0, atol=atol, equal_nan=True).all())

            assert close(product.right)
            assert not any(close(by_name[kill].results(product)) for kill in test.kills)
    with pytest.raises(tcsmt.TcsmtError, match="allowed suffix"):
        proposal.save(tmp_path / "tests.npy")


def test_a_quantised_product() -> None:
    weak = power(
        kernel="ieee/fma.f32.e4m3", generator="normal", shape=(12, 10, 64), quantiser="fp8-row",
        expected="original", criterion="cosine>=0.99",
    )  # fmt: skip
    proposal = propose(weak)
    assert len(proposal.criteria[0][1]) < len(weak.survivors)
