"""The error of a product against binary64, split into the parts that its steps cause."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcsmt.programs.quantisation.quantise import Quantised

Array = np.ndarray[Any, np.dtype[Any]]

#: The steps that an error is split into.
CAUSES = ("operands", "accumulation", "result")


@dataclass
class ProductLosses:
    """Losses of the products of one place, over some rows of their results.

    squares: of the results in binary64. errors: of the differences from these. along: the scalar product of
    each step's differences with all of them, which add up to ``errors``; alone: the squares of each step's.
    elements: of results compared;
    overflowed: those that are not finite although the result in binary64 is, which are left out. saturated,
    flushed: operands. operands: how many there were.
    """

    squares: float = 0.0
    errors: float = 0.0
    along: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CAUSES, 0.0))
    alone: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CAUSES, 0.0))
    largest: float = 0.0
    elements: int = 0
    overflowed: int = 0
    products: int = 0
    saturated: int = 0
    flushed: int = 0
    operands: int = 0
    shapes: dict[str, None] = field(default_factory=dict)

    @property
    def relative(self) -> float:
        """Return the norm of the errors over that of the results."""
        return float(np.sqrt(self.errors / self.squares)) if self.squares else 0.0

    @property
    def shares(self) -> dict[str, float]:
        """Return, for each step, its part of the squared error; together 1."""
        return {cause: part / self.errors if self.errors else 0.0 for cause, part in self.along.items()}

    @property
    def parts(self) -> dict[str, float]:
        """Return the norm of each step's differences over that of the results."""
        return {
            cause: float(np.sqrt(part / self.squares)) if self.squares else 0.0
            for cause, part in self.alone.items()
        }

    def count(self, a: Quantised, b: Quantised, shape: str) -> None:
        """A product of these operands."""
        self.products += 1
        self.saturated += a.saturated + b.saturated
        self.flushed += a.flushed + b.flushed
        self.operands += a.values.size + b.values.size
        self.shapes[shape] = None

    def measure(
        self,
        operands: tuple[Array, Array],
        quantised: tuple[Array, Array],
        total: Array,
        result: Array,
        alpha: float,
        added: Array | float,
    ) -> None:
        """Some rows of a product.

        operands: A (..., M, K) and B transposed (..., N, K) as they were given, in binary64; quantised: the
        numbers that the unit took. total: its sums. result: alpha·sum + added, converted. All (..., M, N).
        """
        with np.errstate(all="ignore"):
            wanted, taken = (alpha * (a @ b.swapaxes(-1, -2)) for a, b in (operands, quantised))
            sums = alpha * total
            steps = (taken - wanted, sums - taken, result - (sums + added))
            reference = wanted + added
        fine = np.isfinite(reference) & np.isfinite(result) & np.isfinite(steps[0]) & np.isfinite(steps[1])
        self.overflowed += int((np.isfinite(reference) & ~fine).sum())
        parts = [step[fine] for step in steps]
        losses = parts[0] + parts[1] + parts[2]
        self.elements += losses.size
        self.squares += float(np.square(reference[fine]).sum())
        self.errors += float(np.square(losses).sum())
        for cause, part in zip(CAUSES, parts, strict=True):
            self.along[cause] += float((part * losses).sum())
            self.alone[cause] += float(np.square(part).sum())
        self.largest = max(self.largest, float(np.abs(losses).max(initial=0.0)))


def sampled(stack: tuple[int, ...], rows: int, most: int | None) -> tuple[Any, ...]:
    """Places of a stack of results (..., M, N): so many rows at the most, evenly spread.

    It indexes arrays (..., M, ·) whose stack is flat: (stack, M, ·).
    """
    count = int(np.prod(stack, dtype=np.int64))
    if most is None or count * rows <= most:
        return slice(None), slice(None)
    items = min(count, max(1, most // min(rows, 8)))
    each = max(1, most // items)
    return slice(0, None, -(-count // items)), slice(0, None, -(-rows // each))
