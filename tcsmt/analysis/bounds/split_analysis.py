"""Splitting an FP32 number into words of a narrower format: what is kept, and what underflows.

Every statement about a :class:`.Split` is made twice: by a closed form
(:func:`counted`) and by going through all 2^32 inputs (:func:`enumerated`); :func:`statement` has the
solvers prove it for all inputs at once.

The error x - (word 1 + word 2 + ...) is counted in units in the last place of x. It is a whole
number: X is x's significand as an integer, up to 2^24 - 1, and words are rounded to coarser grids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.language.macros import leading_zeros
from tcsmt.language.run.exact import evaluate
from tcsmt.language.run.exhaust import ExhaustiveEvaluator
from tcsmt.language.terms import FALSE, Term, const, substitute, umax, var
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.datapath import Number
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.programs.steps.split import F32, Split
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.verdict import Distinguished, answer_json
from tcsmt.simulate.compiled import in_threads
from tcsmt.support.errors import choose

#: What can become of the last residual, in the order of their codes.
CLASSES = ("zero", "underflow", "gradual underflow", "normal", "special", "wrong")
ZERO, UNDERFLOW, GRADUAL, NORMAL, SPECIAL, WRONG = range(len(CLASSES))


def _splits() -> Iterator[Split]:
    for name, words, modes, scales in (
        ("f16", 2, ("RNE RNE", "RTZ RTZ"), (0, 11)),
        ("tf32", 2, ("RNE RNE", "RNA RNA", "RTZ RTZ"), (0, 11)),
        ("tf32", 2, ("RTZ RNA",), (0,)),
        ("bf16", 2, ("RNE RNE", "RTZ RTZ"), (0,)),
        ("bf16", 3, ("RNE RNE", "RTZ RTZ"), (0,)),
    ):
        for mode in modes:
            first, residual = (ROUNDINGS[mode_name] for mode_name in mode.split())
            for scale in scales:
                yield Split(format=FORMATS[name], words=words, rounding=first, residual=residual, scale=scale)


#: The splits in use: Markidis et al.'s, Ootomo and Yokota's (2^11), CUTLASS's 3xTF32, BF16 words.
SPLITS = tuple(_splits())


def name_of(split: Split) -> str:
    """As ``2 x f16 RNE, residual · 2^11``."""
    modes = dict.fromkeys([split.rounding.name, split.residual.name])
    scale = f", residual · 2^{split.scale}" if split.scale else ""
    return f"{split.words} x {split.format.name} {'/'.join(modes)}{scale}"


def _mode(split: Split, number: int) -> Rounding:
    return split.residual if number else split.rounding


@dataclass(frozen=True)
class Traced:
    """A split on an input word.

    word, x: the input, and decoded. error: the magnitude of x minus the sum of the words, in units
    in the last place of x (24 bits). kind: index in ``CLASSES`` of the last word.
    """

    word: Term
    x: Number
    error: Term
    kind: Term


@cache
def traced(split: Split) -> Traced:
    """Return the split on the variable x. A word that is no whole number of units is ``wrong``."""
    word = var("x", F32.width)
    x = dp.decode(F32, word)
    parts = [
        _times(dp.decode(split.format, piece), -split.scale * number)
        for number, piece in enumerate(split.apply(word))
    ]
    error, wrong, lost = x.significand.zext(_WIDTH), FALSE, FALSE
    special = x.nan | x.infinite
    if split.format.e_max < F32.e_max:
        special |= ~x.exponent.within(F32.e_min, F32.e_max).ult(split.format.e_max + 1 - F32.e_min)
    for part in parts:
        units, cut = _units(part, x)
        lost = error.ne(0)
        error = error - (part.sign ^ x.sign).ite(-units, units)
        wrong |= cut
        special |= part.nan | part.infinite
    last = parts[-1]
    tiny = ~last.significand[split.format.fraction_bits]
    kind = last.zero.ite(lost.ite(const(UNDERFLOW, 3), ZERO), tiny.ite(const(GRADUAL, 3), NORMAL))
    kind = special.ite(SPECIAL, wrong.ite(WRONG, kind))
    magnitude = error[_WIDTH - 1].ite(-error, error)
    return Traced(word, x, magnitude[23:0], kind)


#: Bits in which errors are computed; a word of a split is at most twice x: 2^25 units.
_WIDTH = 32


def _times(x: Number, power: int) -> Number:
    return replace(x, exponent=x.exponent.plus(power))


def _units(part: Number, x: Number) -> tuple[Term, Term]:
    """Return the part's magnitude in units in the last place of x, and whether it is no whole number of
    them.
    """
    place, unit = part.exponent.plus(-part.fraction_bits), x.exponent.plus(-x.fraction_bits)
    low, high = min(place.low, unit.low), max(place.high, unit.high)
    first, other = place.within(low, high).zext(_WIDTH), unit.within(low, high).zext(_WIDTH)
    significand = part.significand.zext(_WIDTH)
    up, down = significand << (first - other), significand >> (other - first)
    above = other.ule(first)
    back = above.ite(up >> (first - other), down << (other - first))
    return above.ite(up, down), back.ne(significand) | (above & up[_WIDTH - 1])


def statement(split: Split) -> Term:
    """Return what is proved of every input x: a truth value over the variable x.

    The words are finite, or x is as large as :func:`least_special` says; and the error is
    :func:`distance`.
    """
    t = traced(split)
    special = ~t.word[F32.sign_bit - 1 : 0].ult(least_special(split))
    right = t.kind.ne(WRONG) & t.error.eq(distance(split, t.x))
    return special.ite(t.kind.eq(SPECIAL), t.kind.ne(SPECIAL) & right)


def least_special(split: Split) -> int:
    """Return the FP32 word of the smallest magnitude that the first word does not hold.

    To nearest: what rounds to infinity; toward zero: twice the largest power of two (a larger x
    is cut to the largest finite word).
    """
    fmt = split.format
    least = Fraction(2) ** (fmt.e_max + 1)
    if not split.rounding.truncates:
        least -= Fraction(2) ** (fmt.e_max - fmt.precision)
    return F32.infinity_word if least > F32.largest_finite else F32.word(least)


def distance(split: Split, x: Number) -> Term:
    """Return the error as integers say it: each word leaves the distance to its grid (24 bits).

    The grid of a word is the coarser of two: as many bits as the precision says from the first bit
    of what is left, and the smallest step of the format. Distance to nearest, or to the next
    multiple toward zero.
    """
    residue = x.significand
    unit = x.exponent.plus(-F32.fraction_bits)
    for number in range(split.words):
        step = split.format.e_min - split.format.fraction_bits - split.scale * number
        # as a number of low bits that lie below the grid, at most 25: then nothing is above it
        length = _length(residue)
        short = length.ult(split.format.precision)
        below = short.ite(const(0, 5), length - split.format.precision)
        if step > unit.low:
            place = unit.within(unit.low, max(unit.high, step))
            gap = place.ult(step - unit.low).ite(const(step - unit.low, place.width) - place, 0)
            gap = const(25, gap.width).ult(gap).ite(25, gap)[4:0]
            below = umax(below, gap)
        ones = ~(const((1 << 26) - 1, 26) << below.zext(26))
        low = residue.zext(26) & ones
        if not _mode(split, number).truncates:
            other = ones + 1 - low
            low = low.ult(other).ite(low, other)
        residue = low[23:0]
    return residue


def _length(word: Term) -> Term:
    """Return how many bits a 24-bit word has without leading zeros."""
    _, zeros = leading_zeros(word)
    return word.eq(0).ite(0, const(word.width, zeros.width) - zeros)


@dataclass(frozen=True)
class SplitTally:
    """What was counted over some inputs.

    kinds: inputs whose last word is of each kind (``CLASSES``). lengths: inputs whose error, in
    units in the last place of x, has 0, 1, ... 24 bits (0 bits: the split is exact); special
    inputs are left out. worst: the largest such error. All are numbers of inputs.
    """

    kinds: tuple[int, ...]
    lengths: tuple[int, ...]
    worst: int

    @property
    def inputs(self) -> int:
        """All of them."""
        return sum(self.kinds)

    @property
    def split(self) -> int:
        """Those that the format can hold."""
        return sum(self.lengths)

    @property
    def kept_bits(self) -> Fraction:
        """Return the expected length of the mantissa that is kept, in bits, of 23: an error of n bits costs
        n.
        """
        lost = sum(min(bits, 23) * count for bits, count in enumerate(self.lengths))
        return 23 - Fraction(lost, self.split)

    def __add__(self, other: SplitTally) -> SplitTally:
        return SplitTally(
            tuple(map(sum, zip(self.kinds, other.kinds, strict=True))),
            tuple(map(sum, zip(self.lengths, other.lengths, strict=True))),
            max(self.worst, other.worst),
        )


#: Words that are looked at together: results that stay in a processor's cache.
_PORTION = 1 << 18
_BINADE = 1 << F32.fraction_bits


@dataclass(frozen=True)
class Enumerated:
    """All 2^32 inputs: the tallies by exponent field (0 to 255), both signs together; what computed them."""

    tallies: list[SplitTally]
    how: str


def enumerated(split: Split, progress: Callable[[int], None] = lambda done: None) -> Enumerated:
    """All 2^32 inputs gone through. Raises :class:`.InternalError` where back ends differ.

    progress(binades): called as binades of one sign are done, of 512.
    """
    function = _coded(split)
    tallies: dict[int, SplitTally] = {}

    def binade(number: int) -> None:
        tallies[number] = _tally(function, number)
        progress(len(tallies))

    in_threads(binade, range(512))
    return Enumerated([tallies[field] + tallies[field + 256] for field in range(256)], function.how)


def binade(split: Split, field: int) -> SplitTally:
    """Return the tally of the inputs with one exponent field, both signs together."""
    function = _coded(split)
    return _tally(function, field) + _tally(function, field + 256)


def _coded(split: Split) -> ExhaustiveEvaluator:
    """Error, kind and the error's length of every input, in one word."""
    t = traced(split)
    return ExhaustiveEvaluator(t.error.concat(t.kind).concat(_length(t.error)))


