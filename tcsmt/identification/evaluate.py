"""Many hypotheses on many questions at once: the datapath with the parameters as inputs.

One block of lanes is two graphs. The front (decode, multiply, align, add) takes words and the parameters
F, alignment rounding, carry bits, zero exponent and input flush; the back (round, encode) takes a sum and
the other parameters. Rows that agree on what a graph sees are evaluated once.

F fraction bits below an exponent are the grid of MOST fraction bits below an exponent that is larger by
MOST - F. A sticky bit below F is rounding to odd at F + 1. A rounding mode is the truth table of its
decision, 16 bits. A register that is w bits too narrow is a shift left by w and an arithmetic one back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from tcsmt.arithmetic import datapath as dp
from tcsmt.arithmetic import ieee
from tcsmt.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.arithmetic.formats import Format
from tcsmt.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.identification.family import MOST_BITS, Family, Structure, Table
from tcsmt.interpret.arrays import Program
from tcsmt.interpret.exact import evaluate
from tcsmt.models import FusedDotAdd
from tcsmt.terms import FALSE, Term, var

__all__ = ["Outcomes", "Questions", "least_exponent", "ordinary_rows", "outcomes", "predictions", "signature"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The finest grid: a sticky bit is one place below the last alignment bit.
MOST = MOST_BITS + 1


@dataclass(frozen=True)
class Questions:
    """Input words: a and b of shape (questions, k), c of shape (questions,); dtype uint64."""

    a: Array
    b: Array
    c: Array

    def __len__(self) -> int:
        return len(self.c)

    def __getitem__(self, rows: Any) -> Questions:
        """Some of them: a slice, a list or an array of numbers."""
        return Questions(self.a[rows], self.b[rows], self.c[rows])

    @staticmethod
    def joined(parts: Sequence[Questions]) -> Questions:
        """All of them, in order."""
        a, b, c = (np.concatenate([getattr(part, side) for part in parts]) for side in "abc")
        return Questions(a, b, c)


# --- parameters as terms ------------------------------------------------------------------------


def _by_table(name: str) -> Rounding:
    """A rounding that looks its decision up in the variable of that name."""
    table = var(name, 16)

    def away(sign: Term, odd: Term, half: Term, rest: Term) -> Term:
        place = sign.concat(odd).concat(half).concat(rest)
        return (table >> place.zext(16))[0]

    def infinite(sign: Term) -> Term:
        return sign.ite(var("overflow-", 1), var("overflow+", 1))

    return Rounding(name, "by a truth table", away, infinite)


def _table(rounding: Rounding) -> int:
    names = [var(f"bit{i}", 1) for i in range(4)]
    decision = rounding.away(*names)
    return sum(
        evaluate([decision], {f"bit{i}": place >> (3 - i) & 1 for i in range(4)})[0] << place
        for place in range(16)
    )


_TO_ODD = Rounding("RTO", "to odd", lambda s, o, h, r: ~o & (h | r), lambda s: FALSE)
_ALIGNMENTS = np.array([_table(mode) for mode in (*ROUNDINGS.values(), _TO_ODD)], np.uint64)
_ROUNDINGS = _ALIGNMENTS[:-1]
_STICKY = len(_ROUNDINGS)


class _Open(FusedDotAdd):
    """One block whose parameters are variables; the composition of stages is FusedDotAdd's own."""

    zero_low = 0
    zero_high = 0

    def _entering(self, x: Number) -> Exponent:
        given = Exponent(var("zero", 12), self.zero_low, self.zero_high)
        return x.exponent.or_where(x.zero & ~var("zero none", 1), given)

    def _raised(self, top: Exponent) -> Exponent:
        return top + Exponent(var("coarser", 6), 0, MOST)

    def _aligned(self, x: Number, top: Exponent) -> Fixed:
        return dp.align(x, self._raised(top), MOST, _by_table("alignment"))

    def _sum(self, terms: Sequence[Number], top: Exponent, seen: Any = None) -> Fixed:
        aligned = [self._aligned(t, top) for t in terms]
        width = 3 + MOST + self.enough_carry_bits + 1
        whole = dp.accumulate(aligned, width)
        narrow = var("narrower", 7).zext(width)
        return Fixed((whole.word << narrow).ashr(narrow), whole.exponent, MOST)

    def _sum_one_by_one(self, terms: Sequence[Number]) -> Fixed:
        partial = terms[-1]
        for term in terms[:-1]:
            top = self._largest([partial, term])
            pair = [self._aligned(partial, top), self._aligned(term, top)]
            whole = dp.normalise_number(dp.sign_and_magnitude(dp.accumulate(pair, 5 + MOST)).number)
            width = whole.significand.width
            kept = whole.significand[width - 1 : width - 1 - MOST]
            lost = var("coarser", 6).zext(kept.width)
            partial = Number(
                whole.sign, whole.exponent, (kept >> lost) << lost, MOST, whole.zero, FALSE, FALSE
            )
        return dp.as_fixed(partial)

    def _sum_then_c(self, products: Sequence[Number], c: Number) -> Fixed:
        own = self._largest(products)
        aligned = [self._aligned(p, own) for p in products]
        whole = dp.accumulate(aligned, 3 + MOST + self.enough_carry_bits)
        partial = replace(dp.as_number(whole), exponent=self._raised(own))
        return self._sum([partial, c], dp.largest([own, self._entering(c)], own.low))


