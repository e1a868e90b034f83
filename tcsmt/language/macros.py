"""Macros: operations that a machine has an instruction for; solvers are given their definition."""

from __future__ import annotations

from functools import cache

from tcsmt.language.terms import Macro, Term


def leading_zeros(word: Term) -> tuple[Term, Term]:
    """Return ``word`` shifted left until its top bit is set, and by how many bits (0 stays 0)."""
    shifted, zeros = _leading(word.width)
    return shifted(word), zeros(word)


@cache
def _leading(width: int) -> tuple[Macro, Macro]:
    return (
        Macro(f"normalised.{width}", width, lambda word: _by_halves(word)[0]),
        Macro(f"leading_zeros.{width}", max(1, (width - 1).bit_length()), lambda word: _by_halves(word)[1]),
    )


def _by_halves(word: Term) -> tuple[Term, Term]:
    width, steps = word.width, []
    for bit in reversed(range(max(1, (width - 1).bit_length()))):
        clear = word[width - 1 : width - (1 << bit)].eq(0)
        word = clear.ite(word << (1 << bit), word)
        steps.append(clear)
    zeros = steps[0]
    for clear in steps[1:]:
        zeros = zeros.concat(clear)
    return word, zeros
