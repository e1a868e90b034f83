"""Algorithms as their papers define them, in fractions."""

from fractions import Fraction

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.programs.recipes import Algorithm
from tests.oracles import rationals
from tests.oracles.rationals import rounded

F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


def words_of(x: Fraction, algorithm: Algorithm) -> list[Fraction]:
    """The split, from its definition."""
    split, fmt = algorithm.split, algorithm.split.format
    found, rest = [], x
    for number in range(split.words):
        mode = (split.residual if number else split.rounding).name
        word = rounded(rest, fmt.precision, fmt.e_min, mode)
        found.append(word)
        rest = (rest - word) * 2**split.scale
    return found


def reference(algorithm: Algorithm, values: dict[str, int], fraction_bits: int, block: int) -> Fraction:
    """Ootomo-Yokota or Markidis on a truncated fused unit, from the papers, in fractions."""
    k = algorithm.k
    a, b = ([words_of(value(values[f"{s}{i}"]), algorithm) for i in range(k)] for s in "ab")

    def unit(i: int, j: int, c: Fraction) -> Fraction:
        for start in range(0, algorithm.unit.k, block):
            terms = [c]
            exponents = [rationals.binary_exponent(abs(c)) if c else -133]
            for lane in range(start, min(start + block, k)):
                x, y = a[lane][i], b[lane][j]
                if x and y:
                    e_min = algorithm.split.format.e_min
                    exponents.append(sum(max(rationals.binary_exponent(abs(v)), e_min) for v in (x, y)))
                    terms.append(x * y)
            grain = Fraction(2) ** (max(exponents) - fraction_bits)
            total = sum((int(t / grain) * grain for t in terms), Fraction(0))
            c = rounded(total, 24, -126, "RTZ")
        return c

    def nearest(x: Fraction) -> Fraction:
        return rounded(x, 24, -126, "RNE")

    c = value(values["c"])
    if algorithm.split.scale == 0:
        for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
            c = unit(i, j, c)
        return c
    corrections = unit(0, 1, unit(1, 0, Fraction(0)))
    return nearest(nearest(unit(0, 0, Fraction(0)) + corrections / 2**11) + c)
