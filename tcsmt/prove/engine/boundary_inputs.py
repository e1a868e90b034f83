"""Inputs on which models of matrix units tend to differ: a fixed set, evaluated before any solver.

Random words almost never reach a boundary of the arithmetic. These rows do: few lanes or all alike,
exponents close together or at the ends, significands that are all ones, one bit, or short.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np

from tcsmt.language.run.arrays import Program, storage
from tcsmt.matrix_units.arithmetic.boundary_words import FractionKind, from_fields, mixed_fractions
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.engine.witnesses import cost, shorten
from tcsmt.prove.statements.question import Question
from tcsmt.support.invariants import not_none

_ROWS = 4096
_BATCHES = 4
_STARTS = 4
_KINDS = (
    FractionKind.ZERO,
    FractionKind.ONES,
    FractionKind.ONE_BIT,
    FractionKind.ALL_BUT_ONE,
    FractionKind.RANDOM,
    FractionKind.SHORT,
)
_SHORT = _KINDS.index(FractionKind.SHORT)
#: Exponents of c, and powers of two that are added to each tie, at most.
_TIES, _ADDED = 8, 40


def search(question: Question) -> dict[str, int] | None:
    """Return a short input at which the question's goal holds, made from one of the set; or None.

    Several of the set are shortened, and the best of what they become is taken.
    """
    program = Program([question.goal])
    rng = np.random.default_rng(20250101)
    random = (rows(question.formats, _ROWS, rng) for _ in range(_BATCHES))
    apart = (cancelling(question.formats, 4 * _ROWS, rng) for _ in range(_BATCHES))
    directed = [ties(question.formats), near_ties(question.formats)]
    for columns in chain(random, directed, apart):
        places = np.flatnonzero(program.run(columns)[0])
        if places.size:
            used = np.asarray(sum((words[places] != 0).astype(int) for words in columns.values()))
            best = places[np.argsort(used, kind="stable")[:_STARTS]]
            starts = [{name: int(words[i]) for name, words in columns.items()} for i in best]
            witnesses = [shorten(question.goal, question.formats, start) for start in starts]
            return min(witnesses, key=lambda values: cost(question.formats, values))
    return None


def rows(formats: Mapping[str, AnyFormat], count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return words of each input, by name: arrays (count,) of :func:`.storage`'s dtype for its width."""
    k = sum(role_of(name).factor == 0 for name in formats) or 1
    nonzero = np.minimum(rng.choice([1, 2, 3, 4, k, k], count), k)  # non-zero lanes
    shift = rng.integers(0, k, count) * rng.integers(0, 2, count)  # where they start
    centre = rng.random(count)  # of exponents, in their range
    centre[rng.random(count) < 0.5] = 0.5
    spread = rng.choice([0, 1, 3, 8, 30, 300], count)  # of exponents, in powers of two
    unsigned = rng.random(count) < 0.4
    alike = rng.random(count) < 0.3
    columns: dict[str, np.ndarray] = {}
    firsts: dict[int, np.ndarray] = {}  # words of the first lane of a and of b
    middles: dict[Format, np.ndarray] = {}
    for name, fmt in formats.items():
        if isinstance(fmt, IntegerFormat):
            words = _integers(fmt, count, rng, unsigned)
        else:
            fmt = float_format(fmt)
            if fmt not in middles:
                middles[fmt] = _middle(fmt, centre)
            words = _words(fmt, count, rng, middles[fmt], spread, unsigned)
        role = role_of(name)
        if role.factor is not None:
            lane, first = not_none(role.lane), firsts.setdefault(role.factor, words)
            words = np.where(alike, first, words)
            words = np.where((lane - shift) % k < nonzero, words, 0)
        elif name == "c":
            words = np.where(rng.random(count) < 0.25, 0, words)
        columns[name] = words
    return {name: columns[name].astype(storage(fmt.width)) for name, fmt in formats.items()}


def ties(formats: Mapping[str, AnyFormat]) -> dict[str, np.ndarray]:
    """Return rows of two products: half of c's smallest number, and each smaller power of two.

    Where the grid of the sum keeps the second, the first is no tie any more: this shows how far down
    the grid reaches where c is zero, which random words almost never do. No rows where nothing is
    so small. Arrays are (rows,), as of :func:`rows`.
    """
    inputs: list[dict[str, int]] = []
    if operands := _two_products(formats):
        a0, b0, a1, b1, c = operands
        half = _smallest(c) - 1
        tie = _factors(a0, b0, half)
        for power in range(_smallest(a1) + _smallest(b1), half):
            small = _factors(a1, b1, power)
            if tie is not None and small is not None:
                first, second = ({"a0": tie[0], "b0": tie[1]}, {"a1": small[0], "b1": small[1]})
                inputs += [first | second, first | second | {"a1": small[0] | 1 << (a1.width - 1)}]
    return _columns(formats, inputs)


