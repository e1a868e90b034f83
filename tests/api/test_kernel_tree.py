"""``tcsmt.kernel_tree``: the order of a function's additions, as text and plain data; refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tcsmt

pytestmark = pytest.mark.library


def one_by_one(a: Any, b: Any) -> Any:
    """Binary32 sums from the last product to the first."""
    total = np.zeros((len(a), b.shape[1]), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in reversed(range(a.shape[1])):
            total = total + a[:, k : k + 1] * b[k]
    return total


def in_order(tree: Any) -> list[int]:
    """The products in the order in which they enter the sums, of plain data."""
    return [
        n for step in tree for part in step for n in ([part] if isinstance(part, int) else in_order(part))
    ]


def test_the_order_is_read_in_one_call() -> None:
    found = tcsmt.kernel_tree(one_by_one, 6)
    assert (found.k, found.shape, found.calls, found.format.name) == (6, (6, 6), 1, "f32")
    data = json.loads(json.dumps(found.as_json()))
    assert len(data["tree"]) == 5  # the first two products are one sum, and then one product at a time
    assert sorted(data["tree"][0]) == [4, 5]
    assert in_order(data["tree"][1:]) == [3, 2, 1, 0]
    assert str(found).startswith("(6 x 6) · (6 x 6), f32; 1 call\n")


def test_small_results_take_more_calls() -> None:
    whole, few = tcsmt.kernel_tree(one_by_one, 6), tcsmt.kernel_tree(one_by_one, 6, shape=(2, 1))
    assert few.tree == whole.tree
    assert few.shape == (2, 1) and few.calls > 1 and f"{few.calls} calls" in str(few)


@pytest.mark.parametrize(
    ("k", "options", "message"),
    [
        (1, {}, "k = 1: must be 2 or more"),
        (4, {"shape": (0, 4)}, r"shape \(0, 4\): M and N must be 1 or more"),
        (4, {"operands": "s8"}, "format s8: must be a signed floating-point format"),
        (4, {"operands": "f23"}, "unknown format 'f23'"),
    ],
)
def test_bad_input(k: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(tcsmt.TcsmtError, match=message):
        tcsmt.kernel_tree(one_by_one, k, **options)
