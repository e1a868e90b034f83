"""Words of another width than the format's are refused by every call, in every array that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tcsmt
import tcsmt.testing
from tcsmt.interface.api.stored_products import stored_product
from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS
from tcsmt.matrix_units.arithmetic.words import to_words, unsigned

F16, F32 = np.dtype(np.float16), np.dtype(np.float32)
RNG = np.random.default_rng(0)
#: A product of FP16 matrices with an FP32 result.
A, B = (RNG.standard_normal(shape).astype(F16) for shape in ((4, 16), (16, 4)))
C, BIAS = RNG.standard_normal((4, 4)).astype(F32), RNG.standard_normal(4).astype(F32)
UNIT, KERNEL = "h100/m16n8k16.f32.f16", "ieee/fma.f32.f16"
D = tcsmt.gemm(A, B, C, unit=KERNEL)
ROW: dict[str, Any] = {"a": A[:, :4], "b": B.T[:, :4], "c": BIAS}
SCALED = "b200/tcgen05.mMnNk32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0"
BYTES = np.full((2, 32), 0x38, np.uint8)
SCALES = np.full((2, 1), 127, np.uint8)
GIVEN = {"a": A, "b": B, "c": C, "bias": BIAS}


def run_of_rows(folder: Path, **arrays: Any) -> Any:
    np.savez(folder / "rows.npz", **arrays)
    return tcsmt.run("volta", folder / "rows.npz").d


def checked_rows(folder: Path, **arrays: Any) -> Any:
    """A file of inputs, and their results in another one."""
    np.savez(folder / "rows.npz", **ROW)
    np.save(folder / "d.npy", arrays["d"])
    return tcsmt.check("volta", folder / "rows.npz", results=folder / "d.npy").agrees


def answered(folder: Path, **arrays: Any) -> Any:
    """A function that is checked."""
    return tcsmt.check("x86/vpdpbusd", lambda a, b, c: np.resize(arrays["d"], len(c)), rows=100).rows


def stored(folder: Path, **arrays: Any) -> Any:
    stored_product(
        folder / "d.npy", arrays.pop("a"), arrays.pop("b"), unit=UNIT, epilogue=WITH_BIAS, **arrays
    )
    return np.load(folder / "d.npy")


WITH_BIAS = tcsmt.epilogue("bias")
Call = Callable[..., Any]
#: Each call, by the name of what it is a part of, with its arrays.
CALLS: dict[str, tuple[Call, dict[str, Any]]] = {
    "gemm": (lambda folder, **x: tcsmt.gemm(unit=UNIT, epilogue="bias", **x), GIVEN | {"alpha": BIAS}),
    "Unit": (lambda folder, **x: tcsmt.unit("volta")(**x), ROW),
    "Unit with scales": (
        lambda folder, **x: tcsmt.unit(SCALED)(**x),
        {"a": BYTES, "b": BYTES, "c": C[0, :2], "scale_a": SCALES, "scale_b": SCALES},
    ),
    "tolerance": (
        lambda folder, **x: tcsmt.tolerance(kernel=f"{KERNEL}+chained+bias", search=0, **x).atol, GIVEN
    ),
    "Tolerance": (
        lambda folder, d: tcsmt.tolerance(A, B, C, kernel=KERNEL, search=0).check(d).values, {"d": D}
    ),
    "assert_close": (lambda folder, **x: tcsmt.testing.assert_close(kernel=KERNEL, **x),
                     {"actual": D, "a": A, "b": B, "c": C}),
    "power": (
        lambda folder, **x: tcsmt.testing.power(
            kernel=f"{KERNEL}+chained+bias", criterion="pcc>=0.99", only=("zeros",), **x
        ).as_json(),
        GIVEN,
    ),
    "kernel_diff": (
        lambda folder, **x: tcsmt.kernel_diff(left_kernel=f"{KERNEL}+chained+bias", **x).equal,
        GIVEN | {"left": D, "right": D},
    ),
    "kernel_identify": (
        lambda folder, **x: tcsmt.kernel_identify(
            a_format="f16", b_format="f16", c_format="f32", d_format="f32", units=[KERNEL], **x
        ).as_json(),
        {"a": A, "b": B, "c": C, "d": D},
    ),
    "multiply": (
        lambda folder, **x: tcsmt.accuracy.multiply(algorithm="single-f16", unit="volta", **x),
        {"a": A.astype(F32), "b": B.astype(F32), "c": C},
    ),
    "run": (run_of_rows, ROW),
    "check, results": (checked_rows, {"d": tcsmt.unit("volta")(**ROW)}),
    "check, a function": (answered, {"d": np.zeros(1, np.int32)}),
    "stored_product": (stored, GIVEN),
}  # fmt: skip
ARRAYS = [(name, array) for name, (_, given) in CALLS.items() for array in given]


def words(array: Any) -> Any:
    return np.ascontiguousarray(array).view(f"uint{8 * array.dtype.itemsize}")


@pytest.mark.slow_cases("check, a function-d", "check, results-d")
@pytest.mark.parametrize(("name", "array"), ARRAYS, ids=lambda text: text)
def test_words_of_the_own_width_alone_are_taken(name: str, array: str, tmp_path: Path) -> None:
    call, given = CALLS[name]
    own = words(given[array])
    if array != "alpha":  # which is a number for each row, and no words
        call(tmp_path, **given | {array: own})
    for dtype in (np.uint8, np.uint16, np.uint32):  # uint64 holds words of any format
        if np.dtype(dtype) != own.dtype:
            with pytest.raises(tcsmt.TcsmtError) as error:
                call(tmp_path, **given | {array: own.astype(dtype)})
            bits, name_of = 8 * np.dtype(dtype).itemsize, np.dtype(dtype).name
            assert f"has dtype {name_of}" in str(error.value)
            if array != "alpha":
                assert f"; those of {bits} bits are of " in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "array"), [pair for pair in ARRAYS if pair[1] != "alpha"])
def test_wide_words_have_no_bits_above_their_formats(name: str, array: str, tmp_path: Path) -> None:
    """uint64 holds words of any format: the same result, or an error that names the first wrong one."""
    call, given = CALLS[name]
    own = words(given[array])
    wide = own.astype(np.uint64)
    right, found = (np.asarray(call(tmp_path, **given | {array: x})) for x in (own, wide))
    np.testing.assert_equal(found, right)
    for bit in (8 * own.dtype.itemsize, 63):
        changed = wide.copy()
        changed.flat[-1] |= np.uint64(1) << np.uint64(bit)
        with pytest.raises(tcsmt.TcsmtError, match=r" = 0x[0-9a-f]+: a word of \w+ has \d+ bits"):
            call(tmp_path, **given | {array: changed})


@pytest.mark.parametrize("name", [*FORMATS, *INTEGERS])
@pytest.mark.parametrize("own", [False, True])
def test_bits_above_a_format_are_refused(name: str, own: bool) -> None:
    """Of every format, and of one of a user's own that is like it, in each dtype that is taken."""
    fmt: Any = {**FORMATS, **INTEGERS}[name]
    fmt = replace(fmt, name="mine") if own else fmt
    top = (1 << fmt.width) - 1
    for size in (1, 2, 4, 8):
        dtype = np.dtype(f"uint{8 * size}")
        if size < unsigned(fmt).itemsize or not (own or size in (8, unsigned(fmt).itemsize)):
            continue
        taken = to_words(fmt, np.array([0, top], dtype), "x")
        assert (taken.dtype, taken.tolist()) == (unsigned(fmt), [0, top])
        for bit in range(fmt.width, 8 * size):
            with pytest.raises(
                tcsmt.TcsmtError, match=rf"x\[1\] = .*: a word of {fmt.name} has {fmt.width} bits"
            ):
                to_words(fmt, np.array([0, 1 << bit], dtype), "x")