def _two_products(formats: Mapping[str, AnyFormat]) -> list[Format]:
    """Return the formats of two products and of c; none where one is not of floating-point numbers with
    signs.
    """
    named = [formats.get(name) for name in ("a0", "b0", "a1", "b1", "c")]
    floats = [fmt for fmt in named if isinstance(fmt, Format)]
    return floats if len(floats) == len(named) and all(fmt.signed for fmt in floats[:4]) else []


def near_ties(formats: Mapping[str, AnyFormat]) -> dict[str, np.ndarray]:
    """Return rows with c a power of two; one product makes a tie of c's format, one is a smaller power.

    Where the second product is cut off before c is added, or after, the sum is a tie or lies beside it. No
    rows where the formats have no such numbers. Arrays are (rows,), as of :func:`rows`.
    """
    inputs: list[dict[str, int]] = []
    if operands := _two_products(formats):
        a0, b0, a1, b1, c = operands
        below = c.fraction_bits + 2  # half of the last place of what lies below c
        lowest, highest = (side(a0) + side(b0) + below for side in (_smallest, lambda fmt: fmt.e_max))
        exponents = range(max(c.e_min + 2, lowest), min(c.e_max, highest) + 1)
        for exponent in exponents[:: -(-len(exponents) // _TIES) or 1]:
            half = exponent - below
            for times, power, minus in ((1, half, 1), (3, half, 1), (1, half + 1, 0), (3, half + 1, 0)):
                tie = _factors(a0, b0, power) if times == 1 else _thrice(a0, b0, power)
                for small in range(max(half - _ADDED, _smallest(a1) + _smallest(b1)), half):
                    added = _factors(a1, b1, small)
                    if tie is not None and added is not None:
                        words = {"c": _power(c, exponent), "a0": tie[0] | minus << a0.sign_bit, "b0": tie[1]}
                        words |= {"a1": added[0], "b1": added[1]}
                        inputs += [words, words | {"a1": added[0] | 1 << a1.sign_bit}]
    return _columns(formats, inputs)


def cancelling(
    formats: Mapping[str, AnyFormat], count: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return rows with block scales: one block has products that cancel, or one; others' are far smaller.

    What is cut off of the others depends on how they are summed. A result shows it where the first block adds
    nothing, or a number that the format has, which what is left of the others may bring below itself. Of the
    first block's scales a third is large, a third anything, and a third so small that results are subnormal.
    No rows where there is one block, or none. Arrays are (count,), as of :func:`rows`.
    """
    roles = {name: role_of(name) for name in formats}
    blocks = sum(role.operand == "scale_a" for role in roles.values())
    if blocks < 2:
        return _columns(formats, [])
    k = sum(role.factor == 0 for role in roles.values())
    size = k // blocks
    chosen_block = rng.integers(0, blocks, count)
    first = chosen_block * size + rng.integers(0, max(size, 1), count)
    second = chosen_block * size + (first + rng.integers(1, max(size, 2), count)) % max(size, 1)
    factors = [rng.integers(1, 1 << formats[name].width, count) for name in ("a0", "b0")]
    share = rng.choice([0.05, 0.25, 1], count)
    alone = rng.random(count) < 0.5
    centre, where = rng.random(count), rng.integers(0, 3, count)
    columns: dict[str, np.ndarray] = {}
    for name, fmt in formats.items():
        role = roles[name]
        if name == "c":
            words = np.where(rng.random(count) < 0.5, 0, rng.integers(0, 1 << fmt.width, count))
        elif role.scale:
            fmt = float_format(fmt)
            large, c = fmt.largest_finite_field, formats["c"]
            low = fmt.bias + _smallest(c) // 2 if isinstance(c, Format) else 0
            tops = [
                large - rng.integers(0, 3, count),
                np.rint(centre * large),
                low + rng.integers(-4, 8, count),
            ]
            top = np.choose(where, tops).astype(np.int64)
            field = np.where(chosen_block == role.lane, top, top - rng.integers(8, 24, count))
            fraction = rng.integers(0, 1 << fmt.fraction_bits, count)
            words = np.clip(field, 0, large) << fmt.fraction_bits | fraction
        elif role.factor is not None:
            lane = not_none(role.lane)
            others = rng.integers(0, 1 << fmt.width, count)
            words = np.where((lane // max(size, 1) == chosen_block) | (rng.random(count) > share), 0, others)
            turned = factors[1] ^ 1 << (fmt.width - 1)
            words = np.where(lane == first, np.where(alone, 0, factors[role.factor]), words)
            words = np.where(lane == second, turned if role.factor else factors[0], words)
        else:
            words = rng.integers(0, 1 << fmt.width, count)
        columns[name] = words.astype(storage(fmt.width))
    return columns


def underflows(formats: Mapping[str, AnyFormat]) -> dict[str, np.ndarray]:
    """Return rows with c the smallest normal number; a product is each smaller power of two, of either sign.

    Where the product is subtracted, it depends on how tininess is detected whether the result is flushed.
    No rows where c is no floating-point number. Arrays are (rows,), as of :func:`rows`.
    """
    a0, b0, c = (formats.get(name) for name in ("a0", "b0", "c"))
    inputs: list[dict[str, int]] = []
    if isinstance(a0, Format) and isinstance(b0, Format) and isinstance(c, Format) and a0.signed:
        lowest = max(_smallest(c) - c.fraction_bits, _smallest(a0) + _smallest(b0))
        for power in range(lowest, c.e_min):
            factors = _factors(a0, b0, power)
            if factors is not None:
                first, second = factors
                words = {"c": _power(c, c.e_min), "b0": second}
                inputs += [words | {"a0": first}, words | {"a0": first | 1 << a0.sign_bit}]
    return _columns(formats, inputs)


def _columns(formats: Mapping[str, AnyFormat], inputs: list[dict[str, int]]) -> dict[str, np.ndarray]:
    """Return rows of words by name as an array for each input; what a row does not name is zero."""
    return {
        name: np.array([words.get(name, 0) for words in inputs], storage(fmt.width))
        for name, fmt in formats.items()
    }


def _smallest(fmt: Format) -> int:
    """Return the exponent of the smallest positive number."""
    return fmt.e_min - fmt.fraction_bits


def _factors(a: Format, b: Format, power: int) -> tuple[int, int] | None:
    """Return powers of two whose product is 2**power, as words; None where the formats have none such."""
    exponents = _shares(a, b, power)
    return exponents and (_power(a, exponents[0]), _power(b, exponents[1]))


def _thrice(a: Format, b: Format, power: int) -> tuple[int, int] | None:
    """Return words whose product is 3·2**power; None where a has no such normal number."""
    exponents = _shares(a, b, power + 1)
    if exponents is None or exponents[0] < a.e_min or not a.fraction_bits:
        return None
    return _power(a, exponents[0]) | 1 << (a.fraction_bits - 1), _power(b, exponents[1])


def _shares(a: Format, b: Format, power: int) -> tuple[int, int] | None:
    """Return exponents of two numbers, about as large, whose product is 2**power; None: there are none."""
    second = min(max(power - power // 2, _smallest(b)), b.e_max)
    first = min(max(power - second, _smallest(a)), a.e_max)
    second = power - first
    return (first, second) if _smallest(b) <= second <= b.e_max else None


def _power(fmt: Format, exponent: int) -> int:
    if exponent < fmt.e_min:
        return 1 << (exponent - _smallest(fmt))
    return (exponent + fmt.bias) << fmt.fraction_bits


def _middle(fmt: Format, centre: np.ndarray) -> np.ndarray:
    """Return the exponent field that a centre stands for, which is the format's own: 0.5 is an exponent of
    zero.
    """
    top = fmt.largest_finite_field
    return np.where(centre == 0.5, fmt.bias, np.rint(centre * top)).astype(np.int64)


def _words(
    fmt: Format,
    count: int,
    rng: np.random.Generator,
    middle: np.ndarray,
    spread: np.ndarray,
    unsigned: np.ndarray,
) -> np.ndarray:
    """Return words of a format whose exponent fields lie around a middle."""
    top, bits = fmt.largest_finite_field, fmt.fraction_bits
    field = middle + rng.integers(-spread, spread + 1)
    field = np.clip(field, 0, top)
    fraction = np.zeros(count, dtype=np.uint64)
    if bits:
        ones = (1 << bits) - 1
        place = rng.integers(0, bits, count)
        any_fraction, cut = (rng.integers(0, ones, count, dtype=np.uint64, endpoint=True) for _ in range(2))
        kind = rng.integers(0, len(_KINDS), count)
        fraction = mixed_fractions(fmt, _KINDS, kind, place, np.where(kind == _SHORT, cut, any_fraction))
    sign = np.where(unsigned, 0, rng.integers(0, 2, count)) if fmt.signed else np.zeros(count, np.uint64)
    return from_fields(fmt, sign, field, fraction)


def _integers(fmt: IntegerFormat, count: int, rng: np.random.Generator, unsigned: np.ndarray) -> np.ndarray:
    """Return words whose numbers lie at the ends of the format, at zero, at a power of two, or anywhere."""
    ends = np.array([fmt.word_of_count(n) for n in (fmt.low, fmt.high)], np.uint64)
    power = np.uint64(1) << rng.integers(0, fmt.width - fmt.signed, count).astype(np.uint64)
    below = power - np.uint64(1)
    drawn = rng.integers(0, (1 << fmt.width) - 1, count, dtype=np.uint64, endpoint=True)
    choices = [
        ends[0],
        ends[1],
        ends[0] + np.uint64(1),
        ends[1] - np.uint64(1),
        power,
        below,
        drawn,
        drawn & below,
    ]
    words = np.choose(rng.integers(0, len(choices), count), choices)
    mask = np.uint64((1 << fmt.width) - 1)
    negated = fmt.signed & (rng.random(count) < 0.3) & ~unsigned
    negative = words >> np.uint64(fmt.sign_bit) & np.uint64(fmt.signed) == 1
    result: np.ndarray = np.where(negated | unsigned & negative, ~words + np.uint64(1), words) & mask
    return result
