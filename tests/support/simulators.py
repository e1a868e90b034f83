"""Simulators of SystemVerilog: Icarus Verilog and Verilator; tests skip where they are absent."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = ["command", "icarus", "simulated", "verilator", "verilator_lint"]


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


def icarus(folder: Path, top: str, files: Sequence[Path], *options: str, code: int = 0) -> str:
    """What a simulation by Icarus Verilog prints; it compiles without a warning, and ends with this code."""
    _needed("iverilog")
    made = folder / f"{top}.vvp"
    said = command("iverilog", "-g2012", "-Wall", "-o", made, "-s", top, *files)
    assert not said, said
    return command("vvp", "-n", made, *options, code=code)


def verilator(folder: Path, top: str, files: Sequence[Path], *options: str) -> str:
    """What a simulation by Verilator prints; it compiles without a warning, and ends well."""
    _needed("verilator")
    built = folder / f"{top}-verilated"
    command(
        "verilator", "--binary", "-Wall", "-Wno-DECLFILENAME", "-Wno-STMTDLY", "-j", 1, "-CFLAGS", "-O0",
        "--top-module", top, "--Mdir", built, *files,
    )  # fmt: skip
    return command(built / f"V{top}", *options)


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
