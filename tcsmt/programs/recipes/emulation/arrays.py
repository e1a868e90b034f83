"""Emulations on arrays: rows or matrices of any length, bit for bit, through the unit's compiled simulator.

What the schemes say in terms is run on arrays: the cut, the additions outside and the scaling. Residues and
the Chinese remainder theorem are Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.arithmetic.words import from_words, unsigned
from tcsmt.programs.recipes.arrays import row_words
from tcsmt.programs.recipes.emulation.schemes import Emulation, Residues, Slices
from tcsmt.programs.recipes.emulation.slicing import Slicing
from tcsmt.programs.steps.on_arrays import Chain, matrix_words, of_matrices, of_rows
from tcsmt.programs.steps.program import ProductRun
from tcsmt.support.invariants import checked_cast

Array = np.ndarray[Any, np.dtype[Any]]
#: The words of a chain of instructions from +0, of words of both operands.
Inside = Callable[[Array, Array], Array]


def multiply(emulation: Emulation, a: Any, b: Any, c: Any = None) -> Array:
    """A·B + C by the emulation: an array (M, N) of the wide format (float64).

    a: (M, K), b: (K, N), c: (M, N) or None for zeros: float64, float32, or words of the wide format.
    Raises :class:`.TcsmtError` for shapes and values that do not fit.
    """
    left, right, start = matrix_words((emulation.wide,) * 3, a, b, c)
    return _run(emulation, left, right, start, of_matrices, axis=0)


def simulate(emulation: Emulation, a: Any, b: Any, c: Any = 0.0) -> Array:
    """c + Σ a·b by the emulation for every row: an array (rows,) of the wide format.

    a, b: (rows, length); c: (rows,) or one number; as for :func:`multiply`.
    """
    left, right, start = row_words(emulation.wide, a, b, c, np.float64)
    return _run(emulation, left, right, start, of_rows, axis=1)


def _run(
    emulation: Emulation,
    a: Array,
    b: Array,
    c: Array,
    instructions: Chain,
    axis: int,
) -> Array:
    """``axis``: of b, along which the dot product runs (of a it is 1)."""
    unit = emulation.unit

    def chain(x: Array, y: Array) -> Array:
        words = instructions(unit, (x, y), [ProductRun(np.arange(x.shape[1]))], None)
        return np.asarray(words & words.dtype.type((1 << unit.d_format.width) - 1))

    slicing = emulation.slicing(a.shape[1])
    (left, top_a, wrong_a), (right, top_b, wrong_b) = _cut(slicing, a, 1), _cut(slicing, b, axis)
    if axis:
        tops, wrong = (top_a, top_b), wrong_a | wrong_b
    else:
        tops = (np.repeat(top_a[:, None], len(top_b), 1), np.repeat(top_b[None], len(top_a), 0))
        wrong = wrong_a[:, None] | wrong_b[None]
    if isinstance(emulation, Slices):
        scaled = _of_slices(emulation, left, right, tops, chain, axis)
    else:
        emulation = checked_cast(emulation, Residues)
        scaled = _of_residues(emulation, left[0], right[0], tops, chain, axis)
    fmt = emulation.wide
    (ended,) = _run_words(_ender(emulation), {"scaled": scaled, "c": c})
    nan = unsigned(fmt).type(fmt.nan_word or 0)
    return from_words(fmt, np.where(wrong, nan, ended.astype(unsigned(fmt))))


def _run_words(program: Program, inputs: dict[str, Array]) -> list[Array]:
    """A program on arrays of one shape."""
    shape = next(iter(inputs.values())).shape
    return [word.reshape(shape) for word in program.run({n: x.reshape(-1) for n, x in inputs.items()})]


def _cut(slicing: Slicing, words: Array, axis: int) -> tuple[list[Array], Array, Array]:
    """Return the digits of each number, as int64; the largest exponents along an axis; which are not
    finite.
    """
    exponents, finite = _run_words(_measure(slicing), {"x": words})
    tops = exponents.max(axis=axis)
    digits = _run_words(
        _cutter(slicing), {"x": words, "top": np.broadcast_to(np.expand_dims(tops, axis), words.shape)}
    )
    wrong = np.asarray(~finite.astype(bool).all(axis=axis))
    return [_signed(digit, slicing.bits + 2) for digit in digits], np.asarray(tops), wrong


def _signed(words: Array, width: int) -> Array:
    """Two's complement words as numbers."""
    spare = 64 - width
    return (words.astype(np.uint64) << np.uint64(spare)).view(np.int64) >> np.int64(spare)


@lru_cache(maxsize=64)
def _measure(slicing: Slicing) -> Program:
    x = var("x", slicing.wide.width)
    return Program([slicing.exponent(x), slicing.finite(x)])


@lru_cache(maxsize=64)
def _cutter(slicing: Slicing) -> Program:
    return Program(slicing.digits(var("x", slicing.wide.width), var("top", slicing.exponent_bits)))


