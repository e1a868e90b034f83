"""Instructions of CPUs: a program in C that asks one, and whether the CPU of this machine has it."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from tcsmt.interop.hardware import arm, x86
from tcsmt.interop.hardware.instructions import unsupported
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.processors import CPUINFO, INSTRUCTIONS, facts
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True)
class CpuInstruction:
    """An instruction of a CPU.

    mnemonic: as assemblers have it. feature: what the CPU has to have, as the kernel calls it. elements:
    results of 32 bits that one instruction gives. source: the functions that run it and that give it a
    vector. describing: the function that says what the CPU is, and whether it has the instruction.
    """

    mnemonic: str
    feature: str
    elements: int
    source: str
    describing: str


def _x86(mnemonic: str, feature: str, *, tiles: bool = False) -> CpuInstruction:
    source = (x86.TILES if tiles else x86.REGISTERS).substitute(instruction=mnemonic)
    describing = x86.DESCRIBING.substitute(feature=feature)
    return CpuInstruction(mnemonic, feature, 256 if tiles else 16, source, describing)


#: Bits of AT_HWCAP and AT_HWCAP2, as the kernel's documentation of Arm's features numbers them.
_HWCAPS = {"asimdfhm": (1 << 23, 0), "bf16": (0, 1 << 14), "sme": (0, 1 << 23), "ebf16": (0, 1 << 32)}
#: FPCR.EBF, with which BFDOT, BFMMLA and BFMOPA sum two products exactly.
_EBF = 1 << 13


def _arm(mnemonic: str, features: str, source: Template, *, ebf: bool = False, **more: str) -> CpuInstruction:
    needed = [*features.split(), *(["ebf16"] if ebf else [])]
    hwcap, hwcap2 = (sum(_HWCAPS[name][word] for name in needed) for word in (0, 1))
    names = {"instruction": mnemonic, "fpcr": str(_EBF if ebf else 0), "lanes": "8h", **more}
    feature = " ".join(needed)
    describing = arm.DESCRIBING.substitute(feature=feature, hwcap=str(hwcap), hwcap2=str(hwcap2))
    return CpuInstruction(
        mnemonic, feature, 16 if source is arm.OUTER else 4, source.substitute(names), describing
    )


_INSTRUCTIONS = {
    **{
        f"x86/{name}": _x86(name, feature, tiles=feature.startswith("amx"))
        for feature in ("avx512_bf16", "avx512_vnni", "amx_bf16", "amx_fp16", "amx_int8")
        for name in INSTRUCTIONS[feature]
    },
    **{
        f"arm/{name}.ebf{int(ebf)}": _arm(name, features, source, ebf=ebf, place=arm.PLACES["pairs"])
        for ebf in (False, True)
        for name, features, source in (
            ("bfdot", "bf16", arm.VECTOR),
            ("bfmmla", "bf16", arm.MATRIX),
            ("bfmopa", "sme", arm.OUTER),
        )
    },
    "arm/bfmlalb": _arm("bfmlalb", "bf16", arm.VECTOR, place=arm.PLACES["bottom"]),
    "arm/bfmlalt": _arm("bfmlalt", "bf16", arm.VECTOR, place=arm.PLACES["top"]),
    "arm/fmlal": _arm("fmlal", "asimdfhm", arm.VECTOR, place=arm.PLACES["halves"], lanes="4h"),
    "arm/fmopa.f32.f16.f16": _arm("fmopa", "sme", arm.OUTER),
}


def cpu_instruction(row: Row) -> CpuInstruction:
    """Return the instruction of a row, or of the unit that a claim is about. Raises :class:`.TcsmtError`."""
    instruction = _INSTRUCTIONS.get(row.name.partition("@")[0])
    if instruction is None:
        raise unsupported(row)
    return instruction


def require_feature(row: Row) -> None:
    """Raises :class:`.TcsmtError` where the CPU of this machine lacks an instruction of x86."""
    feature = cpu_instruction(row).feature
    try:
        lines = facts(CPUINFO)
    except TcsmtError as error:
        raise TcsmtError(f"{row.name}: {error}") from None
    if feature not in lines.get("flags", "").split():
        cpu = lines.get("model name", "unknown model")
        raise TcsmtError(
            f"{row.name}: this CPU ({cpu}) has no {feature} ({CPUINFO}); "
            "tcsmt probe --emit c writes the program for one that has it"
        )