#: What the arrays of matrices, rows and results are called.
NAMES = {"a", "b", "c", "d", "actual", "left", "right", "bias", "scale_a"}


def public_arrays() -> Iterator[tuple[str, str]]:
    """The arrays that public calls take."""
    for module in (tcsmt, tcsmt.accuracy, tcsmt.testing):
        for name in getattr(module, "__all__", vars(module)):
            public = getattr(module, name)
            for call in (public, *(vars(public).values() if inspect.isclass(public) else ())):
                if inspect.isfunction(call):
                    for parameter in inspect.signature(call).parameters.values():
                        if parameter.name in NAMES and parameter.annotation == "Any":
                            yield name, parameter.name


def test_every_public_array_is_tried() -> None:
    scaled = {("Unit", "scale_a"), ("gemm", "scale_a")}  # of the unit with scales
    assert len({*public_arrays()}) > 25
    assert {*public_arrays()} - {*ARRAYS} <= scaled | {("assert_close", "bias")}


@pytest.mark.parametrize("name", [*FORMATS, *INTEGERS])
def test_the_message_names_the_formats_of_the_width(name: str) -> None:
    """Each of them, and no other, has words of it."""
    formats: dict[str, Any] = {**FORMATS, **INTEGERS}
    for size in (1, 2, 4):
        given = np.zeros(2, f"uint{8 * size}")
        alike = [other for other, fmt in formats.items() if unsigned(fmt).itemsize == size]
        if name in alike:
            assert to_words(formats[name], given, "x").dtype == given.dtype
        else:
            with pytest.raises(tcsmt.TcsmtError) as error:
                to_words(formats[name], given, "x")
            assert str(error.value).endswith(f"those of {8 * size} bits are of {', '.join(alike)}")
