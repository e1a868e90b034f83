"""Algorithms and domains on reduced formats."""

from tcsmt.analysis.sweeps.reduced import image, narrow_format, wide_format
from tcsmt.matrix_units.arithmetic.formats import Format
from tcsmt.programs.recipes import Algorithm, algorithm_named
from tcsmt.prove.statements.domain import Domain


def wide_of(p: int) -> Format:
    return wide_format(narrow_format(p))


def domain_of(low: int, high: int, bits: tuple[int, int], *, c_zero: bool) -> Domain:
    return Domain(exponents=(low, high), bits=bits, c_zero=c_zero)


def on(name: str, unit: str, p: int) -> Algorithm:
    return image(algorithm_named(name, unit, 1)[0], narrow_format(p))
