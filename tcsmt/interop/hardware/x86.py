"""Instructions of x86 CPUs: how a program in C gives them a vector, and what it says of the CPU."""

from __future__ import annotations

from string import Template

#: Three registers of 16 elements; the lanes of an element are its 32 bits.
REGISTERS = Template(r"""typedef unsigned elements __attribute__((vector_size(4 * ELEMENTS)));

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
TILES = Template(r"""#include <sys/syscall.h>
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

#: What the kernel says of the CPU.
DESCRIBING = Template(r"""// The value of the first line of /proc/cpuinfo that begins with a name, or "".
static void cpuinfo(const char *name, char *value, size_t size) {
  char *line = NULL;
  size_t room = 0;
  FILE *file = fopen("/proc/cpuinfo", "r");
  value[0] = 0;
  while (file && getline(&line, &room, file) > 0) {
    char *colon = strchr(line, ':');
    const char next = strncmp(line, name, strlen(name)) ? 0 : line[strlen(name)];
    if (!colon || (next != '\t' && next != ' ')) continue;
    snprintf(value, size, "%s", colon + 1 + (colon[1] == ' '));
    value[strcspn(value, "\n")] = 0;
    break;
  }
  if (file) fclose(file);
  free(line);
}

// Whether a list of names with spaces between them has one.
static int has(const char *names, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = names; (at = strstr(at, name)); ++at)
    if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return 1;
  return 0;
}

// What the CPU is; returns whether it has the instruction.
static int describe(char *described, size_t size, char *driver, size_t room) {
  static char flags[1 << 16];
  char name[200], family[20], model[20], stepping[20];
  cpuinfo("flags", flags, sizeof flags);
  cpuinfo("model name", name, sizeof name);
  cpuinfo("cpu family", family, sizeof family);
  cpuinfo("model", model, sizeof model);
  cpuinfo("stepping", stepping, sizeof stepping);
  cpuinfo("microcode", driver, room);
  snprintf(described, size, "%s (family %s, model %s, stepping %s)", name, family, model, stepping);
  return has(flags, "$feature");
}
""")
