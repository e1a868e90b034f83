"""Simulators of SystemVerilog: Icarus Verilog and Verilator; tests skip where they are absent."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = ["bench", "command", "ended", "icarus", "simulated", "verilator", "verilator_lint"]


def command(*words: object, code: int = 0) -> str:
    """What a command says; it must end with this code."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    assert done.returncode == code, (
        f"{words[0]}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )
    return done.stdout + done.stderr


def _needed(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def icarus(folder: Path, top: str, files: Sequence[Path]) -> Path:
    """The simulation that Icarus Verilog builds; it compiles without a warning."""
    _needed("iverilog")
    made = folder / f"{top}.vvp"
    said = command("iverilog", "-g2012", "-Wall", "-o", made, "-s", top, *files)
    assert not said, said
    return made


def bench(built: Path, memory: Path, row: int) -> str:
    """What a bench prints of the rows in a file; before that, it has to fail where one of them is changed.

    built: by :func:`icarus` or :func:`verilator`. row: the one whose result is changed in its lowest bit.
    """
    lines = memory.read_text().splitlines()
    (place, *_) = [n for n, line in enumerate(lines) if line and not line.startswith("//")][row:]
    changed = f"{int(lines[place].split()[0], 16) ^ 1:0{len(lines[place].split()[0])}x}"
    wrong = memory.with_suffix(".wrong.mem")
    wrong.write_text("\n".join([*lines[:place], changed, *lines[place + 1 :], ""]))
    said = ended(built, f"+vectors={wrong}", fails=True)
    assert f"row {row}: d = " in said and " 1 mismatches" in said, said
    return ended(built, f"+vectors={memory}")


def ended(built: Path, *options: str, fails: bool = False) -> str:
    """What a simulation prints, which must fail, or must not."""
    program = ["vvp", "-n", built] if built.suffix == ".vvp" else [built]
    code = 0 if not fails else 1 if built.suffix == ".vvp" else -signal.SIGABRT
    return command(*program, *options, code=code)


def verilator(folder: Path, top: str, files: Sequence[Path], *, strict: bool = True) -> Path:
    """The simulation that Verilator builds; strict: it compiles without a warning."""
    _needed("verilator")
    built = folder / f"{top}-verilated"
    warnings = ["-Wall", "-Wno-DECLFILENAME", "-Wno-STMTDLY"] if strict else ["-Wno-lint", "-Wno-fatal"]
    command(
        "verilator", "--binary", *warnings, "-j", 1, "-CFLAGS", "-O0",
        "--top-module", top, "--Mdir", built, *files,
    )  # fmt: skip
    return built / f"V{top}"


def verilator_lint(file: Path) -> None:
    """Verilator has no warning about a file."""
    _needed("verilator")
    assert not command("verilator", "--lint-only", "-Wall", file)


def simulated(modules: str, names: Sequence[str]) -> list[str]:
    """The lines that the modules' tasks ``run`` print, one after the other, by Icarus Verilog."""
    _needed("iverilog")
    top = ["module top;", *(f"{name} u_{name}();" for name in names), "initial begin"]
    top += [*(f"u_{name}.run;" for name in names), "$finish; end endmodule", ""]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "all.sv").write_text("\n".join([modules, *top]))
        command("iverilog", "-g2012", "-o", folder / "all", "-s", "top", folder / "all.sv")
        return command("vvp", "-n", folder / "all").splitlines()
