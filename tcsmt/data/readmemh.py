"""Rows with their results as a memory file of Verilog, which ``$readmemh`` reads: one word for each row.

A row is one hexadecimal number: the inputs in the order of :attr:`.Model.input_names`, then d, the first
input in the highest digits. Each word has whole digits; underscores between them, which Verilog ignores, are
for people.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tcsmt.arithmetic.any_format import AnyFormat
from tcsmt.models import Model
from tcsmt.simulator.rows import Words, words_of_row

__all__ = ["fields", "readmemh"]

Array = np.ndarray[Any, np.dtype[Any]]


def fields(model: Model) -> dict[str, AnyFormat]:
    """What a row has, from the highest digits to the lowest, each with its format."""
    return {**model.input_formats, "d": model.d_format}


def readmemh(model: Model, inputs: Words, d: Array, title: str = "") -> str:
    """The text of a file. d: the results, shape (rows,). title: a comment on the first line."""
    return "\n".join([*_lines(model, inputs, d, title), ""])


def _lines(model: Model, inputs: Words, d: Array, title: str) -> Iterator[str]:
    if title:
        yield f"// {title}"
    formats = fields(model)
    yield f"// {' '.join(formats)}"
    for number, result in enumerate(d.tolist()):
        words = (*words_of_row(inputs, number), result)
        yield "_".join(
            f"{word:0{fmt.hex_digits}x}" for word, fmt in zip(words, formats.values(), strict=True)
        )