def _read(fmt: Format, word: Term) -> Number:
    """Decoded; subnormal numbers are zeros where the variable ``flush`` says so."""
    kept, flushed = (dp.decode(fmt, word, flush=flush) for flush in (False, True))
    flush = var("flush", 1)
    return replace(
        kept,
        significand=flush.ite(flushed.significand, kept.significand),
        zero=flush.ite(flushed.zero, kept.zero),
    )


@dataclass(frozen=True)
class _Front:
    """The graph of one block up to its sum; low: of the sum's last place. width: of its magnitude."""

    program: Program
    low: int
    high: int
    width: int


@cache
def _front(
    a: Format, b: Format, c: Format, d: Format, lanes: int, products: str, order: str, zeros: tuple[int, int]
) -> _Front:
    model = _Open(
        a_format=a, b_format=b, c_format=c, d_format=d, k=lanes, n_fma=lanes, fraction_bits=MOST,
        zero_exponent=0, rounding=ROUNDINGS["RTZ"], products=products,
    )  # fmt: skip
    object.__setattr__(model, "zero_low", zeros[0])
    object.__setattr__(model, "zero_high", zeros[1])
    factors = []
    for lane in range(lanes):
        x = dp.multiply(_read(a, var(f"a{lane}", a.width)), _read(b, var(f"b{lane}", b.width)))
        factors.append(dp.normalise_number(x) if products == "normalised" else x)
    addend = _read(c, var("c", c.width))
    terms = [*factors, addend]
    match order:
        case "every":
            fixed = model._sum_one_by_one(terms)
        case "summed":
            fixed = model._sum_then_c(factors, addend)
        case _:
            fixed = model._sum(terms, model._largest(terms))
    rounded = dp.sign_and_magnitude(fixed)
    special = dp.special_cases(terms)
    roots = [rounded.sign, rounded.magnitude, rounded.lsb.term, *special, dp.all_negative_zero(terms)]
    return _Front(Program(roots), rounded.lsb.low, rounded.lsb.high, rounded.magnitude.width)


@cache
def _back(d: Format, width: int, low: int, high: int) -> Program:
    """From a sum to the word, one root for every ``round_fraction_bits``."""
    lsb = Exponent(var("lsb", max(1, (high - low).bit_length())), low, high)
    x = SignMagnitude(var("sign", 1), var("magnitude", width), lsb)
    roots = []
    for kept in range(1, d.fraction_bits + 1):
        magnitude = dp.round_to(d, x, _by_table("rounding"), fraction_bits=kept, overflow="ieee")
        small = magnitude.ult(1 << d.fraction_bits)
        magnitude = (small & var("flush", 1)).ite(0, magnitude)
        sign = var("minus", 1).ite(x.sign | var("all minus", 1), x.sign & magnitude.ne(0))
        special = var("infinite", 1), var("infinity sign", 1), var("nan", 1)
        roots.append(dp.encode(d, sign, magnitude, *special, d.nan_word or 0))
    return Program(roots)


