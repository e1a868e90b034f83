"""Tensors in safetensors files: against the library of that name, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.files.safetensors import read_safetensor
from tcsmt.support.errors import TcsmtError


def written(path: Path, table: Any, content: bytes = b"") -> Path:
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)
    return path


def test_dtypes_and_shapes(tmp_path: Path) -> None:
    """Offsets are from the end of the table; a tensor may be empty, or a number."""
    half = np.array([[1.5, -2.0, 3.0]], ml_dtypes.bfloat16)
    eight = np.array([0.5, 448.0], ml_dtypes.float8_e4m3fn)
    table = {
        "__metadata__": {"format": "pt"},
        "layer.weight": {"dtype": "BF16", "shape": [1, 3], "data_offsets": [2, 8]},
        "layer.scale": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]},
        "none": {"dtype": "F32", "shape": [0, 4], "data_offsets": [8, 8]},
        "packed": {"dtype": "F4", "shape": [2], "data_offsets": [0, 1]},
    }
    path = written(tmp_path / "x.safetensors", table, eight.tobytes() + half.tobytes())
    for name, own in (("layer.weight", half), ("layer.scale", eight)):
        array = read_safetensor(path, name)
        assert array.dtype == own.dtype and np.array_equal(array, own)
    assert read_safetensor(path, "none").shape == (0, 4)
    for name, match in {
        "layer.wieght": "did you mean layer.weight",
        "": r"has 4 tensors: write .*:NAME, of layer.scale, layer.weight",
        "packed": "dtype of tensor packed",
    }.items():
        with pytest.raises(TcsmtError, match=match):
            read_safetensor(path, name)


def test_the_only_tensor_needs_no_name(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x.safetensors", {"w": {"dtype": "I8", "shape": [], "data_offsets": [0, 1]}}, b"\xff"
    )
    assert read_safetensor(path, "") == np.int8(-1)


def test_same_as_the_library(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy", reason="the extra `torch` is not installed")
    rng = np.random.default_rng(7)
    arrays: dict[str, Any] = {
        "a": rng.standard_normal((5, 3)).astype(np.float16),
        "b": rng.standard_normal(7),
        "c": rng.integers(0, 9, (2, 2, 2), np.int64),
    }
    numpy.save_file(arrays, tmp_path / "x.safetensors")
    for name, array in arrays.items():
        own = read_safetensor(tmp_path / "x.safetensors", name)
        assert own.dtype == array.dtype and np.array_equal(own, array)


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (b"", "its table would have 0 bytes"),
        (b"[1]", "its table is no object"),
        (b"{", "is not a safetensors file"),
        ({"w": {"dtype": "F32"}}, "is not a safetensors file"),
        ({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 4]}}, "does not fit its 4 bytes"),
        ({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}, "is not a safetensors file"),
    ],
)
def test_what_is_none(table: Any, match: str, tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match=match):
        read_safetensor(written(tmp_path / "x.safetensors", table), "w")
    with pytest.raises(TcsmtError, match=r"cannot read .*none\.safetensors"):
        read_safetensor(tmp_path / "none.safetensors", "w")
