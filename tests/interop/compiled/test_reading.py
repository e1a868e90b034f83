"""Kernels that compilers wrote, read to programs: their words against a thread-by-thread oracle; refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interop.compiled.reading import run_kernel
from tcsmt.support.errors import TcsmtError
from tests.support.compiled import TEXTS, differences, words_of

_MATMUL = ["A", "B", "D", *["64"] * 6]
_WORDS = 64 * 64
_SOME = [0, 1, 9, 15, 64 + 3, 64 * 9 + 2, 64 * 15 + 15]


@pytest.mark.parametrize("any_word", [False, True])
@pytest.mark.parametrize(
    ("name", "fmt", "size"),
    [
        pytest.param("f16_sm80", "f16", 2, id="f16"),
        pytest.param("tf32_sm80", "f32", 4, id="tf32", marks=pytest.mark.slow),
        pytest.param("tf32x3_sm80", "f32", 4, id="tf32x3", marks=pytest.mark.slow),
        pytest.param("e5m2_sm80", "e5m2", 4, id="e5m2", marks=pytest.mark.slow),
        pytest.param("f32_sm80", "f32", 4, id="fma", marks=pytest.mark.slow),
        pytest.param("f16_sm90", "f16", 2, id="wgmma f16", marks=pytest.mark.slow),
        pytest.param("e4m3_sm90", "e4m3", 4, id="wgmma e4m3", marks=pytest.mark.slow),
        pytest.param("e4m3_narrow_sm90", "e4m3", 4, id="e4m3 by f16", marks=pytest.mark.slow),
        pytest.param("f16_narrow_sm90", "f16", 2, id="stmatrix", marks=pytest.mark.slow),
    ],
)
def test_products_have_the_oracles_words(name: str, fmt: str, size: int, *, any_word: bool) -> None:
    formats = {"A": (fmt, _WORDS), "B": (fmt, _WORDS)}
    wrong = differences(name, _MATMUL, formats, _SOME, size=size, seed=5, any_word=any_word)
    assert not wrong


def test_a_tail_has_the_oracles_words() -> None:
    arguments = ["A", "B", "D", "64", "64", "40", "64", "64", "64"]
    formats = {"A": ("f16", _WORDS), "B": ("f16", _WORDS)}
    assert not differences("f16_sm80", arguments, formats, _SOME, size=2, any_word=True)


@pytest.mark.slow
@pytest.mark.parametrize("any_word", [False, True])
def test_an_epilogue_has_the_oracles_words(*, any_word: bool) -> None:
    formats = {"A": ("bf16", _WORDS), "B": ("bf16", _WORDS), "bias": ("f32", 64)}
    arguments = ["A", "B", "bias", "D", "64", "64", "64"]
    assert not differences("linear_sm80", arguments, formats, _SOME, size=2, any_word=any_word)


def test_a_plain_product_is_one_chain() -> None:
    run = run_kernel((TEXTS / "f16_sm80.ptx").read_text(), _MATMUL, block=(1, 2, 0))
    assert len(run.elements) == 256
    assert run.elements[0] == 64 * 16 + 32
    found = run.read(64 * 17 + 35)
    assert found.text.lines == ("v0 = chain(U, A·B over K, +0)", "d = convert(v0, f16)")
    assert found.text.units == {"U": "ampere/mma.m16n8k16.f32.f16.f16.f32"}
    a, b = found.text.along["A"], found.text.along["B"]
    assert (a.first, a.stride, a.count) == (2 * 64 * 17, 2, 64)
    assert (b.first, b.stride, b.count) == (2 * 35, 128, 64)
    with pytest.raises(
        TcsmtError, match="element 0 is not stored by this block, but 256 others, from 1056 to"
    ):
        run.read(0)


def test_converted_operands_have_another_order_of_k() -> None:
    found = run_kernel((TEXTS / "e5m2_sm80.ptx").read_text(), _MATMUL).read()
    assert found.text.formats == {"A": "e5m2", "B": "e5m2", "c": "f32", "d": "f32"}
    *operands, chain = found.text.lines
    assert operands == ["x0 = convert(A, f16)", "y0 = convert(B, f16)"]
    assert "permuted(K, 0 1 4 5 8 9 12 13 16 17 20 21 24 25 28 29 2 3 6 7" in chain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("int8_sm80", "ampere/mma.m16n8k32.satfinite.s32.s8.s8.s32"),
        ("int8_sm90", "hopper/wgmma.m64nNk32.s32.s8.s8"),
    ],
)
def test_products_of_integers_are_exact(name: str, unit: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (2, 64, 64)).astype(np.int8)
    buffers = {"A": a.view(np.uint8).ravel(), "B": b.view(np.uint8).ravel()}
    run = run_kernel((TEXTS / f"{name}.ptx").read_text(), ["A", "B", "D", "64", "64", "64"])
    exact = (a.astype(np.int64) @ b.astype(np.int64).T) % (1 << 32)
    for element in run.elements[::37]:
        found = run.read(element)
        assert found.text.lines == ("d = chain(U, A·B over K, +0)",)
        assert found.text.units == {"U": unit}
        assert words_of(found, buffers, {}) == exact[divmod(element, 64)]


@pytest.mark.slow
def test_approximations_are_freedoms() -> None:
    """A sigmoid: 1 / (1 + 2^(-x log2 e)), of which only a choice says the words of two steps."""
    text = (TEXTS / "sigmoid_sm80.ptx").read_text()
    found = run_kernel(text, ["A", "B", "bias", "D", "64", "64", "32"]).read(64 + 5)
    assert found.text.lines[2:] == (
        "v2 = multiply(v1, 0xbfb8aa3b:f32, f32)", "v3 = approximate(ex2.approx, v2, within=2 ulp)",
        "v4 = add(v3, 0x3f800000:f32, f32)", "d = approximate(div.full, 0x3f800000:f32, v4, within=2 ulp)",
    )  # fmt: skip
    assert found.text.freedoms == {"ex2.approx": 0, "div.full": 0}
    assert found.text.choices == {"ex2.approx": "nearest", "div.full": "nearest"}
    rng = np.random.default_rng(2)
    bits = (rng.standard_normal(64 * 32).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    bias = rng.standard_normal(64).astype(np.float32)
    word = words_of(found, {"A": bits, "B": bits, "bias": bias.view(np.uint32)}, found.text.choices)
    values = (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    total = values[32:64] @ values[5::64][:32] + float(bias[5])
    assert np.uint32(word).view(np.float32) == pytest.approx(1 / (1 + np.exp(-total)), rel=1e-5)


@pytest.mark.slow
def test_a_contraction_is_a_freedom() -> None:
    text = (TEXTS / "linear_sm80.ptx").read_text()
    found = run_kernel(text, ["A", "B", "bias", "D", "64", "64", "64"]).read()
    (name,) = found.text.freedoms
    line = text.splitlines()[found.text.freedom_lines[name] - 1]
    assert line.startswith("add.f32")
    assert (
        f'any_of("{name}", add(v1, bias, f32), multiply_add(v0, 0x3e99999a:f32, bias, f32))'
        in found.text.lines[2]
    )
    assert found.text.lines[3:] == ("v3 = maximum(v2, 0x00000000:f32, nan=ignored)", "d = convert(v3, bf16)")
    rounded = text.replace("mul.f32", "mul.rn.f32")
    assert not run_kernel(rounded, ["A", "B", "bias", "D", "64", "64", "64"]).read().text.freedoms


@pytest.mark.slow
def test_arguments_must_fit_the_kernel() -> None:
    text = (TEXTS / "f16_sm80.ptx").read_text()
    for arguments, said in (
        (["A", "B", "D"], "argument 4 of matmul is missing: matmul_param_3, u32"),
        (["A", "B", "D", "x"], "argument 4, 'x': matmul_param_3 is no pointer, but u32"),
        (["A", "A", "D"], "argument 2, 'A': this name is taken"),
        (
            ["A", "B", "D", "1.5"],
            "argument 4, '1.5': must be an integer, the bits of a float, or a pointer's",
        ),
        (["A", "B", "D", "5000000000"], "argument 4, 5000000000: not a value of matmul_param_3, u32"),
        ([*_MATMUL, "x", "y", "z"], "12 arguments: kernel matmul has 11 parameters"),
    ):
        with pytest.raises(TcsmtError, match=said):
            run_kernel(text, arguments)
    with pytest.raises(TcsmtError, match="is read from X: call this pointer A"):
        run_kernel(text, ["X", "B", "D", *["64"] * 6]).read()
    with pytest.raises(TcsmtError, match="PTX for sm_80 does not run on volta"):
        run_kernel(text, _MATMUL, target="volta")
    assert run_kernel(text, _MATMUL, target="h100").read().text.units["U"].startswith("hopper/")


@pytest.mark.slow
def test_blocks_of_few_rows_have_another_program() -> None:
    """A block of 64 rows is multiplied in FP8, one of 16 in FP16, with K in another order."""
    wide, narrow = (
        run_kernel((TEXTS / f"{name}.ptx").read_text(), _MATMUL).read(64 * 5 + 9).text
        for name in ("e4m3_sm90", "e4m3_narrow_sm90")
    )
    assert wide.along == narrow.along
    assert wide.lines == ("d = chain(U, A·B over K, +0)",)
    assert wide.units == {"U": "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"}
    assert narrow.lines[0] == "x0 = convert(A, f16)"
    assert narrow.units == {"U": "hopper/mma.m16n8k16.f32.f16.f16.f32"}


def test_an_instruction_of_zeros_alone_is_padding() -> None:
    text = (TEXTS / "f16_sm80.ptx").read_text()
    found = run_kernel(text, ["A", "B", "D", "64", "64", "40", "40", "64", "64"]).read()
    assert found.text.along["A"].count == 40
    assert found.text.lines == (
        "v0 = chain(U, A·B over K, +0)", "v1 = chain(U, padding, v0)", "d = convert(v1, f16)",
    )  # fmt: skip


def test_a_tail_of_k_is_filled_up_with_zeros() -> None:
    text = (TEXTS / "f16_sm80.ptx").read_text()
    found = run_kernel(text, ["A", "B", "D", "64", "64", "56", "56", "64", "64"]).read()
    assert found.text.lines[0] == "v0 = chain(U, A·B over K, +0)"
    assert found.text.along["A"].count == 56