def _tally(function: ExhaustiveEvaluator, number: int) -> SplitTally:
    """Of one of the 512 runs of inputs with the same sign and exponent field."""
    codes, worst = np.zeros(256, dtype=np.int64), 0
    for start in range(number * _BINADE, (number + 1) * _BINADE, _PORTION):
        words = function(start, _PORTION)
        codes += np.bincount(words & 0xFF, minlength=256)
        worst = max(worst, int(words[(words >> 5 & 7) != SPECIAL].max(initial=0)) >> 8)
    table = codes.reshape(8, 32)
    lengths = table[:SPECIAL].sum(axis=0) + table[WRONG]
    kinds = table.sum(axis=1)[: len(CLASSES)]
    return SplitTally(tuple(map(int, kinds)), tuple(map(int, lengths[:25])), worst)


def counted(split: Split, field: int) -> SplitTally | None:
    """Return the tally of one exponent field by closed form; None where the first word can overflow."""
    e_max = split.format.e_max - (not split.rounding.truncates)
    if field - F32.bias > e_max:
        return None
    unit = max(field, 1) - F32.bias - F32.fraction_bits
    if field:
        starts = [_Counts({F32.precision: 1}, {})]
    else:  # zero and the subnormal numbers, by their number of bits
        starts = [_Counts(dict.fromkeys(range(1, F32.precision), 1), {0: 1})]
    residue = starts[0]
    for number in range(split.words):
        step = split.format.e_min - split.format.fraction_bits - split.scale * number - unit
        if number == split.words - 1:
            kinds = residue.kinds(split.format, step, _mode(split, number))
        residue = residue.rounded(split.format, step, _mode(split, number))
    lengths = [0] * 25
    for bits, weight in residue.ranges.items():
        lengths[bits] += weight << (bits - 1)
    for value, weight in residue.single.items():
        lengths[value.bit_length()] += weight
    worst = max([(1 << bits) - 1 for bits in residue.ranges] + list(residue.single))
    return SplitTally(tuple(2 * n for n in kinds), tuple(2 * n for n in lengths), worst)


