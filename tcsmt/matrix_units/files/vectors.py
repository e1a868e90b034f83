"""One input of a unit as text: ``a0=1.5 b0=0x3e00 c=-0x1p-4``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.words import to_word
from tcsmt.matrix_units.models import Model
from tcsmt.support.errors import TcsmtError, UnknownName

__all__ = ["neutral", "vector_of"]


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
    return fmt.word(Fraction(1)) if name.startswith("s") else 0
