"""Multiplication and multiply-add against SMT-LIB's floating-point theory, at full width, in lemmas.

The theory defines ``fp.mul`` and ``fp.fma`` as the exact result, rounded once. No solver decides one script
about the latter at 11 significand bits, but each of these lemmas; together they say the same:

1. *number*: a finite number of the format that is not zero is, in a wide format, a normal number with our
   normalised significand and our exponent, which lies in a known range.
2. *product*: for all such significands and exponents, ``fp.mul`` in a wide format is our product's
   significand and exponent, rounded up as well as rounded down. So it is exact.
3. *sum*: for every significand that a product could have, ``fp.add`` of a product and a number whose
   exponents differ by d is our exact sum, rounded up as well as rounded down. So it is exact.
4. *conversion*: ``to_fp`` from the wide format is our conversion.
5. *ours*: our multiply-add, its product and its addend left free, is our conversion of the exact sum.
6. *special*: the operation itself, where an operand is zero, infinite or a NaN.

An exact sum of zero is -0 where it is rounded down, and +0 in every other mode: lemmas 3 and 5 say so. The
product is cut off from its factors in 3 and 5, so that no lemma but 2 and 6 has a multiplier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tcsmt.language.terms import FALSE, TRUE, Term, any_of, const, substitute, total, var
from tcsmt.language.write.smtlib import definitions
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import (
    Exponent,
    Fixed,
    Number,
    decode,
    normalise_number,
    round_to,
    sign_and_magnitude,
)
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS

__all__ = ["MODES", "IeeeLemmas"]

#: The theory's rounding modes.
MODES = ("RNE", "RNA", "RTZ", "RTP", "RTN")
#: What is the same rounded up and rounded down is exact.
_BOTH = ("RTP", "RTN")


@dataclass(frozen=True)
class IeeeLemmas:
    """The scripts for one IEEE-like format, none of which may have a solution."""

    format: Format

    @property
    def numbers(self) -> range:
        """Return the exponents of the format's finite numbers, normalised."""
        return range(self.format.e_min - self.format.fraction_bits, self.format.bias + 1)

    @property
    def products(self) -> range:
        """Return the exponents of products, each the sum of its factors': the significand lies in [1, 4)."""
        return range(2 * self.numbers[0], 2 * self.numbers[-1] + 1)

    @property
    def differences(self) -> range:
        """Return how much larger a product's exponent can be than a number's."""
        return range(self.products[0] - self.numbers[-1], self.products[-1] - self.numbers[0] + 1)

    @property
    def product_format(self) -> Format:
        """Holds every product of two numbers."""
        return self._wide(2 * self.format.precision)

    @property
    def sum_format(self) -> Format:
        """Holds every sum of a number and a word of a product's width, whatever its exponent."""
        fraction = self.format.fraction_bits
        lowest = min(self.products[0] - 2 * fraction, self.numbers[0] - fraction)
        return self._wide(self.products[-1] + 3 - lowest)

    def multiplication(self) -> Iterator[tuple[str, str]]:
        """(name, script) of every lemma for multiplication in all modes."""
        yield self._number("x", self.product_format)
        yield from self._products()
        x, y = self._decoded("x"), self._decoded("y")
        ours = [ieee.multiply(x, y, self.format, ROUNDINGS[mode]) for mode in MODES]
        product = ieee.exact_product(x, y)
        free = _free(product, "p")
        word = _word_of(free, self.product_format)
        for mode, result in zip(MODES, _cut(ours, {product: free}), strict=True):
            theirs = _rounded(self.format, mode, _value(self.product_format, "{1}"))
            differ = f"(distinct {_value(self.format, '{0}')} {theirs})"
            yield (
                f"ours {mode}",
                _script([result, word], differ, self._possible(free) & _alike(product, free)),
            )
        yield from self._special("fp.mul", ours, "xy")

    def multiply_add(self) -> Iterator[tuple[str, str]]:
        """(name, script) of every lemma for the fused multiply-add in all modes."""
        yield self._number("x", self.product_format)
        yield self._number("z", self.sum_format)
        yield from self._products()
        yield self._widened()
        yield from self._conversions()
        yield self._alone()
        for difference in self.differences:
            yield self._sum(difference)
            yield self._ours(difference)
        yield from self._special("fp.fma", self._multiply_adds, "xyz")

    @cached_property
    def _multiply_adds(self) -> list[Term]:
        """Our results, one for each mode."""
        x, y, z = map(self._decoded, "xyz")
        return [ieee.fma(x, y, z, self.format, ROUNDINGS[mode]) for mode in MODES]

    @property
    def _product(self) -> Number:
        return ieee.exact_product(self._decoded("x"), self._decoded("y"))

    def _wide(self, precision: int) -> Format:
        """A format of which products and sums use an eighth of the exponents, on either side of 0."""
        most = max(-self.numbers[0], self.numbers[-1])
        bits = most.bit_length() + 3
        return Format(
            name=f"e{bits}p{precision}",
            exponent_bits=bits,
            fraction_bits=precision - 1,
            bias=(1 << (bits - 1)) - 1,
        )

    def _decoded(self, name: str) -> Number:
        return decode(self.format, var(name, self.format.width))

    def _number(self, name: str, wide: Format) -> tuple[str, str]:
        x = self._decoded(name)
        normal = normalise_number(x)
        value = _value(self.format, name)
        same = [f"(= {_value(wide, '{0}')} {_rounded(wide, mode, value)})" for mode in _BOTH]
        fine = normal.significand[normal.fraction_bits] & _within(normal.exponent, self.numbers)
        finite = ~(x.zero | x.infinite | x.nan)
        word = _word_of(normal, wide)
        return f"number in {wide.name}", _script([word, fine], f"(not (and {{1}} {' '.join(same)}))", finite)

    def _products(self) -> Iterator[tuple[str, str]]:
        """By the signs of the exponents: a field with a known high bit is that of a normal number."""
        wide = self.product_format
        numbers = [normalise_number(self._decoded(name)) for name in "xy"]
        for signs in ("--", "-+", "+-", "++"):
            free, possible = [], TRUE
            for number, name, sign in zip(numbers, "xy", signs, strict=True):
                field = const(3 if sign == "-" else 4, 3).concat(
                    var(f"{name}.exponent", wide.exponent_bits - 3)
                )
                exponent = Exponent(field, -wide.bias, wide.bias + 1)
                possible &= _within(exponent, self.numbers)
                counted = (field - (number.exponent.low + wide.bias))[number.exponent.term.width - 1 : 0]
                fraction = var(f"{name}.fraction", number.fraction_bits)
                plain = replace(_free(number, name), significand=TRUE.concat(fraction))
                free.append(
                    (plain, replace(plain, exponent=replace(number.exponent, term=counted)), exponent)
                )
            cut = dict(zip(numbers, (counted for _, counted, _ in free), strict=True))
            product = _cut_number(self._product, cut)
            words = [_word_of(replace(plain, exponent=exponent), wide) for plain, _, exponent in free]
            x, y, result = (_value(wide, f"{{{place}}}") for place in range(3))
            same = [f"(= {result} (fp.mul {mode} {x} {y}))" for mode in _BOTH]
            script = _script([*words, _word_of(product, wide)], f"(not (and {' '.join(same)}))", possible)
            yield f"product, exponents {signs}", script

    def _possible(self, product: Number) -> Term:
        """Return whether significand and exponent are such as products of numbers have."""
        top = product.significand.width - 1
        return (product.significand[top] | product.significand[top - 1]) & _within(
            product.exponent, self.products
        )

    def _widened(self) -> tuple[str, str]:
        """A product's word in the format of sums."""
        free = _free(self._product, "p")
        narrow, wide = self.product_format, self.sum_format
        words = [_word_of(free, fmt) for fmt in (narrow, wide)]
        value = _value(narrow, "{0}")
        same = [f"(= {_value(wide, '{1}')} {_rounded(wide, mode, value)})" for mode in _BOTH]
        return "product as a term", _script(words, f"(not (and {' '.join(same)}))", self._possible(free))

    def _conversions(self) -> Iterator[tuple[str, str]]:
        wide = self.sum_format
        word = var("s", wide.width)
        for mode in MODES:
            ours = ieee.convert(decode(wide, word), self.format, ROUNDINGS[mode])
            theirs = _rounded(self.format, mode, _value(wide, "s"))
            yield f"conversion {mode}", _script([ours], f"(distinct {_value(self.format, '{0}')} {theirs})")

    def _alone(self) -> tuple[str, str]:
        """Ours where the addend is zero: the product, rounded."""
        z = var("z.sign", 1).concat(const(0, self.format.width - 1))
        free = _free(self._product, "p")
        ours = substitute(self._multiply_adds, {var("z", self.format.width): z})
        possible = self._possible(free) & _alike(self._product, free)
        cut = _cut(ours, {self._product: free})
        return "ours, z = 0", self._rounds(cut, _word_of(free, self.sum_format), possible)

    def _terms(self, difference: int) -> tuple[Number, Number, Term, Term]:
        """A product, an addend, their exponents so far apart; whether there are such; their exact sum."""
        product = _free(self._product, "p")
        addend = _free(normalise_number(self._decoded("z")), "z")
        bits, low = addend.exponent.term.width, product.exponent.low - addend.exponent.low - difference
        counted = (product.exponent.term.zext(bits + 2) + low)[bits - 1 : 0]
        addend = replace(
            addend,
            significand=TRUE.concat(addend.significand[addend.fraction_bits - 1 : 0]),
            exponent=replace(addend.exponent, term=counted),
        )
        place = product.exponent.plus(-difference)
        possible = self._possible(product) & _within(place, self.numbers)
        return product, addend, possible, self._exact(product, addend, difference)

    def _exact(self, product: Number, addend: Number, difference: int) -> Term:
        """Return the sum's word, +0 where it is zero: shifted by constants and added."""
        wide = self.sum_format
        low = min(-product.fraction_bits, -difference - addend.fraction_bits)
        shifts = (-product.fraction_bits - low, -difference - addend.fraction_bits - low)
        size = 2 + max(
            shift + x.significand.width for x, shift in zip((product, addend), shifts, strict=True)
        )
        words = [
            x.sign.ite(-shifted, shifted)
            for x, shift in zip((product, addend), shifts, strict=True)
            for shifted in [x.significand.zext(size) << shift]
        ]
        whole = sign_and_magnitude(Fixed(total(*words), product.exponent.plus(low), 0))
        magnitude = round_to(wide, whole, ROUNDINGS["RTZ"])
        return (whole.sign & magnitude.ne(0)).concat(magnitude)

    def _sum(self, difference: int) -> tuple[str, str]:
        wide = self.sum_format
        product, addend, possible, exact = self._terms(difference)
        field = product.exponent.plus(-difference)
        words = [_word_of(product, wide), _word_of(replace(addend, exponent=field), wide), exact]
        x, y, result = (_value(wide, f"{{{place}}}") for place in range(3))
        down = f"(ite (fp.isZero {result}) {_value(wide, '{3}')} {result})"
        same = [f"(= {result} (fp.add RTP {x} {y}))", f"(= {down} (fp.add RTN {x} {y}))"]
        minus = const(1 << wide.sign_bit, wide.width)
        script = _script([*words, minus], f"(not (and {' '.join(same)}))", possible)
        return f"sum, difference {difference}", script

    def _ours(self, difference: int) -> tuple[str, str]:
        product, addend, possible, exact = self._terms(difference)
        z = normalise_number(self._decoded("z"))
        cut = _cut(self._multiply_adds, {self._product: product, z: addend})
        possible &= _alike(self._product, product) & _alike(z, addend)
        return f"ours, difference {difference}", self._rounds(cut, exact, possible)

    def _rounds(self, ours: Sequence[Term], exact: Term, possible: Term) -> str:
        """Return whether each mode's result can be something else than the wide word, rounded."""
        wide = self.sum_format
        minus = const(1 << wide.sign_bit, wide.width)
        differ = []
        for mode, result in zip(MODES, ours, strict=True):
            word = exact.eq(0).ite(minus, exact) if ROUNDINGS[mode].floors else exact
            differ.append(result.ne(ieee.convert(decode(wide, word), self.format, ROUNDINGS[mode])))
        return _script([any_of(differ)], "{0}", possible)

    def _special(self, operation: str, ours: Sequence[Term], names: str) -> Iterator[tuple[str, str]]:
        """Operand by operand: zero, an infinity, a NaN (an addend of zero has a lemma of its own)."""
        theirs = " ".join(_value(self.format, name) for name in names)
        for name in names:
            x = self._decoded(name)
            for kind, holds in (("zero", x.zero), ("infinite", x.infinite), ("NaN", x.nan)):
                if name == "z" and kind == "zero":
                    continue
                for mode, result in zip(MODES, ours, strict=True):
                    differ = f"(distinct {_value(self.format, '{0}')} ({operation} {mode} {theirs}))"
                    yield f"{name} {kind}, {mode}", _script([result], differ, holds)


