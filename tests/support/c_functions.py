"""C read as a unit, and as compilers have it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tcsmt.interop.implementations.designs import DesignFiles, read_design
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.rows import run_words

__all__ = ["HELPERS", "WORDS", "compiled", "read", "same_as_compiled"]

HEAD = "#include <stdint.h>\n#include <string.h>\n"
WORDS = dict.fromkeys("abcd", "u32")

#: Functions around those of the tests below.
HELPERS = """
struct pair { uint32_t x, y; union { float f; uint32_t u; } as; };
static uint32_t pure(uint32_t x) { x++; return x; }
static uint32_t next(uint32_t *p) { return (*p)++; }
static uint32_t got(const uint32_t *p) { return *p; }
static void both(uint32_t *restrict p, uint32_t *restrict q) { *p = 1; *q = 2; }
static uint32_t *same(uint32_t *p) { return p; }
static uint32_t *dead(uint32_t x) { return same(&x); }
"""


def read(text: str, folder: Path, *, k: int | None = None, **more: object) -> Model:
    file = folder / "f.c"
    file.write_text(HEAD + text)
    return read_design(DesignFiles(files=[file], formats=WORDS, k=k, **more)).model  # type: ignore[arg-type]


#: As a user may compile a program; none may make another function of it than the others.
COMPILERS = [(name, level) for name in ("gcc", "clang") for level in ("-O0", "-O3")]


def compiled(file: Path, folder: Path) -> list[ctypes.CDLL]:
    """The file by each compiler that there is."""
    found = []
    for name, level in COMPILERS:
        if shutil.which(name) is not None:
            library = folder / f"{name}{level}.so"
            subprocess.run([name, level, "-w", "-shared", "-fPIC", "-o", library, file], check=True)
            found.append(ctypes.CDLL(str(library)))
    if not found:
        pytest.skip("gcc and clang are not installed")
    return found


def words(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words of each length, and those at the ends of signed and unsigned numbers."""
    drawn = rng.integers(0, 1 << 32, (3, count), np.uint32) >> rng.integers(0, 32, (3, count), np.uint32)
    ends = np.array([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
    few = rng.random(drawn.shape) < 0.2
    drawn[few] = rng.choice(ends, drawn.shape)[few]
    return drawn[0], drawn[1], drawn[2]


def same_as_compiled(text: str, folder: Path, names: Sequence[str] = ("f",)) -> None:
    """What is read is what every compiler makes of it. names: of the functions."""
    models = {name: read(text, folder, function=name) for name in names}
    a, b, c = words(np.random.default_rng(1), 300)
    libraries = compiled(folder / "f.c", folder)
    for name, model in models.items():
        found = run_words(model, Operands(a=a[:, None], b=b[:, None], c=c)).tolist()
        for library in libraries:
            function = library[name]
            function.restype = ctypes.c_uint32
            rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
            assert [function(*map(ctypes.c_uint32, row)) for row in rows] == found, (name, library)
