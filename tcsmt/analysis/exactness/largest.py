"""Is the chained result of a unit, or of an algorithm on it, exactly the dot product of integers?

By induction over the instructions. Before each one, the partial sum lies in a range that follows from the
products before it, and is a multiple of their last bit (:class:`.Lattice`); the instruction's result is then
exactly the sum of that and of its own products (``units.py``), which gives the next range. Every
condition is an upper limit, so that of a chain of equal products the last two instructions decide.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.exactness.lattice import Lattice, integers_up_to, largest_integer, missing_integer
from tcsmt.analysis.exactness.search import LONGEST, Inputs, Subject, counterexample
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.prove.statements.verdict import Equivalent
from tcsmt.support.errors import Contradiction
from tcsmt.support.invariants import not_none

#: The largest integer that is asked about, where it is looked for.
LARGEST_INTEGER = 1 << 24
#: Up to this K, what is proved is held against inputs, too.
_CHECKED = 1 << 13


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


def exact(
    subject: Subject,
    chain: StepwiseProof,
    *,
    integers: int | None = None,
    k: int | None = None,
    search: bool = True,
) -> Exactness:
    """Return how far sums of products of integers are exact.

    integers: the largest magnitude; k: products. Of one of both, the largest other one is looked for, with
    inputs that go beyond it; of both, whether they are. chain: of the subject, which has the proof then.
    """
    start = time.monotonic()
    of_a, of_b, _ = subject.formats
    limit, length, ends, tries = _proved(subject, integers, k)
    if search and 0 < length <= _CHECKED:
        within = counterexample(subject, limit, length)
        if within is not None:
            raise Contradiction(
                f"{length} products of integers up to {limit} are summed exactly", str(within)
            )
    beyond, closed = None, False
    for number, (wider, longer) in enumerate(tries if search else []):
        beyond = counterexample(subject, wider, longer)
        if beyond is not None:
            closed = number == 0
            break
    a, b = (integers_up_to(fmt, limit) for fmt in (of_a, of_b))
    proof = chain.verdict(time.monotonic() - start) if length else None
    return Exactness(length, limit, a, b, ends, beyond, closed, proof, time.monotonic() - start)


def _proved(
    subject: Subject, integers: int | None, k: int | None
) -> tuple[int, int, str, list[tuple[int, int]]]:
    """Return the magnitude and K that are proved, what ends there, and what to try beyond, the nearest
    first.
    """
    if integers is None:
        return _largest_integers(subject, not_none(k))
    if k is None:
        length, ends = largest_proved(lambda n: subject.proved(integers, n), subject.longest)
        ends = ends or f"no K over {subject.longest} is asked about"
        return integers, length, ends, [(integers, more) for more in _lengths(subject, length)]
    ends = subject.proved(integers, k)
    return integers, 0 if ends else k, ends, [(integers, k)] if ends else []


def _largest_integers(subject: Subject, k: int) -> tuple[int, int, str, list[tuple[int, int]]]:
    """Return the largest magnitude that is proved for a K."""
    formats = subject.formats[:2]
    every = largest_integer(formats)
    most = min(every, LARGEST_INTEGER)
    limit, ends = largest_proved(lambda size: subject.proved(size, k), most)
    limit = max(_size(fmt, limit) for fmt in formats)
    if not ends:
        ends = (
            missing_integer(formats, every + 1)
            if most == every
            else "no integer that is asked about is larger"
        )
    return limit, k if limit else 0, ends, [(limit + 1, k)] if limit < most else []


def _size(fmt: AnyFormat, limit: int) -> int:
    """Return the largest magnitude of an integer of the format, up to a limit."""
    return int(integers_up_to(fmt, limit).size)


def largest_proved(why_not: Callable[[int], str], most: int) -> tuple[int, str]:
    """Return the largest number, from 0, for which nothing is said, where all smaller ones are like it."""
    low, high, ends = 0, 1, ""
    while high <= most and not (ends := why_not(high)):
        low, high = high, max(high + 1, min(high * 2, most)) if high < most else most + 1
    if high > most:
        return low, ""
    while high - low > 1:
        middle = (low + high) // 2
        why = why_not(middle)
        low, high, ends = (middle, high, ends) if not why else (low, middle, why)
    return low, ends


def _lengths(subject: Subject, most: int) -> list[int]:
    """Values of K beyond the largest that is proved, in which a counterexample is looked for."""
    step = subject.step
    more = [1, 2, step, 2 * step, max(most // 8, 4 * step), max(most, 8 * step)]
    return sorted({most + n for n in more if most + n <= min(LONGEST, subject.longest)})
