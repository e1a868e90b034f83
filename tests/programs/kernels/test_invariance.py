"""Which reductions agree: groups, witnesses that gemm confirms, proofs with certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.units import side_of
from tcsmt.programs.kernels.invariance import telling_k
from tcsmt.programs.kernels.reduction import reduction_named, separate
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.support.errors import TcsmtError

REDUCTIONS = ("chained", "split-k:2", "promote:4", "split-k:2,step=4", "split-k:2,parts=bf16")


def multiplied(values: Any, k: int, reduction: str, epilogue: str = "") -> Any:
    """A witness's element by matrices: the arrays of the simulator, not the graph of the question."""
    a, b = (np.array([values[f"{side}{n}"] for n in range(k)], np.uint16).view(np.float16) for side in "ab")
    c = np.array([[values["c"]]], np.uint32).view(np.float32)
    d = tcsmt.gemm(a[None], b[:, None], c, unit="volta", reduction=reduction, epilogue=epilogue)
    return d.view(np.uint32)[0, 0]


@pytest.mark.slow
def test_groups_and_witnesses() -> None:
    found = tcsmt.kernel_invariant(
        "volta", REDUCTIONS, k=8, narrow=False, options=tcsmt.SolvingOptions(confirm=False)
    )
    assert found.groups == (
        ("chained",), ("split-k:2", "promote:4", "split-k:2,step=4"), ("split-k:2,parts=bf16",)
    )  # fmt: skip
    assert found.invariant is False
    groups = found.found.groups
    told = [pair for pair, one in groups.decisions.items() if isinstance(one.verdict, Distinguished)]
    assert {groups.pair(4, 2), groups.pair(0, 3), groups.pair(0, 4)} == {(0, 1), (0, 4), (1, 4)} <= set(told)
    for one, two in told:
        verdict = groups.decisions[one, two].verdict
        assert isinstance(verdict, Distinguished)
        few = [n for n in range(8) if verdict.values[f"a{n}"] and verdict.values[f"b{n}"]]
        assert len(few) <= 3
        results = [multiplied(verdict.values, 8, REDUCTIONS[n]) for n in (one, two)]
        assert results[0] != results[1]
    text = str(found)
    assert "split-k:2 = promote:4 = split-k:2,step=4" in text
    assert "#1 chained and split-k:2 differ, replayed:" in text
    pairs = found.as_json()["domains"][0]["pairs"]
    assert {tuple(pair["reductions"]): pair["verdict"] for pair in pairs}[
        "split-k:2", "promote:4"
    ] == "equivalent"


def test_two_parts_in_any_order_agree_with_a_certificate(tmp_path: Path) -> None:
    """Atomic additions of two parts: proved equal, and equal on words of all kinds; of three: not."""
    pair = ["split-k:2", "split-k:2,reversed"]
    found = tcsmt.kernel_invariant(
        "volta", pair, epilogue="c=epilogue", k=8, options=tcsmt.SolvingOptions(certificate=tmp_path)
    )
    assert found.invariant
    assert all(not one.flaw for one in tcsmt.check_certificate(tmp_path))
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 1 << 16, size, np.uint16).view(np.float16) for size in ((60, 8), (8, 60)))
    c = rng.integers(0, 1 << 32, (60, 60), np.uint32).view(np.float32)
    one, two = (tcsmt.gemm(a, b, c, unit="volta", reduction=r, epilogue="c=epilogue") for r in pair)
    assert one.tobytes() == two.tobytes()
    three = ["split-k:3", "split-k:3,reversed"]
    assert tcsmt.kernel_invariant("volta", three, epilogue="c=epilogue", narrow=False).invariant is False


@pytest.mark.long
def test_a_narrower_domain_is_proved() -> None:
    """c into the chain or added to its result: the same bits with c = 0, where no result is -0."""
    found = tcsmt.kernel_invariant("volta", ["chained", "split-k:1"], k=4)
    assert found.invariant is False
    (inside,) = found.found.narrower
    assert str(inside.domain) == "finite, c = 0"
    assert inside.members == ((0, 1),)
    # a product that underflows to -0 makes a difference with IEEE operations
    other = tcsmt.kernel_invariant("ieee/fma.f32", ["chained", "split-k:1"], Domain(c_zero=True), k=2)
    assert other.invariant is False


