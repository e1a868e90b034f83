"""Dot products of x86 CPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcsmt.matrix_units.arithmetic.integer_format import INTEGERS
from tcsmt.matrix_units.catalogue.row import Row, claim
from tcsmt.matrix_units.models import IeeeDotAdd, IntegerDotAdd

__all__ = ["claims", "units"]

#: What Intel's manual says of every operation: DAZ, FTZ (whose tininess x86 detects after rounding), RNE.
_FLUSHED = {"flush_inputs": True, "flush_outputs": True, "tininess": "after"}
#: Of a NaN in the second, the third operand and the sum so far.
_NAN = "a, b, c, 0xffc00000"
#: Lanes of one element of an AMX tile: a row of 64 bytes.
_TILE = 32
_MANUAL = "Intel's manual (SDM, volume 2), pseudo-code of the instruction"
_GUIDE = "Intel's Intrinsics Guide, and LLVM's headers, which repeat it"
_XEON = "rows of an Intel Xeon (family 6, model 207)"
_EPYC = "rows of an AMD EPYC (family 25, model 17)"
_S32 = INTEGERS["s32"]
#: (instruction, a, b) of AMX_INT8
_AMX_INT8 = (
    ("tdpbssd", "s8", "s8"),
    ("tdpbsud", "s8", "u8"),
    ("tdpbusd", "u8", "s8"),
    ("tdpbuud", "u8", "u8"),
)
#: (instruction, a, b, k, overflow) of AVX512_VNNI; a is the first source
_VNNI = (
    ("vpdpbusd", "u8", "s8", 4, "wrap"),
    ("vpdpbusds", "u8", "s8", 4, "saturate"),
    ("vpdpwssd", "s16", "s16", 2, "wrap"),
    ("vpdpwssds", "s16", "s16", 2, "saturate"),
)


def _measured_here(instruction: str, *others: str) -> dict[str, Any]:
    return {"evidence": "measured here", "measured": (*others, f"x86_{instruction}")}


def _model(a: str, k: int, **changes: Any) -> IeeeDotAdd:
    formats = dict.fromkeys(("c_format", "d_format", "sum_format"), "f32")
    return IeeeDotAdd(a_format=a, b_format=a, k=k, method="fma", **(formats | changes))  # type: ignore[arg-type]


def avx512_bf16() -> Iterator[Row]:
    """Pairs of bfloat16 products: two fused multiply-adds, that of the odd lane first."""
    yield Row(
        architecture="x86", instruction="vdpbf16ps", date=2026,
        **_measured_here("vdpbf16ps", "x86_vdpbf16ps_zen4:vdpbf16ps", "x86_vdpbf16ps_epyc"),
        model=_model("bf16", 2, order=(1, 0), nan=_NAN, **_FLUSHED),
        source=f"{_EPYC}, measured by others and here; {_XEON}; {_MANUAL}",
        note="a, b, c are the first and second source and the destination; MXCSR has no influence",
    )  # fmt: skip


def amx() -> Iterator[Row]:
    """Tiles: two chains of fused multiply-adds, of the even and the odd lanes."""
    how = "even and odd lanes are summed apart from +0, then added to each other, then to c"
    yield Row(
        architecture="x86", instruction="tdpbf16ps", date=2026,
        **_measured_here("tdpbf16ps", "x86_tdpbf16ps_documents"),
        model=_model("bf16", _TILE, chains=2, nan=_NAN, **_FLUSHED), source=f"{_XEON}; {_MANUAL}",
        note=f"{how}; the manual does not state the word of a NaN",
    )  # fmt: skip
    # subnormal FP16 operands are kept, FP32 ones are not
    flushed = {**_FLUSHED, "flush_inputs": False, "flush_c": True}
    yield Row(
        architecture="x86", instruction="tdpfp16ps", date=2026, evidence="published", status="disputed",
        model=_model("f16", _TILE, chains=2, **flushed), source=_MANUAL,
        note=f"{how}; the Intrinsics Guide contradicts, and no measurement decides (tdpbf16ps is as the "
        "manual says); the word of a NaN is not stated",
    )  # fmt: skip


def vnni() -> Iterator[Row]:
    """Integer dot products, exact and then wrapped or saturated once."""
    for instruction, a, b, k, overflow in _VNNI:
        model = IntegerDotAdd(
            a_format=INTEGERS[a], b_format=INTEGERS[b], c_format=_S32, d_format=_S32, k=k, overflow=overflow
        )
        yield Row(
            architecture="x86", instruction=instruction, model=model, date=2026,
            **_measured_here(instruction, f"x86_{instruction}_epyc"),
            source=f"{_XEON}; {_EPYC}; Intel's manual (SDM, volume 2)",
        )  # fmt: skip


def amx_int8() -> Iterator[Row]:
    """Tiles of integers: exact sums that wrap."""
    for instruction, a, b in _AMX_INT8:
        model = IntegerDotAdd(
            a_format=INTEGERS[a], b_format=INTEGERS[b], c_format=_S32, d_format=_S32, k=2 * _TILE
        )
        yield Row(
            architecture="x86", instruction=instruction, model=model, date=2026,
            **_measured_here(instruction), source=f"{_XEON}; {_MANUAL}",
        )  # fmt: skip


def units() -> Iterator[Row]:
    """Every row that is no claim."""
    yield from avx512_bf16()
    yield from amx()
    yield from amx_int8()
    yield from vnni()


def claims(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """Where Intel contradicts itself."""
    for instruction, status in (("tdpbf16ps", "refuted"), ("tdpfp16ps", "disputed")):
        yield claim(
            accepted[f"x86/{instruction}"], "guide", _GUIDE,
            status,
            "every product is added to c in turn, even lane, odd lane, ...; the manual sums even and odd "
            "lanes apart from +0; a = b = (1, 1), c = 2^24 decides: 2^24 + 2, against 2^24 by the guide",
            chains=1,
        )  # fmt: skip
