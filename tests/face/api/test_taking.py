"""A unit without an instruction stands for those of its instructions that take the operands' formats."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.face.api.taking import formats_in, formats_of, kernel_taking, rows_taking
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS
from tcsmt.support.errors import TcsmtError


def both(name: str) -> dict[str, Any]:
    return dict.fromkeys("ab", FORMATS.get(name) or INTEGERS.get(name))


@pytest.mark.parametrize(("unit", "fmt", "instruction"), [
    ("h100", "f16", "mma.m16n8k16.f32.f16.f16.f32"), ("h100", "bf16", "mma.m16n8k16.f32.bf16.bf16.f32"),
    ("h100", "e4m3", "wgmma.m64nNk32.f32.e4m3.e4m3"), ("h100", "f64", "mma.m8n8k4.f64.f64.f64.f64"),
    ("h100", "s8", "wgmma.m64nNk32.s32.s8.s8"), ("rtx 4090", "e4m3", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ("mi300x", "bf16", "v_mfma_f32_32x32x8_bf16"), ("mi300x", "f32", "v_mfma_f32_32x32x2_f32"),
    ("ieee", "bf16", "fma.f32.bf16"), ("h100", "f32", "mma.m16n8k16.f32.f16.f16.f32"),
    ("volta", "s16", "mma.m8n8k4.f32.f16.f16.f32"),
])  # fmt: skip
def test_the_most_used_instruction_that_takes_the_formats_is_meant(
    unit: str, fmt: str, instruction: str
) -> None:
    """Wide floats that none takes are values, and integers that none takes are words, for the most used."""
    assert rows_taking(unit, both(fmt), values=True)[0].instruction == instruction


def test_every_one_that_takes_them_and_no_other() -> None:
    found = {row.instruction for row in rows_taking("h100", both("bf16"))}
    assert found == {
        "mma.m16n8k16.f32.bf16.bf16.f32", "mma.m16n8k8.f32.bf16.bf16.f32", "wgmma.m64nNk16.f32.bf16.bf16",
    }  # fmt: skip
    named = rows_taking("h100/mma.m16n8k16.f32.f16.f16.f32", both("bf16"))
    assert [row.model.a_format.name for row in named] == ["f16"]  # whoever names one means it


def test_none_that_fits_is_an_error_that_names_the_formats() -> None:
    with pytest.raises(
        TcsmtError, match=r"volta: no instruction takes A in bf16 and B in bf16; .*: f16 x f16$"
    ):
        rows_taking("volta", both("bf16"), values=True)
    with pytest.raises(TcsmtError, match=r"h100: .* A in e4m3 and B in f16; .*: .*e4m3 x e5m2"):
        rows_taking("h100", {"a": FORMATS["e4m3"], "b": FORMATS["f16"]}, values=True)
    with pytest.raises(TcsmtError, match=r"h100: no instruction takes A in f32 and B in f32"):
        rows_taking("h100", both("f32"))
    with pytest.raises(TcsmtError, match="no instruction takes A in bf16"):
        tcsmt.gemm(*np.ones((2, 4, 4), ml_dtypes.bfloat16), unit="volta")


def test_of_those_that_fit_the_one_with_such_results() -> None:
    half = [
        row.model.d_format.name == "f16" for row in rows_taking("h100", both("f16"), result=FORMATS["f16"])
    ]
    assert half == sorted(half, reverse=True) and half[0] and not half[-1]
    kernel = kernel_taking("h100+split-k:2", both("bf16"), result=FORMATS["bf16"])
    assert kernel.name == "hopper/mma.m16n8k16.f32.bf16.bf16.f32+split-k:2"
    converted = kernel_taking("h100+split-k:2+out=f16", both("f16"), result=FORMATS["f16"])
    assert converted.unit.model.d_format.name == "f32"
    assert [row.model.a_format.name for row in rows_taking("h100+split-k:2@64", both("bf16"))] == ["bf16"]


def test_block_scales_belong_to_units_with_block_scales() -> None:
    assert rows_taking("b200", both("e4m3"))[0].model.scales == 0
    assert rows_taking("b200", both("e4m3"), scaled=True)[0].model.scales == 1


def test_formats_of_arrays_and_files(tmp_path: Path) -> None:
    half, words = np.ones(2, np.float16), np.ones(2, np.uint16)
    assert formats_of({"a": half, "b": [1.0]}) == {"a": FORMATS["f16"], "b": None}
    assert formats_of({"a": words, "b": words}, {"a": "bf16"}) == {"a": FORMATS["bf16"], "b": None}
    np.savez(tmp_path / "rows.npz", a=half, b=half)
    assert formats_in(tmp_path / "rows.npz") == {"a": FORMATS["f16"], "b": FORMATS["f16"]}
    (tmp_path / "rows.npz.xz").write_bytes(lzma.compress((tmp_path / "rows.npz").read_bytes()))
    assert formats_in(tmp_path / "rows.npz.xz") == formats_in(tmp_path / "rows.npz")
    assert formats_in(tmp_path / "rows.csv") == {}


@pytest.mark.slow_cases("float8_e4m3fn-hopper/wgmma.m64nNk32.f32.e4m3.e4m3")
@pytest.mark.parametrize(("dtype", "instruction"), [
    (ml_dtypes.bfloat16, "hopper/mma.m16n8k16.f32.bf16.bf16.f32"),
    (ml_dtypes.float8_e4m3fn, "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"),
    (np.int8, "hopper/wgmma.m64nNk32.s32.s8.s8"),
])  # fmt: skip
def test_gemm_and_kernel_commands_take_the_operands_instruction(dtype: Any, instruction: str) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((8, 64), (64, 8)))
    d = tcsmt.gemm(a, b, unit="h100")
    assert np.array_equal(d, tcsmt.gemm(a, b, unit=instruction))
    found = tcsmt.kernel_identify(a, b, d, units=["h100"])
    assert f"{instruction}+chained" in [kernel.name for kernel in found.kernels]
    assert tcsmt.kernel_diff(a, b, d, d, left_kernel="h100", right_kernel="h100+split-k:2").equal
