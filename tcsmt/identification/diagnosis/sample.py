"""Some elements of a recorded result as numbers, and how far from an exact value a right kernel may be.

A change of the inputs (operands that are rounded, a term that is left out) has an exact result of its own.
It fits where D lies as near to that as a kernel's own rounding errors are large, and where so many elements
do so by such a margin that chance does not: each element counts the bits by which D is nearer than it would
have to be, and the sum must exceed what choosing among all changes of the kind costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import Any

import numpy as np

from tcsmt.identification.diagnosis.recorded import RecordedResult, kernel_values
from tcsmt.programs.kernels.elements import SampledElements
from tcsmt.programs.kernels.kernel import Kernel

Array = np.ndarray[Any, np.dtype[Any]]

#: Elements at most, and their products; elements on which kernels' own errors are measured.
_ELEMENTS, _PRODUCTS, _MEASURED = 512, 1 << 18, 64
#: How much larger an error may be than the largest one measured, as for sums in another order or on another
#: unit; errors of binary64 itself, as a part of the sizes.
_SLACK, _FLOOR = 16.0, 2.0**-45
#: Bits of evidence beyond what choosing among the changes costs: chance fits once in 256 times.
MARGIN = 8
_SEED = 20261128


def factor_of(kernel: Kernel, number: float) -> float:
    """alpha or beta as the kernel has it, in the format in which its epilogue computes."""
    return number if kernel.schedule.working_format.name == "f64" else float(np.float32(number))


@dataclass(frozen=True)
class ResultSample:
    """Elements of D, and what the kernels that are at hand would give.

    kernels: at least one; alpha and beta are the first one's. places: (elements, 2).
    """

    recorded: RecordedResult
    kernels: tuple[Kernel, ...]
    places: Array
    inputs: SampledElements = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", self.recorded.at(self.places))

    @classmethod
    def of(cls, recorded: RecordedResult, kernels: Sequence[Kernel], pool: Array) -> ResultSample:
        """Elements drawn from some places by chance."""
        length = recorded.shape[2]
        count = min(len(pool), max(16, min(_ELEMENTS, _PRODUCTS // max(length, 1))))
        chosen = np.random.default_rng(_SEED).permutation(len(pool))[:count]
        return cls(recorded, tuple(kernels), pool[np.sort(chosen)])

    @cached_property
    def d(self) -> Array:
        """D's values."""
        values: Array = self.recorded.d[self.places[:, 0], self.places[:, 1]]
        return values

    @cached_property
    def products(self) -> Array:
        """alpha·a·b, (elements, K)."""
        return self.products_of(self.inputs)

    def products_of(self, inputs: SampledElements) -> Array:
        """alpha·a·b of some inputs."""
        kernel = self.kernels[0]
        alpha = factor_of(kernel, kernel.epilogue.alpha)
        with np.errstate(all="ignore"):
            result: Array = alpha * self.recorded.values("a", inputs) * self.recorded.values("b", inputs)
        return result

    @cached_property
    def addends(self) -> dict[str, Array]:
        """beta·c and the bias, by name, where there are any."""
        kernel, found = self.kernels[0], {}
        if self.inputs.c is not None and kernel.epilogue.beta != 0:
            c = self.recorded.values("c", self.inputs)
            found["C"] = c * factor_of(kernel, kernel.epilogue.beta)
        if self.inputs.bias is not None:
            found["the bias"] = self.recorded.values("bias", self.inputs)
        return found

    @cached_property
    def added(self) -> Array:
        """Return the sum of what is added to the products."""
        return sum(self.addends.values(), np.zeros(len(self.places)))

    @cached_property
    def exact(self) -> Array:
        """Return the exact results, nearly."""
        return self.summed(self.products)

    def summed(self, products: Array) -> Array:
        """Return the sum of some products and of what is added to them."""
        with np.errstate(all="ignore"):
            result: Array = products.sum(axis=1) + self.added
        return result

    @cached_property
    def size(self) -> Array:
        """Return the sum of the magnitudes of all that is added."""
        with np.errstate(all="ignore"):
            magnitudes: Array = np.abs(self.products).sum(axis=1)
        return sum((np.abs(term) for term in self.addends.values()), magnitudes)

    @cached_property
    def own(self) -> dict[Kernel, Array]:
        """Return what the kernels give of the first of these elements: (orders, elements)."""
        some = ResultSample(self.recorded, self.kernels, self.places[:_MEASURED])
        return dict(kernel_values(self.kernels, some.inputs))

    @cached_property
    def noise(self) -> float:
        """Return the largest error of the kernels at hand, as a part of the sizes.

        A few elements may happen to have small errors: then those of all of D are measured.
        """
        measured, worst = self, _FLOOR
        if len(self.places) < _MEASURED:
            every_element = np.argwhere(np.ones(self.recorded.d.shape, bool))
            measured = ResultSample.of(self.recorded, self.kernels, every_element)
        count = min(_MEASURED, len(measured.places))
        with np.errstate(all="ignore"):
            for values in measured.own.values():
                parts = np.abs(values - measured.exact[:count]) / measured.size[:count]
                worst = max(worst, float(np.nanmax(np.where(np.isfinite(parts), parts, 0.0), initial=0.0)))
        return worst

    @cached_property
    def allowed(self) -> Array:
        """Return how far each element may be from an exact result."""
        return np.maximum(_SLACK * self.noise * self.size, 5e-324)

    @cached_property
    def informative(self) -> Array:
        """Return the bits that each element says, in favour of a change that explains it."""
        with np.errstate(all="ignore"):
            bits = np.log2(np.abs(self.d - self.exact) / self.allowed)
        return np.where(np.isfinite(bits), np.maximum(bits, 0.0), 0.0)

    def residual(self, expected: Array, size: Array | None = None) -> float:
        """Return the largest distance of D from an exact result, in parts of what is allowed.

        size: the sums of the magnitudes, where they are others than the sample's.
        """
        allowed = self.allowed if size is None else np.maximum(_SLACK * self.noise * size, 5e-324)
        with np.errstate(all="ignore"):
            parts = np.abs(self.d - expected) / allowed
        return float(np.max(np.where(np.isnan(parts), np.inf, parts), initial=0.0))

    def fits(self, expected: Array, count: int, size: Array | None = None) -> bool:
        """Return whether every element lies where a change says, of which there are so many to choose
        from.
        """
        enough = self.informative.sum() > log2(max(count, 1)) + MARGIN
        return bool(enough) and self.residual(expected, size) <= 1


def wrong_elements(recorded: RecordedResult, kernels: Sequence[Kernel]) -> Array:
    """Return where D is further from the exact result than the kernels' errors reach: booleans (M, N)."""
    m, n, _ = recorded.shape
    every = ResultSample.of(recorded, kernels, np.argwhere(np.ones((m, n), bool)))
    kernel = kernels[0]
    a, b, c, bias = (recorded.values(name) for name in ("a", "b", "c", "bias"))
    alpha, beta = (factor_of(kernel, x) for x in (kernel.epilogue.alpha, kernel.epilogue.beta))
    with np.errstate(all="ignore"):
        exact = alpha * (a @ b.T) + beta * c + bias
        size = abs(alpha) * (np.abs(a) @ np.abs(b.T)) + np.abs(beta * c) + np.abs(bias)
        result: Array = ~(np.abs(recorded.d - exact) <= np.maximum(_SLACK * every.noise * size, 5e-324))
    return result & np.isfinite(exact)
