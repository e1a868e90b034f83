"""Models that differ from a model in one parameter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, fields, replace
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import FORMATS, INTEGERS, AnyFormat, float_format
from tcsmt.matrix_units.arithmetic.nans import NanRule
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.matrix_units.models import FusedDotAdd, Model
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

#: Formats and length are given: models with others take other words.
_GIVEN = ("a_format", "b_format", "c_format", "d_format", "k", "scale_format")
#: How far from a number its neighbours are.
_REACH = 8
#: Numbers that are tried where a parameter is None.
_SMALL = 32


@dataclass(frozen=True)
class Neighbour:
    """A model with one parameter changed to ``value``."""

    parameter: str
    value: Any
    model: Model

    @property
    def name(self) -> str:
        """Return the change."""
        return f"{self.parameter} = {value_text(self.value)}"


def neighbours(model: Model) -> Iterator[Neighbour]:
    """Every model with the same inputs that differs in one parameter, in the order of the parameters.

    Numbers: up to 8 away, the double and halves (and None where that is allowed); all that count lanes or
    carry bits. Names, roundings and truth values: all others. Left out: what is the same graph as the
    model or an earlier neighbour.
    """
    seen = {model.trace.output}
    for parameter in fields(model.table()):
        if parameter.name in _GIVEN:
            continue
        for value in _others(model, parameter):
            try:
                other = model.replace(**{parameter.name: value})
            except TcsmtError:
                continue
            if other.input_formats == model.input_formats and other.trace.output not in seen:
                seen.add(other.trace.output)
                yield Neighbour(parameter.name, value, other)


def value_text(value: Any) -> str:
    """A parameter's value as short text."""
    match value:
        case AnyFormat() | Rounding():
            return value.name
        case NanRule():
            return value_text(value.name)
        case int() if not isinstance(value, bool) and value >= 1 << 13:
            return hex(value)  # above every range of the parameters that are numbers: a word
        case _:
            return str(value)


def _others(model: Model, parameter: Field[Any]) -> list[Any]:
    current, kind = getattr(model.parameters, parameter.name), str(parameter.type).partition(" | ")[0]
    nothing = [None] if current is not None else []
    if "choices" in parameter.metadata:
        others: list[Any] = [*parameter.metadata["choices"]]
    elif kind == "bool":
        others = [False, True]
    elif kind == "Rounding":
        others = [*ROUNDINGS.values()]
    elif kind == "Format":
        others = [*FORMATS.values(), *nothing]
    elif kind == "IntegerFormat":
        others = [*INTEGERS.values()]
    elif kind == "NanRule":
        fmt = model.d_format
        others = [fmt.nan_word, (1 << fmt.sign_bit) - 1, *_other_rules(current), *nothing]
    elif kind == "int":
        others = [*_numbers(model, parameter, current), *nothing]
    elif kind.startswith("tuple[int"):  # a permutation of lanes, or its absence
        others = [tuple(reversed(range(model.k)))]
    else:  # what a kernel, a design or a sequence of instructions is made of
        others = []
    return [value for value in others if value != current]


def _other_rules(rule: NanRule | None) -> Iterator[NanRule]:
    """Yield the rule without each of its cases, and with each moved up by one place."""
    cases = rule.cases if rule is not None else ()
    for place in range(len(cases)):
        rule = not_none(rule)
        yield replace(rule, cases=cases[:place] + cases[place + 1 :])
        if place:
            swapped = (*cases[: place - 1], cases[place], cases[place - 1], *cases[place + 1 :])
            yield replace(rule, cases=swapped)


def _numbers(model: Model, parameter: Field[Any], value: int | None) -> list[int]:
    name = parameter.name
    if parameter.metadata.get("unit") == "lanes":
        return [*range(model.k + 1)]
    if name == "carry_bits" and isinstance(model, FusedDotAdd):
        return [*range(model.enough_carry_bits)]
    if value is None and name == "zero_exponent":
        value = float_format(model.d_format).e_min
    if value is None:
        return [*range(_SMALL + 1)]
    scaled = {2 * value, *(value >> i for i in range(1, 11))} if value > 0 else set()
    return sorted({*range(value - _REACH, value + _REACH + 1), *scaled})
