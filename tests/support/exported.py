"""Exported units, made to run: rows that decide, and what the files say of them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from tcsmt.interop.exports.languages import exported
from tcsmt.language.run import cc
from tcsmt.matrix_units.catalogue import Row, row_named
from tcsmt.matrix_units.files.model_files import read_model
from tcsmt.matrix_units.files.word_files import as_readmemh
from tcsmt.simulate.kernel_source import operands
from tcsmt.simulate.rows import Words, run_words, words_of_row
from tcsmt.surveys.units.vectors import edges
from tests.support import simulators

__all__ = ["OWN", "c_header", "decided", "one_of_each_kind", "own_formats", "systemverilog"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Formats of one's own, two of each kind of unit that takes them.
OWN = {
    "floats": """kind = "fused-dot-add"
a_format = "e3m4"
b_format = "e5m3"
c_format = "e8m7"
d_format = "e8m7"
k = 4
n_fma = 2
fraction_bits = 9
zero_exponent = "none"
rounding = "RNE"
scale_format = "scale"
scale_block = 2

[format.e3m4]
exponent_bits = 3
fraction_bits = 4
specials = "none"

[format.e5m3]
exponent_bits = 5
fraction_bits = 3
specials = "nan-only"

[format.e8m7]
exponent_bits = 8
fraction_bits = 7

[format.scale]
exponent_bits = 5
fraction_bits = 1
signed = false
specials = "nan-only"
""",
    "scaled": """kind = "fused-dot-add"
a_format = "s2m1"
b_format = "s2m1"
c_format = "s4m3"
d_format = "s4m3"
k = 2
n_fma = 2
fraction_bits = 4
zero_exponent = "none"
rounding = "RTZ"
scale_format = "scale"
scale_block = 1

[format.s2m1]
exponent_bits = 2
fraction_bits = 1
specials = "none"

[format.s4m3]
exponent_bits = 4
fraction_bits = 3

[format.scale]
exponent_bits = 3
fraction_bits = 0
signed = false
specials = "nan-only"
""",
    "fixed": """kind = "integer-dot-add"
a_format = "q4"
b_format = "u5"
c_format = "q9"
d_format = "q9"
k = 3
overflow = "saturate"

[format.q4]
bits = 7
fraction_bits = 4

[format.u5]
bits = 5
fraction_bits = 5
signed = false

[format.q9]
bits = 21
fraction_bits = 9
""",
}


def own_formats(name: str, folder: Path) -> Row:
    """The unit with formats of its own."""
    file = folder / f"{name}.toml"
    file.write_text(OWN[name])
    return read_model(file)


def one_of_each_kind() -> list[Row]:
    """Small units, one of each kind of model; one whose words are wider than 64 bits."""
    names = (
        "volta/mma.m8n8k4.f32.f16.f16.f32",
        "cdna3/v_mfma_f32_4x4x4_16b_f16",
        "wormhole",
        "turing/mma.m8n8k16.s32.s8.s8.s32",
        "hopper/mma.m8n8k4.f64.f64.f64.f64",
    )
    return [row_named(name) for name in names]


def decided(row: Row, count: int) -> tuple[Words, Array]:
    """So many rows near the boundaries of the arithmetic, with what the simulator says."""
    inputs = edges(row, 1).inputs
    chosen = np.random.default_rng(0).permutation(len(inputs.c))[:count]
    rows: Words = inputs.map(lambda words: np.ascontiguousarray(words[chosen]))
    return rows, run_words(row.model, rows)


def c_header(row: Row, inputs: Words, folder: Path, *options: str) -> tuple[Array, Array]:
    """The results of the exported header's two functions, on all rows and on each row alone."""
    if not cc.available():
        pytest.skip("cc is not installed")
    (folder / "unit.h").write_text(str(exported(row, "c", name="unit")))
    given = operands(row.model)
    places = ", ".join(f"p[{place}]" for place in range(len(given)))
    alone = ", ".join(
        f"((const uint{one.bits}_t *)p[{place}])" + ("[i]" if one.name == "c" else f" + i * {len(one.terms)}")
        for place, one in enumerate(given)
    )
    bits = 8 * run_words(row.model, inputs.map(lambda words: words[:1])).itemsize
    (folder / "unit.c").write_text(
        '#include "unit.h"\n#include "unit.h"\n'
        "void all(size_t rows, const void **p, void *d);\n"
        "void each(size_t rows, const void **p, void *d);\n"
        f"void all(size_t rows, const void **p, void *d) {{ unit_rows(rows, {places}, d); }}\n"
        "void each(size_t rows, const void **p, void *d) {\n"
        f"  size_t i; for (i = 0; i < rows; i++) ((uint{bits}_t *)d)[i] = unit({alone}); }}\n"
    )
    compiler = options or ("gcc", "-O0")
    strict = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC")
    # never the same name twice: the loader takes a library that has a loaded one's file for that one
    library = folder / f"unit-{uuid4().hex}.so"
    simulators.command(*compiler, *strict, "-o", library, folder / "unit.c")
    loaded = ctypes.CDLL(str(library))
    parts = [np.ascontiguousarray(part) for part in inputs.parts]
    pointers = (ctypes.c_void_p * len(parts))(*(part.ctypes.data for part in parts))
    found = []
    for name in ("all", "each"):
        d = np.zeros(len(inputs.c), np.dtype(f"u{bits // 8}"))
        loaded[name](ctypes.c_size_t(len(d)), pointers, ctypes.c_void_p(d.ctypes.data))
        found.append(d)
    return found[0], found[1]


def systemverilog(
    row: Row, inputs: Words, d: Array, folder: Path, *, pipeline: bool = False
) -> Sequence[Path]:
    """The files of a module, of its bench and of rows: ``unit.sv``, ``unit_tb.sv``, ``unit.mem``."""
    made = exported(row, "systemverilog", name="unit", pipeline=pipeline)
    assert made.testbench is not None
    (folder / "unit.sv").write_text(made.text)
    (folder / "unit_tb.sv").write_text(made.testbench)
    rows = [(*words_of_row(inputs, number), result) for number, result in enumerate(d.tolist())]
    (folder / "unit.mem").write_text(as_readmemh(row.model, rows, row.name))
    return [folder / "unit.sv", folder / "unit_tb.sv"]
