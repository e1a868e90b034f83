"""The steps of a program's text: what a call such as ``add(x, y, f32)`` writes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format, format_named
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.programs.steps.functions import FUNCTIONS
from tcsmt.programs.steps.program import TRUTH, Value
from tcsmt.programs.steps.running_sum import COMPENSATIONS, Outside
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.programs.steps.split import Split
from tcsmt.programs.steps.trees import SumOrder
from tcsmt.programs.written.chain_texts import ChainTexts, OperandWords
from tcsmt.programs.written.recipe_texts import quantised, quantised_product
from tcsmt.programs.written.tokens import Tokens, Wrong
from tcsmt.programs.written.value_texts import NEAREST
from tcsmt.support.errors import choose

_STEPS = (
    "absolute", "accumulate", "add", "any_of", "approximate", "chain", "compare", "convert", "digits",
    "divide", "exact_sum", "exponent", "maximum", "multiply", "multiply_add", "nearest", "negate",
    "power_of_two", "product", "quantise", "residue", "scale", "select", "split", "spread", "sum",
    *COMPENSATIONS,
)  # fmt: skip
_RELATIONS = ("equal", "less", "less_equal")
_MOST_OF_A_BLOCK = 1 << 16
#: Of the exponent of a power of two.
_MOST_SHIFT = 1024


class StepTexts(ChainTexts):
    """Steps of a text that is being read."""

    def step(self, name: str, tokens: Tokens) -> Any:
        """Return what a step gives: a value, or several."""
        step = choose("step", name, _STEPS)
        return self._compensated(step, tokens) if step in COMPENSATIONS else getattr(self, f"_{step}")(tokens)

    def _add(self, tokens: Tokens) -> Value:
        values, fmt, rounding, options = self._arguments(tokens, 2, ("shift",))
        x, y = self._scalars(values, fmt)
        return self.build.add(fmt, x, y, options.get("shift", 0), rounding)

    def _multiply(self, tokens: Tokens) -> Value:
        values, fmt, rounding, _ = self._arguments(tokens, 2)
        x, y = self._scalars(values, fmt)
        return self.build.multiply(fmt, x, y, rounding)

    def _divide(self, tokens: Tokens) -> Value:
        values, fmt, rounding, _ = self._arguments(tokens, 2)
        x, y = self._scalars(values, fmt)
        return self.build.divide(float_format(fmt), x, y, rounding)

    def _multiply_add(self, tokens: Tokens) -> Value:
        values, named, rounding, _ = self._arguments(tokens, 3)
        fmt = _nearest(named, rounding)
        return self.build.multiply_add(fmt, *self._scalars(values, fmt))

    def _negate(self, tokens: Tokens) -> Value:
        x = self._scalar(tokens)
        return self.build.negate(x.format, x)

    def _absolute(self, tokens: Tokens) -> Value:
        x = self._scalar(tokens)
        return self.build.absolute(float_format(x.format), x)

    def _power_of_two(self, tokens: Tokens) -> Value:
        """Take binary32, ``shift=-8`` and ``up``."""
        x, shift, up = self._scalar(tokens), 0, False
        while tokens.take(","):
            if tokens.take("up"):
                up = True
                continue
            tokens.expect("shift")
            tokens.expect("=")
            sign = -1 if tokens.take("-") else 1
            shift = sign * tokens.integer("shift")
        if abs(shift) > _MOST_SHIFT:
            raise Wrong(f"shift = {shift}: must be from -{_MOST_SHIFT} to {_MOST_SHIFT}")
        return self.build.power_of_two(x, shift, up=up)

    def _spread(self, tokens: Tokens) -> Value:
        """Take words of blocks of K, and ``K``."""
        x = self._scalar(tokens)
        tokens.expect(",")
        tokens.expect("K")
        return self.build.spread(x, len(self.names["K"]))

    def _maximum(self, tokens: Tokens) -> Value:
        """Take two values, or one along its axis; and whose rule for NaNs holds."""
        x, y, every = self._scalar(tokens), None, 0
        tokens.expect(",")
        over = tokens.take("over")
        if over and tokens.take("blocks"):
            for mark in "(K,":
                tokens.expect(mark)
            every = tokens.integer("numbers of a block")
            if not 1 <= every <= _MOST_OF_A_BLOCK:
                raise Wrong(f"blocks of {every}: must be from 1 to {_MOST_OF_A_BLOCK}")
            tokens.expect(")")
            tokens.expect(",")
        elif over:
            axis, wanted = tokens.name("K or t"), "t" if self.build.axes(x)[:1] == "t" else "K"
            if axis != wanted:
                raise Wrong(f"over {axis}: these words are along {wanted}")
            tokens.expect(",")
        elif not tokens.at("nan"):
            y = self._scalar(tokens)
            self._scalars([y], x.format)
            tokens.expect(",")
        if tokens.name("nan=propagated, or nan=ignored") != "nan":
            raise Wrong("expected nan=propagated, or nan=ignored")
        tokens.expect("=")
        nan = choose("nan", tokens.name("propagated or ignored"), ("propagated", "ignored"))
        return self.build.maximum(x.format, x, y, nan=nan, every=every)

    def _compare(self, tokens: Tokens) -> Value:
        x = self._scalar(tokens)
        tokens.expect(",")
        relation = choose("relation", tokens.name("a relation"), _RELATIONS)
        tokens.expect(",")
        (y,) = self._scalars([self._scalar(tokens)], x.format)
        return self.build.compare(x.format, x, y, relation)

    def _select(self, tokens: Tokens) -> Value:
        condition = self._scalar(tokens)
        if condition.format != TRUTH:
            raise Wrong("select needs the result of a compare first")
        tokens.expect(",")
        x = self._scalar(tokens)
        tokens.expect(",")
        (y,) = self._scalars([self._scalar(tokens)], x.format)
        return self.build.select(x.format, condition, x, y)

    def _nearest(self, tokens: Tokens) -> Value:
        name = choose("function", tokens.name("a function"), FUNCTIONS)
        tokens.expect(",")
        x = self._scalar(tokens)
        return self.build.function(name, float_format(x.format), x)

    def _approximate(self, tokens: Tokens) -> Value:
        """Take a function of which no document defines the words: the nearest ones, where a choice says
        so.
        """
        name = tokens.name("an instruction")
        values = []
        while tokens.take(","):
            if tokens.take("within"):
                tokens.expect("=")
                tokens.next()
                tokens.name("a unit, such as ulp")
                break
            values.append(self._scalar(tokens))
        if name not in self.freedoms:
            self.freedoms.append(name)
        if self.choices.get(name) != "nearest":
            raise Wrong(f"no document defines the words of {name}: {name}=nearest takes the nearest ones")
        fmt = float_format(values[0].format) if values else float_format(format_named("f32"))
        values = self._scalars(values, fmt)
        match name.partition(".")[0], values:
            case "div", [x, y]:
                return self.build.divide(fmt, x, y)
            case "rcp", [x]:
                return self.build.divide(fmt, self.build.constant(fmt, fmt.word(Fraction(1))), x)
            case function, [x] if function in FUNCTIONS:
                return self.build.function(function, fmt, x)
        known = ", ".join(("div(x, y)", "rcp(x)", *(f"{function}(x)" for function in FUNCTIONS)))
        raise Wrong(f"{name} of {len(values)} values: the nearest words are known of {known}")

    def _convert(self, tokens: Tokens) -> Value:
        (x,), fmt, rounding, options = self._arguments(tokens, 1, ("saturate", "random", "bits"))
        saturate = bool(options.get("saturate"))
        if isinstance(x, OperandWords):
            raise Wrong("words of a split are taken as they are")
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
        if not isinstance(x, Value) or self.build.axes(x) not in ("A", "B"):
            raise Wrong("A or B is split")
        split = Split(
            format=float_format(fmt), wide=float_format(x.format), words=options.get("words", 2),
            rounding=rounding, residual=options.get("residual", NEAREST), scale=options.get("scale", 0),
        )  # fmt: skip
        value = self.build.split(x, split)
        return tuple(OperandWords(value, number) for number in range(split.words))

    def _exponent(self, tokens: Tokens) -> Value:
        return self.build.exponent(self._scalar(tokens))

    def _digits(self, tokens: Tokens) -> tuple[OperandWords, ...]:
        """Take a number, its row's largest exponent, the digits' format, their count, and their bits."""
        (x, top), fmt, rounding, options = self._arguments(tokens, 2, ("bits",))
        x, top = self._values_of((x, top))
        if self.build.axes(x) not in ("A", "B"):
            raise Wrong("numbers of A or B are cut into digits")
        if "bits" not in options:
            raise Wrong("say how many bits a digit has: bits=7")
        bits, count = options["bits"], options.get("words", 1)
        slicing = Slicing(bits=bits, count=count, rounding=rounding, wide=float_format(x.format))
        value = self.build.digits(x, top, slicing, fmt)
        return tuple(OperandWords(value, number) for number in range(slicing.count))

    def _residue(self, tokens: Tokens) -> Value:
        (x,), fmt, _, options = self._arguments(tokens, 1, ("modulus", "base", "place"))
        if not isinstance(x, OperandWords) or x.word:
            raise Wrong("residues are those of a number's first digit")
        modulus, base, place = options.get("modulus", 0), options.get("base", 0), options.get("place", 0)
        if modulus < 2 or base % 2 or place > bool(base):
            raise Wrong("a modulus of 2 or more is needed; base is even, and with a base place is 0 or 1")
        return self.build.residue(x.value, fmt, modulus, base, place)

    def _accumulate(self, tokens: Tokens) -> Value:
        values, named, rounding, options = self._arguments(tokens, 2, ("shift",))
        x, y = self._values_of(values)
        fmt = _nearest(named, rounding)
        self._scalars([y], fmt)
        return self.build.accumulate(fmt, x, y, options.get("shift", 0))

    def _scale(self, tokens: Tokens) -> Value:
        """Take a number, exponents whose sum is the power of two, and the format."""
        values = [self._scalar(tokens)]
        tokens.expect(",")
        while tokens.found and tokens.found[0][1] in self.names:
            values.append(self._scalar(tokens))
            tokens.expect(",")
        fmt, shift = float_format(format_named(tokens.name("a format"))), 0
        if tokens.take(","):
            tokens.expect("shift")
            tokens.expect("=")
            sign = -1 if tokens.take("-") else 1
            shift = sign * tokens.integer("shift")
        return self.build.scale(fmt, values[0], values[1:], shift)

    def _exact_sum(self, tokens: Tokens) -> Value:
        """Take values, or lists of them, with weights: ``exact_sum(3·x, 5·y, modulus=7)``."""
        values: list[Value] = []
        weights = []
        while True:
            negative = tokens.take("-")
            weight = tokens.integer("a weight")
            if not (tokens.take("·") or tokens.take("*")):
                raise Wrong("expected a weight and a value: 3·x")
            found = self.value(tokens)
            members = self._values_of(found if isinstance(found, list) else [found])
            values += members
            weights += [-weight if negative else weight] * len(members)
            tokens.expect(",")
            if tokens.take("modulus"):
                break
        tokens.expect("=")
        modulus = tokens.integer("a modulus")
        if modulus < 2:
            raise Wrong("modulus: must be 2 or more")
        return self.build.exact_sum(values, weights, modulus)

    def _quantise(self, tokens: Tokens) -> tuple[Value, ...]:
        return quantised(self.build, tokens, self._scalar, len(self.names["K"]))

    def _product(self, tokens: Tokens) -> Value:
        unit = self.unit_named(tokens.name("a unit"))
        return quantised_product(self.build, unit, tokens, self._scalar, len(self.names["K"]))

    def _sum(self, tokens: Tokens) -> Value:
        values = self.value(tokens)
        if not isinstance(values, list) and not (isinstance(values, Value) and self.build.along(values)):
            raise Wrong("a list s[P] is summed, or words along K, its blocks or a tile")
        tokens.expect(",")
        if tokens.take("tree"):
            tokens.expect("=")
        tree = _tree(tokens)
        formats, rounding, _ = self._options(tokens, ())
        if isinstance(values, Value):
            fmt = formats[0] if formats else values.format
            self._scalars([values], fmt)
            return self.build.sum(fmt, values, tree, rounding)
        fmt = formats[0] if formats else values[0].format
        parts = [self.build.convert(value, fmt) for value in self._values_of(values)]
        return tree.sum(parts, lambda x, y: self.build.add(fmt, x, y, 0, rounding))

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
        choice = str(self.choices[name])
        if not choice.isdecimal() or int(choice) >= len(values):
            raise Wrong(f"{name}={choice}: there are {len(values)} alternatives, from 0")
        return values[int(choice)]

    def _compensated(self, kind: str, tokens: Tokens) -> tuple[Value, ...]:
        """Return, of a total, its error and a summand, the next total and error."""
        values, named, rounding, options = self._arguments(tokens, 3, ("shift",))
        fmt = float_format(named)
        total, error, x = self._scalars(values, fmt)
        outside = Outside(self.build, fmt, rounding)
        return outside.compensated(kind, total, error, x, options.get("shift", 0))


def _tree(tokens: Tokens) -> SumOrder:
    """Take the order of a sum: ``order of 4, then halves of 32, then halves of 8``."""
    levels = []
    while True:
        order = tokens.next()[1]
        while tokens.take("-"):
            order += f"-{tokens.next()[1]}"
        levels.append((order, tokens.integer("neighbours") if tokens.take("of") else 0))
        if [text for _, text in tokens.found[:2]] != [",", "then"]:
            return SumOrder(tuple(levels))
        del tokens.found[:2]


def _nearest(fmt: AnyFormat, rounding: Rounding) -> Format:
    if not rounding.ties_to_even:
        raise Wrong("products are rounded to nearest even (RNE)")
    return float_format(fmt)
