"""Units by name, on arrays of several libraries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcsmt
from tcsmt.interop.c_reader import c_source
from tcsmt.interop.implementations import rtl
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.simulate.rows import simulate
from tcsmt.support.errors import Exit
from tests.support.command_line import done, refused
from tests.support.command_line import tcsmt as command

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def test_names_paths_models_and_units_mean_the_same(tmp_path: Path) -> None:
    """A name, a path as text and as Path, a model and a unit mean the same."""
    volta = tcsmt.unit("v100")
    assert volta.name == VOLTA and repr(volta) == f"<Unit {VOLTA}>"
    path = tmp_path / "mine.toml"
    path.write_text(volta.as_toml())
    for given in (VOLTA, str(path), path, volta.model, volta):
        assert tcsmt.unit(given).model == row_named(VOLTA).model
    assert tcsmt.read_model(path).model == volta.model
    assert (volta.a_format, volta.d_format, volta.k, volta.scales) == ("f16", "f32", 4, 0)
    assert VOLTA in str(volta) and volta.as_json()["instruction"] == "mma.m8n8k4.f32.f16.f16.f32"


def test_public_names() -> None:
    """Completion shows every public name, and each is there."""
    assert set(tcsmt.__all__) < set(dir(tcsmt))
    for name in tcsmt.__all__:
        assert getattr(tcsmt, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tcsmt.nothing  # noqa: B018


@pytest.mark.parametrize("dtype", [np.float16, np.uint16, np.int16, np.float32, np.float64])
def test_dtypes(dtype: Any) -> None:
    """The format's own dtype, its words in both kinds of integers, and wider floats give the same bits."""
    given = np.array([[1.5, -2.0, 0.25, 3.0], [-0.0, 6.1e-5, 65504, 1]], np.float16)
    words = given.view(dtype) if np.issubdtype(dtype, np.integer) else given.astype(dtype)
    expected = simulate(row_named(VOLTA).model, given, given, np.float32(0.5))
    assert np.array_equal(tcsmt.unit("volta")(words, words, 0.5), expected)


def test_python_integers_are_exact_or_refused() -> None:
    """2^53 is a binary64 number and 2^53 + 1 is not: it must not become its neighbour."""
    unit = tcsmt.unit("cdna3/v_mfma_f64_16x16x4_f64")
    assert int(unit([2**53, 0, 0, 0], [1, 0, 0, 0], 0)) == 2**53
    with pytest.raises(tcsmt.TcsmtError, match=r"a\[1\] = 9007199254740993: a Python integer here must be"):
        unit([0, 2**53 + 1, 0, 0], [1, 0, 0, 0])
    with pytest.raises(tcsmt.TcsmtError, match="c = 9007199254740993: a Python integer"):
        unit([0.0] * 4, [0.0] * 4, 2**53 + 1)


KERNEL = "volta/mma.m8n8k4.f32.f16.f16.f32+split-k:2@8"
NEEDS_CLANG = pytest.mark.skipif(not c_source.available(), reason="clang is not installed")
NEEDS_YOSYS = pytest.mark.skipif(not rtl.available(), reason="the extra `rtl` (pyosys) is not installed")


def test_names_mean_the_same_on_the_command_line_and_in_python(tmp_path: Path) -> None:
    """A name of the catalogue, a kernel, IEEE operations, a model file: on the command line as in Python."""
    path = tmp_path / "mine.toml"
    path.write_text(tcsmt.unit("volta").as_toml())
    rows = tmp_path / "rows.csv"
    for name, k in (("volta", 4), (KERNEL, 8), ("ieee/fma.f32", 1), (str(path), 4)):
        unit = tcsmt.unit(name)
        assert unit.k == k
        lanes = [f"{side}{lane}" for side in "ab" for lane in range(k)]
        rows.write_text(",".join([*lanes, "c"]) + "\n" + ",".join(["1"] * (2 * k) + ["0.5"]) + "\n")
        found = json.loads(done("run", name, "--input", rows, "--json"))
        assert (found["model"], float(found["d"][0]["decimal"])) == (unit.row.name, k + 0.5)
        assert done("describe", name).startswith(unit.row.name)
        assert len(done("vectors", name, "--kind", "edge", "--rows", 3).splitlines()) >= 3


