"""Integers that a kernel multiplies and adds up exactly, however it cuts K: there, reductions agree.

Where two reductions are both exact, their results are the same number. They are the same word, too, if
neither can be -0. No result is -0 that was made from a c that is not: an IEEE sum is -0 only if all of its
terms are (754-2019, 6.3, unless it rounds down), and of a fused sum it is a lemma about its graph. Chains
begin with +0.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tcsmt.analysis.bounds.fused_loss import C, FusedSum, Unbounded, need
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import FusedStep, IeeeStep, StepResult
from tcsmt.analysis.exactness.largest import LARGEST_INTEGER, largest_proved
from tcsmt.analysis.exactness.lattice import (
    Inexact,
    integers_up_to,
    largest_integer,
    missing_integer,
)
from tcsmt.analysis.exactness.on_lattices import LatticeRules
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.language.terms import substitute, var
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.arithmetic.ieee import Operation, RoundedSum, Zeros
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.programs.steps.program import read
from tcsmt.prove.statements.verdict import Equivalent


@dataclass(frozen=True)
class ExactKernel:
    """Up to which integers a reduction is exact, with c = +0, and its results are not -0.

    integers: the largest magnitude of a and b (0: none is proved). ends: why the proof ends there.
    proof: None where nothing is proved.
    """

    integers: int
    ends: str
    proof: Equivalent | None


def exact_kernel(chain: StepwiseProof, unit: Model, reduction: Reduction, k: int) -> ExactKernel:
    """Return the largest integers for which ``k`` products are added up exactly. chain: has the proof
    then.
    """
    start = time.monotonic()
    kernel = _Kernel(ExactUnit(chain, unit), reduction, k)
    every = largest_integer(kernel.operands)
    most = min(LARGEST_INTEGER, every)
    limit, ends = largest_proved(kernel.proved, most)
    proof = chain.verdict(time.monotonic() - start) if limit else None
    return ExactKernel(
        limit, ends or missing_integer(kernel.operands, most + 1) or "no larger one is asked about", proof
    )


def not_exact(chain: StepwiseProof, unit: Model, reduction: Reduction, k: int, integers: int) -> str:
    """Why ``k`` products of integers up to a limit are not proved to be added up exactly, and never to -0; ""
    where they are. chain: has the proof then.
    """
    return _Kernel(ExactUnit(chain, unit), reduction, k).proved(integers)


@dataclass(frozen=True)
class _Kernel:
    unit: ExactUnit
    reduction: Reduction
    k: int

    @property
    def operands(self) -> tuple[AnyFormat, AnyFormat]:
        return self.unit.unit.a_format, self.unit.unit.b_format

    def proved(self, limit: int) -> str:
        """Why sums of products of integers up to a limit are not proved to be exact (or nothing)."""
        of_a, of_b = (integers_up_to(fmt, limit) for fmt in self.operands)
        try:
            self.without_negative_zero()
            program = Schedule(self.unit.unit, self.reduction).sums(self.k, c=True)
            words = (of_a,), (of_b,)
            rules = LatticeRules(self.unit.chain, lambda unit, low, high: self.unit)
            result = read(program, rules, {"A": words[0], "B": words[1], "c": {}})
            rules.require_all(result, self.k)
        except (Inexact, Unbounded) as why:
            return str(why)
        return ""

    def without_negative_zero(self) -> None:
        """No result of an instruction is -0 whose c is not."""
        steps = self.unit.steps
        fine: set[int] = set()
        for number, step in enumerate(steps):
            match step:
                case FusedStep():
                    from_c = step.start == C or (
                        isinstance(step.start, StepResult) and step.start.step in fine
                    )
                    if from_c:
                        _fused(self.unit.chain, step.sum)
                        fine.add(number)
                case IeeeStep():
                    sources = [s.step in fine if isinstance(s, StepResult) else s == C for s in step.sources]
                    if any(sources) and not _rounds_zeros_down(step.operation):
                        self.unit.chain.know("an IEEE sum is -0 only if all of its terms are (754-2019, 6.3)")
                        fine.add(number)
                case _:
                    fine.add(number)  # integers have no -0
        if len(steps) - 1 not in fine:
            raise Unbounded("it is not proved that no result is -0")


def _rounds_zeros_down(operation: Operation) -> bool:
    """Return whether x - x is -0, as IEEE 754 says where an operation rounds down; so is +0 plus -0."""
    ieee = not isinstance(operation, RoundedSum) or operation.zeros is Zeros.IEEE
    return ieee and operation.rounding.floors


def _fused(chain: StepwiseProof, fused: FusedSum) -> None:
    """A sum of zero does not give -0, unless its c is -0."""
    c = fused.numbers.get(C)
    if c is None or fused.drops_below is not None:
        why = "has no c" if c is None else "reads a subnormal c as zero"
        raise Unbounded(f"it is not proved that no result is -0: a sum {why}")
    total = var("sum", fused.sum.word.width)
    (result,) = substitute([fused.result], {fused.sum.word: total})
    finite = fused.finite & ~(c.zero & c.sign)
    negative_zero = 1 << fused.format.sign_bit
    need(chain, "a sum of zero is not -0, unless c is", finite & total.eq(0) & result.eq(negative_zero))
