"""Arrays of files: one array, words where NumPy has no dtype, and nothing unpickled."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.files.arrays import read_array
from tcsmt.support.errors import TcsmtError


def test_values_and_words(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.save(path, fortran)
    assert (read_array(path) == fortran).all()
    small = np.array([1.5, -2], ml_dtypes.float8_e4m3fn)
    np.save(path, small)
    assert (read_array(path) == small.view(np.uint8)).all()


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_files_that_are_not_arrays_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    with pytest.raises(TcsmtError, match=r"x\.npy is not a \.npy array") as caught:
        read_array(path)
    assert "pickle" not in str(caught.value)


def test_missing_files_and_structured_elements_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TcsmtError, match=r"cannot read .*x\.npy: No such file or directory"):
        read_array(tmp_path / "x.npy")
    np.save(tmp_path / "s.npy", np.zeros(2, [("x", np.int16), ("y", np.int8)]))
    np.save(tmp_path / "t.npy", np.zeros(2, [("x", np.int16), ("y", np.int16)]))
    for name in "st":
        with pytest.raises(TcsmtError, match="its elements must be numbers or words"):
            read_array(tmp_path / f"{name}.npy")


def test_objects_and_archives_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(TcsmtError, match=r"is not a \.npy array"):
        read_array(tmp_path / "o.npy")
    np.savez(tmp_path / "z.npz", x=np.zeros(2))
    with pytest.raises(TcsmtError, match="must hold one array"):
        read_array(tmp_path / "z.npz")
