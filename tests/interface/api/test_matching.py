"""A unit without an instruction stands for those of its instructions that take the operands' formats."""

from __future__ import annotations

import ast
import lzma
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.interface.api.matching import (
    BlockScales,
    formats_in,
    formats_of,
    kernel_for_operands,
    rows_for_operands,
)
from tcsmt.interface.api.stored_products import stored_product
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.words import dtype_of, from_words
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES
from tcsmt.support.errors import TcsmtError
from tests.support.paths import ROOT


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
    assert rows_for_operands(unit, both(fmt), values=True)[0].instruction == instruction


def test_every_one_that_takes_them_and_no_other() -> None:
    found = {row.instruction for row in rows_for_operands("h100", both("bf16"))}
    assert found == {
        "mma.m16n8k16.f32.bf16.bf16.f32", "mma.m16n8k8.f32.bf16.bf16.f32", "wgmma.m64nNk16.f32.bf16.bf16",
    }  # fmt: skip
    named = rows_for_operands("h100/mma.m16n8k16.f32.f16.f16.f32", both("bf16"))
    assert [row.model.a_format.name for row in named] == ["f16"]  # whoever names one means it


def test_none_that_fits_is_an_error_that_names_the_formats() -> None:
    with pytest.raises(TcsmtError, match=r"volta: .* A in bf16 .* B in bf16; .*: f16 x f16$"):
        rows_for_operands("volta", both("bf16"), values=True)
    with pytest.raises(TcsmtError, match=r"h100: .* A in e4m3 and B in f16; .*: .*e4m3 x e5m2"):
        rows_for_operands("h100", {"a": FORMATS["e4m3"], "b": FORMATS["f16"]}, values=True)
    with pytest.raises(TcsmtError, match=r"h100: .* A in f32 .* B in f32"):
        rows_for_operands("h100", both("f32"))
    with pytest.raises(TcsmtError, match="no instruction takes A in bf16"):
        tcsmt.gemm(*np.ones((2, 4, 4), ml_dtypes.bfloat16), unit="volta")


def test_of_those_that_fit_the_one_with_such_results() -> None:
    half = [
        row.model.d_format.name == "f16"
        for row in rows_for_operands("h100", both("f16"), result=FORMATS["f16"])
    ]
    assert half == sorted(half, reverse=True) and half[0] and not half[-1]
    kernel = kernel_for_operands("h100+split-k:2", both("bf16"), result=FORMATS["bf16"])
    assert kernel.name == "hopper/mma.m16n8k16.f32.bf16.bf16.f32+split-k:2"
    converted = kernel_for_operands("h100+split-k:2+out=f16", both("f16"), result=FORMATS["f16"])
    assert converted.unit.model.d_format.name == "f32"
    assert [row.model.a_format.name for row in rows_for_operands("h100+split-k:2@64", both("bf16"))] == [
        "bf16"
    ]


def test_block_scales_belong_to_units_with_block_scales() -> None:
    assert rows_for_operands("b200", both("e4m3"))[0].model.scales == 0
    assert rows_for_operands("b200", both("e4m3"), scaled=True)[0].model.scales == 1


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


@pytest.mark.parametrize("fmt", ["f32", "f64"])
@pytest.mark.parametrize("unit", [*ARCHITECTURES, "ieee", "a100", "rtx 4090", "mi300x"])
def test_values_that_are_rounded_keep_their_range(unit: str, fmt: str) -> None:
    """The oracle is each format's largest number: none that FP32 has becomes infinite, and none becomes 0."""
    source, every, rows, message = FORMATS[fmt], rows_for_operands(unit, {}), [], ""
    largest, smallest = source.value(source.largest_finite_word), source.value(1 << source.fraction_bits)
    try:
        rows = rows_for_operands(unit, both(fmt), values=True, operands="truncate")
    except TcsmtError as error:
        message = str(error)
    assert rows or (f"no instruction takes A in {fmt}" in message and every[0].name in message)
    for row in every:
        own: Any = row.model.a_format
        known = own in FORMATS.values()
        if known and own == row.model.b_format and not row.model.scales:
            least = own.value(1 << own.fraction_bits)  # the smallest normal number
            reaches = own.value(own.largest_finite_word) > largest / 2 and least <= smallest
            assert not reaches or rows, row.name
            assert reaches or row not in rows, row.name


@pytest.mark.parametrize(
    ("unit", "instruction"),
    [
        ("a100", "mma.m16n8k8.f32.tf32.tf32.f32"), ("h100+split-k:2@64", "mma.m16n8k8.f32.tf32.tf32.f32"),
        ("mi300x", "v_mfma_f32_32x32x2_f32"), ("x86", "vdpbf16ps"),
    ],
)  # fmt: skip
def test_float32_that_is_rounded_is_tf32_where_there_is_one(unit: str, instruction: str) -> None:
    """Not the wider FP64, nor the narrower BF16; mixed with BF16, its instruction."""
    assert (
        instruction
        in rows_for_operands(unit, both("f32"), values=True, operands="nearest-even")[0].instruction
    )
    mixed = {"a": FORMATS["bf16"], "b": FORMATS["f32"]}
    assert rows_for_operands("h100", mixed, values=True, operands="truncate")[0].model.b_format.name == "bf16"
    with pytest.raises(TcsmtError, match="A in f16 and B in f32"):
        rows_for_operands(
            "h100", {"a": FORMATS["f16"], "b": FORMATS["f32"]}, values=True, operands="truncate"
        )


BIG, ONES = np.full((8, 64), 1e5, np.float32), np.ones((64, 8), np.float32)
RULE = "nearest-even"