def _free(x: Number, name: str) -> Number:
    """A finite number of the same shape, everything about it free, that is not zero."""
    return replace(
        x,
        sign=var(f"{name}.sign", 1),
        exponent=replace(x.exponent, term=var(f"{name}.exponent", x.exponent.term.width)),
        significand=var(f"{name}.significand", x.significand.width),
        zero=FALSE,
        infinite=FALSE,
        nan=FALSE,
    )


def _nodes(x: Number) -> list[Term]:
    return [x.sign, x.exponent.term, x.significand, x.zero, x.infinite, x.nan]


def _cut(roots: Sequence[Term], numbers: Mapping[Number, Number]) -> list[Term]:
    """Return the roots with the nodes of some numbers replaced by those of others of the same shape."""
    return substitute(
        roots, {a: b for x, y in numbers.items() for a, b in zip(_nodes(x), _nodes(y), strict=True)}
    )


def _alike(x: Number, free: Number) -> Term:
    """Return whether a number is finite, not zero, and of the free one's sign: for nodes that a cut did not
    meet.
    """
    return ~(x.zero | x.infinite | x.nan) & x.sign.eq(free.sign)


def _cut_number(x: Number, numbers: Mapping[Number, Number]) -> Number:
    sign, exponent, significand, zero, infinite, nan = _cut(_nodes(x), numbers)
    return Number(sign, replace(x.exponent, term=exponent), significand, x.fraction_bits, zero, infinite, nan)


