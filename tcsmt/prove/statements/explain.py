"""A model's computation on one input, stage by stage, in words and exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, variables
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, power_text
from tcsmt.matrix_units.models import Model, Stage, Trace
from tcsmt.matrix_units.models.stages import Kind

#: Longer exact values are shown with a hexadecimal significand.
LONGEST_DECIMAL = 22


@dataclass(frozen=True)
class StageValue:
    """One stage on one input: its value as text, its exact value, and its word where it is one of a format.

    value: a number, or the text of what is not finite.
    """

    stage: Stage
    text: str
    value: Fraction | int | str
    word: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        """Return the stage's name."""
        return self.stage.name

    def differs(self, other: StageValue) -> bool:
        """Return whether the values differ, however they are written; of words of one format, whether those
        do.
        """
        if self.word is not None and other.word is not None and self.word[0] == other.word[0]:
            return self.word != other.word
        return self.value != other.value


def steps(trace: Trace, values: Mapping[str, int]) -> list[StageValue]:
    """Return every stage of the trace where the input variables have these words."""
    word_of = known_words(trace, values)
    return [_step(stage, word_of) for stage in trace.stages]


def known_words(trace: Trace, values: Mapping[str, int]) -> dict[Term, int]:
    """Return the word of every term that a stage's value is made of."""
    wanted = list(dict.fromkeys(t for s in trace.stages for t in (s.term, *terms_of_value(s.value))))
    return dict(zip(wanted, evaluate(wanted, values), strict=True))


def exponent_value(x: Exponent, word_of: Mapping[Term, int]) -> int:
    """Return the exponent."""
    return word_of[x.term] + x.low


def number_value(x: Number, word_of: Mapping[Term, int]) -> Fraction:
    """Return the exact value of a finite number."""
    magnitude = word_of[x.significand] * Fraction(2) ** (
        exponent_value(x.exponent, word_of) - x.fraction_bits
    )
    return -magnitude if word_of[x.sign] else magnitude


def fixed_value(x: Fixed, word_of: Mapping[Term, int]) -> Fraction:
    """Return the exact value of a fixed-point word."""
    word = word_of[x.word]
    if word >> (x.word.width - 1):
        word -= 1 << x.word.width
    return word * Fraction(2) ** (exponent_value(x.exponent, word_of) - x.fraction_bits)


def first_difference(left: list[StageValue], right: list[StageValue]) -> tuple[StageValue, StageValue] | None:
    """Return the first stages that correspond, in order, and hold different values; None where no two do.

    Stages correspond where block, kind and lane agree. Where no such pair differs, and where the units sum
    other blocks, those correspond that hold the same product, or c, of the dot product; last, the results do.
    """
    blocks = [{step.stage.block for step in side} for side in (left, right)]
    return (
        (_first(left, right, lambda step: step.stage.place) if blocks[0] == blocks[1] else None)
        or _first(left, right, lambda step: term_of(step.stage) or id(step))
        or _first(left[-1:], right[-1:], lambda step: True)
    )


def term_of(stage: Stage) -> tuple[Kind, frozenset[Term]] | None:
    """Return the kind of stage, and the inputs of the product (or c) that it holds; None of another stage."""
    number = stage.value.source if isinstance(stage.value, Fixed) else stage.value
    if not isinstance(number, Number):
        return None
    return stage.kind, frozenset(variables([number.significand, number.sign]))


def _first(
    left: list[StageValue], right: list[StageValue], key: Callable[[StageValue], object]
) -> tuple[StageValue, StageValue] | None:
    there = {key(step): step for step in right}
    for step in left:
        other = there.get(key(step))
        if other is not None and other.differs(step):
            return step, other
    return None


def terms_of_value(value: object) -> Iterator[Term]:
    """Yield the terms that a stage's value is made of; of a word none, which is the stage's own term."""
    match value:
        case Number() as x:
            yield from (x.sign, x.exponent.term, x.significand, x.zero, x.infinite, x.nan)
        case Exponent() as e:
            yield e.term
        case Fixed() as x:
            yield from (x.word, x.exponent.term)
            for part in (x.source, *x.addends):
                yield from terms_of_value(part)
        case SignMagnitude() as r:
            yield from (r.sign, r.magnitude, r.lsb.term)


def _step(stage: Stage, word_of: Mapping[Term, int]) -> StageValue:
    match stage.value:
        case Number() as x:
            return StageValue(stage, *_number(x, word_of))
        case Exponent() as e:
            exponent = exponent_value(e, word_of)
            return StageValue(stage, f"2^{exponent}", exponent)
        case Fixed() as x:
            value = fixed_value(x, word_of)
            text = f"{signed_text(value)}  (unit 2^{exponent_value(x.exponent, word_of) - x.fraction_bits})"
            return StageValue(stage, text, value)
        case SignMagnitude() as r:
            magnitude = word_of[r.magnitude] * Fraction(2) ** exponent_value(r.lsb, word_of)
            value = -magnitude if word_of[r.sign] else magnitude
            return StageValue(stage, signed_text(value), value)
        case AnyFormat() as fmt:
            word = word_of[stage.term]
            text = fmt.describe(word)
            finite = not (fmt.is_nan(word) or fmt.is_infinite(word))
            exact = fmt.value(word) if finite else text
            return StageValue(stage, f"{fmt.hex(word)}  {text}", exact, (fmt.name, word))


def _number(x: Number, word_of: Mapping[Term, int]) -> tuple[str, Fraction | int | str]:
    sign = "-" if word_of[x.sign] else ""
    if word_of[x.nan]:
        return "nan", "nan"
    if word_of[x.infinite]:
        return f"{sign}inf", f"{sign}inf"
    exponent = exponent_value(x.exponent, word_of)
    if word_of[x.zero]:
        return f"{sign}0", 0
    significand = Fraction(word_of[x.significand], 1 << x.fraction_bits)
    digits = significand.denominator.bit_length() - 1
    scaled = significand.numerator * 10**digits // significand.denominator
    decimal = f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}" if digits else str(scaled)
    return f"{sign}{decimal}·2^{exponent}", number_value(x, word_of)


def signed_text(value: Fraction) -> str:
    """Return a dyadic value as ``-1.25·2^-3``."""
    return ("-" if value < 0 else "") + power_text(abs(value))


def short_text(value: Fraction) -> str:
    """Return the exact value: ``1.25·2^-3``, or a hexadecimal significand where the decimal one is long."""
    text = signed_text(value)
    if len(text) <= LONGEST_DECIMAL:
        return text
    leading = abs(value.numerator).bit_length() - value.denominator.bit_length()
    significand = abs(value) / Fraction(2) ** leading
    digits = -(-(significand.denominator.bit_length() - 1) // 4)
    fraction = f"{significand.numerator * 16**digits // significand.denominator:x}"[1:]
    return f"{'-' if value < 0 else ''}0x1.{fraction}p{leading:+d}"


def stage_lines(model: Model, row: Iterable[int]) -> list[str]:
    """Return every stage of a model on one row of words, in the order of its inputs' names."""
    words = [int(word) for word in row]
    values = dict(zip(model.input_names, words, strict=True))
    values_of_stages = steps(model.trace, values)
    width = max(len(step.name) for step in values_of_stages)
    return [f"{step.name:<{width}}  {step.text}" for step in values_of_stages]
