"""The context: what it tells of what it leaves to PyTorch, and what it puts back."""

from __future__ import annotations

import pytest

import tcsmt
from tests.support.tensors import product, same, seeded, torch

emulate = tcsmt.torch.emulate


def test_what_is_not_emulated_is_told() -> None:
    """A warning for products, and all in the report; binary64 and vectors are PyTorch's own."""
    emulation = emulate("h100", "bf16")

    def run() -> None:
        with emulation:
            torch.mv(torch.ones(2, 2), torch.ones(2))
            assert (torch.ones(2, 2).double() @ torch.ones(2, 2).double()).dtype == torch.float64
            torch.relu(torch.ones(2, 2) @ torch.ones(2, 2))

    with pytest.warns(UserWarning, match=r"mv \(not one of the emulated.*float64: no recipe"):
        run()
    names = {name for name, _ in emulation.report.others}
    assert {"mv", "mm", "relu"} <= names
    text = str(emulation.report)
    assert "products that were not emulated: mv x 1" in text and "computed by PyTorch: relu x 1" in text
    with pytest.warns(UserWarning, match="float32: name a recipe"), emulate("h100"):
        torch.ones(2, 2) @ torch.ones(2, 2)


def test_everything_is_put_back() -> None:
    """Also where the program fails inside."""
    fast = torch.backends.mha.get_fastpath_enabled()
    a = seeded(4, 4)
    with pytest.raises(RuntimeError, match="stop"), emulate("h100", "bf16"):
        raise RuntimeError("stop")
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert torch.equal(a @ a, torch.mm(a, a))
    with emulate("h100", "bf16"), torch.inference_mode():
        assert same(torch.nn.functional.linear(a, a).clone(), product(a, a.T))
