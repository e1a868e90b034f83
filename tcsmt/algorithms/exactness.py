"""Is the chained result of a unit, or of an algorithm on it, exactly the dot product of integers?

By induction over the instructions. Before each one, the partial sum lies in a range that follows from the
products before it, and is a multiple of their last bit (:class:`.Lattice`); the instruction's result is then
exactly the sum of that and of its own products (``exact_units.py``), which gives the next range. Every
condition is an upper limit, so that of a chain of equal products the last two instructions decide.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tcsmt.algorithms.exact_search import LONGEST, Inputs, counterexample
from tcsmt.algorithms.exact_units import ExactUnit
from tcsmt.algorithms.fused_loss import Unbounded
from tcsmt.algorithms.lattice import ZERO, Inexact, Lattice, integers_up_to
from tcsmt.algorithms.proof import Chain
from tcsmt.models import Model
from tcsmt.prove.solving import Solving
from tcsmt.statements.verdict import Equivalent

__all__ = ["MOST", "Exactness", "exact", "largest_integer", "largest_k", "proved"]

#: The largest K and the largest integer that are asked about.
MOST = 1 << 60
_LARGEST_INTEGER = 1 << 24


@dataclass(frozen=True)
class Exactness:
    """Up to where results are exact.

    k: the largest K that is proved (0: none). integers: the largest magnitude of the operands. a, b: where
    they lie. ends: why the proof ends there. beyond: inputs of few more products, or of larger integers,
    with another result (None: none found, or not searched). closed: whether those are the next K, or the next
    larger integer. proof: None where nothing is proved.
    """

    k: int
    integers: int
    a: Lattice
    b: Lattice
    ends: str
    beyond: Inputs | None
    closed: bool
    proof: Equivalent | None
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "k": self.k,
            "integers": self.integers,
            "a": [int(self.a.low), int(self.a.high)],
            "b": [int(self.b.low), int(self.b.high)],
            "ends": self.ends,
            "beyond": None if self.beyond is None else self.beyond.as_json(),
            "closed": self.closed,
            "proof": None if self.proof is None else self.proof.as_json(),
            "seconds": round(self.seconds, 3),
        }


def proved(unit: ExactUnit, a: Lattice, b: Lattice, k: int) -> str:
    """"" where the sum of ``k`` products is proved to be exact; else why not."""
    product, step, model = a * b, unit.unit.k, unit.unit
    full, rest = divmod(k - 1, step)
    rest += 1
    if full and model.c_format != model.d_format:
        return f"results in {model.d_format.name} cannot be the next instruction's c, in {model.c_format.name}"
    try:
        if full:
            unit.result(product.times((full - 1) * step), [product] * step)
        unit.result(product.times(full * step), [product] * rest)
    except (Inexact, Unbounded) as why:
        return str(why)
    return ""


def largest_k(unit: ExactUnit, a: Lattice, b: Lattice) -> tuple[int, str]:
    """The largest K for which the sum is proved to be exact, and why it is not for the next one."""
    return _largest(lambda k: proved(unit, a, b, k), MOST)


def largest_integer(unit: ExactUnit, k: int) -> tuple[int, str]:
    """The largest magnitude of operands for which the sum of ``k`` products is proved to be exact."""
    one, two = unit.unit.a_format, unit.unit.b_format

    def tried(limit: int) -> str:
        return proved(unit, integers_up_to(one, limit), integers_up_to(two, limit), k)

    return _largest(tried, _LARGEST_INTEGER)


def _largest(why_not: Callable[[int], str], most: int) -> tuple[int, str]:
    """The largest number, from 0, for which nothing is said, where all smaller ones are like it."""
    low, high, ends = 0, 1, ""
    while high <= most and not (ends := why_not(high)):
        low, high = high, high * 2
    if high > most:
        return low, f"not asked about more than {most}"
    while high - low > 1:
        middle = (low + high) // 2
        why = why_not(middle)
        low, high, ends = (middle, high, ends) if not why else (low, middle, why)
    return low, ends


def exact(
    unit: Model, solving: Solving, *, integers: int | None = None, k: int | None = None, search: bool = True
) -> Exactness:
    """How far sums of products of integers are exact.

    integers: the largest magnitude; k: products; one of both, and the largest other one is looked for, with
    inputs that go beyond it; or both. Raises :class:`.Contradiction` where inputs contradict the proof.
    """
    start = time.monotonic()
    chain = Chain(solving)
    one = ExactUnit(chain, unit)
    if integers is None:
        assert k is not None
        integers, ends = largest_integer(one, k)
        most, length = k if integers else 0, k
        a, b = _operands(unit, integers)
        wider = _operands(unit, integers + 1)
        tries = [(*wider, length)] if wider != (a, b) else []
    else:
        a, b = _operands(unit, integers)
        if k is None:
            most, ends = largest_k(one, a, b)
            tries = [(a, b, length) for length in _lengths(unit, most)]
        else:
            ends = proved(one, a, b, k)
            most = 0 if ends else k
            tries = [(a, b, k)] if ends else []
    beyond = None
    closed = False
    for number, (left, right, length) in enumerate(tries if search else []):
        if length > unit.k and unit.c_format != unit.d_format:
            break
        beyond = counterexample(unit, left, right, length)
        if beyond is not None:
            closed = number == 0
            break
    proof = chain.verdict(time.monotonic() - start) if most else None
    return Exactness(most, integers, a, b, ends, beyond, closed, proof, time.monotonic() - start)


def _operands(unit: Model, limit: int) -> tuple[Lattice, Lattice]:
    return integers_up_to(unit.a_format, limit), integers_up_to(unit.b_format, limit)


def _lengths(unit: Model, most: int) -> list[int]:
    """Values of K beyond the largest that is proved, in which a counterexample is looked for."""
    more = [1, 2, unit.k, 2 * unit.k, max(most // 8, 4 * unit.k), max(most, 8 * unit.k)]
    return sorted({most + n for n in more if most + n <= LONGEST})