@lru_cache(maxsize=64)
def _ender(emulation: Emulation) -> Program:
    width = emulation.wide.width
    return Program([emulation.ended(var("scaled", width), var("c", width))])


# --- slices


def _of_slices(
    scheme: Slices,
    a: Sequence[Array],
    b: Sequence[Array],
    tops: tuple[Array, Array],
    chain: Inside,
    axis: int,
) -> Array:
    left, right = ([words_of(scheme.unit.a_format, digit) for digit in side] for side in (a, b))
    total = np.zeros(tops[0].shape, unsigned(scheme.wide))
    for i, j, part in scheme.steps(a[0].shape[1]):
        inside = chain(left[i][:, part.start : part.stop], _part(right[j], part, axis))
        (total,) = _run_words(_adder(scheme, scheme.shift((i, j))), {"part": inside, "total": total})
    (scaled,) = _run_words(_scaler(scheme), {"total": total, "a": tops[0], "b": tops[1]})
    return scaled


def _part(words: Array, part: range, axis: int) -> Array:
    taken = words[:, part.start : part.stop] if axis else words[part.start : part.stop]
    return np.ascontiguousarray(taken)


def words_of(fmt: AnyFormat, numbers: Array) -> Array:
    """Return the words of integers in a format that has them. numbers: of any shape, which is that of the
    words.
    """
    values, places = np.unique(numbers, return_inverse=True)
    words = np.array([fmt.word(Fraction(value)) for value in values.tolist()], unsigned(fmt))
    return np.asarray(words[places].reshape(numbers.shape))


@lru_cache(maxsize=256)
def _adder(scheme: Slices, shift: int) -> Program:
    part, total = var("part", scheme.unit.d_format.width), var("total", scheme.wide.width)
    return Program([scheme.added(part, shift, total).word()])


@lru_cache(maxsize=64)
def _scaler(scheme: Slices) -> Program:
    tops = (var("a", scheme.cut.exponent_bits), var("b", scheme.cut.exponent_bits))
    return Program([scheme.scaled(var("total", scheme.wide.width), tops)])


# --- residues


def _of_residues(
    scheme: Residues, a: Array, b: Array, tops: tuple[Array, Array], chain: Inside, axis: int
) -> Array:
    residues = []
    for modulus in scheme.moduli:
        left, right = (residue_digits(scheme, modulus, side) for side in (a, b))
        residue = np.zeros(tops[0].shape, np.int64)
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                weight = (scheme.base or 1) ** (i + j)
                words = [words_of(scheme.unit.a_format, digit) for digit in (x, y)]
                for part in scheme.blocks(a.shape[1]):
                    inside = chain(words[0][:, part.start : part.stop], _part(words[1], part, axis))
                    whole = integers_of(scheme.unit.d_format, inside) % modulus
                    residue = (residue + whole * weight) % modulus
        residues.append(residue)
    whole = crt(scheme, residues)
    low = scheme.wide.e_min + scheme.slicing(a.shape[1]).above
    bits = scheme.slicing(a.shape[1]).bits
    places = tops[0].astype(np.int64) + tops[1].astype(np.int64) + 2 * (low - bits)
    flat = [
        _rounded(scheme.wide, n, p)
        for n, p in zip(whole.ravel().tolist(), places.ravel().tolist(), strict=True)
    ]
    return np.array(flat, unsigned(scheme.wide)).reshape(whole.shape)


def residue_digits(scheme: Residues, modulus: int, numbers: Array) -> list[Array]:
    """Return the residues of integers, nearest to zero, or their digits, the lowest first.

    Each is an array of the shape and dtype of the numbers.
    """
    low = modulus // 2
    residues = (numbers + low) % modulus - low
    if not scheme.base:
        return [residues]
    half = scheme.base // 2
    last = (residues + half) % scheme.base - half
    return [last, (residues - last) // scheme.base]


def integers_of(fmt: AnyFormat, words: Array) -> Array:
    """Return the integers of words, int64; of what is not an integer, some number."""
    if isinstance(fmt, IntegerFormat):
        return _signed(words, fmt.width) if fmt.signed else words.astype(np.int64)
    fmt = float_format(fmt)
    return np.nan_to_num(floats(fmt, words), nan=0.0, posinf=0.0, neginf=0.0).astype(np.int64)


def crt(scheme: Residues, residues: Sequence[Array]) -> Array:
    """Return the integers nearest to zero with these residues, Python's own: an array of the residues' one
    shape.
    """
    whole = sum(
        residue.astype(object) * weight for residue, weight in zip(residues, scheme.weights, strict=True)
    )
    low = (scheme.product - 1) // 2
    return np.asarray((whole + low) % scheme.product - low, dtype=object)


def _rounded(wide: Format, number: int, place: int) -> int:
    """Return the word of number·2^place, rounded once to nearest even; infinite beyond the format."""
    value = Fraction(number) * Fraction(2) ** place
    try:
        return wide.nearest_word(value)
    except ValueError:
        return wide.infinity_word | (1 << wide.sign_bit if number < 0 else 0)