@dataclass(frozen=True)
class _Counts:
    """How often each whole number occurs: ranges: every number of so many bits, so often; and single ones.

    The single ones are zero and powers of two.
    """

    ranges: dict[int, int]
    single: dict[int, int]

    def rounded(self, fmt: Format, step: int, mode: Rounding) -> _Counts:
        """Return the distances to the grid; the format's smallest step is 2^step."""
        truncate = mode.truncates
        made = _Counts({}, {})
        for bits, weight in self.ranges.items():
            below = max(bits - fmt.precision, step, 0)
            if below < bits:
                groups = weight << (bits - 1 - below)  # in each, every distance occurs alike
                made._residues(below, groups, truncate)
            elif below == bits and not truncate:  # from the middle up to the grid's first number
                made._range(range(1, bits), weight)
                made._one(1 << (bits - 1), weight)
            else:
                made._range([bits], weight)
        for value, weight in self.single.items():
            exact = value.bit_length() > step
            made._one(0 if exact else value, weight)
        return made

    def _residues(self, below: int, groups: int, truncate: bool) -> None:
        self._one(0, groups)
        if truncate:
            self._range(range(1, below + 1), groups)
        elif below:
            self._range(range(1, below), 2 * groups)
            self._one(1 << (below - 1), groups)

    def _range(self, lengths: Iterable[int], weight: int) -> None:
        for bits in lengths:
            self.ranges[bits] = self.ranges.get(bits, 0) + weight

    def _one(self, value: int, weight: int) -> None:
        self.single[value] = self.single.get(value, 0) + weight

    def kinds(self, fmt: Format, step: int, mode: Rounding) -> list[int]:
        """Return how many are zero, are rounded to zero, to a subnormal number, to a normal one."""
        counts = [0] * len(CLASSES)
        normal = step + fmt.fraction_bits  # from 2^normal on
        for bits, weight in self.ranges.items():
            size = weight << (bits - 1)
            below = max(bits - fmt.precision, step, 0)
            up = 0  # those that round up to 2^bits
            if not mode.truncates and below:
                up = weight << (below - 1) if below < bits else size if below == bits else 0
            if below == bits and mode.ties_to_even:
                up -= weight  # the middle goes to zero
            counts[GRADUAL if bits < normal else NORMAL] += up if below <= bits else 0
            if below >= bits:
                counts[UNDERFLOW] += size - up
            else:
                counts[GRADUAL if bits - 1 < normal else NORMAL] += size - up
        for value, weight in self.single.items():
            bits = value.bit_length()
            if not value:
                counts[ZERO] += weight
            elif bits > step:
                counts[GRADUAL if bits - 1 < normal else NORMAL] += weight
            else:
                away = bits == step and mode.ties_away
                counts[(GRADUAL if bits < normal else NORMAL) if away else UNDERFLOW] += weight
        return counts


