"""Values of a program's text: names, constants, and what follows the values of a call.

A constant is ``1.5:f32``, ``-2^-3:f32`` or the word ``0x3c00:f16``; an option is a format, a rounding, or
``name=value``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, IntegerFormat, float_format, format_named
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding, rounding_named
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Value
from tcsmt.programs.written.places import one_part
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.support.errors import choose

NEAREST = ROUNDINGS["RNE"]
#: Exponents of numbers, and their digits, at most.
_MOST_POWER = 4096


@dataclass
class ValueTexts:
    """Values of a text that is being read.

    unit_named: the unit of a name. choices: which alternative of each freedom, from 0. build: what is
    written. names: values, words of splits, lists of values and parts of K by their names.
    freedoms: those that were met.
    """

    unit_named: Callable[[str], Model]
    choices: Mapping[str, str | int]
    build: Builder = field(default_factory=Builder)
    names: dict[str, Any] = field(default_factory=dict)
    freedoms: list[str] = field(default_factory=list)

    def value(self, tokens: Tokens) -> Any:
        """Return a name's value, a constant or what a step gives; of several values, a tuple."""
        if tokens.at("+", "-") or (tokens.found and tokens.found[0][0] in ("number", "word")):
            sign = tokens.next()[1] if tokens.at("+", "-") else "+"
            if sign == "-" and tokens.found and tokens.found[0][0] == "name":
                x = self._scalar(tokens)
                return self.build.negate(x.format, x)
            return self._constant(tokens, sign, None)
        name = tokens.name("a value")
        if tokens.take("("):
            value = self.step(name, tokens)
            tokens.expect(")")
            return value
        if name not in self.names:
            raise Wrong(f"{name!r} has no value yet; there are {', '.join(self.names)}")
        value = self.names[name]
        if isinstance(value, np.ndarray) and tokens.take(":"):  # how many there are
            fmt = format_named(tokens.name("a format"))
            return self.build.constant(fmt, fmt.word(Fraction(len(value))))
        if isinstance(value, Value) and tokens.take("["):
            value = self._picked(name, value, tokens)
            tokens.expect("]")
        return value

    def _picked(self, name: str, value: Value, tokens: Tokens) -> Value:
        """Return the one of some words that a part of K has, or the one of a number."""
        if not self.build.along(value):
            raise Wrong(f"{name} has no words along K, its blocks or a tile")
        axes, _, every = self.build.axes(value).partition("/")
        length = len(self.names.get("t", ()) if axes[:1] == "t" else self.names["K"])
        block = int(every or 1)
        if tokens.found and tokens.found[0][0] == "number":
            at = tokens.integer("a place")
        else:
            blocks = np.unique(one_part(tokens, self.names) // block)
            if len(blocks) > 1:
                raise Wrong(f"{name} has a word for each {block} of K: this part has {len(blocks)} of them")
            at = int(blocks[0])
        if at >= -(-length // block):
            raise Wrong(f"place {at} of {-(-length // block)}")
        return self.build.pick(value, at)

    def _scalar(self, tokens: Tokens) -> Value:
        value = self.value(tokens)
        if not isinstance(value, Value):
            raise Wrong("a number of the element is expected here")
        return value

    def _constant(self, tokens: Tokens, sign: str, fmt: AnyFormat | None) -> Value:
        kind, text = tokens.next()
        if kind not in ("number", "word"):
            raise Wrong(f"expected a number, found {text!r}")
        if tokens.take(":"):
            fmt = format_named(tokens.name("a format"))
        if fmt is None:
            raise Wrong(f"{sign}{text}: say in which format: {sign}{text}:f32")
        if kind == "word":
            word = int(text, 16)
            if sign == "-" or word >> fmt.width:
                raise Wrong(f"{sign}{text} is not a word of {fmt.name}")
            return self.build.constant(fmt, word)
        base, _, power = text.partition("^")
        if abs(int(power or 0)) > _MOST_POWER or len(base) > _MOST_POWER:
            raise Wrong(f"{text[:20]}: such numbers are in no format")
        number = Fraction(base) ** int(power) if power else Fraction(base)
        if not number:
            negative = 1 << float_format(fmt).sign_bit if sign == "-" else 0
            return self.build.constant(fmt, negative)
        try:
            return self.build.constant(fmt, fmt.word(-number if sign == "-" else number))
        except ValueError:
            raise Wrong(f"{sign}{text} is not a number of {fmt.name}") from None

    def _options(
        self, tokens: Tokens, allowed: Sequence[str]
    ) -> tuple[list[AnyFormat], Rounding, dict[str, Any]]:
        """Return the formats, the rounding and the other options that follow a step's values."""
        formats: list[AnyFormat] = []
        rounding, options = NEAREST, dict[str, Any]()
        while tokens.take(","):
            if tokens.found and tokens.found[0][0] == "number":
                options["words"] = tokens.integer("words")
                continue
            name = tokens.name("an option")
            if tokens.take("="):
                key = choose("option", name, allowed)
                match key:
                    case "random":
                        options[key] = self._scalar(tokens)
                    case "residual":
                        options[key] = rounding_named(tokens.name("a rounding"))
                    case _:
                        options[key] = tokens.integer(key)
            elif name in ROUNDINGS:
                rounding = ROUNDINGS[name]
            elif name == "wrap" and formats and isinstance(formats[-1], IntegerFormat):
                continue
            elif name == "saturate" and name in allowed:
                options[name] = True
            else:
                formats.append(format_named(name))
        return formats, rounding, options

    def _arguments(self, tokens: Tokens, count: int, allowed: Sequence[str] = ()) -> tuple[
        list[Any], AnyFormat, Rounding, dict[str, Any]
    ]:  # fmt: skip
        values = [self.value(tokens)]
        while len(values) < count:
            tokens.expect(",")
            values.append(self.value(tokens))
        formats, rounding, options = self._options(tokens, allowed)
        if len(formats) != 1:
            raise Wrong("one format is needed: that of the result")
        return values, formats[0], rounding, options

    def _values_of(self, values: Sequence[Any]) -> list[Value]:
        if not values or not all(isinstance(value, Value) for value in values):
            raise Wrong("numbers of the element are expected here")
        return list(values)

    def _scalars(self, values: Sequence[Any], fmt: AnyFormat) -> list[Value]:
        for value in self._values_of(values):
            if value.format != fmt:
                raise Wrong(f"{value.format.name} and {fmt.name}: convert first")
        return list(values)

    def step(self, name: str, tokens: Tokens) -> Any:
        """Return what a step gives; its values and options follow."""
        raise NotImplementedError
