"""A recorded result of a product, some of its elements as numbers, and what may have been done to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tcsmt.compose.kernels.elements import SampledElements, on_elements
from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.conversion import floats
from tcsmt.matrix_units.arithmetic.formats import Format, float_format
from tcsmt.support.errors import TcsmtError
from tcsmt.support.invariants import not_none

__all__ = ["Change", "KernelInputs", "RecordedResult", "Way", "kernel_values", "same_values", "unchanged"]

# --- Results -------------------------------------------------------------------------------------


Array = np.ndarray[Any, np.dtype[Any]]

#: The names of what kernels take.
INPUTS = ("a", "b", "c", "bias")


@dataclass(frozen=True)
class KernelInputs:
    """Words that kernels take, of whole matrices or of elements apart; K is the last axis of a and of b.

    a: (M, K), or (elements, K). b: of the columns of B, (N, K), or (elements, K). c: (M, N), or (elements,).
    bias: (N,), or (elements,).
    """

    a: Array
    b: Array
    c: Array | None = None
    bias: Array | None = None


@dataclass(frozen=True)
class RecordedResult:
    """D as it was recorded, and what it is a product of.

    d: its values in binary64, (M, N). d_format: in which they were recorded. formats: of a, b, c and bias.
    """

    inputs: KernelInputs
    d: Array
    d_format: Format
    formats: tuple[Format, Format, Format | None, Format | None]

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N and K."""
        m, n = self.d.shape
        return m, n, self.inputs.a.shape[1]

    @classmethod
    def of(
        cls, kernel: Kernel, words: Mapping[str, Array | None], d: Array, d_format: AnyFormat
    ) -> RecordedResult | None:
        """Of matrices of words by name, a: (M, K), b: (K, N), in the formats that a kernel takes.

        d: D's values in binary64. None where something is an integer, of which no numbers are compared.
        """
        unit, schedule = kernel.unit.model, kernel.schedule
        if not all(isinstance(fmt, Format) for fmt in (d_format, *unit.input_formats.values())):
            return None
        if not isinstance(schedule.sum_format, Format):
            return None
        formats = [float_format(fmt) for fmt in (unit.a_format, unit.b_format, unit.c_format)]
        a, b, c, bias = (words.get(name) for name in INPUTS)
        inputs = KernelInputs(not_none(a), np.ascontiguousarray(not_none(b).T), c, bias)
        taken = (formats[0], formats[1], formats[2], schedule.working_format)
        return cls(inputs, d, float_format(d_format), taken)

    def at(self, places: Array) -> KernelInputs:
        """Return the words of elements apart. places: rows and columns of D, integers (elements, 2)."""
        rows, columns = places[:, 0], places[:, 1]
        inputs = self.inputs
        c = None if inputs.c is None else inputs.c[rows, columns]
        return KernelInputs(
            inputs.a[rows], inputs.b[columns], c, None if inputs.bias is None else inputs.bias[columns]
        )

    def values(self, name: str, inputs: KernelInputs) -> Array:
        """Return the values of one of some inputs in binary64; zero where there is none."""
        words, fmt = getattr(inputs, name), self.format_of(name)
        return np.zeros(()) if words is None or fmt is None else floats(fmt, words)

    def format_of(self, name: str) -> Format | None:
        """Return the format of one of the inputs."""
        return self.formats[INPUTS.index(name)]

    def transposed(self) -> RecordedResult:
        """Return the same inputs with D's transpose beside them, of square results."""
        return replace(self, d=self.d.T)


def same_values(values: Array, d: Array) -> Array:
    """Where values are the same word: zeros of the same sign, and any NaNs."""
    same: Array = (values == d) & (np.signbit(values) == np.signbit(d))
    return same | (np.isnan(values) & np.isnan(d))


def kernel_values(
    kernels: Sequence[Kernel], inputs: KernelInputs, places: Array, shape: tuple[int, int, int]
) -> Iterator[tuple[Kernel, Array]]:
    """Yield what each kernel gives of some elements, in binary64: (orders, elements).

    Kernels that cannot compute them, such as those that round by random bits, are left out.
    """
    size = (*shape[:2], inputs.a.shape[1])
    elements = SampledElements(inputs.a, inputs.b, inputs.c, places, size, inputs.bias)
    for kernel, words in _words(kernels, elements):
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


def unchanged(inputs: KernelInputs) -> KernelInputs:
    """Return the same inputs."""
    return inputs


def _same(kernel: Kernel) -> list[Kernel]:
    return [kernel]


@dataclass(frozen=True)
class Way:
    """How a change is computed: the inputs that kernels get then, and the kernels in place of one."""

    inputs: Callable[[KernelInputs], KernelInputs] = unchanged
    kernels: Callable[[Kernel], list[Kernel]] = _same


@dataclass(frozen=True)
class Change:
    """What may have been done.

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
