"""Instructions of Arm CPUs: how a program in C gives them a vector, and what it says of the CPU.

NEON's have four elements of 32 bits. BFMMLA multiplies two rows of A by two rows of B. SME's outer products
have a tile, of which four rows and columns are used, however long the vectors are.
"""

from __future__ import annotations

from string import Template

#: Where the lanes of element i go, of four elements of 32 bits or eight of 16.
PLACES = {
    "pairs": "to[i] = (unsigned)(lanes[0] | lanes[1] << 16)",
    "bottom": "to[i] = (unsigned)lanes[0]",
    "top": "to[i] = (unsigned)lanes[0] << 16",
    "halves": "to[i / 2] |= (unsigned)lanes[0] << 16 * (i % 2)",
}
#: The instruction between two settings of FPCR: its own, and what was there.
_MULTIPLY = r"""typedef unsigned elements __attribute__((vector_size(16)));

__attribute__((noinline)) static void multiply(unsigned *d, const unsigned *a, const unsigned *b,
                                               const unsigned *c) {
  elements va, vb, vd;
  unsigned long before;
  memcpy(&va, a, sizeof va);
  memcpy(&vb, b, sizeof vb);
  memcpy(&vd, c, sizeof vd);
  __asm__ volatile(
      ".arch armv8.6-a+bf16+fp16fml\n\t"
      "mrs %1, fpcr\n\t"
      "msr fpcr, %4\n\t"
      "$instruction %0.4s, %2.$lanes, %3.$lanes\n\t"
      "msr fpcr, %1"
      : "+w"(vd), "=&r"(before)
      : "w"(va), "w"(vb), "r"(${fpcr}ul));
  memcpy(d, &vd, sizeof vd);
}
"""
VECTOR = Template(
    _MULTIPLY
    + r"""
static void put_lanes(unsigned *to, int i, const word *lanes) { $place; }

// The results of a vector in all elements, or in one (the others are zero).
static void ask(const word *v, int alone, unsigned *d) {
  unsigned a[ELEMENTS] = {0}, b[ELEMENTS] = {0}, c[ELEMENTS] = {0};
  for (int i = 0; i < ELEMENTS; ++i) {
    if (alone >= 0 && i != alone) continue;
    put_lanes(a, i, v), put_lanes(b, i, v + K), c[i] = (unsigned)v[2 * K];
  }
  multiply(d, a, b, c);
}
"""
)
MATRIX = Template(
    _MULTIPLY
    + r"""
// The results of a vector in all elements, or in one: its row of A and its row of B among zeros.
static void ask(const word *v, int alone, unsigned *d) {
  unsigned a[ELEMENTS] = {0}, b[ELEMENTS] = {0}, c[ELEMENTS] = {0};
  for (int i = 0; i < ELEMENTS; ++i) {
    const word *x = v + i % 2 * 2, *y = x + K;
    if (alone < 0 || i / 2 == alone / 2) a[i] = (unsigned)(x[0] | x[1] << 16);
    if (alone < 0 || i / 2 == alone % 2) b[i] = (unsigned)(y[0] | y[1] << 16);
    if (alone < 0 || i == alone) c[i] = (unsigned)v[2 * K];
  }
  multiply(d, a, b, c);
}
"""
)
OUTER = Template(r"""__attribute__((noinline)) static void multiply(unsigned *d, const unsigned *a,
                                               const unsigned *b, const unsigned *c) {
  // streaming mode clears the vector registers, and FPCR stays
  __asm__ volatile(
      ".arch armv9-a+sme\n\t"
      "mrs x10, fpcr\n\t"
      "smstart\n\t"
      "msr fpcr, %4\n\t"
      "ptrue p0.s, vl4\n\t"
      "ptrue p1.h, vl8\n\t"
      "ld1w {z0.s}, p0/z, [%1]\n\t"
      "ld1w {z1.s}, p0/z, [%2]\n\t"
      "zero {za}\n\t"
      "mov w12, #0\n\t"
      "mov x9, %3\n"
      "1: ld1w {za0h.s[w12, 0]}, p0/z, [x9]\n\t"
      "add x9, x9, #16\n\t"
      "add w12, w12, #1\n\t"
      "cmp w12, #4\n\t"
      "b.lt 1b\n\t"
      "$instruction za0.s, p1/m, p1/m, z0.h, z1.h\n\t"
      "mov w12, #0\n\t"
      "mov x9, %0\n"
      "2: st1w {za0h.s[w12, 0]}, p0, [x9]\n\t"
      "add x9, x9, #16\n\t"
      "add w12, w12, #1\n\t"
      "cmp w12, #4\n\t"
      "b.lt 2b\n\t"
      "smstop\n\t"
      "msr fpcr, x10"
      :
      : "r"(d), "r"(a), "r"(b), "r"(c), "r"(${fpcr}ul)
      : "memory", "cc", "x9", "x10", "x12", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
        "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

// The results of a vector in all elements, or in one: its row of A and its column of B among zeros.
static void ask(const word *v, int alone, unsigned *d) {
  unsigned a[4] = {0}, b[4] = {0}, c[ELEMENTS] = {0};
  for (int i = 0; i < 4; ++i) {
    if (alone < 0 || i == alone / 4) a[i] = (unsigned)(v[0] | v[1] << 16);
    if (alone < 0 || i == alone % 4) b[i] = (unsigned)(v[K] | v[K + 1] << 16);
  }
  for (int i = 0; i < ELEMENTS; ++i)
    if (alone < 0 || i == alone) c[i] = (unsigned)v[2 * K];
  multiply(d, a, b, c);
}
""")
#: What the kernel says of the CPU, or the emulator that plays it.
DESCRIBING = Template(r"""#include <sys/auxv.h>

// What the CPU is; returns whether it has the instruction.
static int describe(char *described, size_t size, char *driver, size_t room) {
  const char *emulator = getenv("TCSMT_EMULATOR");
  unsigned long id = 0;
  if (emulator) {
    snprintf(described, size, "%s", emulator);
  } else {
    if (getauxval(AT_HWCAP) >> 11 & 1) __asm__("mrs %0, midr_el1" : "=r"(id));  // HWCAP_CPUID
    snprintf(described, size, "Arm CPU (implementer 0x%02lx, part 0x%03lx, variant %lu, revision %lu)",
             id >> 24 & 255, id >> 4 & 4095, id >> 20 & 15, id & 15);
  }
  snprintf(driver, room, "%s", "");
  // $feature
  const unsigned long first = ${hwcap}ul, second = ${hwcap2}ul;
  return (getauxval(AT_HWCAP) & first) == first && (getauxval(AT_HWCAP2) & second) == second;
}
""")