def stored(folder: Path) -> Any:
    stored_product(folder / "d.npy", BIG, ONES, unit="a100", operands=RULE)
    return np.load(folder / "d.npy")


def of_rows(folder: Path) -> Any:
    np.savez(folder / "rows.npz", a=BIG[:, :8], b=ONES.T[:, :8])
    return from_words(FORMATS["f32"], tcsmt.run("a100", folder / "rows.npz", operands=RULE).d) * 8


#: Each call that chooses an instruction for matrices that it rounds: what it gives, of 6.4e6 in each element.
ROUNDING: dict[str, Any] = {
    "gemm": lambda folder: tcsmt.gemm(BIG, ONES, unit="a100", operands=RULE),
    "stored_product": stored,
    "run": of_rows,
    "tolerance": lambda folder: tcsmt.tolerance(BIG, ONES, kernel="a100", operands=RULE, search=0).exact,
}


@pytest.mark.parametrize("call", ROUNDING)
def test_every_call_keeps_the_range_of_float32(call: str, tmp_path: Path) -> None:
    d = np.asarray(ROUNDING[call](tmp_path), np.float64)
    assert d.shape in ((8, 8), (8,)) and np.abs(d / 6.4e6 - 1).max() < 1e-3


def test_kernels_of_rounded_float32_are_found_and_compared() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((8, 64), (64, 8)))
    d = tcsmt.gemm(a, b, unit="a100/mma.m16n8k8.f32.tf32.tf32.f32", operands=RULE)
    found = tcsmt.kernel_identify(a, b, d, units=["a100"], operands=RULE)
    assert "ampere/mma.m16n8k8.f32.tf32.tf32.f32+chained" in [kernel.name for kernel in found.kernels]
    assert tcsmt.kernel_diff(a, b, d, d, left_kernel="a100", operands=RULE).equal
    with pytest.raises(TcsmtError, match=r"v100: no instruction .*: volta/mma.m8n8k4.f32.f16.f16.f32 \(f16"):
        tcsmt.kernel_identify(a, b, d, units=["v100"], operands=RULE)


def test_each_call_with_a_rule_hands_it_to_what_chooses_the_instruction() -> None:
    """In all functions of the interface that have ``operands``, and in those that they hand it to."""
    wrong = []
    for path in (ROOT / "tcsmt" / "interface").rglob("*.py"):
        if path.stem == "kernel_tree":  # where it is the name of a format
            continue
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            rules = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                    "rows_for_operands",
                    "kernel_for_operands",
                ):
                    given = {keyword.arg for keyword in node.keywords}
                    if rules & {"operands", "rule"} and "operands" not in given:
                        wrong.append(f"{path}:{node.lineno}")
    assert not wrong


def scaled_formats(unit: str) -> list[Row]:
    return [row for row in side_of(unit).units if row.model.scales]


@pytest.mark.parametrize("unit", ["b200", "rtx 5090"])
def test_block_scales_say_which_instruction_takes_them(unit: str) -> None:
    """For each instruction: one of its block and its scales' format is meant by arrays of that dtype."""
    rows = scaled_formats(unit)
    assert len({(row.model.k // row.model.scales, row.model.scale_format) for row in rows}) == 3
    for row in rows:
        model = row.model
        assert model.scale_format is not None
        block, k = model.k // model.scales, 2 * model.k
        scales = {
            "scale_a": np.ones((3, k // block), dtype_of(model.scale_format)),
            "scale_b": np.ones((k // block, 5), dtype_of(model.scale_format)),
        }
        given = BlockScales.of({"a": np.zeros((3, k), np.uint8), **scales})
        formats = {"a": model.a_format, "b": model.b_format}
        found = rows_for_operands(unit, formats, scaled=True, scales=given)
        assert row in found
        assert {(one.model.scale_format, one.model.k // one.model.scales) for one in found} == {
            (model.scale_format, block)
        }
        wrong = BlockScales.of({"a": np.zeros((3, k), np.uint8), **scales, "scale_b": np.ones((7, 5))})
        with pytest.raises(
            TcsmtError, match=r"no instruction takes scales of shape \(3, \d+\) and \(7, 5\)"
        ) as error:
            rows_for_operands(unit, formats, scaled=True, scales=wrong)
        assert f"a {model.scale_format.name} scale for {block})" in str(error.value)


def test_scales_without_a_format_are_refused_where_two_have_their_shape() -> None:
    """NVFP4's blocks of 16 may have scales of E4M3 or of E8M0."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((8, 64)).astype(np.float32), rng.standard_normal((64, 8)).astype(np.float32)
    left, right = tcsmt.quantise(a, "nvfp4"), tcsmt.quantise(b, "nvfp4", side="b")
    assert left.scales is not None and right.scales is not None
    d = tcsmt.gemm(left.values, right.values, unit="b200", scale_a=left.scales, scale_b=right.scales)
    named = "b200/tcgen05.mMnNk64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
    words = left.scales.view(np.uint8), right.scales.view(np.uint8)
    same = tcsmt.gemm(left.values, right.values, unit=named, scale_a=words[0], scale_b=words[1])
    assert (d == same).all()
    with pytest.raises(
        TcsmtError, match=r"do not say their format: name one of .*ue8m0 .*; .*ue4m3 \(a ue4m3 scale"
    ):
        tcsmt.gemm(left.values, right.values, unit="b200", scale_a=words[0], scale_b=words[1])


def test_numbers_of_python_that_are_rounded_have_the_range_of_binary64() -> None:
    assert formats_of({"a": [1.0], "b": [1.0]}, rounded=True) == both("f64")
    product = tcsmt.gemm([[1e5] * 16], [[1.0]] * 16, unit="a100", operands="nearest-even")
    assert product.tolist() == [[1.6e6]]
