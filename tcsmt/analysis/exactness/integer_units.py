"""Sums of integers: that a unit's result is c plus the products wherever its format has that number.

The unit's own term is read as a polynomial in its operands, modulo 2 to the power of its width. Additions,
multiplications and the cutting of high bits commute with that, so that no solver is needed: the result is
c + Σ a·b modulo 2^bits if it is the same polynomial. What saturation does where nothing overflows is a lemma.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from tcsmt.analysis.bounds.fused_loss import C, Unbounded, need
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.bounds.steps import Source, StepResult
from tcsmt.analysis.exactness.lattice import ZERO, Inexact, Lattice
from tcsmt.language.terms import Term, const, substitute, var
from tcsmt.matrix_units.arithmetic.formats import IntegerFormat
from tcsmt.matrix_units.models import IntegerDotAdd, Kind, Stage
from tcsmt.support.invariants import checked_cast

#: By the operands that are multiplied, in order: the factor.
Polynomial = Mapping[tuple[Term, ...], int]


@dataclass(frozen=True)
class IntegerStep:
    """One exact sum of integers, wrapped or saturated to a format."""

    sources: tuple[Source, ...]
    start: Source
    format: IntegerFormat

    def result(self, start: Lattice, parts: Sequence[Lattice]) -> Lattice:
        """Return the sum. Raises :class:`.Inexact` where the format may not have it."""
        whole = sum((start, *parts), ZERO)
        unit = Fraction(1, 1 << self.format.fraction_bits)
        low, high = self.format.low * unit, self.format.high * unit
        if whole.low < low or whole.high > high:
            ends = f"{self.format.name} ends at {low} and {high}"
            raise Inexact(f"a sum may reach {whole.low} or {whole.high}: {ends}")
        return whole


def integer_steps(chain: StepwiseProof, unit: IntegerDotAdd) -> list[IntegerStep]:
    """Return the steps of an instruction, in order. Raises :class:`.Unbounded` for what is not such a sum."""
    formats = (unit.a_format, unit.b_format, unit.c_format, unit.d_format)
    if any(fmt.fraction_bits for fmt in formats):
        raise Unbounded("no lemma is about fixed-point numbers")
    trace = unit.trace
    leaves = dict.fromkeys(trace.a, unit.a_format) | dict.fromkeys(trace.b, unit.b_format)
    c, fmt = trace.c, unit.c_format
    start: Source = C
    before: Polynomial = {(c,): 1}
    steps: list[IntegerStep] = []
    for _, stages in groupby(trace.stages, lambda stage: stage.block):
        block = list(stages)
        format_of = leaves | {trace.c: unit.c_format, c: fmt}
        lanes = _step(
            chain, block, leaves | {c: fmt}, c, unit.d_format, (trace.a, trace.b), format_of, before
        )
        before = _sum([(1, before), *((1, {_pair(trace.a[i], trace.b[i]): 1}) for i in lanes)])
        steps.append(IntegerStep(tuple(lanes), start, unit.d_format))
        c, fmt, start = block[-1].term, unit.d_format, StepResult(len(steps) - 1)
    seen = [source for step in steps for source in step.sources]
    chain.know(f"the result is c and the products modulo 2^{unit.d_format.bits}, as a polynomial")
    if c is not trace.output or sorted(map(str, seen)) != sorted(map(str, range(unit.k))):
        raise Unbounded("the unit's output is not the sum of c and one product of each lane")
    return steps


def _step(
    chain: StepwiseProof,
    stages: Sequence[Stage],
    leaves: Mapping[Term, IntegerFormat],
    c: Term,
    d: IntegerFormat,
    operands: tuple[Sequence[Term], Sequence[Term]],
    format_of: Mapping[Term, IntegerFormat],
    before: Polynomial,
) -> list[int]:
    """Return the lanes whose products a block adds to c, after the proof that it does.

    before: what c is, modulo 2 to the power of its width, in the words that ``format_of`` has the formats of.
    """
    (exact,) = (stage for stage in stages if stage.kind is Kind.EXACT_SUM)
    result = stages[-1].term
    whole = polynomial(exact.term, leaves)
    lanes = [lane for lane, pair in enumerate(zip(*operands, strict=True)) if _pair(*pair) in whole]
    if whole != {(c,): 1} | {_pair(operands[0][lane], operands[1][lane]): 1 for lane in lanes}:
        raise Unbounded("a sum is not that of c and products")
    low, high = _range(whole, leaves)
    fmt = checked_cast(exact.value, IntegerFormat)
    if not (fmt.low <= low and high <= fmt.high):
        raise Unbounded("an exact sum's word may wrap")
    wrapped = result if result.op != "ite" else result.args[2]
    modulo = _reduced(_sum([(1, whole), (-1, {(c,): 1}), (1, before)]))
    if polynomial(wrapped, format_of) not in (whole, modulo):
        raise Unbounded("a sum's low bits are not those of c and the products")
    if wrapped is not result:
        bits, word = d.bits, var("sum", exact.term.width)
        wide = word.sext(max(word.width, bits) + 1)
        free = {exact.term: word, wrapped: wide[bits - 1 : 0]}
        (saturated,) = substitute([result], free)
        ends = [const(end % (1 << wide.width), wide.width) for end in (d.low, d.high)]
        inside = ~wide.slt(ends[0]) & ~ends[1].slt(wide)
        need(chain, "a sum that the format has is not saturated", inside & saturated.ne(wide[bits - 1 : 0]))
    return lanes


def polynomial(term: Term, leaves: Mapping[Term, IntegerFormat]) -> dict[tuple[Term, ...], int]:
    """A polynomial in the operands that has the term's value modulo 2 to the power of its width.

    A word is extended only where it is shown to hold the polynomial's value, whatever the operands are.
    Raises :class:`.Unbounded` for terms that are no such thing.
    """
    polynomial_of: dict[Term, dict[tuple[Term, ...], int]] = {leaf: {(leaf,): 1} for leaf in leaves}

    def read(node: Term) -> dict[tuple[Term, ...], int]:
        if node not in polynomial_of:
            polynomial_of[node] = _reduced(combined(node))
        return polynomial_of[node]

    def combined(node: Term) -> dict[tuple[Term, ...], int]:
        match node.op:
            case "const":
                return {(): node.value or 0}
            case "add":
                return _sum([(1, read(arg)) for arg in node.args])
            case "sub":
                return _sum([(1, read(node.args[0])), (-1, read(node.args[1]))])
            case "neg":
                return _sum([(-1, read(node.args[0]))])
            case "mul":
                x, y = (read(arg) for arg in node.args)
                return _sum(
                    [
                        (m * n, {tuple(sorted(a + b, key=_order)): 1})
                        for a, m in x.items()
                        for b, n in y.items()
                    ]
                )
            case "extract" if node.data[1] == 0:  # type: ignore[index]
                return read(node.args[0])
            case "zext" | "sext":
                inner = read(node.args[0])
                low, high = _range(inner, leaves)
                bits = node.args[0].width
                ends = (
                    (0, (1 << bits) - 1) if node.op == "zext" else (-1 << (bits - 1), (1 << (bits - 1)) - 1)
                )
                if ends[0] <= low and high <= ends[1]:
                    return inner
        raise Unbounded(f"an integer sum is made by '{node.op}', about which there is no lemma")

    return read(term)


def _sum(parts: Sequence[tuple[int, Polynomial]]) -> dict[tuple[Term, ...], int]:
    total: dict[tuple[Term, ...], int] = {}
    for factor, part in parts:
        for operands, count in part.items():
            total[operands] = total.get(operands, 0) + factor * count
    return total


def _reduced(terms: Polynomial) -> dict[tuple[Term, ...], int]:
    return {operands: count for operands, count in terms.items() if count}


def _range(terms: Polynomial, leaves: Mapping[Term, IntegerFormat]) -> tuple[int, int]:
    """Return the least and the largest value, or less and more."""
    low = high = 0
    for operands, count in terms.items():
        ends = [count]
        for leaf in operands:
            ends = [end * edge for end in ends for edge in (leaves[leaf].low, leaves[leaf].high)]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _pair(x: Term, y: Term) -> tuple[Term, ...]:
    return tuple(sorted((x, y), key=_order))


def _order(term: Term) -> int:
    return term.digest