@cache
def _add_last(c: Format, d: Format) -> Program:
    """The chain's word plus c: one root for every rounding, without and with flushed results."""
    x, y = dp.decode(d, var("word", d.width)), _read(c, var("c", c.width))
    return Program(
        [
            ieee.add(x, y, d, rounding, nan_word=d.nan_word, flush=flush)
            for flush in (False, True)
            for rounding in ROUNDINGS.values()
        ]
    )


# --- rows ---------------------------------------------------------------------------------------


def _distinct(*keys: Array) -> tuple[list[Array], Array]:
    """The distinct tuples of non-negative integers, as columns, and the number of each row's."""
    whole, spans = np.zeros(len(keys[0]), np.int64), [int(k.max()) + 1 if len(k) else 1 for k in keys]
    for key, span in zip(keys, spans, strict=True):
        whole = whole * span + key
    size = int(np.prod([float(s) for s in spans]))
    if size <= 1 << 24:
        present = np.zeros(size, bool)
        present[whole] = True
        found = np.flatnonzero(present)
        place: Array = np.zeros(size, np.int32)
        place[found] = np.arange(len(found), dtype=np.int32)
        inverse: Array = place[whole]
    else:
        found, inverse = np.unique(whole, return_inverse=True)
    columns = []
    for span in reversed(spans):
        columns.append(found % span)
        found = found // span
    return columns[::-1], inverse


def _numbered(words: Array) -> tuple[Array, Array]:
    values, numbers = np.unique(words, return_inverse=True)
    return values, numbers


