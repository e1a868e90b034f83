"""Instructions of CPUs: a program in C that asks one, and whether the CPU of this machine has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tcsmt.interop.hardware.instructions import template, unsupported
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.processors import CPUINFO, INSTRUCTIONS, facts
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True)
class CpuInstruction:
    """An instruction of a CPU.

    mnemonic: as assemblers have it. feature: what the CPU has to have, as the kernel calls it. elements:
    results of 32 bits that one instruction gives. family: x86 or arm. parts: texts of the functions that run
    it and that give it a vector. values: what stands in them, and in the text of the function which says what
    the CPU is, and whether it has the instruction.
    """

    mnemonic: str
    feature: str
    elements: int
    family: str
    parts: tuple[str, ...]
    values: Mapping[str, str]

    @property
    def source(self) -> str:
        """Return the functions that run the instruction and that give it a vector."""
        return "".join(template(f"{self.family}_{part}").substitute(self.values) for part in self.parts)

    @property
    def describing(self) -> str:
        """Return the function that says what the CPU is, and whether it has the instruction."""
        return template(f"{self.family}_describing").substitute(self.values)


def _x86(mnemonic: str, feature: str) -> CpuInstruction:
    """Return an instruction on three registers of 16 elements, or on tiles of 16 rows of 64 bytes.

    Of tiles, A has a row for each row of C, and B a row for each 32 bits of lanes.
    """
    part, elements = ("tiles", 256) if feature.startswith("amx") else ("registers", 16)
    values = {"instruction": mnemonic, "feature": feature}
    return CpuInstruction(mnemonic, feature, elements, "x86", (part,), values)


#: Bits of AT_HWCAP and AT_HWCAP2, as the kernel's documentation of Arm's features numbers them.
_HWCAPS = {"asimdfhm": (1 << 23, 0), "bf16": (0, 1 << 14), "sme": (0, 1 << 23), "ebf16": (0, 1 << 32)}
#: FPCR.EBF, with which BFDOT, BFMMLA and BFMOPA sum two products exactly.
_EBF = 1 << 13
#: Where the lanes of element i go, of four elements of 32 bits or eight of 16.
PLACES = {
    "pairs": "to[i] = (unsigned)(lanes[0] | lanes[1] << 16)",
    "bottom": "to[i] = (unsigned)lanes[0]",
    "top": "to[i] = (unsigned)lanes[0] << 16",
    "halves": "to[i / 2] |= (unsigned)lanes[0] << 16 * (i % 2)",
}


def _arm(
    mnemonic: str, features: str, kind: str, *, ebf: bool = False, place: str = "pairs", lanes: str = "8h"
) -> CpuInstruction:
    """Return an instruction of NEON, with four elements of 32 bits, or of SME.

    BFMMLA multiplies two rows of A by two rows of B. SME's outer products have a tile, of which four rows and
    columns are used, however long the vectors are.
    """
    needed = [*features.split(), *(["ebf16"] if ebf else [])]
    hwcap, hwcap2 = (str(sum(_HWCAPS[name][word] for name in needed)) for word in (0, 1))
    feature = " ".join(needed)
    values = {
        "instruction": mnemonic, "fpcr": str(_EBF if ebf else 0), "lanes": lanes, "place": PLACES[place],
        "feature": feature, "hwcap": hwcap, "hwcap2": hwcap2,
    }  # fmt: skip
    if kind == "outer":
        return CpuInstruction(mnemonic, feature, 16, "arm", ("outer",), values)
    return CpuInstruction(mnemonic, feature, 4, "arm", ("registers", kind), values)


#: By the names of their rows.
CPU_INSTRUCTIONS = {
    **{
        f"x86/{name}": _x86(name, feature)
        for feature in ("avx512_bf16", "avx512_vnni", "amx_bf16", "amx_fp16", "amx_int8")
        for name in INSTRUCTIONS[feature]
    },
    **{
        f"arm/{name}.ebf{int(ebf)}": _arm(name, features, kind, ebf=ebf)
        for ebf in (False, True)
        for name, features, kind in (
            ("bfdot", "bf16", "vector"),
            ("bfmmla", "bf16", "matrix"),
            ("bfmopa", "sme", "outer"),
        )
    },
    "arm/bfmlalb": _arm("bfmlalb", "bf16", "vector", place="bottom"),
    "arm/bfmlalt": _arm("bfmlalt", "bf16", "vector", place="top"),
    "arm/fmlal": _arm("fmlal", "asimdfhm", "vector", place="halves", lanes="4h"),
    "arm/fmopa.f32.f16.f16": _arm("fmopa", "sme", "outer"),
}


def cpu_instruction(row: Row) -> CpuInstruction:
    """Return the instruction of a row, or of the unit that a claim is about. Raises :class:`.TcsmtError`."""
    instruction = CPU_INSTRUCTIONS.get(row.name.partition("@")[0])
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
