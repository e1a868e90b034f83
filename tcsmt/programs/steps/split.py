"""A number of a wide format (binary32) as a sum of words of a narrower one.

The first word is the number rounded; every further word is what the words before it leave over,
times 2^scale for each step, rounded again. What is left over is a binary32 subtraction, and the
scaling a binary32 multiplication, both to nearest as on the GPU's ordinary cores (they are exact
unless something overflows). Where the sources differ:

* Markidis et al. 2018: to nearest, no scaling. Valpey et al. 2025, section 6, name no rounding; the
  script that they published truncates.
* Ootomo and Yokota 2022: to nearest, scale = 11, "the mantissa length of FP16 with implicit bit".
* Fasi et al. 2023, Mary and Mikaitis 2025: to nearest; as published in Khattak and Mikaitis' Fig. 7,
  toward zero.
* CUTLASS (``mma_tensor_op_fast_f32.h``): the first word toward zero, the second to nearest with ties
  away from zero (``cvt.rna.tf32``), no scaling.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcsmt.language.terms import Term, const
from tcsmt.matrix_units.arithmetic import ieee
from tcsmt.matrix_units.arithmetic.datapath import decode
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS, Rounding
from tcsmt.support.errors import TcsmtError

F32 = FORMATS["f32"]
RNE = ROUNDINGS["RNE"]


@dataclass(frozen=True, kw_only=True)
class Split:
    """The split of a word of the format ``wide`` into words of ``format``.

    words: how many. rounding: of the first word. residual: rounding of the words after it.
    scale: each further word holds what is left over times 2^scale more, so that word j counts
    2^(-j·scale) of what it says. A number beyond the format becomes infinite where the rounding
    says so; in a format without infinities it becomes the largest finite number. wide: binary32, or
    a smaller format that stands for it (:mod:`tcsmt.analysis.sweeps.reduced`).
    """

    format: Format
    wide: Format = F32
    words: int = 2
    rounding: Rounding = RNE
    residual: Rounding = RNE
    scale: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.words <= 8:
            raise TcsmtError(f"words = {self.words}: must be from 1 to 8")
        if not 0 <= self.scale <= 60:
            raise TcsmtError(f"scale = {self.scale}: must be from 0 to 60")
        if self.words > 1 and not self.wide.holds(self.format):
            raise TcsmtError(f"format = {self.format.name}: {self.wide.name} cannot hold all of its values")

    def apply(self, word: Term) -> tuple[Term, ...]:
        """Return the words of a word of the wide format, the largest first."""
        wide = self.wide
        if self.format == wide:
            return (word, *[const(0, wide.width)] * (self.words - 1))
        words = [self._convert(word, self.rounding)]
        rest = word
        for _ in range(1, self.words):
            taken = ieee.widen(words[-1], self.format, wide)
            rest = ieee.add_words(wide, taken ^ (1 << wide.sign_bit), rest)
            if self.scale:
                rest = ieee.MultiplyAdd.product(wide, rest, power(self.scale, wide)).word()
            words.append(self._convert(rest, self.residual))
        return tuple(words)

    def _convert(self, word: Term, rounding: Rounding) -> Term:
        return ieee.convert(decode(self.wide, word), self.format, rounding)


def power(exponent: int, fmt: Format = F32) -> Term:
    """Return the word of 2^exponent."""
    return const(fmt.word(Fraction(2) ** exponent), fmt.width)
