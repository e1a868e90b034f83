"""How large a unit's error can be where operands may be subnormal: the largest found, and a bound.

A unit aligns the product of a subnormal operand as if it were as large as that of a normal one. What it loses
relative to |c| + Σ |a·b| is therefore up to 2^(p - 1) times as much, for operands of p significant bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tcsmt.analysis.bounds.budget import chain_loss
from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.search.bound import Bound, check_consistent, extreme, relative_score, unit
from tcsmt.analysis.search.search import Array, Rows, climb
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.verdict import Equivalent

#: Why the bound may lie above every error.
_APART = "the largest losses of the steps may not occur on the same input"


def bound_with_subnormals(algorithm: Algorithm, domain: Domain, solving: Solving, *, seconds: float) -> Bound:
    """Return the largest error found in about so many seconds, and a bound, where one is proved.

    algorithm: the unit by itself on numbers of its operands' format. domain: its exponents go down to those
    of subnormal numbers; of the numbers in it, those that the format has count.
    Raises :class:`.Contradiction` where a larger error is found than is proved.
    """
    start, fmt = time.monotonic(), algorithm.split.format
    score = relative_score(algorithm)

    def measured(lanes: int) -> Callable[[Rows], Array]:
        return lambda rows: score(numbers_of(fmt, rows).repeated(lanes))

    k, wide = algorithm.k, algorithm.wide
    few, _ = climb(domain, wide, min(k, 2), measured(k), seconds=seconds / 2, lanes=k)
    rows, _ = climb(domain, wide, k, measured(k), seconds=seconds / 2, start=few.repeated(k))
    found = extreme(algorithm, numbers_of(fmt, rows[:1]).values(0))
    chain = StepwiseProof(solving)
    proof: Equivalent | None = None
    proved: Fraction | None = None
    stopped = _APART
    try:
        proved = chain_loss(chain, algorithm.unit, k, domain, subnormals=True) / unit(wide)
        proof = chain.verdict(time.monotonic() - start)
    except Unbounded as why:
        stopped = str(why)
    seconds = time.monotonic() - start
    result = Bound(found if found.error != 0 else None, None, proved, None, proof, {}, stopped, seconds)
    check_consistent(algorithm, domain, result)
    return result


def numbers_of(fmt: Format, rows: Rows) -> Rows:
    """Rows whose a and b are numbers of the format: bits below those of its subnormal numbers are cut."""
    low = fmt.e_min - fmt.fraction_bits

    def cut(words: Array) -> Array:
        numbers = rows.numbers(words)
        return np.ldexp(np.trunc(np.ldexp(numbers, -low)), low).astype(np.float32).view(np.uint32)

    return replace(rows, a=cut(rows.a), b=cut(rows.b))