def _within(exponent: Exponent, values: range) -> Term:
    """Return whether the exponent is one of these, which follow one another."""
    counted = exponent.term.zext(32)
    return ~counted.ult(max(0, values[0] - exponent.low)) & counted.ult(values[-1] + 1 - exponent.low)


def _word_of(x: Number, fmt: Format) -> Term:
    """Return the word of a number in a format where it is normal; its significand's first or second bit is
    set.
    """
    field = x.exponent.term.zext(max(fmt.exponent_bits, x.exponent.term.width))[fmt.exponent_bits - 1 : 0]
    field += x.exponent.low + fmt.bias
    fraction = x.significand[x.fraction_bits - 1 : 0]
    if x.integer_bits > 1:
        high = x.significand[x.fraction_bits + 1]
        field += high.zext(field.width)
        fraction = high.ite(x.significand[x.fraction_bits : 0], fraction.concat(FALSE))
    if fmt.fraction_bits > fraction.width:
        fraction = fraction.concat(const(0, fmt.fraction_bits - fraction.width))
    return x.sign.concat(field).concat(fraction)


def _sizes(fmt: Format) -> str:
    return f"{fmt.exponent_bits} {fmt.precision}"


def _value(fmt: Format, word: str) -> str:
    """Return the theory's number of a word."""
    return f"((_ to_fp {_sizes(fmt)}) {word})"


def _rounded(fmt: Format, mode: str, value: str) -> str:
    """Return the theory's number, rounded to a format."""
    return f"((_ to_fp {_sizes(fmt)}) {mode} {value})"


def _script(terms: Sequence[Term], statement: str, premise: Term = TRUE) -> str:
    """Can the statement hold, ``{0}`` in it being the first term and so on, where ``premise`` does?"""
    lines, texts = definitions([*terms, premise])
    return "\n".join(
        [
            "(set-logic QF_BVFP)",
            *lines,
            f"(assert {texts[-1]})",
            f"(assert {statement.format(*texts)})",
            "(check-sat)",
            "(exit)",
            "",
        ]
    )
