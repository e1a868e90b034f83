"""Dot products of Arm CPUs: NEON, SVE and SME. What they compute is known from Arm's text and from QEMU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tcsmt.matrix_units.catalogue.row import Row, claim
from tcsmt.matrix_units.models import IeeeDotAdd

__all__ = ["claims", "units"]

_SOURCE = "Arm's instruction descriptions (A-profile); qemu-aarch64 11.1.3, -cpu max"
#: Which tcsmt itself ran on qemu-aarch64 7.2, -cpu max; it has no EBF and no FP8.
_RUN_HERE = ("bfdot.ebf0", "bfmmla.ebf0", "bfmopa.ebf0", "bfmlalb", "bfmlalt", "fmlal", "fmopa.f32.f16.f16")
#: The default NaN, the only one of dot products.
_DEFAULT = 0x7FC00000
#: FPCR.EBF = 0: every operation reads and gives zeros for subnormal numbers, and rounds to odd.
_ROUNDED_TO_ODD: dict[str, Any] = {
    "method": "pairwise", "n_fma": 2, "product_format": "f32", "product_rounding": "RTO", "rounding": "RTO",
    "flush_inputs": True, "flush_outputs": True, "tininess": "before", "nan": _DEFAULT,
}  # fmt: skip
#: FPCR.EBF = 1: two products are summed exactly, that sum is rounded, and c is added.
_SUMMED_EXACTLY: dict[str, Any] = {"method": "exact", "n_fma": 2, "c_first": False, "nan": _DEFAULT}
#: A signalling NaN comes before a quiet one; infinity times zero before a quiet c.
_MULTIPLY_ADD: dict[str, Any] = {
    "method": "fma",
    "nan": "signalling c, signalling a, signalling b, products: 0x7fc00000, c, a, b, 0x7fc00000",
}
_EBF = {"ebf0": _ROUNDED_TO_ODD, "ebf1": _SUMMED_EXACTLY}
_EBF_NOTE = {
    "ebf0": "FPCR.EBF = 0; FPCR's rounding mode and flush bits have no influence",
    "ebf1": "FPCR.EBF = 1, rounding to nearest, no flushing (FPCR = 0 but for EBF)",
}
_FP8 = ("e4m3", "e5m2")


def _row(instruction: str, a: str, b: str, d: str, k: int, data: str, note: str, **changes: Any) -> Row:
    formats: dict[str, Any] = {"a_format": a, "b_format": b, "c_format": d, "d_format": d, "sum_format": d}
    sets = [f"arm_{data}_qemu:{instruction}"] if data else []
    sets += [f"arm_{instruction}_qemu72"] if instruction in _RUN_HERE else []
    return Row(
        architecture="arm", instruction=instruction, source=_SOURCE, date=2026,
        evidence="simulated" if sets else "published", model=IeeeDotAdd(k=k, **formats, **changes),
        note=note if sets else f"{note}; QEMU agrees on 60,000 rows, which are not held",
        measured=tuple(sets),
    )  # fmt: skip


def bfloat16() -> Iterator[Row]:
    """BFDOT, one element of BFMMLA (two dot-adds, lanes 0 and 1 first), and SME's BFMOPA."""
    for name, k in (("bfdot", 2), ("bfmmla", 4), ("bfmopa", 2)):
        for ebf, changes in _EBF.items():
            note = _EBF_NOTE[ebf]
            yield _row(f"{name}.{ebf}", "bf16", "bf16", "f32", k, f"{name}_{ebf}", note, **changes)


def multiply_adds() -> Iterator[Row]:
    """One product for each element, that of the bottom or top lane of a pair; and FP16's."""
    note = "FPCR = 0"
    for name in ("bfmlalb", "bfmlalt"):
        data = name if name == "bfmlalb" else ""
        yield _row(name, "bf16", "bf16", "f32", 1, data, note, **_MULTIPLY_ADD)
    yield _row("fmlal", "f16", "f16", "f32", 1, "fmlal", note, **_MULTIPLY_ADD)


def outer_products() -> Iterator[Row]:
    """SME's sum of two outer products of FP16."""
    note = "FPCR = 0"
    yield _row("fmopa.f32.f16.f16", "f16", "f16", "f32", 2, "fmopa_f16", note, **_SUMMED_EXACTLY)


def fp8() -> Iterator[Row]:
    """FDOT: the exact sum of the scaled products and c, rounded once."""
    for d, a, b in product(("f32", "f16"), _FP8, _FP8):
        nan = _DEFAULT if d == "f32" else 0x7E00
        k = 4 if d == "f32" else 2
        note = "FPMR.LSCALE = 0 and OSM = 0"
        yield _row(f"fdot.{d}.{a}.{b}", a, b, d, k, "fdot_fp8", note, method="exact", nan=nan)
        scaled = "FPMR.LSCALE = 5 and OSM = 1: products times 2^-5, and saturation"
        yield _row(
            f"fdot.{d}.{a}.{b}.lscale5.osm1", a, b, d, k, "", scaled,
            method="exact", nan=nan, product_exponent=-5, overflow="saturate",
        )  # fmt: skip


def units() -> Iterator[Row]:
    """Every row that is no claim."""
    yield from bfloat16()
    yield from multiply_adds()
    yield from outer_products()
    yield from fp8()


def claims(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """What QEMU does, and Arm's text does not say."""
    for name in ("bfdot", "bfmmla", "bfmopa"):
        yield claim(
            accepted[f"arm/{name}.ebf0"], "qemu-ah", "qemu-aarch64 11.1.3 with FPCR.AH = 1", "refuted",
            "with FPCR.AH = 1 the default NaN is ffc00000; Arm's text takes AH for 0 where EBF = 0",
            nan=0xFFC00000,
        )  # fmt: skip
