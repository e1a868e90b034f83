"""A proved bound of a program's error on a domain, relative to |alpha|·Σ|a·b| + |beta·c| + |bias|.

The program's own steps run on shares (:mod:`.shares`): for Σ|a·b| of each chain, for c and for the bias, by
how much each of them counts in a sum, and in what the sum is off; and a last number, by which it is off
whatever they are. A sum's share of each is one more linear function of them, so that the largest share counts
for their sum: disjoint parts of the dot product share what the largest of their losses is.

What a chain of instructions loses is bounded in two ways, and the smaller bound counts: by the error budget,
instruction after instruction (:func:`.chain_loss`), and by what one instruction loses of sums of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tcsmt.analysis.bounds.budget import chain_loss
from tcsmt.analysis.bounds.fused_loss import Unbounded, share_of
from tcsmt.analysis.bounds.proof import StepwiseProof, word_exponents
from tcsmt.analysis.bounds.split_constants import prove_split_constants
from tcsmt.analysis.tolerance.exact import in_kernel
from tcsmt.analysis.tolerance.instruction import InstructionLoss, instruction_loss
from tcsmt.analysis.tolerance.shares import ChainShares, Pieces, Share, ShareRules
from tcsmt.analysis.tolerance.upward import number_above
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format
from tcsmt.matrix_units.arithmetic.rounding import Rounding
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.kernel import Kernel
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.programs.steps.program import NoRule, ProductRun, UnitProgram, read
from tcsmt.programs.steps.split import Split
from tcsmt.prove.statements.domain import Domain

Array = np.ndarray[Any, np.dtype[Any]]
#: Bits of formats all numbers of which are tried.
_WIDEST = 32
#: What a chain of a unit loses: of what it multiplies, whether it begins with c, and whether it is one run of
#: the unit's own words.
_Lost = Callable[[Model, Sequence[ProductRun], bool, bool], ChainShares]


def _of_any_sums(loss: InstructionLoss, count: int) -> ChainShares:
    """Every partial sum may be as large as c and all products of the chain. count: instructions."""
    one, growth = loss.loss, loss.loss.before**count
    return ChainShares(
        (one.sums + one.top) * count * growth,
        (one.products + one.largest) * growth,
        one.always * count * growth,
        loss.limit,
        growth,
    )


def relative_bound(chain: StepwiseProof, kernel: Kernel, k: int, domain: Domain) -> Fraction:
    """Return the bound, a part of |alpha|·Σ|a·b| + |beta·c| + |bias|; its lemmas are added to the chain.

    domain: of which a, b, c and the bias are; there is a C unless it is zero. Of parts that are added in any
    order: the largest of all orders. Raises :class:`.Unbounded`
    where no lemma covers a step, or a step may overflow, and :class:`.TcsmtError` for exponents that are not
    restricted.
    """
    if kernel.reduction.tiled:
        raise Unbounded(f"{kernel.reduction} cuts K elsewhere in each tile of D: give cuts:K1-K2-...")
    if kernel.reduction.unordered:
        orders = kernel.reduction.orders(k, kernel.unit.model.k, c=not domain.c_zero)
        return max(relative_bound(chain, replace(kernel, reduction=order), k, domain) for order in orders)
    schedule, epilogue = kernel.schedule, kernel.epilogue
    program = schedule.program(
        k, c=not domain.c_zero and epilogue.beta != 0, bias=epilogue.bias, random=bool(epilogue.stochastic)
    )
    alpha, beta = (in_kernel(schedule, getattr(epilogue, name)) for name in ("alpha", "beta"))
    if not alpha:
        raise Unbounded("alpha is 0: nothing of A·B is left to be relative to")
    return _Question(chain, program, k, domain, alpha, beta).bound()


def program_bound(chain: StepwiseProof, model: ProgramModel, domain: Domain) -> Fraction:
    """Return the bound of a program for c + Σ a·b, a part of |c| + Σ|a·b|; its lemmas are added to the chain.

    What the program leaves out of that sum, or scales, counts as an error; a c that it does not read is
    zero. Of a program with conditions or maxima (:func:`chooses`) the exact result is that of its steps
    without any rounding. domain: of which a, b and c are.
    Raises as :func:`relative_bound` does, and :class:`.Unbounded` for a step that no rule is about, by its
    name.
    """
    return _Question(chain, model.program, model.k, domain, Fraction(1), Fraction(1)).bound()


def chooses(program: UnitProgram) -> bool:
    """Return whether a program has conditions or maxima, so that its result is no sum."""
    return any(step.kind in ("compare", "select", "maximum") for step in program.steps)


def algorithm_bound(chain: StepwiseProof, algorithm: Algorithm, domain: Domain) -> Fraction:
    """Return the same of an algorithm, at its own K."""
    return _Question(
        chain, algorithm.program(algorithm.k), algorithm.k, domain, Fraction(1), Fraction(1)
    ).bound()


@dataclass(frozen=True)
class _Question:
    """A program on a domain. alpha, beta: of which sum alpha·Σ a·b + beta·c + bias the result is off."""

    chain: StepwiseProof
    program: UnitProgram
    k: int
    domain: Domain
    alpha: Fraction
    beta: Fraction

    @property
    def formats(self) -> dict[str, AnyFormat]:
        """Return the formats of the inputs that are read, by name."""
        inputs = (step for step in self.program.steps if step.kind == "input")
        return {step.how["name"]: step.format for step in inputs if self.program.reads(step.how["name"])}

    @property
    def low(self) -> int:
        """Return the smallest exponent of numbers that are not zero."""
        words = [self.formats[name] for name in ("A", "B", "c") if name in self.formats]
        units = [fmt for step in self.program.chains for fmt in step.how["unit"].input_formats.values()]
        smallest = [fmt.e_min for fmt in (*words, *units) if isinstance(fmt, Format)]
        return max(self.domain.low, min(smallest, default=0))

    @property
    def high(self) -> int:
        """Return the largest exponent of what units multiply: rounding an operand may make it one more."""
        steps = (
            step.how for step in self.program.steps if step.kind == "convert" and step.axes in ("A", "B")
        )
        converted = any(not how["target"].holds(how["source"]) for how in steps)
        return self.domain.high + converted

    def narrowed(self, source: Format, target: Format, rounding: Rounding) -> Fraction:
        """Return what rounding a number of the domain to another format loses, relative to it."""
        if self.low < target.e_min or self.domain.high >= target.e_max:
            raise Unbounded(
                f"operands are rounded from {source.name} to {target.name}, which has exponents from "
                f"{target.e_min} to {target.e_max}"
            )
        lost = share_of(rounding) / (1 << target.fraction_bits)
        self.chain.know(f"rounding an operand to {target.name} loses {float(lost):.4g} of it (754-2019, 4.3)")
        return lost

    def bound(self) -> Fraction:
        """Return the least of the bounds by each rule of chains."""
        if self.domain.c_free and not self.domain.c_zero:
            raise Unbounded("c may be of any size: its exponents must be restricted, too")
        if not self.program.chains:
            raise Unbounded("there are no products")
        for name in self.formats:
            if name not in ("A", "B", "c", "bias", "random"):
                raise Unbounded(f"no domain is about the input {name}")
        return self.chain.least([lambda: self.by(self.budgeted()), lambda: self.by(self.any_sums())])

    def budgeted(self) -> _Lost:
        """Return the rule by the error budget of a chain that begins with c as it is given."""
        words = replace(self.domain, exponents=(self.low, max(self.low, self.high)))

        @cache
        def of_length(unit: Model, length: int, has_c: bool) -> ChainShares:
            return ChainShares(chain_loss(self.chain, unit, length, replace(words, c_zero=not has_c)))

        def lost(unit: Model, runs: Sequence[ProductRun], has_c: bool, plain: bool) -> ChainShares:
            if not plain:
                raise Unbounded("a chain of more than one product is no kernel's")
            return of_length(unit, len(runs[0].indices), has_c)

        return lost

    def any_sums(self) -> _Lost:
        """Return the rule by what one instruction loses, whatever its sum."""
        loss_of = cache(lambda unit, low: instruction_loss(self.chain, unit, low))
        of_count = cache(_of_any_sums)

        def lost(unit: Model, runs: Sequence[ProductRun], has_c: bool, plain: bool) -> ChainShares:
            low = self.low if all(run.words is None for run in runs) else self.low_of_words
            count = sum(-(-len(run.indices) // unit.k) for run in runs)
            return of_count(loss_of(unit, low), count)

        return lost

    @property
    def low_of_words(self) -> int:
        """Return the smallest exponent of words of splits that are not zero."""
        splits = [step.how["split"] for step in self.program.steps if step.kind == "split"]
        return min(word_exponents(split, self.domain)[0] for split in splits)

    def pieces(self, split: Split, side: str) -> Pieces:
        """Return what a split keeps of the numbers of the domain, which is proved of all of them."""
        if split.wide.width > _WIDEST:
            raise Unbounded(f"not all numbers of {split.wide.name} can be tried for what a split keeps")
        bits = self.domain.bits_in(split.wide)["AB".index(side)]
        constants = prove_split_constants(split, replace(self.domain, c_zero=False), bits, split.words)
        what = f"{split.words} {split.format.name} words leave {float(constants.left):.4g} of a number"
        self.chain.know(f"{what} of {bits} bits at most (all of them tried)")
        return Pieces(split, constants.sizes, constants.left)

    def by(self, lost: _Lost) -> Fraction:
        """Return the bound by one rule of chains."""
        domain, formats = self.domain, self.formats
        count, largest = len(self.program.chains), Fraction(2) ** (domain.high + 1)
        most = np.full(count + 3, number_above(largest**2 * self.k))
        most[count:] = [number_above(largest), number_above(largest), 1.0]
        runs = [step.how["runs"] for step in self.program.chains]
        rules = ShareRules(lost, most, runs, self.k, self.pieces, self.chain.know, self.narrowed)
        zero = Share(np.zeros_like(most), np.zeros_like(most), Fraction(0))
        given = {name: rules.unit(count + n) for n, name in enumerate(("c", "bias", "random"))}
        if domain.c_zero:
            given["c"] = zero
        try:
            result: Share = read(self.program, rules, {"A": Pieces(), "B": Pieces(), **given})
        except NoRule as why:
            raise Unbounded(str(why)) from None
        off, lacking = result.off, Fraction(0)
        if not isinstance(result, Share):
            raise Unbounded("the result is a condition, or words of an operand")
        if result.others:
            worst = rules.of_products(off[:count]) + max(self._left(rules, value) for value in result.values)
        else:
            if result.value[-1]:
                raise Unbounded(f"the result has the constant {result.value[-1]:.4g} in it")
            worst = rules.of_products(off[:count]) + sum(rules.missing(result.value, self.alpha))
            lacking = abs(Fraction(float(result.value[count])) - self.beta)
        shares = [Fraction(worst) / abs(self.alpha)]
        least = [abs(self.alpha) * Fraction(2) ** (2 * self.low)]
        if "c" in formats and not domain.c_zero and self.beta:
            shares.append((Fraction(float(off[count])) + lacking) / abs(self.beta))
            least.append(abs(self.beta) * Fraction(2) ** domain.low)
        if "bias" in formats:
            shares.append(Fraction(float(off[count + 1])))
            least.append(Fraction(2) ** domain.low)
        return max(shares) + Fraction(float(off[-1])) / min(least)

    def _left(self, rules: ShareRules, value: Array) -> float:
        """Return what is left over of operands in one of the sums that a condition chooses from."""
        if rules.exact_operands:
            return 0.0
        lacks, left = rules.missing(value, Fraction(float(value[0])))
        if lacks:
            raise Unbounded("a maximum of sums in which some products count more than others")
        return left
