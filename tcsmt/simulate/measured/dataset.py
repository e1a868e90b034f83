"""A data set: what one matrix unit answered, and rows of hexadecimal words as arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.measured.row_files import line_of_row, shaped
from tcsmt.simulate.rows import Words
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import uncompressed
from tcsmt.support.text import counted

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
        """Return a model's formats."""
        return cls(model.a_format, model.b_format, model.c_format, model.d_format)


@dataclass(frozen=True, kw_only=True, eq=False)
class DataSet:
    """The answers of one matrix unit.

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

    @classmethod
    def of(cls, words: Mapping[str, Array], **others: Any) -> DataSet:
        """Return the data set of the words of operands and of D, by name. others: its other fields."""
        operands = Operands.of({name: array for name, array in words.items() if name != "d"})
        return cls(operands=operands, d=words["d"], **others)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.d)

    @property
    def k(self) -> int:
        """Return how many lanes are given; the unit's others were zero."""
        return int(self.operands.a.shape[1])

    def with_lanes(self, count: int) -> Words:
        """Return the operands in so many lanes: those that are not given were +0 in the measurement."""
        spare = ((0, 0), (0, count - self.k))
        a, b = (np.pad(side, spare) for side in (self.operands.a, self.operands.b))
        return replace(self.operands, a=a, b=b)

    def place(self, row: int) -> str:
        """Say where a row (from 0) stands: the line of a text file, else the row's number."""
        match uncompressed(self.path).suffix.lower():
            case ".csv":
                return f"{self.path}:{line_of_row(self.path, row)}"
            case ".txt":
                return f"{self.path}:{row + 1}"
            case _:
                return f"{self.path}: row {row}"


def placed(where: str, rows: object) -> dict[str, Any]:
    """Return the rows of a list as JSON has them, by where each stands. where: the file and key."""
    if not isinstance(rows, list) or not rows:
        raise TcsmtError(f"{where} is not a list of rows, or is empty")
    return {f"{where}[{number}]": row for number, row in enumerate(rows)}


@dataclass(frozen=True)
class Register:
    """The words of an operand as a file holds them: a sign, 8 bits of exponent, and so many of fraction.

    Formats with fewer bits have the lower ones of the exponent, and the upper ones of the fraction.
    """

    fraction_bits: int
    exponent_bits = 8

    @property
    def width(self) -> int:
        """Return the bits of a word."""
        return 1 + self.exponent_bits + self.fraction_bits

    def word(self, where: str, fmt: Format, register: int) -> int:
        """Return a register's word as one of the format: what it has no place for must be zero."""
        unused = self.fraction_bits - fmt.fraction_bits
        sign, magnitude = divmod(register, 1 << (self.width - 1))
        if magnitude & ((1 << unused) - 1) or magnitude >> unused >> fmt.sign_bit:
            raise TcsmtError(f"{where}: {register:#x} has bits that a word of {fmt.name} has no place for")
        return sign << fmt.sign_bit | magnitude >> unused


def words_of(
    rows: Mapping[str, Any],
    formats: Formats,
    model: Model | None = None,
    registers: Mapping[str, Register] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the arrays a, b, c, d (and scales, where the model has them) of rows as JSON has them.

    rows: by where each stands, for errors. registers: how sides are held that do not have words of the
    formats. Raises :class:`.TcsmtError`, which names the row and the word.
    """
    for where, row in rows.items():
        if not isinstance(row, dict) or not row.keys() >= {*"abcd"}:
            raise TcsmtError(f"{where} is not an object with a, b, c and d")
    first = next(iter(rows.values()))["a"]
    lanes = len(first) if isinstance(first, list) else 0
    sides = {
        side: (fmt, lanes, f"a of the first row has {lanes}")
        for side, fmt in zip("abcd", formats, strict=True)
    }
    if model is not None and model.scale_format is not None:
        scales = model.scale_format, model.scales, f"the unit has {counted(model.scales, 'block scale')}"
        sides |= {"scale_a": scales, "scale_b": scales}
    columns: dict[str, Any] = {}
    for side, (fmt, count, wanted) in sides.items():
        read = partial(_word, fmt=fmt, register=registers.get(side))
        words = [
            read(f"{where}.{side}", row[side])
            if side in "cd"
            else _vector(f"{where}.{side}", row.get(side), count, wanted, read)
            for where, row in rows.items()
        ]
        columns[side] = np.array(words, unsigned(fmt))
    return columns


def _word(where: str, text: object, fmt: AnyFormat, register: Register | None) -> int:
    """Read a hexadecimal word of the format, or of a register."""
    if not isinstance(text, str) or not HEXADECIMAL.fullmatch(text):
        raise TcsmtError(f"{where}: {text!r} is not a hexadecimal word")
    word, width = int(text, 16), fmt.width if register is None else register.width
    if word >> width:
        name = fmt.name if register is None else f"the register of {fmt.name}"
        raise TcsmtError(f"{where}: {text!r}: a word of {name} has {width} bits")
    return word if register is None else register.word(where, float_format(fmt), word)


def _vector(
    where: str, texts: object, count: int, wanted: str, read: Callable[[str, object], int]
) -> list[int]:
    """Read as many words as there should be."""
    if not isinstance(texts, list):
        raise TcsmtError(f"{where} is not a list of words")
    if len(texts) != count:
        raise TcsmtError(f"{where} has {counted(len(texts), 'word')}, but {wanted}")
    return [read(f"{where}[{i}]", text) for i, text in enumerate(texts)]
