"""Tensors as arrays, and back."""

from __future__ import annotations

import importlib

import pytest

import tcsmt
from tcsmt.matrix_units.arithmetic.words import dtype_of
from tests.support.tensors import seeded, torch

tensors = importlib.import_module("tcsmt.interface.torch.tensors")  # only where PyTorch is


def test_there_and_back() -> None:
    """Every dtype of results; strides and gradients do not matter."""
    for dtype, fmt in tensors.FORMAT_OF.items():
        tensor = seeded(4, 6).to(dtype).T
        array = tensors.array_of(tensor, "x")
        assert array.shape == (6, 4) and array.dtype == dtype_of(fmt)
        assert tensors.tensor_of(array).dtype == dtype and torch.equal(
            tensors.tensor_of(array).float(), tensor.float()
        )
    assert tensors.array_of(torch.ones(2, requires_grad=True), "x").tolist() == [1, 1]


def test_other_devices_are_refused() -> None:
    with pytest.raises(tcsmt.TcsmtError, match="A is on meta: products are emulated on the CPU; move the"):
        tensors.array_of(torch.ones(2, device="meta"), "A")
