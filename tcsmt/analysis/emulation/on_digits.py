"""The reading of programs on digits of numbers: which products of digits a sum has, and how often each one.

Numbers of A and of B are cut into digits, whose products units add up exactly, or of which residues do. A sum
outside of the units is a sum of such products, each times a factor, and is off by what additions lose. Where
it is multiplied by 2 to the power of both largest exponents, it is the dot product, but for what is missing.

What is asked about such a program, its error or its exact integers, is a subclass: it says what becomes of a
sum that is rounded, and of one that is scaled. The lemmas are proved at the end, each of them once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.cut_lemmas import prove
from tcsmt.analysis.exactness.largest import largest_proved
from tcsmt.analysis.exactness.search import UnitSubject
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.programs.steps.digits import remainder_format, residue_range
from tcsmt.programs.steps.program import NoRule, ProductRun, UnitProgram, read
from tcsmt.programs.steps.slicing import Slicing

#: Bits of an integer that is cut out of a number, at most.
_MOST_BITS = 60


def cuts_digits(program: UnitProgram) -> bool:
    """Return whether a program cuts numbers into digits, and so is one that is read here."""
    return any(step.kind == "digits" for step in program.steps)


@dataclass(frozen=True)
class Numbers:
    """The numbers of a row of A, or of a column of B."""

    side: str
    format: Format


@dataclass(frozen=True)
class Exponents:
    """The exponents of these numbers, or the largest one of all."""

    side: str
    largest: bool = False


@dataclass(frozen=True)
class Digits:
    """The digits of these numbers; with a modulus, the residues of the first ones, or a digit of theirs."""

    side: str
    slicing: Slicing
    modulus: int = 0
    base: int = 0
    place: int = 0

    @property
    def largest(self) -> int:
        """Return the largest magnitude."""
        return max(map(abs, residue_range(self.modulus, self.base))) if self.modulus else self.slicing.largest

    @property
    def weights(self) -> tuple[int, ...]:
        """Return what the digits of a residue count."""
        return (1, self.base) if self.base else (1,)


#: By the digits of A and of B that are multiplied, how often their product counts.
Factors = Mapping[tuple[int, int], Fraction | int]


@dataclass(frozen=True)
class KnownNumber:
    """A number that is no input; None: not finite."""

    number: Fraction | None


@dataclass(frozen=True)
class Addend:
    """The input c."""


@dataclass(frozen=True)
class DigitSum:
    """A sum of products of digits.

    of: the digits of A, and of B. parts: how often each product counts, by classes of indices of K of which
    that is the same. most, last: it is a multiple of 2^-last, of so many at most. format: of its words. off:
    what its additions have lost, reach: its size, in units that the question chooses (None: not looked at).
    """

    of: tuple[Digits, Digits]
    parts: Mapping[int, Factors]
    most: int
    last: int
    format: AnyFormat
    off: int = 0
    reach: int | None = None


@dataclass(frozen=True)
class Remainder:
    """The remainder nearest to zero of the integer Σ digit·digit: of the first digits of each number."""

    of: tuple[Digits, Digits]
    modulus: int


class DigitRules(ABC):
    """The rules of each step on digits. k: products. high: the largest exponent of a number."""

    def __init__(self, program: UnitProgram, k: int, high: int) -> None:
        self.program, self.k, self.high = program, k, high
        self.classes, self.count = _classes(program, k)
        self.slicings: dict[Slicing, None] = {}
        self.conditions: dict[str, None] = {}
        self.chains: dict[Model, tuple[int, int]] = {}
        # programs have few kinds of parts, but as many sums as chains
        self._parts: dict[frozenset[tuple[tuple[int, int], Fraction | int]], Factors] = {}
        self._joined: dict[tuple[int, int, int], Factors] = {}
        self._sizes: dict[tuple[int, int], int] = {}
        self._sides: dict[tuple[Digits, Digits], tuple[Digits, Digits]] = {}

    def result(self, inputs: Mapping[str, Any]) -> Any:
        """Return what the program's result is. inputs: others than A and B.

        Raises :class:`.Unbounded` for a step that no rule is about, by its name.
        """
        wide = {name: self.program.inputs[name].format for name in "AB" if name in self.program.inputs}
        numbers = {side: Numbers(side, fmt) for side, fmt in wide.items() if isinstance(fmt, Format)}
        if len(numbers) != 2 or numbers["A"].format != numbers["B"].format:
            names = ", ".join(f"{side} in {fmt.name}" for side, fmt in wide.items())
            raise Unbounded(f"digits are those of A and B in one floating-point format, not of {names}")
        try:
            return read(self.program, self, numbers | dict(inputs))
        except NoRule as why:
            raise Unbounded(str(why)) from None

    def prove_units(self, chain: StepwiseProof) -> None:
        """Prove what the rules rest on: of units and moduli. Raises :class:`.Unbounded`."""
        for unit, (limit, length) in self.chains.items():
            exact_in_unit(chain, unit, limit, length)
        for what in self.conditions:
            chain.know(what)

    def prove_cuts(self, chain: StepwiseProof) -> None:
        """Prove it of cuts. Raises :class:`.Unbounded`."""
        for slicing in self.slicings:
            prove(chain, slicing)

    # --- what the question says

    @abstractmethod
    def cut(self, slicing: Slicing) -> None:
        """Look at a cut that numbers get."""

    @abstractmethod
    def size(self, of: tuple[Digits, Digits], factors: Factors) -> int:
        """Return how large a sum of products of one class can be, in the question's units."""

    @abstractmethod
    def rounded(self, x: DigitSum, fmt: Format) -> DigitSum:
        """Return a sum that its format may not have, rounded to nearest."""

    @abstractmethod
    def scaled(self, x: DigitSum, fmt: Format, shift: int) -> Any:
        """Return the sum times 2^(both largest exponents - shift)."""

    @abstractmethod
    def with_c(self, x: Any, fmt: Format) -> Any:
        """Return what was scaled, plus c."""

    # --- digits

    def constant(self, *, fmt: AnyFormat, word: int) -> KnownNumber:
        """A number, or none."""
        return KnownNumber(None if fmt.is_special(word) else fmt.value(word))

    def exponent(self, x: Any, *, fmt: Format) -> Exponents:
        """Return the numbers' exponents."""
        if not isinstance(x, Numbers):
            raise Unbounded("exponent: numbers of A or of B are expected")
        return Exponents(x.side)

    def maximum(self, x: Any, y: Any = None, **how: Any) -> Exponents:
        """Return the largest exponent of a row or a column."""
        if not isinstance(x, Exponents) or y is not None:
            raise Unbounded("maximum: exponents of A or of B are expected")
        return Exponents(x.side, largest=True)

    def digits(self, x: Any, top: Any, *, slicing: Slicing, fmt: AnyFormat) -> Digits:
        """Return the digits of numbers."""
        if not isinstance(x, Numbers) or top != Exponents(x.side, largest=True):
            raise Unbounded("digits: numbers of A or of B, and their largest exponent, are expected")
        self.cut(slicing)
        self.slicings[slicing] = None
        return Digits(x.side, slicing)

    def residue(self, x: Digits, *, modulus: int, base: int, place: int, **formats: Any) -> Digits:
        """Return the residues of the first digits, or digits of them."""
        return replace(x, modulus=modulus, base=base, place=int(bool(base and place)))

    def chain(
        self, c: Any, a: Any, b: Any, *scales: Any, unit: Model, runs: Sequence[ProductRun]
    ) -> DigitSum:
        """Return the exact sum of a chain, which the unit is proved to give."""
        if scales or not all(isinstance(x, Digits) and x.side == side for x, side in ((a, "A"), (b, "B"))):
            raise Unbounded("chain: digits of A and of B are expected, without block scales")
        if c not in (None, KnownNumber(Fraction(0))):
            raise Unbounded("chain: it begins with a sum")
        times: dict[int, dict[tuple[int, int], int]] = {}
        for run in runs:
            product = run.words or (a.place, b.place)
            for number, count in self.classes[run.key[0]]:
                counts = times.setdefault(number, {})
                counts[product] = counts.get(product, 0) + count
        parts = {number: self._part(counts) for number, counts in times.items()}
        length, limit = sum(len(run.indices) for run in runs), max(a.largest, b.largest)
        whole = length if len(runs) == 1 else sum(-(-len(run.indices) // unit.k) for run in runs) * unit.k
        before = self.chains.get(unit, (0, 0))
        self.chains[unit] = max(before[0], limit), max(before[1], whole)
        sides = replace(a, place=0) if a.place else a, replace(b, place=0) if b.place else b
        of = self._sides.setdefault(sides, sides)
        return DigitSum(of, parts, length * a.largest * b.largest, 0, unit.d_format)

    def exact_sum(
        self, *values: Any, sources: Sequence[AnyFormat], weights: Sequence[int], modulus: int
    ) -> Remainder:
        """Return the remainder of the integer product, of chains of residues or of other remainders."""
        if all(isinstance(x, Remainder) for x in values):
            # each is N + t·modulus: Σ weight·remainder is N where the weights add up to 1, and the rest is 0
            same = len({x.of for x in values}) == 1 and (sum(weights) - 1) % modulus == 0
            if not same or any(w * x.modulus % modulus for w, x in zip(weights, values, strict=True)):
                raise Unbounded(f"exact_sum: modulo {modulus}, it is not the number with these remainders")
            return Remainder(values[0].of, modulus)
        counted: dict[tuple[int, int, int], Fraction | int] = {}
        for x, weight in zip(values, weights, strict=True):
            residues = isinstance(x, DigitSum) and not x.last and all(side.modulus for side in x.of)
            if not residues or any(side.modulus % modulus for side in x.of):
                raise Unbounded(f"exact_sum: chains of residues modulo {modulus} are expected")
            for number, factors in x.parts.items():
                for product, times in factors.items():
                    place = number, *product
                    counted[place] = counted.get(place, 0) + weight * times
        if len({x.of for x in values}) != 1:
            raise Unbounded("exact_sum: residues of one kind are expected")
        a, b = values[0].of
        for number in range(self.count):
            for i, left in enumerate(a.weights):
                for j, right in enumerate(b.weights):
                    if (counted.get((number, i, j), 0) - left * right) % modulus:
                        raise Unbounded(f"exact_sum: modulo {modulus}, it is not the product of the residues")
        sides = Digits("A", a.slicing), Digits("B", b.slicing)
        return Remainder(self._sides.setdefault(sides, sides), modulus)

    # --- sums

    def accumulate(self, x: Any, y: Any, *, source: AnyFormat, fmt: Format, shift: int) -> Any:
        """x·2^-shift + y, rounded to nearest."""
        if x == KnownNumber(Fraction(0)):
            return y
        x = self._number(x)
        if y == KnownNumber(Fraction(0)):
            y = DigitSum(x.of, {}, 0, 0, fmt, reach=0)
        if not isinstance(y, DigitSum) or x.of != y.of or any(side.modulus for side in x.of):
            raise Unbounded("accumulate: sums of products of the same digits are expected")
        parts, reach = dict(y.parts), y.reach
        if reach is None:
            reach = max((self._size(x.of, part) for part in parts.values()), default=0)
        for number, factors in x.parts.items():
            parts[number] = self._with(parts.get(number), factors, shift)
            reach = max(reach, self._size(x.of, parts[number]))
        last = max(x.last + shift, y.last)
        most = (x.most << (last - x.last - shift)) + (y.most << (last - y.last))
        if most > int(fmt.largest_finite) << last or last > fmt.fraction_bits - fmt.e_min:
            largest = float(Fraction(most, 1 << last))
            raise Unbounded(f"the sum of products may have bits from 2^-{last} to {largest:.4g}")
        total = DigitSum(x.of, parts, most, last, fmt, y.off - (-x.off >> shift), reach)
        # multiples of 2^-last that have no more bits than the format are exact
        return total if most <= 1 << fmt.precision else self.rounded(total, fmt)

    def _part(self, factors: Factors) -> Factors:
        """Return the one object for such a part."""
        return self._parts.setdefault(frozenset(factors.items()), factors)

    def _with(self, part: Factors | None, more: Factors, shift: int) -> Factors:
        """Return a part with others, times 2^-shift."""
        key = id(part), id(more), shift
        if key not in self._joined:
            whole = dict(part or {})
            for product, times in more.items():
                whole[product] = whole.get(product, 0) + Fraction(times, 1 << shift)
            self._joined[key] = self._part(whole)
        return self._joined[key]

    def _size(self, of: tuple[Digits, Digits], part: Factors) -> int:
        key = id(of), id(part)
        if key not in self._sizes:
            self._sizes[key] = self.size(of, part)
        return self._sizes[key]

    def add(self, x: Any, y: Any, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> Any:
        """Add c, or two sums."""
        if not isinstance(fmt, Format) or not rounding.ties_to_even:
            raise Unbounded(f"add: only sums in floating point to nearest have a rule here, not {fmt.name}")
        if isinstance(x, DigitSum | Remainder):
            return self.accumulate(x, y, source=fmt, fmt=fmt, shift=shift)
        if y == KnownNumber(Fraction(0)) and not shift:
            return x
        if isinstance(x, Addend):
            x, y = y, x
        if not isinstance(y, Addend) or shift or isinstance(x, KnownNumber | Addend):
            raise Unbounded("add: c is added to what was scaled, once")
        return self.with_c(x, fmt)

    def scale(self, x: Any, *exponents: Any, fmt: Format, shift: int, **formats: Any) -> Any:
        """x·2^(Σ exponents - shift), rounded to nearest."""
        if sorted(map(str, exponents)) != [str(Exponents(side, largest=True)) for side in "AB"]:
            raise Unbounded("scale: the largest exponents of A and of B are expected")
        return self.scaled(self._number(x), fmt, shift)

    def _number(self, x: Any) -> DigitSum:
        """Return a sum; a remainder is the integer itself where it can be no other one."""
        if isinstance(x, DigitSum) and not any(side.modulus for side in x.of):
            return x
        if not isinstance(x, Remainder):
            raise Unbounded("a sum of products of digits is expected, or one with its remainders")
        a, b = x.of
        most = self.k * a.largest * b.largest
        condition = f"2·{self.k}·{_squared(a.slicing, b.slicing)} < {x.modulus}, the moduli's product"
        if 2 * most >= x.modulus:
            bits = _most_bits(self.k, x)
            raise Unbounded(
                f"the condition does not hold: {condition}; for K = {self.k} the moduli allow {bits} bits"
            )
        self.conditions[f"{condition}: the residues have one product (Chinese remainder theorem)"] = None
        parts = dict.fromkeys(range(self.count), self._part({(0, 0): 1}))
        return DigitSum(x.of, parts, most, 0, remainder_format(x.modulus))

    def counts(self, x: DigitSum, shift: int) -> Iterator[Factors]:
        """Yield, for each class of K, how often the scaled sum has each product of two digits: 1 is right."""
        a, b = (side.slicing for side in x.of)
        above = Fraction(2) ** (-shift - a.above - b.above)
        for number in range(self.count):
            factors = x.parts.get(number, {})
            yield {
                (i, j): factors.get((i, j), Fraction(0)) * above * 2 ** (a.bits * (i + 1) + b.bits * (j + 1))
                for i in range(a.count)
                for j in range(b.count)
            }

    # --- conditions

    def compare(self, x: Any, y: Any, *, fmt: AnyFormat, relation: str) -> bool:
        """Return whether a largest exponent compares so with a number, whatever the numbers are."""
        if not isinstance(x, Exponents) or not isinstance(y, KnownNumber) or y.number is None:
            raise Unbounded("compare: a largest exponent and a number are expected")
        if not isinstance(fmt, IntegerFormat) or not x.largest or y.number < self.high:
            raise Unbounded(f"compare: exponents may be up to {self.high}")
        if relation == "less_equal" or (relation == "less" and y.number > self.high):
            return True
        raise Unbounded(f"compare: that an exponent is {relation} may be so or not")

    def select(self, condition: bool, x: Any, y: Any, *, fmt: AnyFormat) -> Any:
        """Return what the condition, which is decided, chooses."""
        return x if condition else y


def exact_in_unit(chain: StepwiseProof, unit: Model, limit: int, length: int) -> None:
    """Prove that chains of products of integers up to a limit are exact. Raises :class:`.Unbounded`."""
    subject = UnitSubject(ExactUnit(chain, unit))
    why = subject.proved(limit, length)
    if why:
        most, _ = largest_proved(lambda n: subject.proved(limit, n), length)
        raise Unbounded(
            f"a chain of {length} products of integers up to {limit} is not proved exact ({why}); "
            f"up to {most} it is: every = {most}"
        )
    chain.know(f"{length} products of integers up to {limit} are summed exactly in one chain")


def _classes(program: UnitProgram, k: int) -> tuple[dict[bytes, list[tuple[int, int]]], int]:
    """Return, by the indices of a run, the classes of K that it has, and how often; and how many there are.

    Indices of one class are in the same runs, equally often.
    """
    runs = {run.key[0]: run.indices for step in program.chains for run in step.how["runs"]}
    of, count = np.zeros(k, np.int64), 1
    for indices in runs.values():
        at, times = np.unique(indices, return_counts=True)
        _, place = np.unique(of[at] * (len(indices) + 1) + times, return_inverse=True)
        of[at] = count + place
        count += int(place.max(initial=-1)) + 1
    used, of = np.unique(of, return_inverse=True)
    found = {}
    for key, indices in runs.items():
        at, times = np.unique(indices, return_counts=True)
        found[key] = sorted(set(zip(of[at].tolist(), times.tolist(), strict=True)))
    return found, len(used)


def _squared(a: Slicing, b: Slicing) -> str:
    sizes = [f"2^{cut.bits - 1}" if cut.nearest else f"2^{cut.bits} - 1" for cut in (a, b)]
    return f"({sizes[0]})^2" if sizes[0] == sizes[1] else f"({sizes[0]})·({sizes[1]})"


def _most_bits(k: int, x: Remainder) -> int:
    """Return how many bits integers may have whose products have one number with these remainders."""
    bits, nearest = 0, [side.slicing.nearest for side in x.of]
    while bits < _MOST_BITS:
        a, b = (1 << bits if rounds else (2 << bits) - 1 for rounds in nearest)
        if 2 * k * a * b >= x.modulus:
            break
        bits += 1
    return bits
