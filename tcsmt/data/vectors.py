"""One input of a unit as text: ``a0=1.5 b0=0x3e00 c=-0x1p-4``."""

from __future__ import annotations

from fractions import Fraction

from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.words import to_word
from tcsmt.models import Model
from tcsmt.support.errors import TcsmtError, UnknownName

__all__ = ["neutral", "vector_of"]


def vector_of(text: str, model: Model) -> dict[str, int]:
    """The words of a model's inputs, by name, from ``a0=1.5 b0=0x3e00``."""
    formats = model.input_formats
    values: dict[str, int] = {}
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        if not equals:
            raise TcsmtError(f"--vector: {part!r} is not of the form a0=1.5")
        if name not in formats:
            raise UnknownName("input in --vector", name, formats)
        if name in values:
            raise TcsmtError(f"--vector: {name} is given twice")
        try:
            values[name] = to_word(formats[name], value)
        except TcsmtError as error:
            raise TcsmtError(f"--vector: {name}: {error}") from None
    return {name: neutral(name, fmt) for name, fmt in formats.items()} | values


def neutral(name: str, fmt: Format) -> int:
    """What an input that is not named holds: 0, or 1 where it is a block scale."""
    return fmt.word(Fraction(1)) if name.startswith("s") else 0
