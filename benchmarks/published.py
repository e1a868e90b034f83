"""The published encoding of "is one algorithm less accurate than another", made again for comparison.

Valpey et al. 2025, section 6, and the structure of the authors' script (``smt/markidi.py`` in
github.com/pyxis-roc/tensor_core_semantics, April 2023): inputs, splits, products, the sums outside
and binary64 errors are terms of the floating-point theory; each product is a free 32-bit word tied
to them; the tensor core's sum (their Algorithm 1) is a bit-vector term over such words.

Other than in that script, the residual's products take binary16 words (as their equations say, and
as the unit must), the split's roundings are the algorithms' own, c takes part, and zeros count, so
that both encodings ask the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcsmt.analysis.search.compare import AlgorithmPair
from tcsmt.language.terms import Term, const, var
from tcsmt.language.write.smtlib import definitions
from tcsmt.matrix_units.arithmetic import datapath as dp
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.programs.recipes.algorithm import Algorithm

__all__ = ["Published", "single"]

F32 = FORMATS["f32"]
SINGLE, HALF, DOUBLE = "(_ to_fp 8 24)", "(_ to_fp 5 11)", "(_ to_fp 11 53)"


def single(word: str) -> str:
    """A 32-bit word as a binary32 number."""
    return f"({SINGLE} {word})"


def power(exponent: int) -> str:
    """2^exponent in binary32."""
    return single(f"#x{F32.word(Fraction(2) ** exponent):08x}")


class Published:
    """A pair of algorithms on a unit with f16 operands, over one set of inputs a0, b0, ..., c.

    inputs: their declarations and domain. results: of each algorithm, a binary32 expression.
    """

    def __init__(self, pair: AlgorithmPair) -> None:
        self.pair = pair
        self.ties: dict[str, str] = {}
        sums: list[Term] = []
        shapes = [self._chains(algorithm, sums) for algorithm in pair.algorithms]
        self.lines, words = definitions(sums)
        taken = {line.split()[1] for line in self.lines if line.startswith("(declare-const")}
        names = pair.algorithms[0].input_formats
        self.inputs = [f"(declare-const {n} (_ BitVec 32))" for n in names if n not in taken]
        self.inputs += [f"(assert {self._inside(n)})" for n in names]
        self.inputs += [f"(assert (= {single(p)} {product}))" for product, p in self.ties.items()]
        numbers = iter(map(single, words))
        self.results = [
            self._outside(algorithm, [(shift, next(numbers)) for shift in shape])
            for algorithm, shape in zip(pair.algorithms, shapes, strict=True)
        ]

    def script(self) -> str:
        """Is there an input at which the first algorithm is less accurate?"""
        return self.asserting([self.goal()])

    def goal(self) -> str:
        """The first result's error, measured in binary64, is larger."""
        one, two = (f"(fp.abs (fp.sub RNE ({DOUBLE} RNE {r}) {self._actual()}))" for r in self.results)
        return f"(assert (fp.gt {one} {two}))"

    def asserting(self, lines: Sequence[str]) -> str:
        """A script with these lines, on inputs of the domain."""
        head = ["(set-option :produce-models true)", "(set-logic QF_BVFP)"]
        return "\n".join([*head, *self.lines, *self.inputs, *lines, "(check-sat)", ""])

    def _inside(self, name: str) -> str:
        domain = self.pair.domain
        size = f"(fp.abs {single(name)})"
        if name == "c" and domain.c_zero:
            return "(= c #x00000000)"
        least, beyond = power(domain.low), power(domain.high + 1)
        return f"(or (fp.isZero {single(name)}) (and (fp.geq {size} {least}) (fp.lt {size} {beyond})))"

    def _chains(self, algorithm: Algorithm, sums: list[Term]) -> list[int]:
        """Appends each chain's result to ``sums``; returns the chains' scales."""
        k = algorithm.k
        words = {side: [self._words(algorithm, f"{side}{i}") for i in range(k)] for side in "ab"}
        unit = algorithm.unit
        assert isinstance(unit, FusedDotAdd)
        shifts = []
        for number, (shift, steps) in enumerate(algorithm.chains(k)):
            inside = var("c", 32) if number == 0 and algorithm.c_enters == "unit" else const(0, 32)
            for i, j, part in steps:
                products = [self._product(words["a"][lane][i], words["b"][lane][j]) for lane in part]
                inside = accumulate(unit, products, inside)
            sums.append(inside)
            shifts.append(shift)
        return shifts

    def _words(self, algorithm: Algorithm, name: str) -> list[str]:
        """The binary16 words of an input, the largest first."""
        split = algorithm.split
        rest, rounding, found = single(name), split.rounding.name, []
        for _ in range(split.words):
            found.append(f"({HALF} {rounding} {rest})")
            rest = f"(fp.sub RNE {rest} ({SINGLE} RNE {found[-1]}))"
            if split.scale:
                rest = f"(fp.mul RNE {rest} {power(split.scale)})"
            rounding = split.residual.name
        return found

    def _product(self, a: str, b: str) -> Term:
        """The free word that is tied to an exact product."""
        product = f"(fp.mul RNE ({SINGLE} RNE {a}) ({SINGLE} RNE {b}))"
        return var(self.ties.setdefault(product, f"p{len(self.ties)}"), 32)

    def _outside(self, algorithm: Algorithm, chains: Sequence[tuple[int, str]]) -> str:
        (_, total), *others = chains
        for shift, word in others:
            scaled = f"(fp.mul RNE {word} {power(-shift)})" if shift else word
            total = f"(fp.add RNE {total} {scaled})"
        return f"(fp.add RNE {total} {single('c')})" if algorithm.c_enters == "last" else total

    def _actual(self) -> str:
        """c + Σ a·b in binary64: fused multiply-adds, c last."""
        wide = {n: f"({DOUBLE} RNE {single(n)})" for n in self.pair.algorithms[0].input_formats}
        total = f"(fp.mul RNE {wide['a0']} {wide['b0']})"
        for lane in range(1, self.pair.k):
            total = f"(fp.fma RNE {wide[f'a{lane}']} {wide[f'b{lane}']} {total})"
        return f"(fp.add RNE {total} {wide['c']})"


def accumulate(unit: FusedDotAdd, products: Sequence[Term], c: Term) -> Term:
    """Algorithm 1: the unit's truncated sum of binary32 words, normalised once."""
    numbers = [dp.decode(F32, word) for word in (*products, c)]
    top = dp.largest([x.exponent for x in numbers])
    aligned = [dp.align(x, top, unit.parameters.fraction_bits, unit.parameters.alignment) for x in numbers]
    width = 3 + unit.parameters.fraction_bits + unit.enough_carry_bits
    rounded = dp.sign_and_magnitude(dp.accumulate(aligned, width))
    magnitude = dp.round_to(F32, rounded, unit.parameters.rounding)
    sign = rounded.sign & magnitude.ne(0)
    return dp.encode(F32, sign, magnitude, *dp.special_cases(numbers), unit.nan_word)
