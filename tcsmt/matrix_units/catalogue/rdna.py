"""AMD's Radeon cards: DOT2, DOT4 and WMMA of RDNA3 (gfx11) and RDNA4 (gfx12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.matrix_units.models import FusedDotAdd

__all__ = ["claims", "units"]

_SOURCE = "ROCm/rocm-systems, emulation/rocjitsu (AMD's published model and captures of real cards)"
#: Far below the exponent of every product: a zero product never decides the grid.
_NOWHERE = -512
#: NaN words, by the format of the result: of a NaN factor, and of an invalid operation.
_NAN = {
    "f32": "factors: 0xffc00a3d, products: 0xffc00000, c, 0xffc00000",
    "f16": "factors: 0xfe3d, products: 0xfe00, c, 0xfe00",
    "bf16": "factors: 0xfffd, products: 0xffc0, c, 0xffc0",
}
_NAN_FP8 = "factors: 0xffc00a3d, products: 0xffc00a3d, c, 0xffc00a3d"
#: (format of the factors, of c and d)
_TYPES = (("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16"))
#: RDNA4's order of lanes in wave32: the second and third quartet of K change places.
_WAVE32 = (0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15)
_FP8 = {"fp8": "e4m3", "bf8": "e5m2"}


def _rdna3(a: str, d: str, k: int) -> FusedDotAdd:
    """Steps of two products and c; those of the other sign than c's by their ones' complement."""
    parameters: dict[str, Any] = {
        "n_fma": 2, "fraction_bits": 24, "alignment_complement": True, "zero_exponent": _NOWHERE,
        "c_exponent_offset": -2, "rounding": "RNE", "flush_inputs": a == "bf16", "nan": _NAN[d],
    }  # fmt: skip
    if d == "f16":
        parameters["zero_c"] = "fields"
    else:
        parameters |= {"flush_c": True, "flush_outputs": True, "tininess": "after"}
        parameters["rounded_format"] = "f32" if d == "bf16" else None
    return _model(a, a, d, k, parameters)


def _rdna4(a: str, b: str, d: str, k: int, **changes: Any) -> FusedDotAdd:
    """Steps of up to four products and c, summed in pairs, everything rounded down."""
    parameters: dict[str, Any] = {
        "n_fma": min(k, 4), "fraction_bits": 24, "alignment": "RTN", "group": 2, "group_fraction_bits": 24,
        "zero_exponent": _NOWHERE, "zero_c": "fields", "c_exponent_offset": -2, "rounding": "RNE",
        "c_dropped_above": -14 if d == "f16" else -126, "nan": _NAN[d],
        "rounded_format": "f32" if d == "bf16" else None,
    }  # fmt: skip
    return _model(a, b, d, k, parameters | changes)


def _model(a: str, b: str, d: str, k: int, parameters: dict[str, Any]) -> FusedDotAdd:
    formats: dict[str, Any] = {"a_format": a, "b_format": b, "c_format": d, "d_format": d}
    return FusedDotAdd(k=k, **formats, **parameters)


def _row(architecture: str, instruction: str, model: FusedDotAdd, data: str, note: str) -> Row:
    return Row(
        architecture=architecture, instruction=instruction, model=model, source=_SOURCE, date=2026,
        evidence="measured" if data else "published", measured=(data,) if data else (), note=note,
    )  # fmt: skip


def _data(name: str, instruction: str) -> str:
    return f"{name}:{instruction}"


def units() -> Iterator[Row]:
    """Every row that is no claim."""
    yield from _rdna3_units()
    yield from _rdna4_units()


def _rdna3_units() -> Iterator[Row]:
    open_question = "the captures leave open whether c's exponent counts less by 2 or by 3 (AMD's source: 2)"
    for a, d in _TYPES:
        captured = "rdna3_gfx1100" if d == "f32" else f"rdna_packed_{d}"
        note = open_question
        if d != "f32":
            note += "; in wave32: the same order of lanes as in wave64, which is captured"
        name = f"v_dot2_{d}_{a}"
        dot = "rdna3_gfx1100" if d == "f32" else ""
        yield _row("rdna3", name, _rdna3(a, d, 2), dot and _data(dot, name), note)
        for wave in (32, 64):
            name = f"v_wmma_{d}_16x16x16_{a}_w{wave}"
            held = (wave == 32) == (d == "f32")
            data = _data(captured, name) if held else ""
            yield _row("rdna3", name, _rdna3(a, d, 16), data, note)


def _rdna4_units() -> Iterator[Row]:
    open_question = (
        "the captures leave open c's least exponent, whether a small c is rounded down, and whether c's "
        "exponent counts less by 2 or by 3 (AMD's source decides)"
    )
    for a, d in _TYPES:
        name = f"v_dot2_{d}_{a}"
        data = _data("rdna4_gfx1201", name) if d == "f32" else ""
        yield _row("rdna4", name, _rdna4(a, a, d, 2), data, open_question)
        for wave, order in ((32, _WAVE32), (64, None)):
            name = f"v_wmma_{d}_16x16x16_{a}_w{wave}"
            captured = "rdna4_gfx1201" if d == "f32" else f"rdna_packed_{d}"
            held = not (d == "bf16" and wave == 64)
            data = _data(captured, name) if held else ""
            yield _row("rdna4", name, _rdna4(a, a, d, 16, order=order), data, open_question)
    for (a, a_format), (b, b_format) in product(_FP8.items(), repeat=2):
        model = _rdna4(a_format, b_format, "f32", 4, group=4, nan=_NAN_FP8)
        note = "AMD's source alone, in a development version; no captured words"
        yield _row("rdna4", f"v_dot4_f32_{a}_{b}", model, "", note)


def claims(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """None: AMD's model is the only one."""
    yield from ()
