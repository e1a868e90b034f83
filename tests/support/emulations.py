"""Emulations of a tiny format that stands for binary64, on units of integers; and all their inputs."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.formats import Format, IntegerFormat, format_named, integers_from
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.models import IntegerDotAdd
from tcsmt.programs.recipes.emulation.schemes import Emulation, Residues, Slices
from tcsmt.programs.steps.slicing import Slicing
from tcsmt.prove.statements.domain import Domain
from tests.oracles import tiny

__all__ = ["TINY", "UNIT", "everything", "some_emulation", "words_in"]

#: Three significant bits, exponents from -30 to 31.
TINY: Format = tiny.described(exponent_bits=6, fraction_bits=2, bias=31)
_S32 = format_named("s32")
assert isinstance(_S32, IntegerFormat)
UNIT = IntegerDotAdd(
    a_format=integers_from(-128, 127), b_format=integers_from(-128, 127), c_format=_S32, d_format=_S32, k=2,
    n_fma=None, overflow="wrap",
)  # fmt: skip


def some_emulation(rng: Random) -> Emulation:
    """Slices or residues: every parameter is drawn."""
    every = rng.choice((0, 0, 1))
    if rng.random() < 0.3:
        moduli = rng.choice(((256, 255), (256, 255, 253), (16, 15, 13), (64, 63)))
        return Residues(unit=UNIT, every=every, wide=TINY, moduli=moduli, bits=rng.choice((0, 0, 3, 5)))
    bits, count = rng.choice((2, 2, 3, 4)), rng.choice((1, 2, 3))
    cut = Slicing(bits=bits, count=count, wide=TINY, rounding=ROUNDINGS[rng.choice(("RTZ", "RNE"))])
    pairs = [(i, j) for i in range(count) for j in range(count)]
    if rng.random() < 0.6:
        pairs = [pair for pair in pairs if sum(pair) < count]
    if rng.random() < 0.3:
        pairs = rng.sample(pairs, rng.randint(1, len(pairs)))
    pairs.sort(key=sum, reverse=rng.random() < 0.4)
    return Slices(unit=UNIT, every=every, wide=TINY, cut=cut, products=tuple(pairs))


def words_in(domain: Domain, fmt: Format = TINY) -> list[int]:
    """The words of zero and of the normal numbers with such exponents."""
    found = [0]
    for word in range(1 << fmt.width):
        if fmt.is_special(word) or not fmt.value(word):
            continue
        x = fmt.value(word)
        inside = 2.0**domain.low <= abs(x) < 2.0 ** (domain.high + 1)
        if inside and not (domain.positive and x < 0):
            found.append(word)
    return found


def everything(domain: Domain, k: int) -> tuple[Any, Any, Any]:
    """All inputs of k products: words a, b (rows, k), c (rows,)."""
    words = words_in(domain)
    sides = [words] * (2 * k) + ([[0]] if domain.c_zero else [words])
    rows = np.array(list(product(*sides)), np.uint16)
    return rows[:, :k], rows[:, k : 2 * k], rows[:, -1]
