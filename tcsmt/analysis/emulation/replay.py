"""One dot product of an emulation, on terms: digits, instructions, additions, one by one.

The simulator's arrays take no part in it. What is found by them is replayed here before it is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.exactness.search import chained, in_instructions
from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model
from tcsmt.programs.recipes.emulation.schemes import Emulation
from tcsmt.programs.steps.digits import remainder_format, residue_digit
from tcsmt.programs.steps.on_terms import TermRules
from tcsmt.programs.steps.program import ProductRun, UnitProgram, read
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.support.invariants import not_none


def replayed(emulation: Emulation, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """Return the word of c + Σ a·b: words of the wide format, all of them."""
    return replayed_program(emulation.program(len(a)), a, b, c)


def replayed_program(program: UnitProgram, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """Return the same of a program that cuts numbers into digits. a, b, c: words of its inputs."""
    widths = {name: step.format.width for name, step in program.inputs.items()}
    left, right = ([const(word, widths[name]) for word in side] for name, side in (("A", a), ("B", b)))
    given = {"A": left, "B": right, "c": const(c, widths.get("c", 1))}
    return _word(read(program, ReplayRules([], QUIET), given))


def _word(term: Term) -> int:
    return not_none(term.value)


class ReplayRules(TermRules):
    """The rules of steps on terms that are constants: remainders are those of Python's integers."""

    def exponent(self, x: Sequence[Term], **how: Any) -> list[Term]:
        """Return exponents, each number's computed once."""
        return _by_word(super().exponent, x, **how)

    def digits(self, x: Sequence[Term], top: Term, *, slicing: Slicing, fmt: AnyFormat) -> Any:
        """Return all digits, each number's computed once."""
        digits = super().digits
        return _by_word(lambda words: digits(words, top, slicing=slicing, fmt=fmt), x)

    def residue(
        self,
        x: Sequence[Sequence[Term]],
        *,
        source: AnyFormat,
        fmt: AnyFormat,
        modulus: int,
        base: int,
        place: int,
    ) -> list[Term]:
        """Return the remainders of first digits."""
        return [
            const(
                fmt.word(Fraction(residue_digit(int(source.value(_word(first))), modulus, base, place))),
                fmt.width,
            )
            for first, *_ in x
        ]

    def exact_sum(
        self, *values: Term, sources: Sequence[AnyFormat], weights: Sequence[int], modulus: int
    ) -> Term:
        """Return the remainder of a sum."""
        whole = sum(
            weight * (0 if fmt.is_special(_word(value)) else int(fmt.value(_word(value))))
            for fmt, weight, value in zip(sources, weights, values, strict=True)
        )
        whole %= modulus
        gives = remainder_format(modulus)
        return const(whole - modulus if 2 * whole > modulus else whole, gives.width)

    def chain(
        self, c: Term | None, *operands: Sequence[Any], unit: Model, runs: Sequence[ProductRun]
    ) -> Term:
        """Return instructions one after the other, from +0."""
        rows = []
        for side, fmt in enumerate((unit.a_format, unit.b_format)):
            parts = []
            for run in runs:
                taken = (operands[side][at] for at in run.indices)
                words = [_word(word if run.words is None else word[run.words[side]]) for word in taken]
                parts.append(in_instructions(unit, np.array(words, unsigned(fmt)), fmt))
            rows.append(np.concatenate(parts))
        return const(chained(unit, *rows), unit.d_format.width)


def _by_word(rule: Any, x: Sequence[Term], **how: Any) -> list[Any]:
    """Return what a rule makes of each word, of equal words once."""
    words = list(dict.fromkeys(x))
    found = dict(zip(words, rule(words, **how), strict=True))
    return [found[word] for word in x]
