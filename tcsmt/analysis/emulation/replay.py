"""One dot product of an emulation, on terms: digits, instructions, additions, one by one.

The simulator's arrays take no part in it. What is found by them is replayed here before it is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.exactness.search import chained, in_instructions
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import Term, const, var
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.programs.recipes.emulation.schemes import Emulation, Residues, Slices
from tcsmt.programs.recipes.emulation.slicing import Slicing, digit_word
from tcsmt.support.invariants import checked_cast

Array = np.ndarray[Any, np.dtype[Any]]


def replayed(emulation: Emulation, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """Return the word of c + Σ a·b: words of the wide format, all of them."""
    wide = emulation.wide
    if any(wide.is_special(word) for word in (*a, *b)):
        return wide.nan_word or 0
    slicing = emulation.slicing(len(a))
    (left, top_a), (right, top_b) = (_digits(slicing, words) for words in (a, b))
    if isinstance(emulation, Slices):
        scaled = _of_slices(emulation, left, right, (top_a, top_b))
    else:
        emulation = checked_cast(emulation, Residues)
        (a_row,), (b_row,) = left, right
        place = 2 * (wide.e_min + slicing.above - slicing.bits) + top_a + top_b
        scaled = _nearest(emulation, _of_residues(emulation, a_row, b_row), place)
    return _word(emulation.ended(const(scaled, wide.width), const(c, wide.width)))


def _word(term: Term) -> int:
    (word,) = evaluate([term], {})
    return word


def _digits(slicing: Slicing, words: Sequence[int]) -> tuple[list[list[int]], int]:
    """Return the digits of a row, the largest of each number first, and the word of its largest exponent."""
    x, top = var("x", slicing.wide.width), var("top", slicing.exponent_bits)
    largest = max(evaluate([slicing.exponent(x)], {"x": word})[0] for word in words)
    width = slicing.bits + 2
    terms = list(slicing.digits(x, top))
    digits_of = {word: evaluate(terms, {"x": word, "top": largest}) for word in dict.fromkeys(words)}
    digits = [[_signed(digits_of[word][place], width) for word in words] for place in range(slicing.count)]
    return digits, largest


def _signed(word: int, width: int) -> int:
    return word - (1 << width) if word >> (width - 1) else word


def _inside(emulation: Emulation, a: Sequence[int], b: Sequence[int]) -> int:
    """Return the word of a chain of instructions on integers."""
    fmt, unit = emulation.unit.a_format, emulation.unit
    width = max(number.bit_length() for number in (*a, *b)) + 2
    integer = var("integer", width)
    word = digit_word(fmt, integer)
    word_of = {n: evaluate([word], {"integer": n % (1 << width)})[0] for n in {*a, *b}}
    rows = (
        in_instructions(unit, np.array([word_of[n] for n in side], unsigned(fmt)), fmt) for side in (a, b)
    )
    return chained(unit, *rows)


def _of_slices(scheme: Slices, a: Sequence[list[int]], b: Sequence[list[int]], tops: tuple[int, int]) -> int:
    wide, total = scheme.wide, 0
    for i, j, part in scheme.steps(len(a[0])):
        inside = _inside(scheme, a[i][part.start : part.stop], b[j][part.start : part.stop])
        width = scheme.unit.d_format.width
        added = scheme.added(const(inside, width), scheme.shift((i, j)), const(total, wide.width))
        total = _word(added.word())
    bits = scheme.cut.exponent_bits
    return _word(scheme.scaled(const(total, wide.width), (const(tops[0], bits), const(tops[1], bits))))


def _of_residues(scheme: Residues, a: Sequence[int], b: Sequence[int]) -> int:
    """Return the integer nearest to zero with the residues that the unit's products have."""
    whole, fmt = 0, scheme.unit.d_format
    for modulus, weight in zip(scheme.moduli, scheme.weights, strict=True):
        left, right = (_residue_digits(scheme, modulus, side) for side in (a, b))
        residue = 0
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                for part in scheme.blocks(len(a)):
                    word = _inside(scheme, x[part.start : part.stop], y[part.start : part.stop])
                    number = _signed(word, fmt.width) if isinstance(fmt, IntegerFormat) else fmt.value(word)
                    residue += int(number) * (scheme.base or 1) ** (i + j)
        whole += residue % modulus * weight
    whole %= scheme.product
    return whole - scheme.product if 2 * whole > scheme.product else whole


def _residue_digits(scheme: Residues, modulus: int, numbers: Sequence[int]) -> list[list[int]]:
    digits: list[list[int]] = [[], []] if scheme.base else [[]]
    for number in numbers:
        residue = number % modulus
        if 2 * residue >= modulus:
            residue -= modulus
        if not scheme.base:
            digits[0].append(residue)
            continue
        last = residue % scheme.base
        if 2 * last >= scheme.base:
            last -= scheme.base
        digits[0].append(last)
        digits[1].append((residue - last) // scheme.base)
    return digits


def _nearest(scheme: Residues, number: int, place: int) -> int:
    """Return the word of number·2^place, rounded once; infinite beyond the format."""
    wide = scheme.wide
    try:
        return wide.nearest_word(Fraction(number) * Fraction(2) ** place)
    except ValueError:
        return wide.infinity_word | (number < 0) << wide.sign_bit
