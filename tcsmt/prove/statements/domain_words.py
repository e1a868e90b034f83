"""Domains and their words: samples of them, and whether one domain has all that another has."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, float_format
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.statements.domain import Domain


def covers(wide: Domain, narrow: Domain, formats: Mapping[str, AnyFormat]) -> bool:
    """Return whether every input of ``narrow`` surely lies in ``wide``; formats: of the inputs, by name.

    Every part of a domain is about one input. So it is decided input by input, block scales among them, and
    each part that restricts an input in ``wide`` must do so in ``narrow``. No is not a proof: a domain
    without any input is not looked for.
    """
    return all(_covers(wide, narrow, name, fmt) for name, fmt in formats.items())


def _covers(wide: Domain, narrow: Domain, name: str, fmt: AnyFormat) -> bool:
    if name == "c" and narrow.c_zero:
        return wide.contains({name: fmt}, {name: 0})
    if name == "c" and wide.c_zero:
        return False
    limited = wide.limits(name)
    normal = limited or not wide.subnormals
    factor = role_of(name).factor
    has_specials = fmt.has_infinity or fmt.nan_word is not None
    has_subnormals = isinstance(fmt, Format) and fmt.has_subnormals
    return (
        (narrow.finite_input(name) or not wide.finite_input(name) or not has_specials)
        and (narrow.positive or not wide.positive or not fmt.signed)
        and (narrow.limits(name) or not narrow.subnormals or not normal or not has_subnormals)
        and (not limited or (narrow.limits(name) and wide.low <= narrow.low and narrow.high <= wide.high))
        and (factor is None or _covers_bits(wide.bits, narrow.bits, factor))
    )


def _covers_bits(wide: tuple[int, int] | None, narrow: tuple[int, int] | None, operand: int) -> bool:
    return wide is None or (narrow is not None and narrow[operand] <= wide[operand])


def samples(domain: Domain, name: str, fmt: AnyFormat) -> list[int]:
    """Return words of an input of this name that lie in a domain, one of each kind that does.

    None lies in it where there is no such word; and no number but zero where the words are zeros.
    """
    if isinstance(fmt, IntegerFormat):
        words = [0, 1, *(1 << bit for bit in range(fmt.width)), (1 << fmt.width) - 1]
    else:
        fmt = float_format(fmt)
        words = [0, fmt.largest_finite_word, fmt.infinity_word, fmt.nan_word or 0]
        least, largest = (
            domain.exponents if domain.limits(name) and domain.exponents else (fmt.e_min, fmt.e_max)
        )
        ends = {max(least, fmt.e_min), min(largest, fmt.e_max), min(max(0, least), largest)}
        words += [fmt.word(Fraction(2) ** e) for e in sorted(ends) if fmt.e_min <= e <= fmt.e_max]
        words += [word | 1 << fmt.sign_bit for word in words] if fmt.signed else []
    return [word for word in dict.fromkeys(words) if domain.contains({name: fmt}, {name: word})]
