"""RISC-V's bulk normalization (RVBNA), which its dot-product extensions use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcsmt.matrix_units.catalogue.row import Row, claim
from tcsmt.matrix_units.models import FusedDotAdd

__all__ = ["claims", "units"]

_SOURCE = "riscv-isa-manual, src/unpriv/rvbna.adoc; riscv-isa-sim, riscv/bulknormdot.h and zvbdot.h"
_PAIRS = (("bf16", "bf16"), ("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"))
#: Products in one sum: the manual leaves them to the implementation.
_LENGTHS = (2, 4, 8, 16, 32)
#: Those of which outputs of Spike are held.
_HELD = (("bf16", "bf16"), ("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2"))


def _model(a: str, b: str, n: int) -> FusedDotAdd:
    guard = (n - 1).bit_length()
    parameters: dict[str, Any] = {
        "a_format": a, "b_format": b, "c_format": "f32", "d_format": "f32", "k": n, "n_fma": n,
        "fraction_bits": 23 + guard, "alignment": "RTO", "rounding": "RTO", "zero_exponent": -512,
        "c_position": "last", "c_rounding": "RTO", "negative_zero": True, "nan": 0x7FC00000,
    }  # fmt: skip
    return FusedDotAdd(**parameters)


def units() -> Iterator[Row]:
    """The manual's text and Spike, which agree: the text has no c, Spike adds it last."""
    for a, b in _PAIRS:
        for n in _LENGTHS:
            name = f"rvbna.n{n}.f32.{a}.{b}"
            held = (a, b) in _HELD
            yield Row(
                architecture="riscv", instruction=name, model=_model(a, b, n), source=_SOURCE, date=2026,
                evidence="simulated" if held else "published",
                measured=(f"riscv_rvbna_spike:{name}",) if held else (),
                note="the text is without c; Spike adds c to the sum by an addition that rounds to odd",
            )  # fmt: skip


def claims(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """The manual's pseudo-code, which contradicts its text."""
    for a, b in _PAIRS:
        for n in _LENGTHS:
            yield claim(
                accepted[f"riscv/rvbna.n{n}.f32.{a}.{b}"], "pseudo-code",
                "riscv-isa-manual, src/unpriv/rvbna.adoc, description in pseudo-code", "refuted",
                "to the letter, its mask for the last rounding covers only zero bits, so that sums are "
                "truncated, and subnormal results are shifted wrongly; the text says rounded to odd",
                rounding="RTZ", subnormal_results="misplaced",
            )  # fmt: skip
