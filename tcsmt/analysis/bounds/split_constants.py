"""The constants of a split, proved for every number of a domain.

They are guessed from samples, and held against all numbers of the domain that there are, by enumeration.

And constants of parts of significands, and of the products of parts: counted over every significand. A unit
may multiply some bits of each significand alone (:class:`.FusedStep`). A part has the word's sign, so parts
of one product add up to no more than the product, if no bit is taken twice; that is counted, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import word_exponents, word_grid
from tcsmt.analysis.bounds.steps import Part
from tcsmt.analysis.error import magnitude
from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exhaust import ExhaustiveEvaluator
from tcsmt.language.terms import FALSE, Term, any_of, const, substitute, var
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.datapath import chosen_bits, decode
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.steps.on_arrays import split_words
from tcsmt.programs.steps.split import Split
from tcsmt.prove.statements.domain import Domain, lies

Array = np.ndarray[Any, np.dtype[Any]]
#: Significands of so many bits are counted, and pairs of them: numbers in the counts stay below 2^63.
_MOST_BITS = 11


@dataclass(frozen=True)
class PartKept:
    """A part of a word, relative to the word: its size, and 2 to the power of its exponent, at most."""

    size: Fraction
    exponent: Fraction


@lru_cache(maxsize=64)
def part_kept(fmt: Format, bits: int, part: Part) -> PartKept:
    """Return the constants of a part of normal words with so many significant bits.

    Raises :class:`.Unbounded` for significands of too many bits.
    """
    whole, taken = _counted(fmt, bits, part)
    leading = 1 << (fmt.precision - 1)  # the significand 1
    return PartKept(_largest_of_parts(taken, whole), Fraction(leading, int(whole.min())) / 2 ** part[0])


@lru_cache(maxsize=64)
def left_out(fmt: Format, bits: tuple[int, int], pairs: tuple[tuple[Part, Part], ...]) -> Fraction:
    """Return how much of the product of two words is left out, where some pairs of parts are multiplied and
    added.

    Relative to the product, at most. bits: significant bits of the one's words and the other's. Raises
    :class:`.Unbounded` where the parts of some product are more than the product.
    """
    # any part gives the significands themselves, too
    left, right = (_counted(fmt, each, (0, 1))[0] for each in bits)
    whole = left[:, None] * right[None, :]
    rest = whole.copy()
    for first, second in pairs:
        (_, x), (_, y) = _counted(fmt, bits[0], first), _counted(fmt, bits[1], second)
        rest -= x[:, None] * y[None, :]
    if rest.min() < 0:
        raise Unbounded("parts of significands are multiplied more than once")
    return _largest_of_parts(rest.ravel(), whole.ravel())


def _counted(fmt: Format, bits: int, part: Part) -> tuple[Array, Array]:
    """All significands of so many bits, and the part of each, in units of the last place of the format.

    They are what the datapath makes of words: no exponent takes part in that.
    """
    if fmt.precision > _MOST_BITS:
        raise Unbounded(f"parts of significands of {fmt.precision} bits: at most {_MOST_BITS} are counted")
    bits = min(bits, fmt.precision)
    step = 1 << (fmt.precision - bits)
    fractions = np.arange(0, 1 << fmt.fraction_bits, step, dtype=np.uint64)
    words = fractions | np.uint64(1) << np.uint64(fmt.fraction_bits)  # the smallest normal number's binade
    number = decode(fmt, var("x", fmt.width))
    chosen = chosen_bits(number, *part)
    inputs = {"x": words << np.uint64(fmt.ignored_low_bits)}
    whole, taken = (x.astype(np.int64) for x in Program([number.significand, chosen.significand]).run(inputs))
    # the part's last place, seen from the last one of the format
    place = fmt.fraction_bits - part[0] - (part[1] - 1)
    if place < 0 and (taken & ((1 << -place) - 1)).any():
        raise Unbounded("a part has bits below the last one of its format")
    return whole, taken << place if place >= 0 else taken >> -place


def _largest_of_parts(part: Array, whole: Array) -> Fraction:
    """Return the largest ratio of integers, exactly."""
    place = int(np.argmax(part / whole))
    best = Fraction(int(part[place]), int(whole[place]))
    # binary64 may have chosen one of two that are nearly the same
    while (above := np.flatnonzero(part * best.denominator > best.numerator * whole)).size:
        best = Fraction(int(part[above[0]]), int(whole[above[0]]))
    return best


#: Significant bits of the constants.
_DIGITS = 5
#: Numbers that are tried at once.
_CHUNK = 1 << 21


@dataclass(frozen=True)
class SplitConstants:
    """What the words of a number keep, relative to it: sizes ν_i, exponents μ_i, what is left over ρ."""

    sizes: tuple[Fraction, ...]
    exponents: tuple[Fraction, ...]
    left: Fraction


#: Of a number that is not split.
WHOLE = SplitConstants((Fraction(1),), (Fraction(1),), Fraction(0))


@lru_cache(maxsize=64)
def prove_split_constants(split: Split, domain: Domain, bits: int, count: int) -> SplitConstants:
    """Return the constants of a split, for the numbers of a domain that have so many bits.

    Raises :class:`.Unbounded` where words may be infinite, or other than zero beyond
    ``count``, and for words with bits that are not read.
    """
    if split.format == split.wide:
        return WHOLE
    if split.wide.ignored_low_bits:
        raise Unbounded(f"the split of {split.wide.name}, whose words have bits that are not read")
    constants = guessed(split, domain, bits, count)
    for exponent in range(domain.low, domain.high + 1):
        binade = replace(domain, exponents=(exponent, exponent))
        while (against := _against(split, binade, bits, constants)) is not None:
            more = _raised(constants, split, np.array([against], np.uint32))
            if more == constants:
                raise Unbounded(f"the split of {split.wide.hex(against)} overflows, or needs more words")
            constants = more
    return constants


def guessed(split: Split, domain: Domain, bits: int, count: int) -> SplitConstants:
    """Constants that hold for samples, and so far only for them."""
    if split.format == split.wide:
        return WHOLE
    constants = SplitConstants((Fraction(0),) * count, (Fraction(0),) * count, Fraction(0))
    return _raised(constants, split, _samples(domain, split.wide, bits))


def _against(split: Split, binade: Domain, bits: int, constants: SplitConstants) -> int | None:
    """A number of one binade for which the constants do not hold, of all that there are."""
    wide, goal = split.wide, kept_goal(split, binade, bits, constants)
    if goal.value == 0:
        return None
    # a number of fewer bits is given by its first ones
    dropped = wide.precision - bits
    input_word = var("given", wide.width - dropped)
    word = input_word.concat(const(0, dropped)) if dropped else input_word
    holds = ExhaustiveEvaluator(substitute([goal], {var("x", wide.width): word})[0].zext(32))
    size = 1 << (bits - 1)
    for sign in range(1 if binade.positive else 2):
        start = (sign << wide.sign_bit | (binade.low + wide.bias) << wide.fraction_bits) >> dropped
        for first in range(start, start + size, _CHUNK):
            wrong = np.flatnonzero(holds(first, min(_CHUNK, size)))
            if len(wrong):
                return first + int(wrong[0]) << dropped
    return None


def _samples(domain: Domain, wide: Format, bits: int) -> np.ndarray:
    """Numbers with few and with many bits set, of every exponent of the domain."""
    places = range(wide.fraction_bits)
    ends = {0, (1 << wide.fraction_bits) - 1} | {1 << p for p in places} | {(1 << p) - 1 for p in places}
    ends |= {(1 << wide.fraction_bits) - (1 << p) for p in places}
    ends |= {1 << p | 1 << q for p in places for q in range(p)}
    dropped = wide.precision - bits
    fractions = np.array(sorted({e >> dropped << dropped for e in ends}), np.uint32)
    fields = np.arange(domain.low, domain.high + 1) + wide.bias
    return (fields.astype(np.uint32)[:, None] << wide.fraction_bits | fractions[None, :]).reshape(-1)


def _raised(constants: SplitConstants, split: Split, numbers: np.ndarray) -> SplitConstants:
    """Constants that hold for these numbers, too; a word that is not finite changes nothing."""
    rest = floats(split.wide, numbers)
    x = np.abs(rest)
    sizes, exponents = list(constants.sizes), list(constants.exponents)
    with np.errstate(all="ignore"):
        for place, word in enumerate(split_words(split, numbers)[: len(sizes)]):
            got = np.ldexp(floats(split.format, word), -split.scale * place)
            rest = rest - got
            least = np.ldexp(1.0, split.format.e_min - split.scale * place)
            power = np.where(got == 0, 0.0, np.maximum(np.ldexp(0.5, np.frexp(np.abs(got))[1]), least))
            sizes[place] = max(sizes[place], _largest(np.abs(got), x))
            exponents[place] = max(exponents[place], _largest(power, x))
    return SplitConstants(tuple(sizes), tuple(exponents), max(constants.left, _largest(np.abs(rest), x)))


def _largest(part: np.ndarray, whole: np.ndarray) -> Fraction:
    """Return the largest ratio, rounded up to a few digits of it, or of its excess over 1; 0 if none is
    finite.
    """
    ratio = np.where(np.isfinite(part), part / whole, 0.0)
    place = int(np.argmax(ratio))
    exact = Fraction(float(part[place])) / Fraction(float(whole[place])) if ratio[place] else Fraction(0)
    over = exact - 1 if exact > 1 else exact
    if not over:
        return exact
    step = Fraction(2) ** (over.numerator.bit_length() - over.denominator.bit_length() - _DIGITS)
    return (exact - over) + -(-over // step) * step


def kept_goal(split: Split, domain: Domain, bits: int, constants: SplitConstants) -> Term:
    """Is there a number of the domain for which the constants do not hold?"""
    if split.format == split.wide and constants == WHOLE:
        return FALSE
    wide, fmt = split.wide, split.format
    word = var("x", wide.width)
    low, high = word_exponents(split, domain)
    grid = word_grid(split, domain)
    rest = whole = grid.place(decode(wide, word), domain.low, domain.high)
    size = magnitude(whole)

    def over(part: Term, share: Fraction) -> Term:
        width = grid.width + max(share.numerator.bit_length(), share.denominator.bit_length())
        return (size.zext(width) * share.numerator).ult(part.zext(width) * share.denominator)

    wrong: list[Term] = []
    for place, piece in enumerate(split.apply(word)):
        if place >= len(constants.sizes):
            wrong.append(piece.ne(0))
            continue
        x = decode(fmt, piece)
        power = grid.place(replace(x, sign=FALSE, significand=const(1, 1), fraction_bits=0), low, high)
        placed = grid.place(x, low, high).ashr(split.scale * place)
        wrong += [x.infinite, x.nan, ~x.zero & ~lies(x.exponent, low, high)]
        wrong.append(over(magnitude(placed), constants.sizes[place]))
        wrong.append(~x.zero & over(power >> (split.scale * place), constants.exponents[place]))
        rest = rest - placed
    wrong.append(over(magnitude(rest), constants.left))
    return domain.within(word, wide, bits) & whole.ne(0) & any_of(wrong)