def proved(split: Split, solving: Solving) -> list[dict[str, Any]]:
    """The verdicts on "is there an input for which :func:`statement` does not hold?", as plain data.

    One for all inputs; where there is none in time, one for each half of the exponents, and so on. An input
    stands under ``x``.
    """
    results: list[dict[str, Any]] = []

    def ask(fixed: Fixed) -> None:
        replaced, question = _question(split, fixed)
        answer = solving.ask(question)
        if answer.answer == "unknown" and len(fixed) < F32.exponent_bits:
            for half in _halves(fixed):
                ask(half)
            return
        verdict = solving.judged(question, answer)
        results.append({"exponent_field": _field(fixed), **answer_json(verdict, "not so", "proved")})
        if isinstance(verdict, Distinguished):
            (at,) = evaluate([replaced], {"x": 0, "sign": 0, "low": 0, **verdict.values})
            results[-1]["x"] = F32.hex(at)

    ask(())
    return results


def proved_by_lemmas(chain: StepwiseProof, split: Split, fixed: Fixed = ()) -> bool:
    """Return whether :func:`statement` was proved of the inputs whose exponent field begins with these bits.

    At once, or of each half of them, and so on.
    """
    what = f"the closed form holds for the exponent field {_field(fixed)}"
    if chain.prove(what, _question(split, fixed)[1]):
        return True
    return len(fixed) < F32.exponent_bits and all(
        proved_by_lemmas(chain, split, half) for half in _halves(fixed)
    )


