"""A recorded result of a product, some of its elements as numbers, and what may have been done to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format
from tcsmt.programs.kernels.elements import SampledElements, on_elements
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

# --- Results -------------------------------------------------------------------------------------


Array = np.ndarray[Any, np.dtype[Any]]

#: The names of what kernels take.
INPUTS = ("a", "b", "c", "bias")


@dataclass(frozen=True)
class RecordedResult:
    """D as it was recorded, and what it is a product of: words of whole matrices.

    a: (M, K). b: of the columns of B, (N, K). c: (M, N). bias: (N,). d: D's values in binary64, (M, N).
    d_format: in which they were recorded. formats: of a, b, c and bias.
    """

    a: Array
    b: Array
    c: Array | None
    bias: Array | None
    d: Array
    d_format: Format
    formats: tuple[Format, Format, Format | None, Format | None]

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N and K."""
        m, n = self.d.shape
        return m, n, self.a.shape[1]

    @classmethod
    def of(
        cls, kernel: Kernel, words: Mapping[str, Array | None], d: Array, d_format: AnyFormat
    ) -> RecordedResult | None:
        """Read matrices of words by name, a: (M, K), b: (K, N), in the formats that a kernel takes.

        d: D's values in binary64. None where something is an integer, of which no numbers are compared.
        """
        unit, schedule = kernel.unit.model, kernel.schedule
        if not all(isinstance(fmt, Format) for fmt in (d_format, *unit.input_formats.values())):
            return None
        if not isinstance(schedule.sum_format, Format):
            return None
        formats = [float_format(fmt) for fmt in (unit.a_format, unit.b_format, unit.c_format)]
        a, b, c, bias = (words.get(name) for name in INPUTS)
        taken = (formats[0], formats[1], formats[2], schedule.working_format)
        columns = np.ascontiguousarray(not_none(b).T)
        return cls(not_none(a), columns, c, bias, d, float_format(d_format), taken)

    def at(self, places: Array) -> SampledElements:
        """Return some elements. places: rows and columns of D, integers (elements, 2)."""
        rows, columns = places[:, 0], places[:, 1]
        c = None if self.c is None else self.c[rows, columns]
        bias = None if self.bias is None else self.bias[columns]
        return SampledElements(self.a[rows], self.b[columns], c, places, self.shape, bias)

    def values(self, name: str, of: SampledElements | None = None) -> Array:
        """Return the values of one of the inputs, of some elements or whole; zero where there is none."""
        words, fmt = getattr(self if of is None else of, name), self.format_of(name)
        return np.zeros(()) if words is None or fmt is None else floats(fmt, words)

    def format_of(self, name: str) -> Format | None:
        """Return the format of one of the inputs."""
        return self.formats[INPUTS.index(name)]

    def transposed(self) -> RecordedResult:
        """Return the same inputs with D's transpose beside them, of square results."""
        return replace(self, d=self.d.T)


def same_values(values: Array, d: Array) -> Array:
    """Return where values are the same word: zeros of the same sign, and any NaNs."""
    same: Array = (values == d) & (np.signbit(values) == np.signbit(d))
    return same | (np.isnan(values) & np.isnan(d))


def kernel_values(kernels: Sequence[Kernel], elements: SampledElements) -> Iterator[tuple[Kernel, Array]]:
    """Yield what each kernel gives of some elements, in binary64: (orders, elements).

    Kernels that cannot compute them, such as those that round by random bits, are left out.
    """
    shape = *elements.shape[:2], elements.a.shape[1]  # a change may have another K
    for kernel, words in _words(kernels, replace(elements, shape=shape)):
        yield kernel, floats(float_format(kernel.schedule.d_format), np.atleast_2d(words))


def _words(kernels: Sequence[Kernel], elements: SampledElements) -> Iterator[tuple[Kernel, Array]]:
    """Yield the words of kernels that share their chains; one by one where some of them cannot compute
    them.
    """
    try:
        yield from list(on_elements(kernels, elements))
    except TcsmtError:
        if len(kernels) > 1:
            for kernel in kernels:
                yield from _words([kernel], elements)


# --- Changes -------------------------------------------------------------------------------------


def unchanged(inputs: SampledElements) -> SampledElements:
    """Return the same inputs."""
    return inputs


def _same(kernel: Kernel) -> list[Kernel]:
    return [kernel]


@dataclass(frozen=True)
class Way:
    """A way to compute a change: the inputs that kernels get then, and the kernels in place of one."""

    inputs: Callable[[SampledElements], SampledElements] = unchanged
    kernels: Callable[[Kernel], list[Kernel]] = _same


@dataclass(frozen=True)
class Change:
    """A change that may have been made.

    kind: a word for programs. what: a phrase for people, which names it whole.
    cost: the smaller, the less there is to choose: of changes that explain D alike the cheapest comes first.
    expected: the exact results of the elements of a sample, with the change; None: it has none of its own, as
        it is about rounding. size: the sums of the magnitudes there, where they are others.
    count: how many changes of the kind there are to choose from.
    ways: how kernels compute it, each tried. others: tried where none of these gives D.
    recorded: what D is to be compared with in place of the result at hand; None: that.
    """

    kind: str
    what: str
    cost: float
    expected: Array | None = None
    size: Array | None = None
    count: int = 1
    ways: tuple[Way, ...] = field(default=(Way(),), compare=False)
    others: tuple[Way, ...] = field(default=(), compare=False)
    recorded: RecordedResult | None = field(default=None, compare=False)
