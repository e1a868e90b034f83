"""Published rows of x86 and Arm CPUs, of emulators, and of documents, as files in tcsmt's own JSON.

Such a file names an instruction in its own words, and has rows of words; that of Arm's FDOT has them by the
formats, and that of Intel's documents says what each document gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcsmt.support.errors import TcsmtError, choose

__all__ = ["documents", "is_of_a_cpu"]

#: The unit that a file's rows are of, by the file's name for the instruction; FDOT's by the formats.
UNITS = {
    "VDPBF16PS zmm (AVX512_BF16)": "x86/vdpbf16ps",
    "BFDOT (vector), FPCR.EBF = 0": "arm/bfdot.ebf0",
    "BFDOT (vector), FPCR.EBF = 1, round to nearest, no flushing": "arm/bfdot.ebf1",
    "BFMMLA, one element, FPCR.EBF = 0": "arm/bfmmla.ebf0",
    "BFMMLA, one element, FPCR.EBF = 1": "arm/bfmmla.ebf1",
    "SME BFMOPA (widening), FPCR.EBF = 0": "arm/bfmopa.ebf0",
    "SME BFMOPA (widening), FPCR.EBF = 1": "arm/bfmopa.ebf1",
    "SME FMOPA (widening, f16 to f32), FPCR = 0": "arm/fmopa.f32.f16.f16",
    "BFMLALB, FPCR = 0": "arm/bfmlalb",
    "FMLAL (f16 to f32), FPCR = 0": "arm/fmlal",
    "FDOT (FP8), FPMR.LSCALE = 0, OSM = 0": "arm/fdot.{d}.{a}.{b}",
}
#: What a row of Intel's documents calls each of them, and the claim that it is in the catalogue.
_READINGS = {"manual": "", "intrinsics_guide": "@guide"}


def is_of_a_cpu(data: object) -> bool:
    """Whether a file's content is of this kind."""
    return isinstance(data, Mapping) and "rows" in data and (_is_captured(data) or _is_document(data))


def documents(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The content as documents in tcsmt's own JSON, one for each unit. Raises :class:`.TcsmtError`."""
    if _is_document(data):
        yield from _of_documents(data["rows"])
        return
    unit = UNITS[choose("instruction of a CPU", data["instruction"], UNITS)]
    told = {"gpu": data.get("cpu", data.get("emulator", "")), "instruction": data["instruction"]}
    rows = data["rows"]
    if not isinstance(rows, Mapping):
        yield {"model": unit, "rows": rows, **told}
        return
    for formats, part in rows.items():
        factors, _, d = formats.partition("->")
        a, _, b = factors.partition("x")
        yield {"model": unit.format(a=a, b=b, d=d), "rows": part, **told}


def _is_captured(data: Mapping[str, Any]) -> bool:
    return data.get("instruction") in UNITS


def _is_document(data: Mapping[str, Any]) -> bool:
    rows = data["rows"]
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, Mapping) and "manual" in row for row in rows)
    )


def _of_documents(rows: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if not all(isinstance(row.get(side), list) for side in "ab"):
            raise TcsmtError("a row of a document has no 'a' and 'b' that are lists of words")
    lanes = max(len(row["a"]) for row in rows)
    for row in rows:
        instruction = row.get("instruction", "TDPBF16PS").lower()
        zeros = ["0000"] * (lanes - len(row["a"]))
        given = {"a": row["a"] + zeros, "b": row["b"] + zeros, "c": row.get("c")}
        for key, claim in _READINGS.items():
            if key in row:
                found.setdefault(f"x86/{instruction}{claim}", []).append({**given, "d": row[key]})
    for unit, own in found.items():
        yield {"model": unit, "rows": own, "notes": "stated by Intel, not measured"}
