"""Matrices multiplied by a program in a file, whose K is theirs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.words import from_words, to_words, unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices
from tcsmt.programs.steps.program import read
from tcsmt.programs.written.programs import WrittenProgram, program_row
from tcsmt.simulate.matmul import check_shapes
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import checked_cast
from tcsmt.support.toml_files import read_toml

Array = np.ndarray[Any, np.dtype[Any]]


def is_program_file(text: str) -> bool:
    """Return whether a text is a program's file, perhaps with chosen freedoms: ``FILE.toml,contraction=0``.

    Raises :class:`.TcsmtError` for a TOML file that cannot be read.
    """
    path = Path(text.partition(",")[0])
    return path.suffix.lower() == ".toml" and "program" in read_toml(path)[1]


def multiply(text: str, a: Any, b: Any, c: Any, unit_named: Callable[[str], Row]) -> Array:
    """A·B + C by a program, as its steps say: an array (M, N) of the dtype of the result's format.

    a: (M, K), b: (K, N), c: (M, N) or None for zeros: dtypes of the program's formats, or unsigned words of
    them. Raises :class:`.TcsmtError` for shapes and values that do not fit, and for errors of the file.
    """
    length = np.shape(a)[-1] if np.ndim(a) else 0
    model = checked_cast(program_row(f"{text}@{length}", unit_named).model, WrittenProgram)
    left, right = to_words(model.a_format, a, "A"), to_words(model.b_format, b, "B")
    check_shapes(left, right)
    shape = len(left), right.shape[1]
    start = np.zeros(shape, unsigned(model.c_format)) if c is None else to_words(model.c_format, c, "C")
    if start.shape != shape:
        raise TcsmtError(f"C has shape {start.shape}: must be {shape}, the shape of A·B")
    given = {"A": left, "B": right, "c": start}
    return from_words(model.d_format, read(model.program, ArrayRules(shape, of_matrices, model.nans), given))
