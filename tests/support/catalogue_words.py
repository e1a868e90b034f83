"""What a row's unit gives for a few numbers or words; the other inputs are zero."""

from __future__ import annotations

from fractions import Fraction

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named


def result(name: str, a: list[float], b: list[float], c: float) -> Fraction:
    """A unit's result on values; the other lanes are zero."""
    model = row_named(name).model
    zeros = [0.0] * (model.k - len(a))
    values = [*a, *zeros, *b, *zeros, c]
    formats = model.input_formats.values()
    words = [fmt.word(Fraction(value)) for fmt, value in zip(formats, values, strict=True)]
    names = dict(zip(model.input_names, words, strict=True))
    return model.d_format.value(evaluate([model.trace.output], names)[0])


def word_of(name: str, **given: int) -> int:
    """A unit's result on words by name."""
    model = row_named(name).model
    (word,) = evaluate([model.trace.output], dict.fromkeys(model.input_names, 0) | given)
    return word


def lanes(name: str, factors: dict[int, tuple[float, float]], c: float = 0.0) -> Fraction:
    """A unit's result where some lanes have these numbers in a and b, and the rest zeros."""
    count = row_named(name).model.k
    a, b = ([factors.get(lane, (0.0, 0.0))[side] for lane in range(count)] for side in (0, 1))
    return result(name, a, b, c)
