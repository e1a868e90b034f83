"""Up to where one instruction's result is exactly c plus the products.

A step of an instruction (``steps.py``) is exact for numbers from known ranges that are multiples of a known
power of two (:class:`.Lattice`):

* *a fused sum*: where the numbers' exponents and the sum stay below limits that are lemmas about the unit's
  own graph (:meth:`.FusedSum.exact`). They depend on the last bit of the numbers, and on nothing else;
* *an IEEE operation*: where the exact result is a number of the format (IEEE 754-2019, 4.3);
* *an exact sum of integers*: where it is a number of the result's format (``integer_units.py``).

Every condition is an upper limit of a magnitude, so that what holds for a range holds for every smaller one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tcsmt.analysis.bounds.fused_loss import C, ExactUpTo, Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import FusedStep, IeeeStep, Source, Step, StepResult, steps_of
from tcsmt.analysis.exactness.integer_units import IntegerStep, integer_steps
from tcsmt.analysis.exactness.lattice import ZERO, Inexact, Lattice
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, float_format, power_text
from tcsmt.matrix_units.models import IntegerDotAdd, Model

IEEE = "an IEEE operation gives its exact result where the format has it (754-2019, 4.3)"
#: Exponents of operands for which the lemmas are about; no integer that is asked about is as large.
_FURTHEST = 60


def require_held(fmt: Format, x: Lattice, what: str, *, flush: bool = False) -> None:
    """Refuse numbers that a format may not have."""
    least = fmt.e_min if flush else fmt.e_min - fmt.fraction_bits
    if not fmt.has_subnormals:
        raise Inexact(f"{what} may be 0, and {fmt.name} has no zero")
    if x.zero:
        return
    if x.low < 0 and not fmt.signed:
        raise Inexact(f"{what} may be negative, and {fmt.name} has no sign")
    if x.last < least:
        raise Inexact(f"{what} may have a bit 2^{x.last}, below {fmt.name}'s smallest number")
    most = 1 << fmt.precision
    if x.size > most * 2**x.last or x.size > fmt.largest_finite:
        raise Inexact(
            f"{what} may reach {power_text(x.size)} in steps of 2^{x.last}: "
            f"{fmt.name} has {fmt.precision} significant bits"
        )


@dataclass(frozen=True)
class ExactUnit:
    """An instruction, and what is proved of its steps by the chain.

    low, high: exponents of the operands that are not zero. Raises :class:`.Unbounded` for a unit that is not
    made of steps that the lemmas are about.
    """

    chain: StepwiseProof
    unit: Model
    low: int = 0
    high: int = _FURTHEST
    _limits: dict[tuple[int, int], ExactUpTo] = field(default_factory=dict)

    @cached_property
    def steps(self) -> Sequence[Step | IntegerStep]:
        """Return the instruction's steps, in order."""
        if isinstance(self.unit, IntegerDotAdd):
            return integer_steps(self.chain, self.unit)
        operands = (self.unit.a_format, self.unit.b_format)
        formats = [fmt for fmt in operands if isinstance(fmt, Format)]
        if len(formats) < len(operands):
            raise Unbounded(f"{self.unit.title} of integers, whose steps are not known")
        if self.low < max(fmt.e_min for fmt in formats):
            raise Unbounded(f"operands of exponent {self.low}: subnormal")
        high = min(self.high, max(fmt.e_max for fmt in formats))
        return steps_of(self.chain, self.unit, self.low, high)

    def result(self, c: Lattice, products: Sequence[Lattice]) -> Lattice:
        """Return the result, which is exactly c plus the products; a lane without a product has a zero.

        Raises :class:`Inexact` where that is not proved.
        """
        lattices: list[Lattice] = []

        def read(source: Source) -> Lattice:
            if isinstance(source, StepResult):
                return lattices[source.step]
            if source == C:
                return c
            return products[source] if source < len(products) else ZERO

        formats: list[AnyFormat] = []
        for number, step in enumerate(self.steps):
            match step:
                case FusedStep():
                    start = ZERO if step.start is None else read(step.start)
                    fmt = self._format_of(step.start, formats)
                    lattices.append(self._fused(number, step, start, [read(s) for s in step.sources], fmt))
                    formats.append(step.sum.format)
                case IeeeStep():
                    lattices.append(self._ieee(step, [read(s) for s in step.sources]))
                    formats.append(step.operation.format)
                case IntegerStep():
                    lattices.append(step.result(read(step.start), [read(s) for s in step.sources]))
                    formats.append(step.format)
        return lattices[-1]

    def _format_of(self, source: Source | None, formats: Sequence[AnyFormat]) -> Format:
        """Return the format of the c of a fused sum."""
        if isinstance(source, StepResult):
            return float_format(formats[source.step])
        return float_format(self.unit.c_format)

    def _ieee(self, step: IeeeStep, parts: Sequence[Lattice]) -> Lattice:
        self.chain.know(IEEE)
        whole = sum(parts, ZERO)
        operation = step.operation
        if step.drops:
            require_normal(float_format(self.unit.c_format), dict(zip(step.sources, parts, strict=True))[C])
        require_held(operation.format, whole, f"a sum in {operation.format.name}", flush=operation.flush)
        return whole

    def _fused(
        self, number: int, step: FusedStep, start: Lattice, parts: Sequence[Lattice], c_format: Format
    ) -> Lattice:
        live = [x for x in (start, *parts) if not x.zero]
        whole = sum(live, ZERO)
        if not live:
            step.sum.zeros(self.chain)
            return whole
        if not start.zero:
            require_normal(c_format, start)
            if len(live) == 1 and step.sum.passes(self.chain, C):
                return whole
        last = whole.last
        if (number, last) not in self._limits:
            self._limits[number, last] = step.sum.exact(self.chain, last, step.least)
        limits = self._limits[number, last]
        # a number that is not zero is at least 2 to the power of its exponent
        for lattice, what in [(start, "a partial sum"), *((x, "a product") for x in parts)]:
            if not lattice.zero and lattice.leading > limits.top:
                raise Inexact(
                    f"{what} may reach {power_text(lattice.size)}: the grid of a sum with a number of "
                    f"2^{limits.top + 1} or more does not have 2^{last}"
                )
        if whole.size > 2**limits.largest:
            raise Inexact(
                f"a sum may reach {power_text(whole.size)} in steps of 2^{last}: "
                f"the result keeps {step.sum.precision} bits"
            )
        return whole


def require_normal(fmt: Format, x: Lattice) -> None:
    """Refuse numbers of which one may be subnormal."""
    if not x.zero and x.last < fmt.e_min:
        raise Inexact(f"c may be subnormal: it may have a bit 2^{x.last}")
