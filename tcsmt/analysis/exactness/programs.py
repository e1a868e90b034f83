"""Exactness of a program on units: what words of a split hold of integers, and what becomes of products.

The integers are numbers of the operands' formats, all of them up to a limit; that the words of a split hold
them is tried for every one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.lattice import ZERO, Inexact, Lattice, integers_up_to
from tcsmt.analysis.exactness.on_lattices import LatticeRules, Words
from tcsmt.analysis.exactness.search import Subject, chained, in_instructions
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import const
from tcsmt.matrix_units.arithmetic.conversion import QUIET, NanWords, floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps import outside
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.programs.steps.on_arrays import ArrayRules, of_matrices, split_words
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.program import NoRule, ProductRun, UnitProgram, read
from tcsmt.programs.steps.split import F32, Split

Array = np.ndarray[Any, np.dtype[Any]]
#: All integers up to a limit are split; larger limits are refused.
_TRIED = 1 << 20
#: Words are counted in units of 2^-_FINEST.
_FINEST = 34


@lru_cache(maxsize=256)
def word_lattices(split: Split, limit: int) -> tuple[Lattice, ...]:
    """Where the words lie of all integers up to a limit, each word as it is used: with its scale.

    Raises :class:`.Inexact` where the words of some integer do not add up to it.
    """
    if split.wide != F32:
        raise Inexact(f"splits of {split.wide.name}: only those of {F32.name} are tried")
    if limit > _TRIED:
        raise Inexact(f"integers up to {limit}: the split is tried for all integers up to {_TRIED}")
    numbers = np.arange(-limit, limit + 1)
    wide = numbers.astype(np.float32).view(unsigned(split.wide))
    residue = numbers.astype(np.int64) << _FINEST
    lattices = []
    for place, word in enumerate(split_words(split, wide)):
        values = floats(split.format, word) * 2.0 ** (_FINEST - split.scale * place)
        if (
            not np.isfinite(values).all()
            or (np.abs(values) >= 2.0**62).any()
            or (values != np.rint(values)).any()
        ):
            raise Inexact(
                f"word {place} of an integer up to {limit} is infinite, or has a bit below 2^-{_FINEST}"
            )
        units = values.astype(np.int64)
        residue = residue - units
        last = int((units & -units)[units != 0].min(initial=1 << 62)).bit_length() - 1 - _FINEST
        low, high = (Fraction(int(end), 1 << _FINEST) for end in (units.min(), units.max()))
        lattices.append(Lattice(low, high, last) if units.any() else ZERO)
    if residue.any():
        number = int(numbers[np.flatnonzero(residue)[0]])
        raise Inexact(f"the words of {abs(number)} do not add up to it")
    return tuple(lattices)


@dataclass(frozen=True)
class ProgramSubject(Subject):
    """A program on units, such as an algorithm or a kernel. chain: of the proof.

    program_at: its steps for so many products. inputs: the formats of a, b and c. longest: the largest K.
    at_one_k: whether the steps are those of that K whatever is asked; other products are zeros then.
    """

    chain: StepwiseProof
    program_at: Callable[[int], UnitProgram]
    inputs: tuple[AnyFormat, AnyFormat, AnyFormat]
    longest: int = Algorithm.longest
    at_one_k: bool = False
    nans: NanWords = QUIET
    _units: dict[tuple[Model, int, int], ExactUnit] = field(default_factory=dict)

    @classmethod
    def of_algorithm(cls, chain: StepwiseProof, algorithm: Algorithm) -> ProgramSubject:
        """An algorithm, whose own K does not matter."""
        return cls(chain, algorithm.program, (algorithm.wide,) * 3)

    @classmethod
    def of_model(cls, chain: StepwiseProof, model: ProgramModel) -> ProgramSubject:
        """A program at one K: of fewer products, the others are zeros."""
        formats = model.a_format, model.b_format, model.c_format
        return cls(chain, lambda k: model.program, formats, model.k, at_one_k=True, nans=model.nans)

    @property
    def step(self) -> int:
        """Products of an instruction."""
        unit: Model = self.program_at(1).chains[0].how["unit"]
        return unit.k

    @property
    def formats(self) -> tuple[AnyFormat, AnyFormat, AnyFormat]:
        """Of a, of b and of the result."""
        return *self.inputs[:2], self.program_at(1).result.format

    def prove(self, limit: int, k: int) -> None:
        """Step by step."""
        if k > self.longest:
            raise Inexact(f"the program has {self.longest} products")

        def words_of(split: Split, x: Words) -> Words:
            held = word_lattices(split, limit)
            self.chain.know(f"the words of every integer up to {limit} add up to it (all of them tried)")
            return tuple(x if x.zero else x.shifted(split.scale * place) for place, x in enumerate(held))

        program = self.program_at(k)
        of_a, of_b = ((integers_up_to(fmt, limit),) for fmt in self.inputs[:2])
        rules = LatticeRules(self.chain, self._unit, words_of)
        try:
            result = read(program, rules, {"A": of_a, "B": of_b, "c": {}})
        except NoRule as why:
            raise Inexact(str(why)) from None
        rules.require_all(result, self.longest if self.at_one_k else k)

    def _unit(self, unit: Model, low: int, high: int) -> ExactUnit:
        if (unit, low, high) not in self._units:
            self._units[unit, low, high] = ExactUnit(self.chain, unit, low, high)
        return self._units[unit, low, high]

    def results(self, a: Array, b: Array) -> Array:
        """By the simulator, on words: a (m, k) and b (n, k) give (m, n), unsigned integers."""
        left, right = (self._filled(side) for side in (a, b))
        shape = len(left), len(right)
        given = {"A": left, "B": right.T, "c": np.zeros(shape, unsigned(self.inputs[2]))}
        rules = ArrayRules(shape, of_matrices, self.nans)
        return np.asarray(read(self.program_at(a.shape[1]), rules, given))

    def replayed(self, a: Array, b: Array) -> int:
        """Chain by chain, on the unit's terms, and those of the operations outside.

        a, b: words (k,), unsigned integers of their formats.
        """
        left, right = (self._filled(side[None])[0] for side in (a, b))
        given = {"A": left, "B": right, "c": 0}
        word: int = read(self.program_at(len(a)), _NumberRules(self.nans), given)
        return word

    def _filled(self, rows: Array) -> Array:
        """Return rows with zeros for the products that a program at one K has more."""
        spare = self.longest - rows.shape[1] if self.at_one_k else 0
        return np.pad(rows, ((0, 0), (0, spare)))


@dataclass(frozen=True)
class _NumberRules:
    """The rules of each step on words as integers: chains by their graph, one instruction after the other."""

    nans: NanWords

    def split(self, x: Array, *, split: Split, side: str) -> list[Array]:
        return split_words(split, x)

    def constant(self, *, fmt: AnyFormat, word: int) -> int:
        return word

    def chain(self, c: int | None, *operands: Any, unit: Model, runs: Sequence[ProductRun]) -> int:
        if c:
            raise Inexact("a chain that begins with another sum is not replayed")
        rows = (
            np.concatenate(
                [
                    in_instructions(
                        unit, (operand if run.words is None else operand[run.words[side]])[run.indices], fmt
                    )
                    for run in runs
                ]
            )
            for side, (operand, fmt) in enumerate(zip(operands, (unit.a_format, unit.b_format), strict=True))
        )
        return chained(unit, *rows)

    def add(self, x: int, y: int, *, fmt: AnyFormat, shift: int, rounding: Rounding) -> int:
        return self._evaluated("add", x, y, fmt=fmt, shift=shift, rounding=rounding)

    def multiply_add(self, x: int, y: int, z: int, *, fmt: Format) -> int:
        return self._evaluated("multiply_add", x, y, z, fmt=fmt)

    def negate(self, x: int, *, fmt: Format) -> int:
        return x ^ 1 << fmt.sign_bit

    def convert(self, x: Any, *, source: Format, target: Format, rounding: Rounding, saturate: bool) -> Any:
        how = {"source": source, "target": target, "rounding": rounding, "saturate": saturate}
        if isinstance(x, np.ndarray):
            return outside.converted(x, source, target, rounding, saturate=saturate, nans=self.nans)
        return self._evaluated("convert", x, **how)

    def _evaluated(self, step: str, *words: int, **how: Any) -> int:
        """Return what the terms of a step give."""
        fmt: Format = how["source" if "source" in how else "fmt"]
        term = getattr(TermRules([], self.nans), step)(*(const(word, fmt.width) for word in words), **how)
        (word,) = evaluate([term], {})
        return word
