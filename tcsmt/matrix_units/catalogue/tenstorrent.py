"""Tenstorrent's matrix units: MVMUL of Wormhole and Blackhole, as the vendor's simulator computes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue.row import Row
from tcsmt.matrix_units.models import GroupedDotAdd, InstructionSequence

__all__ = ["claims", "sequences", "units"]

#: Of SrcA and SrcB, as manuals call it, with the format of its words, and Dst with 32 and with 16 bits.
_SOURCES = {"bf16": "e8m7fn", "tf32": "e8m10fn", "f16": "e5m10fn"}
_DST = {"f32": "e8m23fn", "bf16": "e8m7fn", "f16": "e5m10fn"}
#: Of each significand the multiplier takes 5 or 7 bits.
_A_BITS, _B_BITS = 5, 7
#: Fidelities, the highest one first: how many phases, from 0 on, multiply one word by one other.
_FIDELITIES = {"hifi4": 4, "hifi3": 3, "hifi2": 2, "lofi": 1}
_SOURCE = "tenstorrent/ttsim 1.10.0 (src/tensix.cpp, mvmul); tt-isa-documentation (MVMUL)"
_NOTE = (
    "one element over K = 16, in one fidelity phase; a is SrcA, b is SrcB, c and D are Dst; no captured "
    "words of the hardware are known to us; exponent field 255 (of FP16: 31) is that of ordinary numbers, "
    "subnormal numbers are zeros"
)


def _model(architecture: str, source: str, dst: str, phase: int) -> GroupedDotAdd:
    operand, result = FORMATS[_SOURCES[source]], FORMATS[_DST[dst]]
    a_first, b_first = (_A_BITS if phase & 1 else 0), (_B_BITS if phase & 2 else 0)
    wide = dst == "f32"
    # a zero's exponent field is 0, and so is the smallest exponent field that a product can have
    zero = max(-2 * operand.bias - a_first - b_first, -result.bias)
    infinity = ((1 << result.exponent_bits) - 1) << result.fraction_bits
    return GroupedDotAdd(
        a_format=operand, b_format=operand, c_format=result, d_format=result, k=16, group_lanes=8,
        a_first_bit=a_first, a_bits=_A_BITS, b_first_bit=b_first, b_bits=_B_BITS,
        fraction_bits=10, zero_exponent=zero, least_exponent=result.e_min, sum_fraction_bits=23,
        kept_fraction_bits=None if wide else 10,
        minus_one_shift=27 if wide and architecture == "wormhole" else None,
        largest_result=None if dst == "f16" else infinity,
    )  # fmt: skip


def units() -> Iterator[Row]:
    """Every row that is no claim."""
    for architecture in ("wormhole", "blackhole"):
        for source in _SOURCES:
            for dst in ("f32", "f16" if source == "f16" else "bf16"):
                for phase in range(4):
                    note = _NOTE
                    model = _model(architecture, source, dst, phase)
                    if model.minus_one_shift is not None:
                        note += "; a sum of -1 unit is normalised wrongly"
                    yield Row(
                        architecture=architecture, instruction=f"mvmul.{dst}.{source}.phase{phase}",
                        model=model, source=_SOURCE, date=2026, evidence="simulated", note=note,
                    )  # fmt: skip


def sequences(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """The phases of each fidelity, one after another on the same words."""
    for row in accepted.values():
        name, _, phase = row.instruction.rpartition(".")
        if phase != "phase0":
            continue
        for fidelity, number in _FIDELITIES.items():
            models = (accepted[f"{row.architecture}/{name}.phase{one}"].model for one in range(number))
            yield replace(
                row, instruction=f"{name}.{fidelity}", model=InstructionSequence(instructions=tuple(models)),
                note=_NOTE.replace("in one fidelity phase", _phases(number)),
            )  # fmt: skip


def _phases(number: int) -> str:
    if number == 1:
        return "in fidelity phase 0 alone"
    return f"in fidelity phases 0 to {number - 1}, one after another on the same words"


def claims(accepted: Mapping[str, Row]) -> Iterator[Row]:
    """No other reading of these units is published."""
    return iter(())
