"""Programs for Arm CPUs, run by an emulator where one is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tcsmt.interop.hardware import cpu, run
from tcsmt.interop.hardware.source import program
from tcsmt.interop.hardware.vectors import Vector
from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.support.errors import TcsmtError
from tests.support.command_line import done, refused

UNITS = [name for name in cpu.CPU_INSTRUCTIONS if name.startswith("arm/")]
#: Those that need FEAT_EBF16.
EBF = [name for name in UNITS if name.endswith(".ebf1")]


@pytest.fixture
def emulator() -> None:
    row = row_named("arm/fmlal")
    try:
        run.compiler_of(row)
        run.launcher(row)
    except TcsmtError as why:
        pytest.skip(f"a compiler for AArch64, or QEMU, is not installed: {why}")


def answers(unit: str, rows: list[tuple[int, ...]], folder: Path) -> list[str]:
    """The program's words, or why it does not run here."""
    row = row_named(unit)
    vectors = [Vector(asks="", words=words, predictions={}) for words in rows]
    try:
        found = json.loads(run.measure(row, program(row, vectors, "c")))
    except TcsmtError as why:
        if "has no" in str(why):
            pytest.skip(str(why))
        raise
    assert found["unequal"] == 0
    return [answer["d"] for answer in found["rows"]]


def test_every_instruction_of_bf16_and_f16_has_a_program() -> None:
    wanted = {row.name for row in rows("arm", claims=False) if not row.instruction.startswith("fdot")}
    assert set(UNITS) == wanted
    assert set(cpu.PLACES) == {"pairs", "bottom", "top", "halves"}


#: Units, words and result: products of 1.5 and 2 with c = 1; a subnormal product is zero without EBF; the
#: smallest number of FP16 counts, times 2^8.
HELD = [
    ("arm/bfdot.ebf0", (0x3FC0, 0x4000, 0x4000, 0x4000, 0x3F800000), "0x41000000"),
    ("arm/bfdot.ebf0", (0x0080, 0, 0x3F00, 0, 0), "0x00000000"),
    ("arm/bfdot.ebf1", (0x0080, 0, 0x3F00, 0, 0), "0x00400000"),
    ("arm/bfmmla.ebf0", (0x3FC0, 0x4000, 0x3F80, 0, 0x4000, 0x4000, 0x3F80, 0, 0x3F800000), "0x41100000"),
    ("arm/bfmopa.ebf0", (0x3FC0, 0x4000, 0x4000, 0x4000, 0x3F800000), "0x41000000"),
    ("arm/bfmlalb", (0x3FC0, 0x4000, 0x3F800000), "0x40800000"),
    ("arm/bfmlalt", (0x0080, 0x3F00, 0), "0x00400000"),
    ("arm/fmlal", (0x0001, 0x3C00, 0x3F800000), "0x3f800000"),
    ("arm/fmopa.f32.f16.f16", (0x0001, 0x3C00, 0x5C00, 0x3C00, 0), "0x3f800080"),
]


@pytest.mark.parametrize(("unit", "words", "d"), HELD)
@pytest.mark.usefixtures("emulator")
def test_answers(unit: str, words: tuple[int, ...], d: str, tmp_path: Path) -> None:
    assert answers(unit, [words], tmp_path) == [d]


@pytest.mark.parametrize(
    ("unit", "count"),
    [
        ("arm/fmlal", 2000),
        *(pytest.param(f"arm/{name}", 20_000, marks=pytest.mark.long)
          for name in ("bfmmla.ebf0", "bfmopa.ebf0", "fmlal")),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("emulator")
def test_edge_cases_and_random_rows(unit: str, count: int) -> None:
    """BFMMLA's rows, SME's tiles and the halves of FMLAL, with NaNs, infinities and subnormal numbers."""
    found = json.loads(done("check", unit, "--device", "--rows", count, "--json"))
    assert found["mismatches"] == 0 and found["rows"] >= count
    assert "-cpu max" in found["provenance"]["gpu"] or "Arm CPU" in found["provenance"]["gpu"]


def test_missing_compilers_and_emulators_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("a0,b0,c\n1,2,3\n")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setenv("TCSMT_AARCH64_CC", "no-such-compiler")
    given = ("probe", "arm/fmlal", "--vectors", rows, "--run", "--output", tmp_path / "out.json")
    assert "TCSMT_AARCH64_CC = 'no-such-compiler'" in refused(*given)
    monkeypatch.setenv("TCSMT_AARCH64_CC", sys.executable)  # some program
    monkeypatch.setenv("TCSMT_QEMU_AARCH64", "no-such-emulator")
    assert "TCSMT_QEMU_AARCH64 = 'no-such-emulator'" in refused(*given)
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert run.launcher(row_named("arm/fmlal")) == []
