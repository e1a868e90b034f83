"""Arrays in NumPy's files and in those of safetensors: every dtype reads back; what is none is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.words import dtype_of, format_of
from tcsmt.matrix_units.files.arrays import read_array, read_safetensor, restored, stored_form
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
    with pytest.raises(TcsmtError, match=r"x\.npy: No such file"):
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


#: The formats whose dtypes are ml_dtypes', by those dtypes (ue4m3 has that of e4m3).
NARROW = sorted(
    {fmt.name for fmt in map(format_of, map(dtype_of, FORMATS.values())) if fmt} - {"f16", "f32", "f64"}
)


#: How a matrix lies in memory.
ORDERS: dict[str, Any] = {"C": np.ascontiguousarray, "F": np.asfortranarray}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", NARROW)
def test_every_narrow_format_is_known_again(name: str, order: str, tmp_path: Path) -> None:
    """From the file of tcsmt, which NumPy loads: each word of the format, in matrices of either order."""
    dtype = dtype_of(FORMATS[name])
    words = np.arange(1 << min(FORMATS[name].width, 12), dtype=f"uint{8 * dtype.itemsize}").reshape(4, -1)
    array, path = ORDERS[order](words.view(dtype)), tmp_path / "x.npy"
    np.save(path, stored_form(array))
    loaded = np.load(path)
    assert loaded.dtype.names == (name,) and (loaded[name] == words).all()
    assert (loaded.view(dtype).view(words.dtype) == words).all()
    for again in (read_array(path), restored(loaded, "x")):
        assert again.dtype == dtype and again.shape == words.shape
        assert (np.ascontiguousarray(again).view(words.dtype) == words).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", NARROW)
def test_files_of_np_save_are_read_as_before(name: str, order: str, tmp_path: Path) -> None:
    """As words; E5M2, which NumPy writes and does not load, is known by its dtype."""
    dtype = dtype_of(FORMATS[name])
    words = np.arange(12, dtype=f"uint{8 * dtype.itemsize}").reshape(3, 4)
    path = tmp_path / "x.npy"
    np.save(path, ORDERS[order](words.view(dtype)))
    again = read_array(path)
    assert again.dtype == (dtype if name == "e5m2" else words.dtype)
    assert (np.ascontiguousarray(again).view(words.dtype) == words).all()


def test_other_structures_keep_their_names_to_themselves(tmp_path: Path) -> None:
    """A field that is called as a format of another size, or as none, is no word of it."""
    for field in (("e5m2", "u2"), ("bf16", "u1"), ("f16", "u2"), ("x", "u1"), ("e5m2", "f4")):
        np.save(tmp_path / "x.npy", np.zeros(3, [field]))
        with pytest.raises(TcsmtError, match=r"x\.npy has dtype .*numbers or words"):
            read_array(tmp_path / "x.npy")


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
