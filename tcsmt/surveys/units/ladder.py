"""Simple domains, the largest first, and boundary inputs that lie in them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from tcsmt.language.run.arrays import Program, storage
from tcsmt.language.terms import Term
from tcsmt.matrix_units.arithmetic.boundary_words import from_fields
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat
from tcsmt.matrix_units.models import Trace
from tcsmt.matrix_units.models.base import role_of
from tcsmt.prove.engine.boundary_inputs import rows
from tcsmt.prove.statements.domain import Domain

Array = np.ndarray[Any, np.dtype[Any]]

#: The range of exponents, around 1. Smaller ones, and fewer significand bits, were asked for f16 and e4m3:
#: no two units were proved equal there. Sums of integers are a statement of their own
#: (``tcsmt/analysis/exactness/sums.py``).
_EXPONENTS = (-8, 8)
_SIGNS = ((False, False), (True, False), (False, True), (True, True))  # c_zero, positive


def ladder(formats: Mapping[str, AnyFormat], trace: Trace) -> list[Domain]:
    """Return the domains of the atlas in their fixed order: none is included in a later one.

    First all words; then without NaN and infinity, without subnormals, with c = 0, positive, and all
    combinations of these; then exponents around 0.
    Domains that hold the same inputs of these formats as an earlier one are left out.
    """
    domains = [Domain(finite=False)]
    sizes = sorted(product((True, False), (False, True), (False, True)), key=_restrictions)
    domains += [Domain(subnormals=s, c_zero=c, positive=p) for s, c, p in sizes]
    domains += [Domain(exponents=_EXPONENTS, c_zero=c, positive=p) for c, p in _SIGNS]
    different: dict[Term, Domain] = {}
    for domain in domains:
        different.setdefault(domain.holds(formats, trace), domain)
    return list(different.values())


def _restrictions(choice: tuple[bool, bool, bool]) -> int:
    subnormals, c_zero, positive = choice
    return (not subnormals) + c_zero + positive


def columns_in(
    domain: Domain, formats: Mapping[str, AnyFormat], trace: Trace, count: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Boundary inputs in a domain, at most ``count``: the usual ones, each word moved into it.

    Words by input name, unsigned integers, all of one shape (rows,) with rows <= count.
    """
    columns = rows(formats, count, rng)
    if not domain.finite and domain.exponents is None:
        _put_special_words(columns, formats, rng)
    for name, fmt in formats.items():
        words = columns[name].astype(np.uint64)
        if name == "c" and domain.c_zero:
            words = np.zeros_like(words)
        moved = _integer_in(domain, fmt, words) if isinstance(fmt, IntegerFormat) else words
        if isinstance(fmt, Format):
            moved = _moved(domain, fmt, words, name)
        columns[name] = moved.astype(storage(fmt.width))
    inside = Program([domain.holds(formats, trace)]).run(columns)[0].astype(bool)
    inside = np.broadcast_to(inside, count)  # a domain of all words is a constant
    return {name: words[inside] for name, words in columns.items()}


def _put_special_words(
    columns: dict[str, Array], formats: Mapping[str, AnyFormat], rng: np.random.Generator
) -> None:
    """Infinities, NaNs and others with the largest exponent field, in one or two inputs of some rows."""
    names = list(formats)
    count = len(columns[names[0]])
    for _ in range(2):
        place = np.where(rng.random(count) < 0.3, rng.integers(0, len(names), count), -1)
        for number, name in enumerate(names):
            fmt = formats[name]
            if not isinstance(fmt, Format):
                continue
            ones = (1 << fmt.fraction_bits) - 1
            drawn = rng.integers(0, ones, count, dtype=np.uint64, endpoint=True)
            fraction = np.choose(rng.integers(0, 3, count), [np.zeros_like(drawn), drawn, drawn | 1])
            top = np.full(count, (1 << fmt.exponent_bits) - 1)
            sign = rng.integers(0, 2, count, dtype=np.uint64) if fmt.signed else np.zeros_like(drawn)
            words = from_fields(fmt, sign, top, fraction).astype(columns[name].dtype)
            columns[name] = np.where(place == number, words, columns[name])


def _moved(domain: Domain, fmt: Format, words: Array, name: str) -> Array:
    """Words without what the domain excludes; a bit that the unit ignores is kept."""
    bits, low = fmt.fraction_bits, np.uint64(fmt.ignored_low_bits)
    if domain.positive and fmt.signed:
        words = words & ~np.uint64(1 << fmt.sign_bit)
    top = np.uint64((1 << fmt.exponent_bits) - 1)
    field, fraction = words >> low >> np.uint64(bits) & top, words >> low & np.uint64((1 << bits) - 1)
    rest = words & ~(((top << np.uint64(bits)) | np.uint64((1 << bits) - 1)) << low)
    zero = (field == 0) & (fraction == 0)
    if domain.exponents is not None:
        least, most = (
            min(max(e + fmt.bias, int(fmt.has_subnormals)), fmt.largest_finite_field)
            for e in domain.exponents
        )
        field = np.where(zero, field, np.clip(field, least, most))
    elif not domain.subnormals and fmt.has_subnormals:
        fraction = np.where(field == 0, 0, fraction).astype(np.uint64)
    factor = role_of(name).factor
    if domain.bits is not None and factor is not None:
        bits_left = domain.bits_in(fmt)[factor] - 1
        fraction = fraction >> np.uint64(bits - bits_left) << np.uint64(bits - bits_left)
    moved: Array = rest | ((field << np.uint64(bits) | fraction) << low)
    return moved


def _integer_in(domain: Domain, fmt: IntegerFormat, words: Array) -> Array:
    if domain.exponents is not None and domain.high + 1 < fmt.width - fmt.signed:
        words = words & np.uint64((1 << max(domain.high + 1, 0)) - 1)
    if domain.positive and fmt.signed:
        words = words & ~np.uint64(1 << fmt.sign_bit)
    return words
