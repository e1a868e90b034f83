"""Sums of integers that a unit computes exactly, whatever its order, alignment and rounding.

The statement, for some number of bits, is about all integers a, b and c below 2^bits in magnitude with
|c| + Σ |a·b| below 2^bits. It says that the result, of one instruction or of a chain of any length, is
c + Σ a·b (a zero of either sign). So all units of which it is proved agree there, and all kernels that are
made of them.

The products and c enter the steps of an instruction (:mod:`tcsmt.analysis.bounds.steps`) once each, so that
no partial sum reaches 2^bits. Each step is exact for integers below that: a fused sum by its lemmas
(:meth:`.FusedSum.exact`), an IEEE operation because its format has its exact result. What a step gives is an
integer again, which the next step reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcsmt.analysis.bounds.fused_loss import C, Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import FusedStep, IeeeStep, Source, StepResult
from tcsmt.analysis.exactness.units import IEEE, ExactUnit
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.models import Model


def most_bits(unit: Model) -> int:
    """No more bits than this can be proved: those that every word of c and d has.

    Raises :class:`.Unbounded` for units whose words are not floating-point numbers.
    """
    formats = [_float(fmt, unit) for fmt in (unit.c_format, unit.d_format, unit.a_format, unit.b_format)]
    for fmt in formats:
        if fmt.e_min > 0 or fmt.e_max < 0:
            raise Unbounded(f"{fmt.name} does not have 1 as a normal number")
    return min(_whole_bits(fmt) for fmt in formats[:2])


def exact_below(chain: StepwiseProof, unit: Model, bits: int) -> None:
    """Prove the statement of this module; its lemmas are added to the chain.

    Raises :class:`.Unbounded` where it is not proved.
    """
    most = most_bits(unit)
    if not 1 <= bits <= most:
        raise Unbounded(f"{bits} bits: must be from 1 to {most}, which all words hold")
    leaves: list[list[int]] = []
    for step in ExactUnit(chain, unit, 0, most - 1).steps:
        sources = list(step.sources)
        match step:
            case FusedStep():
                sources += [] if step.start is None else [step.start]
                if step.sum.format.e_min > 0:
                    raise Unbounded(f"{step.sum.format.name} does not have 1 as a normal number")
                limits = step.sum.exact(chain, 0, step.least)
                least = min(limits.top + 1, limits.largest)
                if bits > least:
                    raise Unbounded(f"a fused sum is proved exact below 2^{least}")
            case IeeeStep():
                chain.know(IEEE)
                fmt = step.operation.format
                if fmt.e_min > 0 or bits > _whole_bits(fmt):
                    raise Unbounded(f"{fmt.name} does not have all integers below 2^{bits}")
            case _:
                raise Unbounded("the lemmas are about floating-point numbers")
        leaves.append([leaf for source in sources for leaf in _leaves(source, leaves)])
    # so that every partial sum is at most |c| + Σ |a·b|, and the last one is the whole sum
    if sorted(leaves[-1]) != [C, *range(unit.k)]:
        raise Unbounded("the products and c do not each enter once")


def _float(fmt: AnyFormat, unit: Model) -> Format:
    if not isinstance(fmt, Format):
        raise Unbounded(f"its words are {fmt.name}: the lemmas are about floating-point numbers")
    if unit.scale_format is not None:
        raise Unbounded("the lemmas are not about block scales")
    return fmt


def _whole_bits(fmt: Format) -> int:
    """A format has every integer below 2 to this power."""
    return min(fmt.precision, fmt.e_max + 1)


def _leaves(source: Source, leaves: Sequence[Sequence[int]]) -> Sequence[int]:
    """Return the products, and c, that are in what a step reads."""
    return leaves[source.step] if isinstance(source, StepResult) else [source]
