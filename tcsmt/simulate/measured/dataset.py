"""A data set: what one matrix unit answered, and rows of hexadecimal words as arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.measured.row_files import line_of_row, shaped
from tcsmt.simulate.rows import Words
from tcsmt.support.errors import TcsmtError
from tcsmt.support.reading import uncompressed
from tcsmt.support.text import counted

__all__ = ["HEXADECIMAL", "DataSet", "Formats", "words_of"]

Array = np.ndarray[Any, np.dtype[Any]]

#: A word as files write it.
HEXADECIMAL = re.compile(r"(0[xX])?[0-9a-fA-F]+")


class Formats(NamedTuple):
    """The formats of a, b, c and d."""

    a: AnyFormat
    b: AnyFormat
    c: AnyFormat
    d: AnyFormat

    def __str__(self) -> str:
        return f"{self.a.name}, {self.b.name}, {self.c.name} to {self.d.name}"

    @classmethod
    def of(cls, model: Model) -> Formats:
        """A model's formats."""
        return cls(model.a_format, model.b_format, model.c_format, model.d_format)


@dataclass(frozen=True, kw_only=True, eq=False)
class DataSet:
    """What one matrix unit answered.

    name: as in ``Row.measured``. path: the file that holds d. gpu: may be empty.
    architecture: as in the catalogue where it knows the name. interface: how it was called.
    operands: words, of k lanes. d: words of shape (rows,); dtypes: ``unsigned`` of formats.
    notes: how c was used, where the data was published, its licence.
    unit: the row that the file names; None: it says how the unit was called, and no more.
    provenance: what else the file says of how it was measured: date, driver, program, ...
    Raises :class:`.TcsmtError` for other shapes and no rows.
    """

    name: str
    path: Path
    gpu: str
    architecture: str
    interface: str
    formats: Formats
    operands: Words
    d: Array
    notes: str = ""
    unit: Row | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        operands = self.operands
        rows, k = shaped(f"{self.path}: a", operands.a, (None, None)).shape
        shaped(f"{self.path}: b", operands.b, (rows, k))
        shaped(f"{self.path}: c", operands.c, (rows,))
        shaped(f"{self.path}: d", self.d, (rows,))
        if not rows or not k:
            raise TcsmtError(f"{self.path} has no rows")

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.d)

    @property
    def k(self) -> int:
        """Lanes that are given; the unit's others were zero."""
        return int(self.operands.a.shape[1])

    def place(self, row: int) -> str:
        """Where a row (from 0) stands: the line of a text file, else the row's number."""
        match uncompressed(self.path).suffix.lower():
            case ".csv":
                return f"{self.path}:{line_of_row(self.path, row)}"
            case ".txt":
                return f"{self.path}:{row + 1}"
            case _:
                return f"{self.path}: row {row}"


def words_of(where: str, rows: object, formats: Formats, model: Model | None = None) -> dict[str, Any]:
    """Return the arrays a, b, c, d (and scales, where the model has them) of rows as JSON has them.

    where: the file and key, for errors. Raises :class:`.TcsmtError`, which names the row and the word.
    """
    if not isinstance(rows, list) or not rows:
        raise TcsmtError(f"{where} is not a list of rows, or is empty")
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or not row.keys() >= {*"abcd"}:
            raise TcsmtError(f"{where}[{number}] is not an object with a, b, c and d")
    lanes = len(rows[0]["a"]) if isinstance(rows[0]["a"], list) else 0
    texts = _Texts(where, lanes)
    columns = {
        side: np.array(
            [
                (texts.vector if side in "ab" else texts.word)(f"[{i}].{side}", fmt, row[side])
                for i, row in enumerate(rows)
            ],
            unsigned(fmt),
        )
        for side, fmt in zip("abcd", formats, strict=True)
    }
    if model is not None and model.scale_format is not None:
        scales, fmt = _Texts(where, model.scales, of_scales=True), model.scale_format
        for name in ("scale_a", "scale_b"):
            words = [scales.vector(f"[{i}].{name}", fmt, row.get(name)) for i, row in enumerate(rows)]
            columns[name] = np.array(words, unsigned(fmt))
    return columns


@dataclass(frozen=True)
class _Texts:
    """Words as hexadecimal texts. where: the file and key, for errors. count: the words of a vector."""

    where: str
    count: int
    of_scales: bool = False

    def word(self, place: str, fmt: AnyFormat, text: object) -> int:
        """A word of the format."""
        if not isinstance(text, str) or not HEXADECIMAL.fullmatch(text):
            raise TcsmtError(f"{self.where}{place}: {text!r} is not a hexadecimal word")
        if int(text, 16) >> fmt.width:
            raise TcsmtError(f"{self.where}{place}: {text!r}: a word of {fmt.name} has {fmt.width} bits")
        return int(text, 16)

    def vector(self, place: str, fmt: AnyFormat, texts: object) -> list[int]:
        """As many words of the format as there should be."""
        if not isinstance(texts, list):
            raise TcsmtError(f"{self.where}{place} is not a list of words")
        if len(texts) != self.count:
            scales = f"the unit has {counted(self.count, 'block scale')}"
            wanted = scales if self.of_scales else f"[0].a has {self.count}"
            raise TcsmtError(f"{self.where}{place} has {counted(len(texts), 'word')}, but {wanted}")
        return [self.word(f"{place}[{i}]", fmt, text) for i, text in enumerate(texts)]
