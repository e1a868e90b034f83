"""Tensors as arrays, and back."""

from __future__ import annotations

import pytest

import tcsmt
from tcsmt.face.torch.tensors import FORMAT_OF, array_of, tensor_of
from tcsmt.matrix_units.arithmetic.words import dtype_of
from tests.support.tensors import seeded, torch

emulate = tcsmt.torch.emulate


def test_there_and_back() -> None:
    """Every dtype of results; strides and gradients do not matter."""
    for dtype, fmt in FORMAT_OF.items():
        tensor = seeded(4, 6).to(dtype).T
        array = array_of(tensor, "x")
        assert array.shape == (6, 4) and array.dtype == dtype_of(fmt)
        assert tensor_of(array).dtype == dtype and torch.equal(tensor_of(array).float(), tensor.float())
    assert array_of(torch.ones(2, requires_grad=True), "x").tolist() == [1, 1]


def test_other_devices_are_refused() -> None:
    with pytest.raises(tcsmt.TcsmtError, match="A is on meta: products are emulated on the CPU; move the"):
        array_of(torch.ones(2, device="meta"), "A")
