"""Instructions of CPUs: a program in C that asks one, and whether the CPU of this machine has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tcsmt.catalogue import Row
from tcsmt.hardware.instructions import unsupported
from tcsmt.support.errors import TcsmtError

__all__ = ["ELEMENTS", "CpuInstruction", "cpu_instruction", "multiply", "require_feature"]

#: What the kernel says of the CPU; a CPU's features are its flags.
CPUINFO = Path("/proc/cpuinfo")
#: Elements of 32 bits in a register.
ELEMENTS = 16


@dataclass(frozen=True)
class CpuInstruction:
    """An instruction of three 512-bit registers, by its mnemonic. feature: as ``/proc/cpuinfo`` calls it."""

    mnemonic: str
    feature: str


_INSTRUCTIONS = {
    "x86/vdpbf16ps": CpuInstruction("vdpbf16ps", "avx512_bf16"),
    **{
        f"x86/{name}": CpuInstruction(name, "avx512_vnni")
        for name in ("vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds")
    },
}


def cpu_instruction(row: Row) -> CpuInstruction:
    """The instruction of a row, or of the unit that a claim is about. Raises :class:`.TcsmtError`."""
    found = _INSTRUCTIONS.get(row.name.partition("@")[0])
    if found is None:
        raise unsupported(row)
    return found


def require_feature(row: Row) -> None:
    """Raises :class:`.TcsmtError` where the CPU of this machine lacks the row's instruction."""
    feature = cpu_instruction(row).feature
    try:
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise TcsmtError(f"{row.name}: cannot tell what this CPU has: {CPUINFO}: {error.strerror}") from None
    said = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if feature not in said.get("flags", "").split():
        cpu = said.get("model name", "unknown model")
        raise TcsmtError(
            f"{row.name}: this CPU ({cpu}) has no {feature} ({CPUINFO}); "
            "tcsmt probe --emit c writes the program for one that has it"
        )


def multiply(instruction: CpuInstruction) -> str:
    """The function that runs the instruction: AT&T syntax, the second source first."""
    return f"""typedef unsigned elements __attribute__((vector_size(4 * ELEMENTS)));

__attribute__((target("avx512f"), noinline)) static void multiply(unsigned *d, const unsigned *a,
                                                                  const unsigned *b, const unsigned *c) {{
  elements va, vb, vd;
  memcpy(&va, a, sizeof va);
  memcpy(&vb, b, sizeof vb);
  memcpy(&vd, c, sizeof vd);
  __asm__ volatile("{instruction.mnemonic} %2, %1, %0" : "+v"(vd) : "v"(va), "v"(vb));
  memcpy(d, &vd, sizeof vd);
}}
"""
