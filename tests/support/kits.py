"""Kits, compiled and called."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcsmt.interop.kits.kit import Kit

Array = np.ndarray[Any, np.dtype[Any]]
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def built(kit: Kit, folder: Path, compiler: str = "gcc", *options: str) -> Path:
    """Write a kit, and return the shared library that a compiler makes of it, without a warning."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    for name, text in kit.files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    library = folder / f"lib{kit.name}.so"
    sources = [*folder.glob("*.c"), *(folder / "units").glob("*.c")]
    chosen = [str(path) for path in sources if path.name != "check.c"]
    command = [compiler, "-std=c11", *(options or ("-O0",)), *WARNINGS, "-shared", "-fPIC", "-I", str(folder)]
    subprocess.run([*command, *chosen, "-lm", "-o", str(library)], check=True)
    return library


def called(library: Path, name: str, *arguments: int | Array, registers: int) -> tuple[int, Array]:
    """Call a function; return what it gives, and D: the first array of so many registers."""
    function = getattr(ctypes.CDLL(str(library)), name)
    passed: list[Any] = []
    result: Array | None = None
    for value in arguments:
        if isinstance(value, np.ndarray):
            assert value.dtype == np.uint32 and value.flags.c_contiguous
            passed.append(ctypes.c_void_p(value.ctypes.data))
            if result is None and value.size == registers:
                result = value
        else:
            passed.append(ctypes.c_uint64(value))
    code = function(*passed)
    assert result is not None
    return code, result


def drawn(rng: np.random.Generator, size: int) -> Array:
    """Random registers."""
    return rng.integers(0, 1 << 32, size, dtype=np.uint32)


def words_of(
    registers: Array, places: dict[tuple[int, int], tuple[int, int, int]], bits: int, shape: Sequence[int]
) -> Array:
    """The matrices that fragments hold. places: as :mod:`tests.oracles.fragments` has them."""
    matrices = np.zeros(shape, np.uint64)
    per_thread = len(registers) // (1 + max(thread for thread, _ in places))
    for (thread, element), place in places.items():
        own = registers[thread * per_thread : (thread + 1) * per_thread]
        whole = sum(int(word) << (32 * n) for n, word in enumerate(own))
        matrices[place] = whole >> (element * bits) & ((1 << bits) - 1)
    return matrices
