"""Arrays in files: NumPy's, and tensors by name, which keep BF16 and FP8."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.face.api.array_files import read_array


def test_which_reader(tmp_path: Path) -> None:
    """By the suffix before the colon."""
    np.save(tmp_path / "x.npy", np.arange(3.0))
    assert read_array(tmp_path / "x.npy").tolist() == [0, 1, 2]
    table = json.dumps({"w": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    content = len(table).to_bytes(8, "little") + table + np.array([1.5], ml_dtypes.bfloat16).tobytes()
    (tmp_path / "x.safetensors").write_bytes(content)
    for path in ("x.safetensors:w", "x.safetensors"):
        array = read_array(tmp_path / path)
        assert array.dtype == ml_dtypes.bfloat16 and array.tolist() == [1.5]


def test_files_of_pytorch(tmp_path: Path) -> None:
    """A tensor, or dictionaries of them, whose keys dots join; nothing else is unpickled."""
    torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
    file = tmp_path / "x.pt"
    torch.save(torch.ones(2, 3, dtype=torch.bfloat16), file)
    assert read_array(file).dtype == ml_dtypes.bfloat16
    torch.save({"net": torch.nn.Linear(2, 1).state_dict(), "step": 3}, file)
    assert read_array(tmp_path / "x.pt:net.weight").shape == (1, 2)
    torch.save({"x": {"y": torch.ones(2).to(torch.float8_e4m3fn)}}, file)
    assert read_array(file).dtype == ml_dtypes.float8_e4m3fn
    torch.save({"a": torch.ones(1), "b": torch.ones(1)}, file)
    with pytest.raises(tcsmt.TcsmtError, match=r"has 2 tensors: write .*x\.pt:NAME, of a, b"):
        read_array(file)
    with pytest.raises(tcsmt.TcsmtError, match=r"unknown tensor of .*x\.pt 'c'"):
        read_array(tmp_path / "x.pt:c")
    torch.save(Path("x"), file)
    with pytest.raises(tcsmt.TcsmtError, match=r"x\.pt is not a file of tensors"):
        read_array(file)
    with pytest.raises(tcsmt.TcsmtError, match=r"cannot read .*none\.pt"):
        read_array(tmp_path / "none.pt:a")
