"""Rows of words as text and as bytes: one input as a person writes it, lines of digits, packed words.

``a0=1.5 b0=0x3e00 c=-0x1p-4``: one input of a unit.

Files of plain hexadecimal words, for test benches, have a line for each row. ``.hex``: the words of a row in
the order of the unit's inputs, then its result, with blanks between them; a comment begins with ``#``.
``.mem``, as Verilog's ``$readmemh`` reads it: a row is one number, the words after each other, the first
input in the highest bits and the result in the lowest; a comment begins with ``//``. The first line, a
comment, names the unit. Errors name lines from 1.

Programs take and give rows in binary, packed words, the lowest byte first. A batch is a number of rows (four
bytes), then the rows; a row is k words of a, k of b, one of c, and the block scales of a and b of a unit that
has them. The answer is a word of D for each row. A word takes the smallest of 1, 2, 4 and 8 bytes that holds
its format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.words import to_word, unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.matrix_units.models.base import role_of
from tcsmt.support.errors import TcsmtError, UnknownName
from tcsmt.support.text import one_line

Array = np.ndarray[Any, np.dtype[Any]]

# --- One input as text ---------------------------------------------------------------------------


def vector_of(text: str, model: Model, rounded: Callable[[str], None] | None = None) -> dict[str, int]:
    """Return the words of a model's inputs, by name, from ``a0=1.5 b0=0x3e00``; what is not named is neutral.

    rounded: takes decimal numbers that the format does not hold as its nearest value, and is told so.
    Raises :class:`.TcsmtError`.
    """
    formats = model.input_formats
    values: dict[str, int] = {}
    if not text.strip(" ,"):
        first = next(iter(formats))
        example = f"give at least one, such as {first}=1.5 (zeros: {first}=0)"
        raise TcsmtError(f"the vector names no input; {example}")
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        if not equals:
            raise TcsmtError(f"{part!r} does not have the form NAME=VALUE, such as a0=1.5")
        if name not in formats:
            raise UnknownName("input", name, formats)
        if name in values:
            raise TcsmtError(f"{name} is given twice")
        told = None if rounded is None else partial(_told, rounded, name)
        try:
            values[name] = to_word(formats[name], value, told)
        except TcsmtError as error:
            raise TcsmtError(f"{name}: {error}") from None
    return {name: neutral(name, fmt) for name, fmt in formats.items()} | values


def _told(rounded: Callable[[str], None], name: str, message: str) -> None:
    rounded(f"{name}: {message}")


def neutral(name: str, fmt: AnyFormat) -> int:
    """Return what an input that is not named holds: 0, or 1 where it is a block scale."""
    return fmt.word(Fraction(1)) if role_of(name).scale else 0


# --- Files of hexadecimal words ------------------------------------------------------------------


#: Suffixes of these files.
SUFFIXES = (".hex", ".mem")
_COMMENT = {".hex": "#", ".mem": "//"}
_NAMED = re.compile(r"(?:#|//) rows of (\S+)")
_DIGITS = re.compile(r"(0[xX])?[0-9a-fA-F]+(_[0-9a-fA-F]+)*")


def _fields(model: Model) -> dict[str, AnyFormat]:
    return {**model.input_formats, "d": model.d_format}


def as_hex(model: Model, rows: Sequence[Sequence[int]], name: str) -> str:
    """Return rows of words as text, the result last."""
    formats = _fields(model)
    digits = [fmt.hex_digits for fmt in formats.values()]
    head = [f"# rows of {one_line(name)}"] if name else []
    head.append(f"# columns: {' '.join(formats)}")
    lines = (" ".join(f"{w:0{n}x}" for w, n in zip(row, digits, strict=True)) for row in rows)
    return "\n".join([*head, *lines]) + "\n"


def as_readmemh(model: Model, rows: Sequence[Sequence[int]], name: str) -> str:
    """Return the same, each row one number."""
    formats = _fields(model)
    widths = [fmt.width for fmt in formats.values()]
    head = [f"// rows of {one_line(name)}"] if name else []
    places, high = [], sum(widths)
    for field, width in zip(formats, widths, strict=True):
        places.append(f"{field} [{high - 1}:{high - width}]")
        high -= width
    head.append(f"// {sum(widths)} bits: {', '.join(places)}")
    lines = []
    for row in rows:
        number = 0
        for word, width in zip(row, widths, strict=True):
            number = number << width | word
        lines.append(f"{number:0{-(-sum(widths) // 4)}x}")
    return "\n".join([*head, *lines]) + "\n"


def named(text: str) -> str:
    """Return the unit that the first line names; empty: it names none."""
    match = _NAMED.match(text)
    return match[1] if match else ""


def rows_of_text(where: str, suffix: str, text: str, model: Model) -> list[tuple[int, list[int]]]:
    """Yield each row's line, and its words; the result last, if the file has results.

    where: the file, for errors. Raises :class:`.TcsmtError`.
    """
    formats = _fields(model)
    read = _of_words if suffix.lower() == ".hex" else _of_number
    rows: list[tuple[int, list[int]]] = []
    for number, line in _lines(suffix, text):
        words = read(f"{where}:{number}", line, formats)
        if rows and len(words) != len(rows[0][1]):
            raise TcsmtError(
                f"{where}:{number}: some rows have a result, and this line's or the first has not"
            )
        rows.append((number, words))
    return rows


def _lines(suffix: str, text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition(_COMMENT[suffix.lower()])[0].strip()
        if content:
            yield number, content


def _of_words(where: str, line: str, formats: dict[str, AnyFormat]) -> list[int]:
    texts = line.split()
    inputs = len(formats) - 1
    if len(texts) not in (inputs, inputs + 1):
        raise TcsmtError(
            f"{where}: {len(texts)} words: must be {inputs}, or {inputs + 1} with the result: "
            f"{' '.join(formats)}"
        )
    words = []
    for text, (name, fmt) in zip(texts, formats.items(), strict=False):
        word = _number(f"{where}: {name}", text)
        if word >> fmt.width:
            raise TcsmtError(f"{where}: {name}: {text!r}: a word of {fmt.name} has {fmt.width} bits")
        words.append(word)
    return words


def _of_number(where: str, line: str, formats: dict[str, AnyFormat]) -> list[int]:
    widths = [fmt.width for fmt in formats.values()]
    number, digits = _number(where, line), len(line.lower().removeprefix("0x").replace("_", ""))
    all_digits, inputs = (-(-bits // 4) for bits in (sum(widths), sum(widths[:-1])))
    if digits not in (all_digits, inputs):
        raise TcsmtError(
            f"{where}: {digits} digits: must be {inputs}, or {all_digits} with the result: all words of a "
            "row, one after the other"
        )
    chosen = widths if digits == all_digits else widths[:-1]
    if number >> sum(chosen):
        raise TcsmtError(f"{where}: the number has more than {sum(chosen)} bits")
    words = []
    for width in reversed(chosen):
        words.append(number & ((1 << width) - 1))
        number >>= width
    return words[::-1]


def _number(where: str, text: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise TcsmtError(f"{where}: {text[:40]!r} is not a hexadecimal word")
    return int(text.replace("_", ""), 16)


# --- Packed rows ---------------------------------------------------------------------------------


def word_bytes(model: Model) -> dict[str, int]:
    """Return the bytes of a word of a, b, c and d."""
    formats = {"a": model.a_format, "b": model.b_format, "c": model.c_format, "d": model.d_format}
    return {side: unsigned(fmt).itemsize for side, fmt in formats.items()}


def row_type(model: Model) -> np.dtype[Any]:
    """Return the type of a packed row: ``a``, ``b`` (k words each), ``c``, and scales, if any."""
    lengths = {
        "a": (model.k,),
        "b": (model.k,),
        "c": (),
        "scale_a": (model.scales,),
        "scale_b": (model.scales,),
    }
    return np.dtype(
        [
            (name, unsigned(fmt).newbyteorder("<"), lengths.get(name, (model.scales,)))
            for name, fmt in model.operand_formats.named.items()
        ]
    )


def result_type(model: Model) -> np.dtype[Any]:
    """Return the type of a packed word of D."""
    return unsigned(model.d_format).newbyteorder("<")


def batch(model: Model, operands: Operands[Array, Array]) -> bytes:
    """Pack a batch of rows; a, b: shape (rows, k), c: shape (rows,), words."""
    rows = np.empty(len(operands.c), row_type(model))
    for name, words in operands.named.items():
        rows[name] = words
    return len(rows).to_bytes(4, "little") + rows.tobytes()