def predictions(family: Family, table: Table, questions: Questions) -> Array:
    """The word of every hypothesis on every question, shape (hypotheses, questions), dtype uint64.

    Every NaN is the format's own NaN word.
    """
    result = np.zeros((len(table), len(questions)), np.uint64)
    for number in np.unique(table[:, 0]):
        rows = np.flatnonzero(table[:, 0] == number)
        step = max(1, (1 << 22) // max(1, len(questions)))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            one = family.structures[int(number)]
            result[part] = _of_structure(family, one, table[part], questions)
    return result


def _columns(table: Table, places: Sequence[int]) -> tuple[Array, Array]:
    """The distinct rows of some columns, and the number of each row's."""
    found, inverse = _distinct(*(table[:, place].astype(np.int64) for place in places))
    return np.stack(found, axis=1), inverse


@dataclass(frozen=True)
class _Chain:
    """What the blocks leave: the distinct words, and for each (row, question) the number of its own.

    doubtful: of one question, pairs on whose way a column from 6 on can matter.
    """

    words: Array
    word: Array
    doubtful: Array


def _field(fmt: Format, words: Array) -> Array:
    """The stored exponents."""
    field = words >> np.uint64(fmt.fraction_bits + fmt.ignored_low_bits)
    return (field & np.uint64((1 << fmt.exponent_bits) - 1)).astype(np.int64)


def _normal(fmt: Format, words: Array) -> Array:
    magnitude = words & np.uint64((1 << fmt.sign_bit) - 1)
    found: Array = (_field(fmt, words) > 0) & (magnitude <= fmt.largest_finite_word)
    return found


def _zero(fmt: Format, words: Array) -> Array:
    found: Array = words & np.uint64((1 << fmt.sign_bit) - 1) == 0
    return found


def least_exponent(family: Family) -> int:
    """The largest exponent with which any zero can enter a maximum."""
    numbers = [z for z in family.zero_exponents if z is not None]
    return max(*numbers, family.a_format.e_min + family.b_format.e_min, family.c_format.e_min)


def _special(fmt: Format, words: Array) -> Array:
    """Subnormal numbers, infinities and NaNs: the columns from 6 on can matter to them."""
    field = _field(fmt, words)
    found: Array = (field == (1 << fmt.exponent_bits) - 1) | (field == 0) & ~_zero(fmt, words)
    return found


def _unclear(family: Family, one: Structure, question: Questions, lanes: Sequence[int]) -> Any:
    """For which words a zero's exponent can matter in a block: a function of words and their format."""
    used = [lane for lane in lanes if question.a[0, lane]]
    exponents = [int(e) for e in _exponents(family, question)[0, used]]
    least = least_exponent(family)

    def found(fmt: Format, words: Array) -> Array:
        if one.order == "every" and not _coarse(family, question):
            return np.ones(len(words), bool)
        if exponents:
            return np.full(len(words), max(exponents) < least)
        small: Array = (_field(fmt, words) < least + fmt.bias) & ~_zero(fmt, words)
        return small

    return found


def _exponents(family: Family, questions: Questions) -> Array:
    a, b = family.a_format, family.b_format
    found: Array = _field(a, questions.a) - a.bias + _field(b, questions.b) - b.bias
    return found


def _coarse(family: Family, question: Questions) -> bool:
    """Whether every number is a multiple of one that no zero's exponent exceeds, so that every sum is."""
    a, b, c, _ = family.formats
    least = max(zero for zero in family.zero_exponents if zero is not None)
    places = _last_place(a, question.a[0]) + _last_place(b, question.b[0])
    used = question.a[0] != 0
    own = question.c[0] == 0 or _last_place(c, question.c)[0] >= least
    return bool(own and (places[used] >= least).all())


def _last_place(fmt: Format, words: Array) -> Array:
    """Exponent of the lowest bit that is set, of normal numbers."""
    fraction = (words >> np.uint64(fmt.ignored_low_bits)) & np.uint64((1 << fmt.fraction_bits) - 1)
    whole = fraction.astype(np.int64) | 1 << fmt.fraction_bits
    lowest = np.log2(whole & -whole).astype(np.int64)
    found: Array = _field(fmt, words) - fmt.bias - fmt.fraction_bits + lowest
    return found


def blocks_used(one: Structure, question: Questions) -> list[tuple[int, ...]]:
    """The blocks without lanes and blocks that change nothing in the answer to an ordinary question.

    A zero product's exponent is no maximum there, so that it only counts as one of the additions
    with normalisation after every addition, which lose bits of what came before, but once only.
    So does a block of zeros.
    """
    used = question.a[0] != 0
    found: list[tuple[int, ...]] = []
    for lanes in one.blocks:
        kept = tuple(lane for lane in lanes if used[lane])
        if one.order == "every":
            kept = tuple(n for i, n in enumerate(lanes) if used[n] or i == 0 or used[lanes[i - 1]])
        idle = not used[list(lanes)].any()
        before = found and not used[list(found[-1])].any()
        nothing = not found and (one.order == "last" or not question.c[0])
        if not idle or not (before or nothing):
            found.append(kept or lanes[:1])
    return found or [one.blocks[0][:1]]


def signature(one: Structure, question: Questions) -> tuple[object, ...]:
    """Structures with the same one answer alike to an ordinary question, carry bits by number."""
    used = question.a[0] != 0
    blocks = tuple(tuple(n if used[n] else -1 for n in lanes) for lanes in blocks_used(one, question))
    return blocks, one.products, one.order


def _chain(
    family: Family, one: Structure, table: Table, questions: Questions, blocks: Sequence[tuple[int, ...]]
) -> _Chain:
    count = len(questions)
    fronts, front = _columns(table, (1, 2, 3, 6, 7))
    backs, back = _columns(table, (4, 5, 8, 9, 10))
    asked = np.tile(np.arange(count), len(table)) if count > 1 else np.zeros(len(table), np.int64)
    if count > 1:
        front, back = np.repeat(front, count), np.repeat(back, count)
    last = one.order == "last"
    words, word = (np.zeros(1, np.uint64), np.zeros(len(asked), np.int64)) if last else _numbered(questions.c)
    word = word if last else word[asked]
    fmt = family.d_format if last else family.c_format
    doubtful = np.zeros(len(asked), bool)
    for lanes in blocks:
        if count == 1:
            doubtful |= _unclear(family, one, questions, lanes)(fmt, words)[word]
        (f, q, w), pair = _distinct(front, asked, word)
        sums = _sums(family, one, fronts[f], questions, lanes, q, words[w], fmt)
        values, total_of = np.unique(np.stack(sums.roots, axis=1), axis=0, return_inverse=True)
        (s, b), pair = _distinct(total_of.reshape(-1)[pair], back)
        words, numbers = _numbered(_rounded(family, sums.front, values[s], backs[b]))
        word, fmt = numbers[pair], family.d_format
        doubtful |= _special(fmt, words)[word]
    return _Chain(words, word, doubtful)


def _of_structure(family: Family, one: Structure, table: Table, questions: Questions) -> Array:
    count = len(questions)
    chain = _chain(family, one, table, questions, one.blocks)
    words, word = chain.words, chain.word
    if one.order != "last":
        plain: Array = words[word].reshape(len(table), count)
        return plain
    asked = np.tile(np.arange(count), len(table))
    ends, end = _columns(table, (7, 9, 10, 11))
    (w, q, e), pair = _distinct(word, asked, np.repeat(end, count))
    found: Array = _ended(family, words[w], questions.c[q], ends[e])[pair].reshape(len(table), count)
    return found


def ordinary_rows(family: Family, questions: Questions) -> Array:
    """Which questions are ordinary (see :func:`outcomes`)."""
    a, b, c, _ = family.formats
    least = least_exponent(family)
    normal = _normal(a, questions.a) & _normal(b, questions.b)
    exponents = _exponents(family, questions)
    empty = _zero(a, questions.a) & _zero(b, questions.b)
    large = (normal & (exponents >= least)).any(axis=1)
    found: Array = (normal | empty).all(axis=1) & (_normal(c, questions.c) | _zero(c, questions.c)) & large
    return found


@dataclass(frozen=True)
class Outcomes:
    """What the rows of one structure answer to an ordinary question, up to what it does not show.

    ends: of every distinct word of the chain, what the last addition makes of it, by rounding and
    flush (one row without such an addition). word: each row's column. doubtful: rows that fit every
    answer. rounding: each row's ``c_rounding``, where it is known.
    """

    family: Family
    ends: Array
    word: Array
    doubtful: Array
    rounding: Array | None

    def fitting(self, answer: int) -> Array:
        """Which rows can give the answer; the sign of a zero is not looked at."""
        equal = self.ends == _without_sign_of_zero(self.family, np.array([answer], np.uint64))
        found: Array = self._any(equal | _special(self.family.d_format, self.ends)) | self.doubtful
        return found

    def certain(self, answer: int) -> Array:
        """Which rows give the answer whatever their columns from 6 on are, ``c_rounding`` apart."""
        if _zero(self.family.d_format, np.array([answer], np.uint64))[0]:
            return np.zeros(len(self.word), bool)
        return ~self.doubtful & ~self._any(_special(self.family.d_format, self.ends))

    def _any(self, ends: Array) -> Array:
        if self.rounding is None:
            one: Array = np.asarray(ends.any(axis=0))
            found: Array = one[self.word]
            return found
        each: Array = np.asarray(ends.reshape(2, len(ROUNDINGS), -1).any(axis=0))
        chosen: Array = each[self.rounding, self.word]
        return chosen


def _without_sign_of_zero(family: Family, words: Array) -> Array:
    return np.where(_zero(family.d_format, words), np.uint64(0), words)


def outcomes(family: Family, table: Table, question: Questions, *, rounded: bool = False) -> Outcomes:
    """What the rows of one structure can answer, whatever the columns from 6 on are.

    rounded: column 11 (``c_rounding``) is known. The question must be ordinary: every word is zero
    or normal (see :func:`ordinary_rows`). The other columns matter to it only where a zero's exponent
    can be a block's largest, or a result on the way is subnormal or special (such rows are doubtful),
    and in the sign of a zero result.
    """
    one = family.structures[int(table[0, 0])]
    chain = _chain(family, one, table, question, blocks_used(one, question))
    ends = chain.words[None]
    last = one.order == "last"
    if last:
        values = {"word": chain.words, "c": question.c, "flush": np.zeros(1, bool)}
        program = _add_last(family.c_format, family.d_format)
        ends = np.stack(_run(program, values, len(chain.words), broadcast=True)).astype(np.uint64)
    numbers = chain.word.astype(np.uint16 if len(chain.words) < 1 << 16 else np.int64)
    rounding = table[:, 11] if last and rounded else None
    return Outcomes(family, _without_sign_of_zero(family, ends), numbers, chain.doubtful, rounding)


@dataclass(frozen=True)
class _Sums:
    front: _Front
    roots: list[Array]


def _sums(
    family: Family,
    one: Structure,
    fronts: Array,
    questions: Questions,
    lanes: Sequence[int],
    asked: Array,
    c: Array,
    c_format: Format,
) -> _Sums:
    numbers = [z for z in family.zero_exponents if z is not None]
    zeros = (min(numbers), max(numbers))
    front = _front(
        family.a_format,
        family.b_format,
        c_format,
        family.d_format,
        len(lanes),
        one.products,
        one.order,
        zeros,
    )
    bits, alignment, carry, zero, flush = (fronts[:, place] for place in range(5))
    places = np.array(family.bits)[bits] + (alignment == _STICKY)
    carries = carry - 1  # see Family.carries
    spare = len(lanes).bit_length() + 1
    narrower = np.where(carries < 0, 0, np.maximum(0, MOST - places + spare - carries))
    values: dict[str, Array] = {
        "coarser": MOST - places, "narrower": narrower, "alignment": _ALIGNMENTS[alignment],
        "zero": np.minimum(zero, len(numbers) - 1), "zero none": zero == len(numbers), "flush": flush, "c": c,
    }  # fmt: skip
    single = len(questions) == 1
    for place, lane in enumerate(lanes):
        values[f"a{place}"] = questions.a[:, lane] if single else questions.a[asked, lane]
        values[f"b{place}"] = questions.b[:, lane] if single else questions.b[asked, lane]
    roots = _run(front.program, values, len(asked), broadcast=single)
    return _Sums(front, [np.asarray(root).astype(np.uint64) for root in roots])


def _run(program: Program, values: dict[str, Array], rows: int, *, broadcast: bool = False) -> list[Array]:
    names = {given.name for given in program.inputs}
    if not rows:
        return [np.zeros(0, np.uint64) for _ in program.roots]
    given = {name: np.asarray(value) for name, value in values.items() if name in names or name == "c"}
    longest = max(given, key=lambda name: len(given[name]))
    ordered = {longest: given.pop(longest), **given}
    return program.run(ordered, block=1 << 40 if broadcast else 4096)


def _of(modes: Sequence[Rounding], *, negative: bool) -> Array:
    """Which roundings overflow to an infinity of this sign."""
    return np.array([mode.overflows(negative=negative) for mode in modes])


def _rounded(family: Family, front: _Front, sums: Array, backs: Array) -> Array:
    sign, magnitude, lsb, infinite, infinity_sign, nan, all_minus = sums.T
    program = _back(family.d_format, front.width, front.low, front.high)
    rounding, kept, overflow, flush, minus = backs.T
    modes = [ROUNDINGS[name] for name in family.roundings]
    plus: Array = (overflow == 0) | (overflow == 2) & _of(modes, negative=False)[rounding]
    less: Array = (overflow == 0) | (overflow == 2) & _of(modes, negative=True)[rounding]
    # what differs in the kept bits alone is one row of the program: it has a root for each
    (s, _), pair = _distinct(
        np.arange(len(sums)) if not len(sums) else _numbered_rows(sums),
        rounding * 16 + plus * 8 + less * 4 + flush * 2 + minus,
    )
    first = np.zeros(len(s), np.int64)
    first[pair] = np.arange(len(pair))
    values = {
        "sign": sign[first], "magnitude": magnitude[first], "lsb": lsb[first],
        "infinite": infinite[first], "infinity sign": infinity_sign[first], "nan": nan[first],
        "all minus": all_minus[first], "rounding": _ROUNDINGS[rounding[first]],
        "overflow+": plus[first], "overflow-": less[first], "flush": flush[first], "minus": minus[first],
    }  # fmt: skip
    roots = np.stack(_run(program, values, len(first)))
    found: Array = roots[kept, pair].astype(np.uint64)
    return found


def _numbered_rows(rows: Array) -> Array:
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _ended(family: Family, words: Array, c: Array, ends: Array) -> Array:
    flush, flush_out, minus, rounding = ends.T
    program = _add_last(family.c_format, family.d_format)
    roots = np.stack(_run(program, {"word": words, "c": c, "flush": flush}, len(words)))
    found = roots[flush_out * len(ROUNDINGS) + rounding, np.arange(len(words))].astype(np.uint64)
    magnitude = found & np.uint64((1 << family.d_format.sign_bit) - 1)
    return np.where((minus == 0) & (magnitude == 0), np.uint64(0), found)
