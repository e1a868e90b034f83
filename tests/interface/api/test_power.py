"""``tcsmt.testing.power``: what is printed, what is refused, and tests that are known to be weak."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tcsmt
from tcsmt.testing import operands, power
from tests.support.paths import ROOT

KERNEL = "ieee/fma.f32.bf16+split-k:2+out=bf16"
A, B = operands("normal", "bf16", (32, 24, 128), seed=1)


def names(outcomes: list) -> set[str]:
    return {one.name for one in outcomes}


def test_a_correlation_lets_most_through() -> None:
    found = power(A, B, kernel=KERNEL, criterion="pcc>=0.99")
    assert found.accepts_right and found.exit_code == 1
    assert {"last-k", "truncated", "element-unwritten", "parts-bf16"} <= names(found.survivors)
    assert {"zeros", "part-missing"} <= names(found.killed)
    text = str(found)
    assert "the right kernel passes" in text and "not applicable: k-tail (K = 128" in text
    data = found.as_json()
    assert set(data["survivors"]) == names(found.survivors)
    assert {one["outcome"] for one in data["wrong_kernels"]} == {"survived", "killed", "not applicable"}


def test_equality_with_the_kernel_itself_lets_nothing_through_that_differs() -> None:
    found = power(A, B, kernel=KERNEL, criterion="equal", expected=KERNEL)
    assert found.accepts_right
    assert all(one.changed == 0 for one in found.survivors)
    assert names(found.survivors) <= {"nan-leak", "flushed", "other-unit"}


def test_a_test_that_the_right_kernel_fails() -> None:
    found = power(A, B, kernel=KERNEL, rtol=0.0, atol=1e-9, only=("zeros",))
    assert not found.accepts_right and found.exit_code == 1 and "the RIGHT kernel FAILS" in str(found)


def test_a_function_as_the_criterion() -> None:
    found = power(
        A, B, kernel=KERNEL, expected="rounded", only=("truncated", "zeros"),
        criterion=lambda x, y: np.testing.assert_allclose(x, y, rtol=2**-7, atol=1e-3),
    )  # fmt: skip
    assert names(found.survivors) == {"truncated"} and names(found.killed) == {"zeros"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give one criterion"),
        ({"criterion": "equal", "rtol": 1.0}, "give one criterion"),
        ({"criterion": "equal", "only": ("zeroes",)}, "zeros"),
        ({"criterion": "equal", "expected": "original"}, "without a quantiser"),
        ({"criterion": "equal", "generator": "normal"}, "not both"),
        ({"criterion": "equal", "kernel": "ieee/fma.f32.bf16+split-k:2,any"}, "name one order"),
    ],
)
def test_refused(arguments: dict, message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        power(A, B, **({"kernel": KERNEL} | arguments))
    with pytest.raises(tcsmt.TcsmtError, match="a generator with its shape"):
        power(kernel=KERNEL, criterion="equal")
    with pytest.raises(tcsmt.TcsmtError, match="needs M, N and K"):
        power(kernel=KERNEL, criterion="equal", generator="normal")


def test_the_guides_table_of_public_tests_is_that_of_the_results() -> None:
    found = json.loads((ROOT / "results" / "comparisons" / "public-tests.json").read_text())
    page = (ROOT / "docs" / "howto" / "test-power.md").read_text()
    assert len(found) == 6
    for name, facts in found.items():
        every = len(facts["survivors"]) + len(facts["killed"])
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        assert row.endswith(f"| {len(facts['survivors'])} of {every} | {', '.join(facts['survivors'])} |")
        assert facts["accepts_right"] and f"- {name}: {facts['source']}." in page
