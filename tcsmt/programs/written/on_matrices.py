"""Matrices multiplied by a program in a file, whose K is theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.words import from_words, to_words
from tcsmt.matrix_units.catalogue import Row
from tcsmt.programs.steps.on_arrays import ArrayRules, matrix_words, of_matrices
from tcsmt.programs.steps.program import ProgramStep, read
from tcsmt.programs.written.programs import WrittenProgram, is_compiled, written_program
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.invariants import checked_cast
from tcsmt.support.toml_files import read_toml

Array = np.ndarray[Any, np.dtype[Any]]


def is_program_file(text: str) -> bool:
    """Return whether a text is a program's file, perhaps with chosen freedoms, ``FILE.toml,contraction=0``,
    or a compiled kernel's.

    Raises :class:`.TcsmtError` for a TOML file that cannot be read.
    """
    if is_compiled(text):
        return True
    path = Path(text.partition(",")[0])
    return path.suffix.lower() == ".toml" and "program" in read_toml(path)[1]


def multiply(
    text: str,
    a: Any,
    b: Any,
    c: Any,
    unit_named: Callable[[str], Row],
    inputs: Mapping[str, Any] | None = None,
) -> Array:
    """A·B + C by a program, as its steps say: an array (M, N) of the dtype of the result's format; of a
    result with axes, of their shape.

    a: (M, K), b: (K, N), c: (M, N) or None for zeros: dtypes of the program's formats, or unsigned words of
    them. inputs: the others by name: (M, K/n) of axes A/n, (M,) of a, (K/n, N) and (N,) of B/n and b, (M, N)
    without axes; (M, T), (T, N) and (K, T) of t, tB and tK; or one number of a, b and without axes.
    Raises :class:`.TcsmtError` for shapes and values that do not fit, and for errors of the file.
    """
    length = np.shape(a)[-1] if np.ndim(a) else 0
    model = checked_cast(written_program(f"{text}@{length}", unit_named).model, WrittenProgram)
    left, right, start = matrix_words((model.a_format, model.b_format, model.c_format), a, b, c)
    given = {"A": left, "B": right, "c": start}
    shape = *left.shape, right.shape[1]
    given |= {
        name: words for name, (_, words) in more_inputs(model.steps.inputs, inputs or {}, shape).items()
    }
    result = read(model.program, ArrayRules(start.shape, of_matrices, model.nans), given)
    if model.steps.result.axes in ("", "a", "b"):
        result = np.broadcast_to(result, start.shape)
    return from_words(model.d_format, np.ascontiguousarray(result))


def more_inputs(
    inputs: Mapping[str, ProgramStep], given: Mapping[str, Any], shape: tuple[int, int, int]
) -> dict[str, tuple[ProgramStep, Array]]:
    """Return each of a program's inputs besides A, B and c by its name, with its words (:func:`input_words`).

    Raises :class:`.TcsmtError` for one that is missing, or that the program does not have.
    """
    steps = {name: step for name, step in inputs.items() if name not in ("A", "B", "c")}
    for name in given:
        choose("input", name, steps)
    for name, step in steps.items():
        if name not in given:
            raise TcsmtError(f"input {name} ({step.format.name} {step.axes}) of the program is missing")
    return {name: (step, input_words(step, given[name], shape)) for name, step in steps.items()}


def input_words(step: ProgramStep, values: Any, shape: tuple[int, int, int]) -> Array:
    """Return an input's words, in the shape that its axes have. shape: M, K and N."""
    name, (m, k, n) = step.how["name"], shape
    words = to_words(step.format, values, name)
    axes, _, every = step.axes.partition("/")
    blocks = -(-k // int(every or 1))
    wanted: tuple[int | None, ...] = {
        "A": (m, blocks), "a": (m, 1), "B": (blocks, n), "b": (1, n), "t": (m, None), "tB": (None, n),
        "tK": (k, None), "": (m, n),
    }[axes]  # fmt: skip
    if axes in ("a", "b", "") and words.ndim == 0:
        return np.broadcast_to(words, {"a": (m, 1), "b": (1, n), "": (m, n)}[axes])
    if axes in ("a", "b") and words.ndim == 1:
        words = words[:, None] if axes == "a" else words[None]
    fits = words.ndim == 2 and all(size in (None, got) for size, got in zip(wanted, words.shape, strict=True))
    if not fits:
        told = ", ".join("T" if size is None else str(size) for size in wanted)
        raise TcsmtError(
            f"{name} has shape {np.shape(values)}: with axes {step.axes or 'none'} it is ({told})"
        )
    return words
