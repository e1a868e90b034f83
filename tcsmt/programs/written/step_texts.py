"""The steps of a program's text: what a call such as ``add(x, y, f32)`` writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, float_format, format_named
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding, rounding_named
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.reduction import Level, fold
from tcsmt.programs.steps.program import Builder, Indices, ProductRun, Value
from tcsmt.programs.steps.running_sum import COMPENSATIONS, Outside
from tcsmt.programs.steps.split import Split
from tcsmt.programs.written.places import parts_of
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.support.errors import choose

_STEPS = (
    "add", "any_of", "chain", "convert", "multiply", "multiply_add", "negate", "split", "sum", *COMPENSATIONS,
)  # fmt: skip
_NEAREST = ROUNDINGS["RNE"]
#: Exponents of numbers, and their digits, at most.
_MOST_POWER = 4096


@dataclass(frozen=True)
class OperandWords:
    """Words of A's or of B's numbers: an input, or one word of its split."""

    value: Value
    word: int | None = None


@dataclass
class StepTexts:
    """Values and steps of a text that is being read.

    unit_named: the unit of a name. choices: which alternative of each freedom, from 0. build: what is
    written. names: operands, values, lists of values and parts of K by their names.
    freedoms: those that were met.
    """

    unit_named: Callable[[str], Model]
    choices: Mapping[str, int]
    build: Builder = field(default_factory=Builder)
    names: dict[str, Any] = field(default_factory=dict)
    freedoms: list[str] = field(default_factory=list)

    def value(self, tokens: Tokens) -> Any:
        """Return a name's value, a constant or what a step gives; of several values, a tuple."""
        if tokens.at("+", "-") or (tokens.found and tokens.found[0][0] in ("number", "word")):
            sign = tokens.next()[1] if tokens.at("+", "-") else "+"
            if sign == "-" and tokens.found and tokens.found[0][0] == "name":
                x = self._scalar(tokens)
                return self.build.negate(float_format(x.format), x)
            return self._constant(tokens, sign, None)
        name = tokens.name("a value")
        if tokens.take("("):
            step = choose("step", name, _STEPS)
            compensated = step in COMPENSATIONS
            value = self._compensated(step, tokens) if compensated else getattr(self, f"_{step}")(tokens)
            tokens.expect(")")
            return value
        if name not in self.names:
            raise Wrong(f"{name!r} has no value yet; there are {', '.join(self.names)}")
        return self.names[name]

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

    def products(self, tokens: Tokens) -> list[tuple[OperandWords, OperandWords]]:
        """Take products ``X·Y`` of two operands, one after the other."""
        pairs = []
        while True:
            left = self._operand(tokens)
            if not (tokens.take("·") or tokens.take("*")):
                raise Wrong("expected a product X·Y")
            pairs.append((left, self._operand(tokens)))
            if not tokens.take(","):
                return pairs

    def _operand(self, tokens: Tokens) -> OperandWords:
        name = tokens.name("an operand")
        operand = self.names.get(name)
        if not isinstance(operand, OperandWords):
            raise Wrong(f"{name!r} is no operand")
        return operand

    def _chain(self, tokens: Tokens) -> Value:
        unit = self.unit_named(tokens.name("a unit"))
        tokens.expect(",")
        runs: list[ProductRun] = []
        operands: tuple[Value, Value] | None = None
        while True:
            pairs = self.products(tokens)
            if tokens.name("over") != "over":
                raise Wrong("expected over, and a part of K")
            for left, right in pairs:
                if operands not in (None, (left.value, right.value)):
                    raise Wrong("a chain multiplies words of one left and one right operand")
                operands = left.value, right.value
            for part in parts_of(tokens, self.names):
                runs += _runs(pairs, part, unit.k)
            if not tokens.take(";"):
                break
        assert operands is not None
        for value, fmt, axes in zip(operands, (unit.a_format, unit.b_format), "AB", strict=True):
            if self.build.steps[value.number].axes != axes:
                raise Wrong(f"the operands of a chain are A's and B's, in this order: not {axes}'s")
            if not _same_words(value.format, fmt):
                raise Wrong(f"the unit takes {fmt.name} words, not {value.format.name}")
        c = self._start(tokens, unit) if tokens.take(",") else None
        return self.build.chain(unit, operands, runs, c)

    def _start(self, tokens: Tokens, unit: Model) -> Value | None:
        if tokens.at("+") and [text for _, text in tokens.found[1:2]] == ["0"]:
            del tokens.found[:2]
            if tokens.take(":"):
                tokens.next()
            return None
        if tokens.at("+", "-") or (tokens.found and tokens.found[0][0] in ("number", "word")):
            sign = tokens.next()[1] if tokens.at("+", "-") else "+"
            return self._constant(tokens, sign, unit.c_format)
        c = self._scalar(tokens)
        if not _same_words(c.format, unit.c_format):
            raise Wrong(f"the unit takes a c in {unit.c_format.name}, not in {c.format.name}")
        return c

    def _options(
        self, tokens: Tokens, allowed: Sequence[str]
    ) -> tuple[list[AnyFormat], Rounding, dict[str, Any]]:
        """Return the formats, the rounding and the other options that follow a step's values."""
        formats: list[AnyFormat] = []
        rounding, options = _NEAREST, dict[str, Any]()
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

    def _add(self, tokens: Tokens) -> Value:
        values, fmt, rounding, options = self._arguments(tokens, 2, ("shift",))
        x, y = self._scalars(values, fmt)
        return self.build.add(fmt, x, y, options.get("shift", 0), rounding)

    def _multiply(self, tokens: Tokens) -> Value:
        values, named, rounding, _ = self._arguments(tokens, 2)
        fmt = _nearest(named, rounding)
        x, y = self._scalars(values, fmt)
        return self.build.multiply_add(fmt, x, y, self.build.constant(fmt, 1 << fmt.sign_bit))

    def _multiply_add(self, tokens: Tokens) -> Value:
        values, named, rounding, _ = self._arguments(tokens, 3)
        fmt = _nearest(named, rounding)
        return self.build.multiply_add(fmt, *self._scalars(values, fmt))

    def _negate(self, tokens: Tokens) -> Value:
        x = self._scalar(tokens)
        return self.build.negate(float_format(x.format), x)

    def _convert(self, tokens: Tokens) -> Value | OperandWords:
        (x,), fmt, rounding, options = self._arguments(tokens, 1, ("saturate", "random", "bits"))
        saturate = bool(options.get("saturate"))
        if isinstance(x, OperandWords):
            if x.word is not None:
                raise Wrong("words of a split are taken as they are")
            return OperandWords(self.build.convert(x.value, fmt, rounding, saturate=saturate))
        if not isinstance(x, Value):
            raise Wrong("one number is converted")
        if "random" in options:
            bits = options.get("bits", 32)
            return self.build.convert_randomly(
                x, float_format(fmt), options["random"], bits, saturate=saturate
            )
        return self.build.convert(x, fmt, rounding, saturate=saturate)

    def _split(self, tokens: Tokens) -> tuple[OperandWords, ...]:
        (x,), fmt, rounding, options = self._arguments(tokens, 1, ("residual", "scale"))
        if not isinstance(x, OperandWords) or x.word is not None:
            raise Wrong("A or B is split")
        split = Split(
            format=float_format(fmt), wide=float_format(x.value.format), words=options.get("words", 2),
            rounding=rounding, residual=options.get("residual", _NEAREST), scale=options.get("scale", 0),
        )  # fmt: skip
        value = self.build.split(x.value, split)
        return tuple(OperandWords(value, number) for number in range(split.words))

    def _sum(self, tokens: Tokens) -> Value:
        values = self.value(tokens)
        if not isinstance(values, list):
            raise Wrong("a list s[P] is summed")
        tokens.expect(",")
        order = tokens.next()[1]
        while tokens.take("-"):
            order += f"-{tokens.next()[1]}"
        formats, rounding, _ = self._options(tokens, ())
        fmt = formats[0] if formats else values[0].format
        level = Level(kind="split-k", number=max(1, len(values)), order=order)
        parts = [self.build.convert(value, fmt) for value in self._values_of(values)]
        return fold(level, parts, lambda x, y: self.build.add(fmt, x, y, 0, rounding), lambda total: total)

    def _any_of(self, tokens: Tokens) -> Value:
        kind, quoted = tokens.next()
        name = quoted.strip('"')
        if kind != "text":
            raise Wrong("a freedom has a name in quotes")
        values = []
        while tokens.take(","):
            values.append(self._scalar(tokens))
        if name not in self.freedoms:
            self.freedoms.append(name)
        if name not in self.choices:
            every = ", ".join(f"{name}={n}" for n in range(len(values)))
            raise Wrong(f"the freedom {name!r} is open: choose one of {every}")
        if not 0 <= self.choices[name] < len(values):
            raise Wrong(f"{name}={self.choices[name]}: there are {len(values)} alternatives, from 0")
        return values[self.choices[name]]

    def _compensated(self, kind: str, tokens: Tokens) -> tuple[Value, ...]:
        """Return, of a total, its error and a summand, the next total and error."""
        values, named, rounding, options = self._arguments(tokens, 3, ("shift",))
        fmt = float_format(named)
        total, error, x = self._scalars(values, fmt)
        outside = Outside(self.build, fmt, rounding)
        return outside.compensated(kind, total, error, x, options.get("shift", 0))


def _runs(pairs: Sequence[tuple[OperandWords, OperandWords]], part: Indices, k: int) -> list[ProductRun]:
    """Return the runs of some products over a part: of several, an instruction of each in turn."""
    words = [None if x.word is None else (x.word, y.word or 0) for x, y in pairs]
    if len(pairs) == 1:
        return [ProductRun(part, words[0])]
    return [ProductRun(part[first : first + k], own) for first in range(0, len(part), k) for own in words]


def _same_words(given: AnyFormat, wanted: AnyFormat) -> bool:
    if isinstance(given, Format) and isinstance(wanted, Format):
        return given == wanted or given.has_fields_of(wanted)
    return given == wanted


def _nearest(fmt: AnyFormat, rounding: Rounding) -> Format:
    if not rounding.ties_to_even:
        raise Wrong("products are rounded to nearest even (RNE)")
    return float_format(fmt)
