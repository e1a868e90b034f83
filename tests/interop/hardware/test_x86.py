"""Programs for x86 CPUs: compiled to their instruction, or refused where the CPU lacks it.

What a program does around its instruction is tried with a stand-in that no command of tcsmt has.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tcsmt.interop.hardware import cpu
from tcsmt.interop.hardware.source import program
from tcsmt.interop.hardware.vectors import Vector
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.catalogue.processors import CPUINFO
from tcsmt.simulate.measured.datasets import find_datasets
from tests.support.cpu_programs import UNIT, VECTORS, compiled
from tests.support.sampling import one_in

#: Every instruction that programs are made for, and words for it.
WORDS = {
    UNIT: VECTORS[0].words,
    "x86/vpdpbusd": (0xFF, 1, 2, 3, 0x80, 1, 1, 1, 10),
    "x86/vpdpbusds": (0xFF, 1, 2, 3, 0x80, 1, 1, 1, 10),
    "x86/vpdpwssd": (0x8000, 0x7FFF, 0x8000, 1, 10),
    "x86/vpdpwssds": (0x8000, 0x7FFF, 0x8000, 1, 10),
    "x86/tdpbf16ps": (0x3F80,) * 64 + (0,),
    "x86/tdpfp16ps": (0x3C00,) * 64 + (0,),
    **{f"x86/{name}": (0xFF,) * 128 + (0,) for name in ("tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud")},
}


def test_instructions_are_units() -> None:
    assert set(WORDS) == {name for name in cpu.CPU_INSTRUCTIONS if name.startswith("x86/")}


@pytest.mark.parametrize("unit", one_in(3, WORDS))
def test_the_program_compiles_to_the_instruction(unit: str, tmp_path: Path) -> None:
    vectors = [Vector(asks="one", words=WORDS[unit], predictions={})]
    binary = compiled(program(row_named(unit), vectors, "c"), tmp_path, "-c")
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed")
    code = subprocess.run(["objdump", "-d", str(binary)], capture_output=True, text=True, check=True).stdout
    instruction = cpu.cpu_instruction(row_named(unit))
    kind = "t" if instruction.mnemonic.startswith("t") else "z"
    asked = rf"{instruction.mnemonic} %{kind}mm\d+,%{kind}mm\d+,%{kind}mm\d+"
    if not re.search(asked, code) and "(bad)" in code:
        pytest.skip("objdump does not know the instruction")
    assert re.search(asked, code)


def test_the_program_asks_the_instruction_or_nothing(tmp_path: Path) -> None:
    """On a CPU without it, the program says so; on one with it, it gives what is held."""
    binary = compiled(program(row_named(UNIT), VECTORS, "c"), tmp_path)
    ended = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    if "avx512_bf16" not in CPUINFO.read_text():
        assert (ended.returncode, ended.stdout) == (1, "")
        assert re.fullmatch(r"this CPU \(.*\) has no avx512_bf16\n", ended.stderr)
        return
    words = [row["d"] for row in json.loads(ended.stdout)["rows"]]
    assert words == ["0x41400000", "0x00000000"]


def test_words_get_into_the_registers_and_out(tmp_path: Path) -> None:
    """A stand-in for the instruction shows what it was given; "fpu" is a flag of every x86 CPU."""
    source = program(row_named(UNIT), VECTORS, "c", "tests")
    start, end = source.index("__attribute__((target"), source.index("// The results of a vector")
    stand_in = (
        "static void multiply(unsigned *d, const unsigned *a, const unsigned *b, const unsigned *c) {\n"
        "  for (int i = 0; i < ELEMENTS; ++i) d[i] = a[i] ^ (b[i] << 8 | b[i] >> 24) ^ c[i];\n}\n"
    )
    source = source[:start] + stand_in + source[end:]
    binary = compiled(source.replace('has(flags, "avx512_bf16")', 'has(flags, "fpu")'), tmp_path)
    ended = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    if ended.returncode == 1 and "has no" in ended.stderr:
        pytest.skip("this CPU has no flag fpu")
    assert ended.returncode == 0, ended.stderr
    path = tmp_path / "answers.json"
    path.write_text(ended.stdout)
    (dataset,) = find_datasets([path])
    assert (dataset.interface, dataset.rows, bool(dataset.gpu)) == ("vdpbf16ps", 2, True)
    assert dataset.provenance["instruction"] == "vdpbf16ps"
    for number, vector in enumerate(VECTORS):
        a0, a1, b0, b1, c = vector.words
        a, b = a1 << 16 | a0, b1 << 16 | b0
        assert dataset.operands.a[number].tolist() == [a0, a1]
        assert dataset.operands.b[number].tolist() == [b0, b1]
        assert int(dataset.d[number]) == a ^ (b << 8 & 0xFFFFFFFF | b >> 24) ^ c
    assert json.loads(ended.stdout)["rows"][0]["predictions"] == {UNIT: "0x41400000"}
