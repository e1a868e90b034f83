"""``tcsmt.kernel_tree``: the order of a function's additions, as text and plain data; refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tcsmt
from tests.support.libraries import exact, last_column_backwards, single


def one_by_one(a: Any, b: Any) -> Any:
    """Binary32 sums from the last product to the first."""
    total = np.zeros((len(a), b.shape[1]), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in reversed(range(a.shape[1])):
            total = total + a[:, k : k + 1] * b[k]
    return total


def test_the_order_is_read_and_held_against_random_products() -> None:
    found = tcsmt.kernel_tree(one_by_one, 6, shape=(4, 5))
    assert (found.k, found.shape, found.format.name) == (6, (4, 5), "f32")
    (region,) = found.regions
    assert (region.products, region.compared, region.elements) == (1000, 20000, 20)
    assert found.complete and found.calls > 1000
    data = json.loads(json.dumps(found.as_json()))
    assert data["tree"] == data["regions"][0]["tree"]
    assert (data["tree"]["sums"], data["tree"]["products"]) == ("f32", "f32")
    assert data["tree"]["steps"] == [[4, 5], [3], [2], [1], [0]]
    assert data["regions"][0] | {"tree": 0} == {
        "blocks": [{"rows": [0, 3], "columns": [0, 4]}], "elements": 20, "products": 1000,
        "compared": 20000, "tree": 0, "why": None,
    }  # fmt: skip
    assert str(found).splitlines() == [
        f"(4 x 6) · (6 x 5), f32; {found.calls} calls",
        "held against 1000 random products, 20000 elements: the tree gives every bit",
        "sum of p4, p5  [f32 sums of products rounded to f32]", "then one at a time: p3, p2, p1, p0",
    ]  # fmt: skip


def test_more_products_can_be_asked_for() -> None:
    seen: list[tuple[int, int, str]] = []

    def progress(*done: Any) -> None:
        seen.append(done)

    found = tcsmt.kernel_tree(one_by_one, 6, shape=(2, 1), products=1500, progress=progress)
    assert (found.regions[0].products, found.regions[0].compared) == (1500, 3000)
    assert seen[-1] == (1500, 1500, "random products")


def test_elements_that_are_summed_differently() -> None:
    found = tcsmt.kernel_tree(last_column_backwards, 6, shape=(4, 3))
    with pytest.raises(tcsmt.TcsmtError, match="D have 2 trees"):
        _ = found.tree
    assert found.as_json()["tree"] is None and found.complete
    lines = str(found).splitlines()
    assert lines[1] == "BY REGION; elements of D are summed in 2 ways:"
    assert lines[2] == "rows 0 to 3, columns 0 to 1 (8 elements):"
    assert "  held against 1000 random products, 4000 elements: the tree gives every bit" in str(found)


def test_elements_without_a_tree_are_named() -> None:
    def multiply(a: Any, b: Any) -> Any:
        found = single(a, b)
        found[:, 0] = exact(a, b)[:, 0]
        return found

    found = tcsmt.kernel_tree(multiply, 6, shape=(4, 3))
    assert not found.complete
    assert "rows 0 to 3, column 0 (4 elements):\n  none: nothing is lost in any sum" in str(found)
    assert found.as_json()["regions"][0]["why"].startswith("nothing is lost")


@pytest.mark.slow
def test_trees_name_the_unit_of_their_sums() -> None:
    found = tcsmt.kernel_tree(
        lambda a, b: tcsmt.gemm(a, b, unit="volta", reduction="split-k:2"), 16, format="f16", shape=(4, 2),
        unit="volta",
    )  # fmt: skip
    assert str(found.tree).splitlines() == [
        "2 sums, added:  [f32 sums]", "- sum of p0..p3  [as volta/mma.m8n8k4.f32.f16.f16.f32]",
        "  then p4..p7", "- likewise from p8 on",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_kernel_is_read_by_its_name() -> None:
    """Its unit says what makes sums of several products, and in which format A and B are."""
    found = tcsmt.kernel_tree("volta+split-k:2", 16, shape=(4, 2))
    assert found.format.name == "f16"
    assert str(found.tree).startswith("2 sums, added:  [f32 sums]\n- sum of p0..p3  [as volta/mma.")
    with pytest.raises(tcsmt.TcsmtError, match="unknown reduction 'nothing'"):
        tcsmt.kernel_tree("volta+nothing", 16)
    with pytest.raises(tcsmt.TcsmtError, match=r"volta: .* A in bf16"):
        tcsmt.kernel_tree("volta", 16, format="bf16")


@pytest.mark.parametrize(
    ("k", "options", "message"),
    [
        (1, {}, "k = 1: must be 2 or more"),
        (4, {"shape": (0, 4)}, r"shape \(0, 4\): M and N must be 1 or more"),
        (4, {"format": "s8"}, "format s8: must be a signed floating-point format"),
        (4, {"format": "f23"}, "unknown format 'f23'"),
        (4, {"products": 999}, "products = 999: must be 1000 or more"),
        (4, {"unit": "voltage"}, "unknown architecture 'voltage': did you mean volta"),
    ],
)
def test_bad_input(k: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.kernel_tree(one_by_one, k, **options)
