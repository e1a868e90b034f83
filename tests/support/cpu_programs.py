"""Programs for CPUs, compiled here; and a CPU that says what it has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tcsmt.interop.hardware.vectors import Vector

UNIT = "x86/vdpbf16ps"
VECTORS = [
    Vector(asks="first", words=(0x3F80, 0x4000, 0x4040, 0x4080, 0x3F800000), predictions={UNIT: 0x41400000}),
    Vector(asks="second", words=(0x0001, 0x8002, 0x0003, 0x0004, 0x00000005), predictions={}),
]


def compiler() -> str:
    path = shutil.which("cc")
    if path is None:
        pytest.skip("cc is not installed")
    return path


def compiled(source: str, folder: Path, *options: str) -> Path:
    file, binary = folder / "probe.c", folder / "probe"
    file.write_text(source)
    command = [
        compiler(),
        "-std=c11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        *options,
        "-o",
        str(binary),
        str(file),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if "avx512f" in ended.stderr:
        pytest.skip("the C compiler makes no programs for x86")
    assert ended.returncode == 0, ended.stderr
    return binary


def cpuinfo(path: Path, flags: str) -> Path:
    path.write_text(f"processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu {flags}\n\n")
    return path
