"""A model's computation on one input, stage by stage, in words and exact values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tcsmt.datapath import Exponent, Fixed, Number, Rounded
from tcsmt.formats import Format, power_text
from tcsmt.interpret.exact import evaluate
from tcsmt.models import Stage, Trace
from tcsmt.terms import Term

__all__ = ["Step", "first_difference", "steps"]


@dataclass(frozen=True)
class Step:
    """One stage on one input: its name, its value as text, and the value to compare by."""

    name: str
    text: str
    value: object


def steps(trace: Trace, values: Mapping[str, int]) -> list[Step]:
    """Every stage of the trace where the input variables have these words."""
    wanted = list(dict.fromkeys(t for stage in trace.stages for t in _terms(stage)))
    known = dict(zip(wanted, evaluate(wanted, values), strict=True))
    return [_step(stage, known) for stage in trace.stages]


def first_difference(left: list[Step], right: list[Step]) -> tuple[Step, Step] | None:
    """The first stages of the same name, in order, at which two computations part."""
    by_name = {step.name: step for step in right}
    for step in left:
        other = by_name.get(step.name)
        if other is not None and other.value != step.value:
            return step, other
    return None


def _terms(stage: Stage) -> list[Term]:
    match stage.value:
        case Number() as x:
            return [x.sign, x.exponent.term, x.significand, x.zero, x.infinite, x.nan]
        case Exponent() as e:
            return [e.term]
        case Fixed() as x:
            return [x.word, x.exponent.term]
        case Rounded() as r:
            return [r.sign, r.magnitude, r.lsb.term]
        case _:
            return [stage.term]


def _step(stage: Stage, known: Mapping[Term, int]) -> Step:
    match stage.value:
        case Number() as x:
            return Step(stage.name, *_number(x, known))
        case Exponent() as e:
            exponent = known[e.term] + e.low
            return Step(stage.name, f"2^{exponent}", exponent)
        case Fixed() as x:
            word = known[x.word]
            if word >> (x.word.width - 1):
                word -= 1 << x.word.width
            top = known[x.exponent.term] + x.exponent.low
            value = word * Fraction(2) ** (top - x.fraction_bits)
            text = f"{signed_text(value)}  (unit 2^{top - x.fraction_bits})"
            return Step(stage.name, text, value)
        case Rounded() as r:
            magnitude = known[r.magnitude] * Fraction(2) ** (known[r.lsb.term] + r.lsb.low)
            value = -magnitude if known[r.sign] else magnitude
            return Step(stage.name, signed_text(value), value)
        case Format() as fmt:
            word = known[stage.term]
            return Step(stage.name, f"{fmt.hex(word)}  {fmt.describe(word)}", (fmt.name, word))


def _number(x: Number, known: Mapping[Term, int]) -> tuple[str, object]:
    sign = "-" if known[x.sign] else ""
    if known[x.nan]:
        return "nan", "nan"
    if known[x.infinite]:
        return f"{sign}inf", f"{sign}inf"
    exponent = known[x.exponent.term] + x.exponent.low
    if known[x.zero]:
        return f"{sign}0", 0
    significand = Fraction(known[x.significand], 1 << x.fraction_bits)
    digits = significand.denominator.bit_length() - 1
    scaled = significand.numerator * 10**digits // significand.denominator
    decimal = f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}" if digits else str(scaled)
    return f"{sign}{decimal}·2^{exponent}", (sign, significand, exponent)


def signed_text(value: Fraction) -> str:
    """A dyadic value as ``-1.25·2^-3``."""
    return ("-" if value < 0 else "") + power_text(abs(value))
