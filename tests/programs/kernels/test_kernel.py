"""Kernels by name."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tcsmt
from tcsmt.interface.api.units import side_of
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.resolve import resolve
from tcsmt.programs.kernels.kernel import kernel_named
from tcsmt.programs.kernels.model import KernelModel
from tcsmt.support.errors import TcsmtError

HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"


@pytest.mark.parametrize("text", ["+split-k:2", "+chained", "+sliced:2,step=8+out=bf16", "+chained+alpha=2"])
def test_the_name_reads_back(text: str) -> None:
    found = kernel_named(f"h100{text}", lambda name: resolve(name).row)
    assert found.name == HOPPER + text
    assert kernel_named(found.name, lambda name: resolve(name).row) == found


def test_a_unit_alone_is_chained() -> None:
    assert kernel_named("hopper", lambda name: resolve(name).row).name == f"{HOPPER}+chained"


@pytest.mark.parametrize(
    "epilogue",
    ["out=bf16", "alpha=2", "bias", "beta=0,out=f16", "out=e4m3,saturate", "c=epilogue", "RTZ,out=f16"],
)
def test_an_epilogue_alone_follows_a_chain(epilogue: str) -> None:
    short, long = (
        kernel_named(f"h100+{middle}{epilogue}", lambda name: resolve(name).row)
        for middle in ("", "chained+")
    )
    assert short == long and short.name.startswith(f"{HOPPER}+chained+")
    if epilogue == "out=bf16":
        assert resolve("h100+out=bf16@64").row == resolve("h100+chained+out=bf16@64").row
        assert tcsmt.tolerance(
            *np.ones((2, 16, 16), np.float16), kernel="ieee/fma.f32.f16+out=bf16", search=0
        ).kernel
    with pytest.raises(TcsmtError, match="unknown reduction 'output"):
        kernel_named("h100+output=bf16", lambda name: resolve(name).row)


def test_it_multiplies() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 40)).astype(np.float16), rng.standard_normal((40, 2)).astype(np.float16)
    found = kernel_named("hopper+split-k:2+alpha=3", lambda name: resolve(name).row).multiply(a, b)
    expected = np.float32(3) * (
        tcsmt.gemm(a[:, :20], b[:20], unit=HOPPER) + tcsmt.gemm(a[:, 20:], b[20:], unit=HOPPER)
    )
    assert np.array_equal(found, expected)


FORMATS = (
    "f16",
    "bf16",
    "f32",
    "f64",
    "tf32",
    "e5m2",
    "e4m3",
    "e2m1",
    "ue8m0",
    "e8m0",
    "s8",
    "s32",
    "b1",
    "none",
)
NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "-1",
    "-0",
    "00",
    "1e400",
    "inf",
    "nan",
    "²",
    "٣",
    "1_0",
    "",
    "99999999999",
)
UNITS = (
    "volta/mma.m8n8k4.f16.f16.f16.f16", "volta/mma.m8n8k4.f32.f16.f16.f16", "x86/tdpbssd", "ieee/fma.f64",
    "hopper/mma.m16n8k8.f32.tf32.tf32.f32", "turing/mma.m8n8k32.s32.s4.s4.s32",
    "wormhole/mvmul.f32.bf16.hifi4",
)  # fmt: skip
ORDERS = ("order", "reversed", "pairs", "halves", "folded", "any")


def _choice(*given: str) -> st.SearchStrategy[str]:
    return st.sampled_from(given)


def _joined(by: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(by.join)


_NUMBER = _choice(*NUMBERS) | _choice("1", "2", "3")
_FORMAT = _choice(*FORMATS) | _choice("f16", "f32")
_SEQUENCE = st.lists(_NUMBER, min_size=1, max_size=3).map("-".join)
_OPTION = (
    _choice(*ORDERS, "from-zero", "from_zero", "tile=2x2x2", "tile=2x2", "", "step")
    | _joined("=", _choice("step", "halved", "tile"), _NUMBER)
    | _joined("=", _choice("parts", "total", "sum"), _FORMAT)
    | _joined("=", _choice("order"), _SEQUENCE)
)
_LEVEL = _joined(
    "",
    _choice("split-k", "sliced", "promote", "cuts", "stream-k", "chained", ""), _choice(":", ":", ":", ""),
    _SEQUENCE, st.lists(_OPTION, max_size=3).map(lambda given: "".join(f",{one}" for one in given)),
)  # fmt: skip
_ENDING = (
    _choice("bias", "saturate", "RTZ", "RTO", "c=first", "c=epilogue", "c=last", "out", "")
    | _joined("=", _choice("alpha", "beta", "stochastic"), _NUMBER)
    | _joined("=", _choice("out"), st.lists(_FORMAT, min_size=1, max_size=2).map(":".join))
)
_TEXT = _joined(
    "",
    _choice(*UNITS), _choice("+"),
    st.lists(_LEVEL, min_size=1, max_size=3).map("/".join) | _choice("chained"),
    st.lists(_ENDING, max_size=3).map(lambda given: f"+{','.join(given)}" if given else ""),
)  # fmt: skip


@cache
def unit(name: str) -> Row:
    return side_of(name).row


@pytest.mark.slow
@pytest.mark.parametrize("count", [150, pytest.param(5_000, marks=pytest.mark.long)])
def test_any_text_is_a_kernel_or_refused(count: int) -> None:
    """Whatever it says; what can be read reads back, and is computed or refused, as matrices and as terms."""
    counts: Counter[str] = Counter()

    @settings(max_examples=count, database=None)
    @given(_TEXT, st.integers(1, 9), st.booleans())
    def holds(text: str, length: int, with_c: bool) -> None:
        try:
            kernel = kernel_named(text, unit)
        except TcsmtError:
            counts["not read"] += 1
            return
        if "nan" not in text:
            assert kernel_named(kernel.name, unit) == kernel
        model = kernel.unit.model
        a, b, c = (
            np.ones(shape, unsigned(fmt))
            for shape, fmt in (
                ((2, length), model.a_format), ((length, 3), model.b_format), ((2, 3), model.c_format)
            )
        )  # fmt: skip
        bias = np.ones(3, np.float32) if kernel.epilogue.bias else None
        random = np.zeros((2, 3), int) if kernel.epilogue.stochastic else None
        try:
            kernel.multiply(a, b, c if with_c else None, bias=bias, random=random)
            counts["computed"] += 1
            fields = {"reduction": kernel.reduction, "epilogue": kernel.epilogue, "k": length}
            assert KernelModel(unit=model, has_c=with_c, **fields).trace.output is not None
            counts["as terms"] += 1
        except TcsmtError:
            counts["refused"] += 1

    holds()
    print(dict(counts))
    assert min(counts[kind] for kind in ("not read", "computed", "as terms")) > count / 20
