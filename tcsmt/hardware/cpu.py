"""Instructions of CPUs: a program in C that asks one, and whether the CPU of this machine has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

from tcsmt.catalogue import Row
from tcsmt.hardware.instructions import unsupported
from tcsmt.support.errors import TcsmtError

__all__ = ["CpuInstruction", "cpu_instruction", "multiply", "require_feature"]

#: What the kernel says of the CPU; a CPU's features are its flags.
CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class CpuInstruction:
    """An instruction by its mnemonic. feature: as ``/proc/cpuinfo`` calls it. tiles: AMX's, not registers."""

    mnemonic: str
    feature: str
    tiles: bool = False

    @property
    def elements(self) -> int:
        """Results of 32 bits that one instruction gives."""
        return 256 if self.tiles else 16


_INSTRUCTIONS = {
    "x86/vdpbf16ps": CpuInstruction("vdpbf16ps", "avx512_bf16"),
    **{
        f"x86/{name}": CpuInstruction(name, "avx512_vnni")
        for name in ("vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds")
    },
    "x86/tdpbf16ps": CpuInstruction("tdpbf16ps", "amx_bf16", tiles=True),
    "x86/tdpfp16ps": CpuInstruction("tdpfp16ps", "amx_fp16", tiles=True),
    **{
        f"x86/{name}": CpuInstruction(name, "amx_int8", tiles=True)
        for name in ("tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud")
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
    """The functions that run the instruction and that give it a vector; in AT&T syntax, d comes last."""
    return (_TILES if instruction.tiles else _REGISTERS).substitute(instruction=instruction.mnemonic)


#: Three registers of 16 elements; the lanes of an element are its 32 bits.
_REGISTERS = Template(r"""typedef unsigned elements __attribute__((vector_size(4 * ELEMENTS)));

__attribute__((target("avx512f"), noinline)) static void multiply(unsigned *d, const unsigned *a,
                                                                  const unsigned *b, const unsigned *c) {
  elements va, vb, vd;
  memcpy(&va, a, sizeof va);
  memcpy(&vb, b, sizeof vb);
  memcpy(&vd, c, sizeof vd);
  __asm__ volatile("$instruction %2, %1, %0" : "+v"(vd) : "v"(va), "v"(vb));
  memcpy(d, &vd, sizeof vd);
}

// The results of a vector in all elements, or in one (the others are zero).
static void ask(const word *v, int alone, unsigned *d) {
  unsigned a[ELEMENTS] = {0}, b[ELEMENTS] = {0}, c[ELEMENTS] = {0};
  for (int i = 0; i < ELEMENTS; ++i) {
    if (alone >= 0 && i != alone) continue;
    a[i] = packed(v, A_WIDTH), b[i] = packed(v + K, B_WIDTH), c[i] = (unsigned)v[2 * K];
  }
  multiply(d, a, b, c);
}
""")

#: Tiles of 16 rows of 64 bytes: A has a row for each row of C, B a row for each 32 bits of lanes.
_TILES = Template(r"""#include <sys/syscall.h>
#include <unistd.h>

enum { SIDE = 16, ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };

__attribute__((noinline)) static void multiply(unsigned *d, const unsigned *a, const unsigned *b,
                                               const unsigned *c) {
  static const struct {
    unsigned char palette, start_row, reserved[14];
    unsigned short bytes[16];
    unsigned char rows[16];
  } shape = {1, 0, {0}, {64, 64, 64}, {SIDE, SIDE, SIDE}};
  static int allowed;
  if (!allowed && syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)) {
    fprintf(stderr, "the operating system does not allow AMX's tiles\n");
    exit(1);
  }
  allowed = 1;
  __asm__ volatile(
      "ldtilecfg %0; tileloadd (%1,%5,1), %%tmm0; tileloadd (%2,%5,1), %%tmm1; tileloadd (%3,%5,1), %%tmm2;"
      "$instruction %%tmm2, %%tmm1, %%tmm0; tilestored %%tmm0, (%4,%5,1); tilerelease"
      :
      : "m"(shape), "r"(c), "r"(a), "r"(b), "r"(d), "r"(4L * SIDE)
      : "memory");
}

// The results of a vector in all elements, or in one: its row of A and its column of B among zeros.
static void ask(const word *v, int alone, unsigned *d) {
  unsigned a[ELEMENTS] = {0}, b[ELEMENTS] = {0}, c[ELEMENTS] = {0};
  const int each = 32 / A_WIDTH;
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) {
      const int at = SIDE * i + j;
      if (alone < 0 || i == alone / SIDE) a[at] = packed(v + j * each, A_WIDTH);
      if (alone < 0 || j == alone % SIDE) b[at] = packed(v + K + i * each, B_WIDTH);
      if (alone < 0 || at == alone) c[at] = (unsigned)v[2 * K];
    }
  multiply(d, a, b, c);
}
""")