#: The first bits of an exponent field.
Fixed: TypeAlias = tuple[int, ...]


def _question(split: Split, fixed: Fixed) -> tuple[Term, Term]:
    """An input whose exponent field begins with these bits, and: does :func:`statement` not hold for it?"""
    goal, word = ~statement(split), traced(split).word
    if not fixed:
        return word, goal
    rest = var("low", F32.width - 1 - len(fixed))
    input_word = var("sign", 1).concat(const(int("".join(map(str, fixed)), 2), len(fixed))).concat(rest)
    return input_word, substitute([goal], {word: input_word})[0]


def _halves(fixed: Fixed) -> tuple[Fixed, Fixed]:
    return (*fixed, 0), (*fixed, 1)


def _field(fixed: Fixed) -> str:
    return "".join(map(str, fixed)).ljust(F32.exponent_bits, "x")


def record(split: Split) -> dict[str, Any]:
    """Return what the closed form says of a split: for each exponent of x, and for ranges alike in the error.

    Exponents are those of normal x; ``subnormal`` has zero and the subnormal numbers. Probabilities
    are over the significands (and signs) of one exponent, all alike.
    """
    tallies = {field: counted(split, field) for field in range(F32.bias + split.format.e_max + 1)}
    tally_of = {field - F32.bias: tally for field, tally in tallies.items() if tally is not None}
    ranges: list[dict[str, Any]] = []
    for exponent, tally in list(tally_of.items())[1:]:
        facts = {"largest_error_ulp": tally.worst, **_shares(tally)}
        if ranges and all(ranges[-1][key] == value for key, value in facts.items()):
            ranges[-1]["exponents"][1] = exponent
        else:
            ranges.append({"exponents": [exponent, exponent], **facts})
    return {
        "split": name_of(split),
        "format": split.format.name,
        "words": split.words,
        "rounding": [split.rounding.name, split.residual.name],
        "scale": split.scale,
        "first_word_overflows_from": F32.hex(least_special(split)),
        "ranges": ranges,
        "exponents": {
            "subnormal" if exponent == -F32.bias else str(exponent): {
                "inputs": tally.inputs,
                "kinds": dict(zip(CLASSES, tally.kinds, strict=True)),
                "error_lengths": {str(bits): count for bits, count in enumerate(tally.lengths) if count},
                "largest_error_ulp": tally.worst,
                **_shares(tally),
            }
            for exponent, tally in tally_of.items()
        },
    }


def _shares(tally: SplitTally) -> dict[str, Any]:
    lost, gradual = tally.kinds[UNDERFLOW], tally.kinds[GRADUAL]
    return {
        "exact": tally.lengths[0] / tally.split,
        "kept_bits": float(tally.kept_bits),
        "underflow": lost / tally.inputs,
        "underflow_or_gradual": (lost + gradual) / tally.inputs,
    }


def splits(formats: Iterable[str] = ()) -> list[Split]:
    """Those of ``SPLITS`` with these formats (all, where none is given). Raises UnknownName."""
    names = list(dict.fromkeys(split.format.name for split in SPLITS))
    wanted = [choose("split format", name, names) for name in formats] or names
    return [split for split in SPLITS if split.format.name in wanted]
