"""Products in files: the same words as in memory, whatever the number of columns at a time."""

from __future__ import annotations

import hashlib
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.arrays import read_array
from tcsmt.interface.api.stored_products import stored_product


@pytest.mark.parametrize("columns", [None, 1, 7, 100])
def test_a_file_has_the_words_of_the_product_in_memory(columns: int | None, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((5, 32), (32, 20)))
    c, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 20), 20))
    reduction, epilogue = tcsmt.reduction("split-k:2"), tcsmt.epilogue("beta=0.5,bias")
    file, done = tmp_path / "d.npy", list[int]()
    made = stored_product(
        file, a, b, c, unit="h100", bias=bias, reduction=reduction, epilogue=epilogue, columns=columns,
        progress=lambda count, _whole, _text: done.append(count),
    )  # fmt: skip
    expected = tcsmt.gemm(a, b, c, unit="h100", bias=bias, reduction=reduction, epilogue=epilogue)
    assert np.array_equal(np.load(file), expected)
    assert made.digest == hashlib.sha256(expected.tobytes()).hexdigest() == made.as_json()["sha256"]
    assert (made.shape, made.stack, made.resumed_at_column) == ((5, 32, 20), (), 0)
    assert str(made).splitlines()[0].startswith(f"{made.kernel.unit.name}: (5 x 32) · (32 x 20), split-k:2, ")
    assert done == sorted(done) and done[-1] == 20
    assert [path.name for path in tmp_path.iterdir()] == ["d.npy"]


def test_arrays_that_do_not_fit_leave_no_file(tmp_path: Path) -> None:
    a, b = np.ones((4, 16), np.float16), np.ones((16, 8), np.float16)
    file = tmp_path / "d.npy"
    with pytest.raises(tcsmt.TcsmtError, match=r"C has shape \(4, 4\): must be \(4, 8\)"):
        stored_product(file, a, b, np.ones((4, 4), np.float32), unit="h100")
    with pytest.raises(tcsmt.TcsmtError, match=r"B has shape \(16,\): must be a matrix"):
        stored_product(file, a, b[:, 0], unit="h100")
    tiled = tcsmt.reduction("stream-k:3,tile=4x8x16")
    with pytest.raises(tcsmt.TcsmtError, match="needs all columns at once"):
        stored_product(file, a, b, unit="h100", reduction=tiled, columns=4)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("damage", ["zeros", "other shape", "no array", "a changed word", "gone"])
def test_a_record_counts_only_with_the_columns_that_it_describes(damage: str, tmp_path: Path) -> None:
    a, b = np.ones((2, 16), np.float16), np.ones((16, 12), np.float16)
    file, partial = tmp_path / "d.npy", tmp_path / "d.npy.partial"

    def stop(done: int, _whole: int, _text: str) -> None:
        if done > 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stored_product(file, a, b, unit="h100", columns=4, progress=stop)
    words = np.load(partial)
    assert (words != 0).any(axis=0).tolist() == [True] * 8 + [False] * 4
    if damage == "zeros":
        words[:] = 0
    elif damage == "other shape":
        words = words.T
    elif damage == "a changed word":
        words[1, 7] += 1
    with partial.open("wb") as content:
        np.save(content, words)
    if damage == "no array":
        partial.write_bytes(b"something else")
    elif damage == "gone":
        partial.unlink()
    made = stored_product(file, a, b, unit="h100", columns=4)
    assert made.resumed_at_column == 0
    assert np.array_equal(np.load(file), np.full((2, 12), 16, np.float32))


@pytest.mark.parametrize("out", ["bf16", "e5m2", "e4m3", "e4m3fnuz", "e3m2"])
def test_a_file_says_its_format(out: str, tmp_path: Path) -> None:
    """And another product takes it without being told."""
    a, b = np.ones((2, 16), np.float16), np.eye(16, dtype=np.float16)[:, :4]
    epilogue = tcsmt.epilogue(f"out={out},saturate")
    stored_product(tmp_path / "d.npy", a, b, unit="h100", epilogue=epilogue, columns=3)
    expected = tcsmt.gemm(a, b, unit="h100", epilogue=epilogue)
    again = read_array(tmp_path / "d.npy")
    assert again.dtype == expected.dtype and (again.astype(float) == expected.astype(float)).all()
    if out in ("bf16", "e5m2", "e4m3"):
        one = np.eye(4, dtype=ml_dtypes.bfloat16 if out == "bf16" else ml_dtypes.float8_e4m3fn)
        for taken in (again, np.load(tmp_path / "d.npy")):
            assert tcsmt.gemm(taken, one, unit="h100").tolist() == [[1.0] * 4] * 2