@pytest.mark.parametrize(("arguments", "said"), [
    (("models", "--toml", KERNEL), "a model file cannot hold a kernel on a matrix unit"),
    (("probe", KERNEL, "--emit", "cuda"), "is not an instruction of a GPU or CPU"),
    (("check", KERNEL, "--device"), "is not an instruction of a GPU or CPU"),
    (("find", "--model", KERNEL, "--property", "carry-bits"), "properties ask about units of one fused sum"),
])  # fmt: skip
def test_kernels_are_refused_where_an_instruction_is_needed(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(*arguments)


FILES = {
    "dot.c": "#include <stdint.h>\nuint32_t dot(const int8_t a[4], const int8_t b[4], uint32_t c)\n"
    "{ for (int i = 0; i < 4; i++) c += (uint32_t)(a[i] * b[i]); return c; }\n",
    "mac.btor2": "1 sort bitvec 8\n2 input 1 a\n3 input 1 b\n4 input 1 c\n5 mul 1 2 3\n6 add 1 5 4\n"
    "7 output 6 d\n",
    "mine.toml": 'base = "volta/mma.m8n8k4.f32.f16.f16.f32"\nfraction_bits = 22\n',
}
INT8 = "cdna2/v_mfma_i32_4x4x4i8"
#: A file that includes another one, with the formats of a model file.
INCLUDING = {
    "sum.c": FILES["dot.c"].replace("i < 4", "i < LANES").replace("\n", '\n#include "lanes.h"\n', 1),
    "folder/lanes.h": "#define LANES 4\n",
    "int8.toml": f'base = "{INT8}"\n',
}


def written(folder: Path, files: Mapping[str, str]) -> None:
    """Files in a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("name", [
    KERNEL, "ieee/fma.f32", "mine.toml", "mine.toml+split-k:2@8",
    *(
        pytest.param(name, marks=NEEDS_CLANG)
        for name in (
            f"dot.c,like={INT8}", "sum.c,include=folder,like=int8.toml",
            "sum.c,include=folder,like=int8.toml+split-k:2@8",
        )
    ),
    "mac.btor2,format=a=u8,format=b=u8,format=c=u8,format=d=u8", "volta", f"{VOLTA}@fasi",
])  # fmt: skip
@pytest.mark.parametrize("suffix", ["json", "csv", "npz"])
def test_files_of_vectors_are_held_against_the_unit_that_they_name(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another folder, too, which has other files of those names: none is replayed on another unit."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, FILES | INCLUDING)
    path = tmp_path / f"rows.{suffix}"
    tcsmt.vectors(name, "edge", rows=20).save(path)
    (tmp_path / "below").mkdir()
    written(tmp_path / "below", {"folder/lanes.h": "#define LANES 3\n", "int8.toml": 'base = "volta"\n'})
    monkeypatch.chdir(tmp_path / "below")
    validation = tcsmt.validate(path)
    (replayed,) = validation.replayed
    assert replayed.row is not None and validation.mismatches == 0
    monkeypatch.chdir(tmp_path)
    assert replayed.row.model == tcsmt.unit(name).model


@pytest.mark.slow
@NEEDS_CLANG
def test_a_design_in_the_present_folder_is_described_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No instruction of an architecture is looked for beside a file without a folder."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, FILES)
    assert "other instructions" not in done("describe", f"dot.c,like={INT8}")
    assert "other instructions" in done("describe", "volta")
    assert "other instructions" not in done("describe", "tcgen05.mMnNk32.kind::f8f6f4.f32.e4m3.e4m3")
    assert tcsmt.accuracy.bound("single-f16", KERNEL, k=8, search=0.1).row.name == KERNEL


@NEEDS_CLANG
def test_a_design_has_the_formats_of_what_it_is_compared_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, FILES)
    for pair in ((INT8, "dot.c"), (tmp_path / "dot.c", tcsmt.unit(INT8))):
        result = tcsmt.compare(*pair, lanes=1)
        assert {row.model.a_format.name for row in result.rows} == {"s8"}
    with pytest.raises(tcsmt.TcsmtError, match=r"no format for a, b, c, d"):
        tcsmt.compare("dot.c", "dot.c")


DOT_SV = """module dot (input [31:0] a, b, input signed [31:0] c, output signed [31:0] d);
wire signed [7:0] a0 = a[7:0], a1 = a[15:8], a2 = a[23:16], a3 = a[31:24];
wire signed [7:0] b0 = b[7:0], b1 = b[15:8], b2 = b[23:16], b3 = b[31:24];
assign d = c + a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
endmodule
"""


@pytest.mark.parametrize("file", [
    pytest.param("dot.c", marks=NEEDS_CLANG), pytest.param("dot.sv", marks=NEEDS_YOSYS),
])  # fmt: skip
@pytest.mark.slow_cases("dot.sv")
def test_commands_of_products_take_designs_by_name(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy's integer product is what the unit, and every kernel on it, gives."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, {"dot.c": FILES["dot.c"], "dot.sv": DOT_SV})
    name = f"{file},like={INT8}"
    a, b = np.random.default_rng(1).integers(-128, 128, (2, 8, 8)).astype(np.int8)
    d = a.astype(np.int32) @ b.astype(np.int32)
    for key, array in {"A": a, "B": b, "D": d}.items():
        np.save(f"{key}.npy", array)
    done("gemm", name, "--a", "A.npy", "--b", "B.npy", "--output", "product.npy", "--reduction", "split-k:2")
    assert np.array_equal(np.load("product.npy"), d)
    operands = ("--a", "A.npy", "--b", "B.npy")
    kernels = done("kernel", "identify", *operands, "--d", "D.npy", "--unit", name)
    assert "design/dot+chained" in kernels.split()
    sides = (
        "--left",
        "D.npy",
        "--left-kernel",
        name,
        "--right",
        "D.npy",
        "--right-kernel",
        f"{name}+split-k:2",
    )
    assert json.loads(done("kernel", "diff", *operands, *sides, "--json"))["different"] == 0
    exact = command("accuracy", "exact", name, "--k", 4, "--integers", 3, "--no-search")
    assert exact.exit_code == Exit.UNKNOWN and "a circuit of integers, whose steps" in exact.stdout


TF32 = "ampere/mma.m16n8k4.f32.tf32.tf32.f32"


def test_nothing_narrows_in_silence() -> None:
    """binary32 and binary64 values that TF32 does not have need a rule; those that it has, none."""
    unit, ones = tcsmt.unit(TF32), np.ones(4, np.float32)
    fine = np.full(4, 1 + 3 * 2.0**-12)
    for values in (fine, fine.astype(np.float32), fine.tolist()):
        with pytest.raises(tcsmt.TcsmtError) as refused:
            unit(values, ones)
        assert str(refused.value) == (
            "a[0] = 1.000732421875 is not a valid tf32 value; name how operands are rounded, "
            'operands="truncate", "nearest-even" or "nearest-away" (--operands), or give tf32 words'
        )
        assert unit(values, ones, operands="truncate") == 4
        assert unit(ones, values, operands="nearest-even") == 4 * (1 + 2.0**-10)
    assert unit(fine.astype(np.float32).view(np.uint32), ones) == 4  # words: what the unit reads of them
    coarse = np.full(4, 1 + 2.0**-10)
    for exact in (coarse, coarse.astype(np.float32), coarse.tolist()):
        assert unit(exact, ones) == unit(exact, ones, operands="truncate") == 4 * (1 + 2.0**-10)
    with pytest.raises(tcsmt.TcsmtError, match=r"^c = 0\.1 is not a valid f32 value; name how"):
        unit(ones, ones, 0.1)
    assert unit(ones, ones, 0.1, operands="nearest-even") == np.float32(4.1)
    with pytest.raises(tcsmt.TcsmtError, match="unknown rule for operands 'RNE'"):
        unit(ones, ones, operands="RNE")


def test_truncation_is_what_the_unit_does_to_words() -> None:
    """NaNs whose payload lies in the cut bits included: those are infinities."""
    unit, rng = tcsmt.unit(TF32), np.random.default_rng(11)
    a = rng.integers(0, 1 << 32, (2000, 4), np.uint32)
    a[:200] = a[:200] & np.uint32(0x807FFFFF) | np.uint32(0x7F800000)
    a[200:300] &= np.uint32(0x80001FFF)
    a[:100] &= np.uint32(0xFF801FFF)
    b = np.ones(4, np.float32)
    with np.errstate(invalid="ignore"):
        found = unit(a.view(np.float32), b, operands="truncate")
    assert np.array_equal(found.view(np.uint32), unit(a, b).view(np.uint32))
    assert np.isinf(unit(np.array([0x7F800001, 0, 0, 0], np.uint32).view(np.float32), b, operands="truncate"))
    assert np.isnan(unit(np.array([0x7F800001, 0, 0, 0], np.uint32).view(np.float32), b))


def test_overflow_is_infinity_or_refused() -> None:
    """Overflow: to infinity where there is one; the error names the value where there is none."""
    half, small = tcsmt.unit("volta"), tcsmt.unit("hopper/mma.m16n8k32.f32.e4m3.e4m3")
    big = np.array([70000.0, 0, 0, 0], np.float32)
    assert half(big, np.ones(4, np.float16), operands="nearest-even") == np.inf
    assert half(big, np.ones(4, np.float16), operands="truncate") == 65504
    row = np.zeros(32, np.float32)
    row[3] = 500
    assert small(row, np.ones(32, np.float32), operands="truncate") == 448
    with pytest.raises(
        tcsmt.TcsmtError, match=r"^a\[3\] = 500\.0 is not a valid e4m3 value; the format has no such"
    ):
        small(row, np.ones(32, np.float32), operands="nearest-even")
    # a format that is not wider: refused by its dtype, unless a rule is named
    other = np.ones(4, ml_dtypes.bfloat16)
    with pytest.raises(tcsmt.TcsmtError, match="a has dtype bfloat16: for f16 it must be"):
        half(other, other)
    assert half(other, other, operands="truncate") == 4
    # a format whose values are all there is none either
    assert half(np.ones(4, ml_dtypes.float8_e4m3fn), [1.0] * 4, np.ones((), ml_dtypes.bfloat16)) == 5
