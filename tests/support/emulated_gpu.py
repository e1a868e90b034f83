"""An emitted program run on the CPU: all of it but the matrix instruction, which the model stands for.

The program is compiled by a C++ compiler with a shim in place of the GPU's runtime. Where a thread
would run the instruction, it writes its registers to a file and reads its results from another. The
results are made in between, in Python, from the registers alone, with the ISA's layouts
(``oracles/fragments.py``) and the model.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.interop.hardware.instructions import instruction_of
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Operands
from tcsmt.simulate.rows import run_words
from tests.oracles.fragments import places

SHIM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define __device__
#define __constant__ static const
#define __global__
struct Index { unsigned x; };
static Index threadIdx, blockIdx;
typedef int API_Error_t;
struct PROP { char name[16] = "emulated"; };
enum { API_Success, API_MemcpyHostToDevice, API_MemcpyDeviceToHost };
static const char *API_GetErrorString(int) { return "error"; }
static int API_Malloc(void **p, size_t n) { *p = malloc(n); return 0; }
static int API_Free(void *p) { free(p); return 0; }
static int API_Memset(void *p, int v, size_t n) { memset(p, v, n); return 0; }
static int API_Memcpy(void *to, const void *from, size_t n, int) { memcpy(to, from, n); return 0; }
static int API_GetLastError() { return 0; }
static int API_DeviceSynchronize() { return 0; }
static int API_GetDeviceCount(int *n) { *n = 1; return 0; }
static int API_GetDeviceProperties(PROP *, int) { return 0; }
static int API_DriverGetVersion(int *n) { *n = 1; return 0; }
static int API_RuntimeGetVersion(int *n) { *n = 2; return 0; }
"""
MULTIPLY = r"""
static FILE *written = fopen(getenv("WRITTEN"), "w"), *given = fopen(getenv("GIVEN"), "r");
static void multiply(reg *d, const reg *a, const reg *b, const reg *c, unsigned sa, unsigned sb) {
  const reg *operands[] = {a, b, c};
  const int counts[] = COUNTS;
  for (int o = 0; o < 3; ++o)
    for (int i = 0; i < counts[o]; ++i) fprintf(written, "%llx ", (unsigned long long)operands[o][i]);
  fprintf(written, "%x %x\n", sa, sb);
  unsigned long long word;
  for (int i = 0; i < counts[3]; ++i)
    if (given && fscanf(given, "%llx", &word) == 1) d[i] = (reg)word;
}
"""
LAUNCH = """for (blockIdx.x = 0; blockIdx.x < count; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < THREADS; ++threadIdx.x) probe(given, device, alone);"""


def emulate(row: Row, source: str, folder: Path) -> str:
    """What the program prints."""
    return emulated(row, source, folder).stdout


def emulated(row: Row, source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The program, ended."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    tile = instruction_of(row).tile
    counts = [
        int(n) for n in re.findall(r"reg ra\[(\d+)\].* rb\[(\d+)\].* rc\[(\d+)\].* rd\[(\d+)\]", source)[0]
    ]
    file, binary = folder / "probe.cpp", folder / "probe"
    file.write_text(_on_cpu(source, counts))
    ended = subprocess.run(
        [compiler, "-std=c++17", "-o", str(binary), str(file)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    written, given = folder / "written", folder / "given"
    environment = {**os.environ, "WRITTEN": str(written), "GIVEN": str(given)}
    subprocess.run([str(binary)], capture_output=True, env=environment, check=False)
    lines = [[int(word, 16) for word in line.split()] for line in written.read_text().splitlines()]
    answers: list[str] = []
    for first in range(0, len(lines), tile.threads):  # one launched block: the threads of one instruction
        for registers in _instruction(row, counts, lines[first : first + tile.threads]):
            answers += [f"{register:x}" for register in registers]
    given.write_text(" ".join(answers))
    run = subprocess.run([str(binary)], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    return run


def _on_cpu(source: str, counts: list[int]) -> str:
    api = "hip" if "hip/hip_runtime.h" in source else "cuda"
    shim = SHIM.replace("API_", api).replace("PROP", f"{api}DeviceProp" + ("_t" if api == "hip" else ""))
    multiply = MULTIPLY.replace("COUNTS", "{" + ", ".join(map(str, counts)) + "}")
    start, end = source.index("// A row's block scales"), source.index('extern "C" __global__')
    packed = source[start : source.index("\n}\n", start) + 3]
    source = source[:start] + packed + multiply + source[end:]
    source = re.sub(r"#include <\w+/?\w+_runtime.h>", "", source)
    launched = source.replace("probe<<<(unsigned)count, THREADS>>>(given, device, alone);", LAUNCH)
    assert launched != source
    return shim + launched


def _instruction(row: Row, counts: list[int], threads: list[list[int]]) -> list[list[int]]:
    """The registers of D of every thread, from the others."""
    model, tile = row.model, instruction_of(row).tile
    register = tile.register
    layout = places(row.architecture, row.instruction, model)
    firsts = np.cumsum([0, *counts])

    def word(thread: int, element: int, operand: int, fmt: AnyFormat, bits: int) -> int:
        each = register // bits
        value = threads[thread][firsts[operand] + element // each] >> element % each * bits
        padding = 2 if fmt.width == 4 and bits == 8 else 0  # PTX ISA, packed formats: FP4 in bits 5:2
        value &= (1 << bits) - 1
        assert value & ~(((1 << fmt.width) - 1) << padding) == 0, "bits outside of the element"
        return value >> padding

    matrices: dict[str, Any] = {}
    formats = {"A": model.a_format, "B": model.b_format, "C": model.c_format}
    for number, (side, fmt) in enumerate(formats.items()):
        packed = model.k == 64 or isinstance(fmt, IntegerFormat)
        bits = 4 if packed and fmt.width == 4 else max(8, fmt.width)
        shape = {"A": (tile.m, tile.k), "B": (tile.n, tile.k), "C": (tile.m, tile.n)}[side]
        matrices[side] = np.zeros((tile.matrices, *shape), unsigned(fmt))
        for (thread, element), place in layout[side].items():
            matrices[side][place] = word(thread, element, number, fmt, bits)
    scales = [[scale >> 8 * i & 255 for i in range(model.scales)] for scale in threads[0][-2:]]
    rows = [(m, i, j) for m in range(tile.matrices) for i in range(tile.m) for j in range(tile.n)]
    a = np.array([matrices["A"][m, i] for m, i, _ in rows])
    b = np.array([matrices["B"][m, j] for m, _, j in rows])
    c = np.array([matrices["C"][at] for at in rows])
    extra = [np.tile(np.array(s, np.uint8), (len(rows), 1)) for s in scales] if model.scales else []
    results = dict(zip(rows, run_words(model, Operands(a, b, c, *extra)).tolist(), strict=True))
    registers = [[0] * counts[3] for _ in threads]
    width = model.d_format.width
    each = register // width
    for (thread, element), place in layout["D"].items():
        registers[thread][element // each] |= results[place] << element % each * width
    return registers
