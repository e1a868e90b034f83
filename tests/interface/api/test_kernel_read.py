"""``tcsmt.kernel_read``: the program of a compiled kernel as text, data and file; refusals name the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tcsmt
from tests.support.compiled import TEXTS, small_kernel

_ARGUMENTS = ["A", "B", "D", *[64] * 6]


def test_the_written_file_is_a_unit(tmp_path: Path) -> None:
    found = tcsmt.kernel_read(TEXTS / "f16_sm80.ptx", _ARGUMENTS, element=64 * 9 + 2)
    assert (found.k, found.freedoms) == (64, ())
    file = tmp_path / "matmul.toml"
    found.save(file)
    unit = tcsmt.unit(f"{file}@64")
    a, b = np.random.default_rng(0).standard_normal((2, 5, 64)).astype(np.float16)
    plain = tcsmt.gemm(a, b.T, unit="a100/m16n8k16.f32.f16", epilogue="out=f16")
    assert np.array_equal(unit(a, b, np.zeros(5, np.float32)), np.diag(plain))


@pytest.mark.parametrize(
    ("kernel", "given"),
    [("linear_sm80", ["A", "B", "bias", "D", 64, 64, 64]), ("f32_sm80", _ARGUMENTS)],
    ids=["instructions", "multiply-adds"],
)
def test_what_is_multiplied_is_found(kernel: str, given: list[str | int]) -> None:
    unnamed = [f"p_{name}" if name in ("A", "B") else name for name in given]
    named, found = (tcsmt.kernel_read(TEXTS / f"{kernel}.ptx", one) for one in (given, unnamed))
    assert str(named) == str(found)


def test_choices_of_freedoms_are_units(tmp_path: Path) -> None:
    found = tcsmt.kernel_read(TEXTS / "linear_sm80.ptx", ["A", "B", "c", "D", 64, 64, 64])
    (freedom,) = found.freedoms
    file = tmp_path / "linear.toml"
    found.save(file)
    with pytest.raises(tcsmt.TcsmtError, match=f"choose one of {freedom}=0, {freedom}=1"):
        tcsmt.unit(f"{file}@64")
    separate, joined = (tcsmt.unit(f"{file},{freedom}={n}@64") for n in range(2))
    assert separate.row.model != joined.row.model


def test_the_result_says_what_was_read() -> None:
    found = tcsmt.kernel_read(TEXTS / "linear_sm80.ptx", ["A", "B", "bias", "D", 64, 64, 64], target="h100")
    assert str(found).splitlines()[:6] == [
        "# linear, compiled for hopper: D[0], stored at line 272",
        "# A: 64 words of bf16 from byte 0 on, every 2 bytes",
        "# B: 64 words of bf16 from byte 0 on, every 128 bytes",
        "# bias: one word of f32 at byte 0",
        "# U: hopper/mma.m16n8k16.f32.bf16.bf16.f32",
        "v0 = chain(U, A·B over K, +0)",
    ]
    data = found.as_json()
    assert data["words"]["B"] == {"first": 0, "stride": 128, "count": 64}
    assert data["inputs"] == {"bias": {"format": "f32", "first": 0}}
    assert list(data["freedoms"].values()) == [2]
    assert 'bias = "f32"' in found.as_toml()


def test_errors_name_the_file_and_the_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.ptx"
    with pytest.raises(tcsmt.TcsmtError, match=r"wrong.ptx: No such file"):
        tcsmt.kernel_read(file, [])
    file.write_text(small_kernel('.loc 1 31 4\nsub.rn.f32.f16 %r9, %r8, %rs1;').replace(
        ".address_size 64", '.address_size 64\n.file 1 "norm.py"'
    ))  # fmt: skip
    with pytest.raises(tcsmt.TcsmtError, match=r"wrong.ptx: line 24 \(norm.py:31\): sub.rn.f32.f16: unknown"):
        tcsmt.kernel_read(file, ["A", "D", 1])
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(tcsmt.TcsmtError, match=r"wrong.ptx: .*decode"):
        tcsmt.kernel_read(file, [])


def test_every_element_of_a_grid_is_in_a_class() -> None:
    found = tcsmt.kernel_read(
        TEXTS / "f16_sm80.ptx", ["A", "B", "D", 32, 16, 16, 16, 16, 16], grid=(2, 1, 1), every=True
    )
    assert (
        str(found).splitlines()[-1] == "# the program of all 512 elements of D that the grid stores: proved"
    )
    (one,) = found.as_json()["classes"]
    assert (one["count"], one["element"], one["block"]) == (512, 0, [0, 0, 0])
    with pytest.raises(tcsmt.TcsmtError, match="every element: give a grid, and no element and no block"):
        tcsmt.kernel_read(TEXTS / "f16_sm80.ptx", ["A", "B", "D", *[16] * 6], every=True)
