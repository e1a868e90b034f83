"""Compiled kernels as names of units: arguments, options and freedoms after commas."""

from __future__ import annotations

from pathlib import Path

import pytest

import tcsmt
from tests.support.compiled import TEXTS

_F16 = f"{TEXTS / 'f16_sm80.ptx'},A,B,D,64,64,64,64,64,64"
_LINEAR = f"{TEXTS / 'linear_sm80.ptx'},A,B,c,D,64,64,32"


def test_a_name_is_the_unit_of_the_file_that_kernel_read_writes(tmp_path: Path) -> None:
    found = tcsmt.kernel_read(
        TEXTS / "linear_sm80.ptx", ["A", "B", "c", "D", 64, 64, 32], block=(1, 0, 0), element=16 * 64 + 3
    )
    found.save(tmp_path / "linear.toml")
    for choice in range(2):
        named = tcsmt.unit(f"{_LINEAR},block=1:0:0,element=1027,contraction={choice}")
        filed = tcsmt.unit(f"{tmp_path / 'linear.toml'},contraction={choice}@32")
        assert named.row.model == filed.row.model
        assert named.row.nans_outside == filed.row.nans_outside
    assert tcsmt.unit(f"{_LINEAR},contraction=0@32").row.name == (
        "program/linear_sm80,A,B,c,D,64,64,32,contraction=0@32"
    )


def test_kernels_are_compared_and_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.ptx").write_text((TEXTS / "f16_sm80.ptx").read_text())
    name = "small.ptx,A,B,D,64,64,16,16,64,64"
    assert tcsmt.compare(name, f"{name},element=65").equal
    assert tcsmt.unit(name).row.model.k == 16


def test_what_a_name_must_have_is_said() -> None:
    for text, said in (
        (f"{_F16},elemnt=1", "f16_sm80.ptx: unknown option of a kernel 'elemnt': did you mean element"),
        (f"{_F16},element=x", "f16_sm80.ptx: element=x: must be N"),
        (f"{_F16},block=1:2:3:4", "block=1:2:3:4: must be X:Y:Z"),
        (f"{_F16},element=1,7", "argument '7' must stand before the options"),
        (f"{_F16}@63", "K is 64, as the arguments say"),
        (f"{_F16},element=5000", "element 5000 is not stored by this block, but 256 others"),
        (str(TEXTS / "f16_sm80.ptx"), "argument 3 of matmul is missing|argument 4 of matmul is missing"),
        ("none.ptx,A", "none.ptx: No such file"),
        (_LINEAR, "the freedom 'contraction' is open: choose one of contraction=0, contraction=1"),
    ):
        with pytest.raises(tcsmt.TcsmtError, match=said):
            tcsmt.unit(text)
