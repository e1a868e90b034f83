"""The formula of a quantiser, as its row has it, and the steps of a program that it stands for.

A formula is lines ``name = expression``. An operation is one step, which is rounded once to nearest even, in
the format of what it takes; a number is rounded to that format first. Given are:

``x``, ``m``              the numbers of a block, and their largest magnitude, in the format computed in
``lowest``, ``highest``   the least and the largest number of a block
``T``, ``S``              the largest magnitude of the tensor, or a factor, where the caller gives it
``most``, ``emax``        the largest number of the elements' format, and its exponent
``bits``                  the fraction bits of that format
``inf``, ``largest``      the infinity, and the largest number, of the format of what they stand beside
``epsilon``               of that format, the distance from 1 to the next number
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.rounding import rounding_named
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.program import Value
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.invariants import checked_cast

#: What an expression is: a value of steps, or a number that no format has rounded yet.
Term: TypeAlias = Value | Fraction

_F32, _F64 = FORMATS["f32"], FORMATS["f64"]
_FOLDED: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow, ast.Sub: operator.sub,
}  # fmt: skip
_RELATIONS: Mapping[type[ast.cmpop], str] = {ast.Eq: "equal", ast.Lt: "less", ast.LtE: "less_equal"}
#: Functions of which a document gives a bound alone, or nothing: by name, the instruction or routine.
APPROXIMATIONS = {
    "div_full": "div.full.f32",
    "rcp_approx": "rcp.approx.ftz.f32",
    "fdividef": "__fdividef",
    "v_rcp": "v_rcp_f32",
    "log2_cuda": "CUDA's log2f",
}
#: Numbers of whatever format they stand beside.
_OF_FORMATS: Mapping[str, Callable[[Format], int]] = {
    "inf": lambda fmt: fmt.infinity_word,
    "largest": lambda fmt: fmt.largest_finite_word,
    "epsilon": lambda fmt: fmt.word(Fraction(2) ** -fmt.fraction_bits),
}


class Formula:
    """A formula that is being written as steps.

    build: the program. element: the format of the numbers that come out. values: what is given, by its name.
    nearest: approximations stand for the nearest number; else they are refused.
    """

    def __init__(
        self, build: Builder, element: AnyFormat, values: Mapping[str, Value], *, nearest: bool
    ) -> None:
        self.build, self.element, self.nearest = build, element, nearest
        self.working = values["x"].format
        self.values: dict[str, Term] = {"most": element.largest_finite, **values}
        if isinstance(element, Format):
            self.values |= {"emax": Fraction(element.e_max), "bits": Fraction(element.fraction_bits)}
        self.functions = {
            name.removeprefix("of_"): getattr(self, name) for name in dir(self) if name.startswith("of_")
        }

    def write(self, text: str) -> dict[str, Value]:
        """Write all lines; return the values that they name."""
        named: dict[str, Value] = {}
        for statement in ast.parse(text).body:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                raise TcsmtError(f"formula: {ast.unparse(statement)}: must be NAME = EXPRESSION")
            result = self._of(statement.value)
            name = statement.targets[0].id
            self.values[name] = result
            if isinstance(result, Value):
                named[name] = result
        return named

    def _of(self, node: ast.expr) -> Term:
        match node:
            case ast.Constant(value=int() | float() as number):
                return Fraction(number)
            case ast.Name(id=name):
                return self.values[choose("name in a formula", name, self.values)]
            case ast.UnaryOp(op=ast.USub(), operand=part):
                x = self._of(part)
                return -x if isinstance(x, Fraction) else self._negated(x)
            case ast.BinOp(left=left, op=sign, right=right):
                return self._operation(sign, self._of(left), self._of(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=named):
                function = self.functions[choose("function in a formula", name, self.functions)]
                more = {one.arg: self._argument(one.value) for one in named if one.arg}
                return function(*map(self._argument, arguments), **more)  # type: ignore[no-any-return]
        raise TcsmtError(f"formula: {ast.unparse(node)}: no rule for it")

    def _argument(self, node: ast.expr) -> Term | str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name) and node.id in _OF_FORMATS:
            return node.id
        return self._truth(node) if isinstance(node, ast.Compare) else self._of(node)

    def _operation(self, sign: ast.operator, left: Term, right: Term) -> Term:
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return _FOLDED[type(sign)](left, right)
        x, y = self._alike(left, right)
        fmt = float_format(x.format)
        match sign:
            case ast.Mult():
                return self.build.multiply(fmt, x, y)
            case ast.Div():
                return self.build.divide(fmt, x, y)
            case ast.Add():
                return self.build.add(fmt, x, y)
            case ast.Sub():
                return self.build.add(fmt, x, self._negated(y))
        raise TcsmtError(f"formula: {type(sign).__name__}: no rule for it")

    def _truth(self, node: ast.Compare) -> Value:
        x, y = self._alike(self._argument(node.left), self._argument(node.comparators[0]))
        return self.build.compare(x.format, x, y, _RELATIONS[type(node.ops[0])])

    def _alike(self, *terms: Term | str) -> tuple[Value, ...]:
        """Return values of one format: numbers are rounded to that of the values."""
        formats = {term.format.name: term.format for term in terms if isinstance(term, Value)}
        if len(formats) != 1:
            raise TcsmtError(f"formula: one format is expected, not {' and '.join(formats) or 'none'}")
        (fmt,) = formats.values()
        return tuple(term if isinstance(term, Value) else self._constant(fmt, term) for term in terms)

    def _constant(self, fmt: AnyFormat, number: Fraction | str) -> Value:
        if isinstance(number, str):
            return self.build.constant(fmt, _OF_FORMATS[number](float_format(fmt)))
        return self.build.constant(fmt, fmt.nearest_word(number))

    def _negated(self, x: Value) -> Value:
        """Return -x, of a constant as a constant, which goes with whatever it stands beside."""
        step, fmt = self.build.steps[x.number], float_format(x.format)
        if step.kind == "constant":
            return self.build.constant(fmt, step.how["word"] ^ 1 << fmt.sign_bit)
        return self.build.negate(fmt, x)

    def _approximate(self, name: str) -> None:
        if not self.nearest:
            raise Approximate(
                f"{APPROXIMATIONS[name]}: no document says which bits it gives: with the approximations at "
                "their nearest numbers it can be computed"
            )

    # --- functions, by their names in a formula

    def of_f32(self, x: Value) -> Value:
        """Return the binary32 number nearest to x."""
        return self.build.convert(x, _F32)

    def of_f64(self, x: Value) -> Value:
        """Return x in binary64."""
        return self.build.convert(x, _F64)

    def of_bf16(self, x: Value) -> Value:
        """Return the bfloat16 number nearest to x."""
        return self.build.convert(x, FORMATS["bf16"])

    def of_t(self, x: Value) -> Value:
        """Return the number nearest to x in the format in which is computed."""
        return self.build.convert(x, self.working)

    def of_e4m3(self, x: Value, rounding: str = "RNE") -> Value:
        """Return the unsigned E4M3 number next to x, which is not beyond them."""
        return self.build.convert(x, FORMATS["ue4m3"], rounding_named(rounding))

    def of_saturated(self, x: Value, rounding: str = "RNE", nan: Fraction | None = None) -> Value:
        """Return the element nearest to x, the largest one where x is beyond it. nan: what a NaN becomes, in
        formats without one.
        """
        result = self.build.convert(x, self.element, rounding_named(rounding), saturate=True)
        if nan is None or self.element.nan_word is not None:
            return result
        number = self.build.compare(x.format, x, x, "equal")
        return self.build.select(self.element, number, result, self._constant(self.element, nan))

    def of_half(self, x: Value) -> Value:
        """Return x as floor(|x| + 1/2) rounds it in binary32: what is next below half of the elements' least
        number is more than it.
        """
        least = float_format(self.element)
        half = Fraction(2) ** (least.e_min - least.fraction_bits - 1)
        below = self.build.constant(_F32, _F32.word(half) - 1)
        size = self.of_abs(x)
        more = self._constant(_F32, half * 2)
        near = self.build.compare(_F32, size, below, "equal")
        signed = self.of_where(
            self.build.compare(_F32, x, self._constant(_F32, Fraction(0)), "less"), self._negated(more), more
        )
        return self.build.select(_F32, near, signed, x)

    def of_element(self, number: Fraction) -> Value:
        """Return an element."""
        return self._constant(self.element, number)

    def of_integer(self, x: Value, rounding: str = "RNE") -> Value:
        """Return the element next to x, an integer, as a binary32 number; of a NaN 0."""
        number, integers = self.of_f32(x), checked_cast(self.element, IntegerFormat)
        within = self.of_fmin(self.of_fmax(number, Fraction(integers.low)), Fraction(integers.high))
        unit = self._constant(_F32, Fraction(2) ** 23)  # beside it, numbers are the integers
        size = self.build.absolute(_F32, within)
        size = self.build.add(_F32, size, unit, rounding=rounding_named(rounding))
        size = self.build.add(_F32, size, self._negated(unit))
        zero = self._constant(_F32, Fraction(0))
        below = self.build.compare(_F32, within, zero, "less")
        signed = self.build.select(_F32, below, self._negated(size), size)
        signed = self.build.add(_F32, signed, zero)  # no -0
        return self.build.select(_F32, self.build.compare(_F32, number, number, "equal"), signed, zero)

    def of_where(self, truth: Value, x: Term | str, y: Term | str) -> Value:
        """Return x where it is true, and y elsewhere."""
        if not isinstance(x, Value) and not isinstance(y, Value):
            x = self._constant(_F32, x)
        first, second = self._alike(x, y)
        return self.build.select(first.format, truth, first, second)

    def of_abs(self, x: Value) -> Value:
        """Return the magnitude."""
        return self.build.absolute(float_format(x.format), x)

    def of_max(self, x: Term, y: Term) -> Value:
        """Return the larger one; a NaN spreads."""
        first, second = self._alike(x, y)
        return self.build.maximum(first.format, first, second, nan="propagated")

    def of_fmax(self, x: Term, y: Term) -> Value:
        """Return the larger one; a NaN is ignored."""
        first, second = self._alike(x, y)
        return self.build.maximum(first.format, first, second, nan="ignored")

    def of_min(self, x: Term, y: Term) -> Value:
        """Return the smaller one; a NaN spreads."""
        return self._negated(self.of_max(*map(self._negated, self._alike(x, y))))

    def of_fmin(self, x: Term, y: Term) -> Value:
        """Return the smaller one; a NaN is ignored."""
        return self._negated(self.of_fmax(*map(self._negated, self._alike(x, y))))

    def of_down(self, x: Value, shift: Fraction = Fraction(0)) -> Value:
        """Return the word of the largest power of two not above x, times 2^shift."""
        return self.build.power_of_two(x, int(shift))

    def of_up(self, x: Value, shift: Fraction = Fraction(0)) -> Value:
        """Return the word of the least power of two not below x, times 2^shift."""
        return self.build.power_of_two(x, int(shift), up=True)

    def of_even(self, x: Value, bits: Fraction) -> Value:
        """Return x rounded to so many fraction bits, ties away: half a unit is added to its word, and what is
        below a unit is cleared.
        """
        short = Format(name=f"e8m{bits}", exponent_bits=8, fraction_bits=int(bits), bias=127)
        return self.build.convert(self.build.convert(x, short, rounding_named("RNA")), _F32)

    def of_log2(self, x: Value) -> Value:
        """Return the power of two whose logarithm in binary32 is that of x, and x where there is none.

        log2(2^k (1 + y)) is k + y / ln 2 for a y as small as here; it is rounded to binary32 once.
        """
        build, wide = self.build, self.of_f64(x)
        exponent = build.exponent(wide)
        result = wide
        for more in (0, 1):
            above = build.add(exponent.format, exponent, build.constant(exponent.format, more))
            power = build.scale(_F64, self._constant(_F64, Fraction(1)), [above])
            part = build.scale(_F64, wide, [build.negate(above.format, above)])
            y = build.multiply(
                _F64, build.add(_F64, part, self._constant(_F64, Fraction(-1))), self._constant(_F64, _LOG2_E)
            )
            k = build.convert(above, _F64)
            near = self.of_f32(build.add(_F64, k, y))
            same = build.compare(_F32, near, self.of_f32(k), "equal")
            result = build.select(_F64, same, power, result)
        return self.of_f32(result)

    def of_log2_cuda(self, x: Value) -> Value:
        """Return the same by CUDA's logarithm, of which only a bound is known."""
        self._approximate("log2_cuda")
        return self.of_log2(x)

    def of_div_full(self, x: Term, y: Term) -> Value:
        """Return x / y by ``div.full.f32``, at most two units off."""
        self._approximate("div_full")
        first, second = self._alike(x, y)
        return self.build.divide(_F32, first, second)

    def of_fdividef(self, x: Term, y: Term) -> Value:
        """Return x / y by ``__fdividef``."""
        self._approximate("fdividef")
        first, second = self._alike(x, y)
        return self.build.divide(_F32, first, second)

    def of_rcp_approx(self, x: Term) -> Value:
        """Return 1 / x by ``rcp.approx.ftz.f32``: subnormal numbers are zeros, before and after it."""
        self._approximate("rcp_approx")
        if isinstance(x, Fraction):
            return self._constant(_F32, 1 / x)
        return self._flushed(self.build.divide(_F32, self._constant(_F32, Fraction(1)), self._flushed(x)))

    def of_v_rcp(self, x: Value) -> Value:
        """Return 1 / x by ``v_rcp_f32``."""
        self._approximate("v_rcp")
        return self.build.divide(_F32, self._constant(_F32, Fraction(1)), x)

    def _flushed(self, x: Value) -> Value:
        small = self.build.compare(_F32, self.of_abs(x), self._constant(_F32, Fraction(2) ** -126), "less")
        return self.build.select(_F32, small, self._constant(_F32, Fraction(0)), x)


class Approximate(TcsmtError):
    """A formula with a function that only an approximation is known of."""


#: 1 / ln 2 to more bits than binary64 has.
_LOG2_E = Fraction("1.44269504088896340736")