@pytest.mark.slow
def test_undecided_pairs_are_unknown() -> None:
    domain = Domain(exponents=(0, 0), bits=(1, 1), c_zero=True)
    found = tcsmt.kernel_invariant(
        "volta",
        ["chained", "split-k:2"],
        domain,
        k=8,
        options=tcsmt.SolvingOptions(steps=1, reuse=False, confirm=False),
    )
    assert found.invariant is None
    assert "? chained and split-k:2: " in str(found)


@pytest.mark.parametrize(("reductions", "k"), [
    ("chained,split-k:2,split-k:4", 16), ("split-k:2,split-k:2,reversed", 8),
    ("chained,promote:32", 36), ("split-k:2,promote:8", 8),
])  # fmt: skip
def test_k_tells_most_apart(reductions: str, k: int) -> None:
    given = [reduction_named(one) for one in separate(reductions)]
    assert telling_k(side_of("volta").row, given) == k


@pytest.mark.parametrize(("reductions", "message"), [
    (["chained"], "give two or more"), (["split-k:2", "chained", "split-k:2"], "split-k:2 is given twice"),
    (["chained", "splitk:2"], "did you mean split-k"), (["chained", "stream-k:2,tile=8x8x8"], "give cuts"),
])  # fmt: skip
def test_errors(reductions: list[str], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        tcsmt.kernel_invariant("volta", reductions)


def test_results_of_two_formats_are_not_compared() -> None:
    """Sums up to 5 are exact in both; 1 is 0x3c00 in one, and 0x3f80 in the other."""
    unit, reductions = "volta/mma.m8n8k4.f16.f16.f16.f16", ["split-k:2", "split-k:2,sum=bf16"]
    why = "different formats \\(split-k:2 in f16, split-k:2,sum=bf16 in bf16\\)"
    with pytest.raises(TcsmtError, match=why):
        tcsmt.kernel_invariant(unit, reductions, k=8)
    found = tcsmt.kernel_invariant(
        unit, reductions, k=8, epilogue="out=f32", options=tcsmt.SolvingOptions(confirm=False)
    )
    assert found.invariant is False and found.format == "f32"
    for decision in found.found.groups.decisions.values():
        assert isinstance(decision.verdict, Distinguished)
        words = decision.verdict.values
        a, b = (np.array([[words[f"{side}{k}"] for k in range(8)]], np.uint16) for side in "ab")
        c = np.array([[words["c"]]], np.uint16)
        one, two = (
            tcsmt.gemm(a, b.T, c, unit=unit, reduction=how, epilogue="out=f32").view(np.uint32)
            for how in reductions
        )
        assert one != two


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("option", ["sum=f32", "parts=bf16", "total=f16"])
def test_integers_are_added_as_they_are(option: str, narrow: bool) -> None:
    with pytest.raises(TcsmtError, match=f"split-k:2,{option}: parts, total and sum must be left out"):
        tcsmt.kernel_invariant("x86/tdpbssd", ["split-k:2", f"split-k:2,{option}"], narrow=narrow)


@pytest.mark.parametrize(
    ("parts", "epilogue", "orders"),
    [
        (3, "c=epilogue", ("0-1-2", "0-2-1", "1-2-0")),  # the first two commute
        (2, "", ("0-1", "1-0")),  # they are added to C one after the other
    ],
)
def test_every_order_of_parts_is_a_reduction(parts: int, epilogue: str, orders: tuple[str, ...]) -> None:
    options = tcsmt.SolvingOptions(confirm=False)
    found = tcsmt.kernel_invariant(
        "volta", [f"split-k:{parts},any"], k=12, narrow=False, epilogue=epilogue, options=options
    )
    assert found.groups == tuple((f"split-k:{parts},order={order}",) for order in orders)
    for (one, two), decision in found.found.groups.decisions.items():
        assert isinstance(decision.verdict, Distinguished)
        names = [str(found.found.reductions[n]) for n in (one, two)]
        results = [multiplied(decision.verdict.values, 12, name, epilogue) for name in names]
        assert results[0] != results[1]


def test_two_parts_without_c_have_one_order() -> None:
    with pytest.raises(TcsmtError, match="the order of two parts does not matter where no C comes first"):
        tcsmt.kernel_invariant("volta", ["split-k:2,any"], Domain(c_zero=True), k=12)
