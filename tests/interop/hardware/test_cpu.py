"""Programs for CPUs: refused where the CPU lacks the instruction, or where there is no program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcsmt.interop.hardware import cpu
from tcsmt.matrix_units.catalogue import row_named
from tests.support.command_line import done, refused
from tests.support.cpu_programs import UNIT, compiler, cpuinfo


def test_a_cpu_without_the_instruction_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler()
    monkeypatch.setattr(cpu, "CPUINFO", cpuinfo(tmp_path / "cpuinfo", "avx512f avx512_bf16x"))
    rows = tmp_path / "rows.csv"
    rows.write_text("a0,a1,b0,b1,c\n1,2,3,4,1\n")
    output = tmp_path / "answers.json"
    said = "x86/vdpbf16ps: this CPU (Some CPU) has no avx512_bf16"
    assert said in refused("probe", UNIT, "--vectors", rows, "--run", "--output", output)
    assert not output.exists()
    assert said in refused("identify", "--device", UNIT)
    monkeypatch.setattr(cpu, "CPUINFO", tmp_path / "none")
    assert "cannot tell what this CPU has" in refused("identify", "--device", UNIT)


def test_a_cpu_with_the_instruction_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "CPUINFO", cpuinfo(tmp_path / "cpuinfo", "avx512f avx512_bf16 more"))
    cpu.require_feature(row_named(UNIT))


def test_units_without_a_program_are_named(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a0,a1,b0,b1,c\n1,2,3,4,1\n")
    text = refused("probe", "riscv/rvbna.n2.f32.bf16.bf16", "--vectors", rows, "--emit", "c")
    assert "riscv/rvbna.n2.f32.bf16.bf16: only mma and wgmma" in text
    assert "vdpbf16ps, vpdp* and tdp* (x86)" in text
    assert "--emit c, not cuda" in refused("probe", UNIT, "--vectors", rows, "--emit", "cuda")
    assert "vdpbf16ps %2, %1, %0" in done("probe", UNIT, "--vectors", rows, "--emit", "c")
