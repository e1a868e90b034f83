"""Samples of a domain's words, and domains that have all inputs of others: by all words of small formats."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest

from tcsmt.matrix_units.arithmetic.formats import AnyFormat, Format, IntegerFormat, Specials, float_format
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.domain_words import covers, samples
from tests.support.domains import DOMAINS, NAMED, TINY

ODD = [
    TINY, *NAMED,
    Format(name="x", exponent_bits=3, fraction_bits=2, bias=90),
    Format(name="y", exponent_bits=3, fraction_bits=2, bias=-2, specials=Specials.NAN_ONLY),
    Format(name="powers", exponent_bits=4, fraction_bits=0, bias=7, specials=Specials.NONE, signed=False),
    IntegerFormat(name="z", bits=5), IntegerFormat(name="u", bits=4, fraction_bits=2, signed=False),
]  # fmt: skip


@pytest.mark.parametrize("fmt", ODD, ids=lambda fmt: fmt.name)
@pytest.mark.slow_cases("e4m3", "e5m2")
def test_samples_say_whether_anything_lies_in_the_domain(fmt: AnyFormat) -> None:
    """Any word at all, and any but zeros: by all words of the format."""
    for domain, name in product(DOMAINS, ("a0", "c", "sa0")):
        if domain.bits is not None and isinstance(fmt, IntegerFormat):
            continue
        inside = [w for w in range(1 << fmt.width) if domain.contains({name: fmt}, {name: w})]
        found = samples(domain, name, fmt)
        assert set(found) <= set(inside)
        assert bool(found) == bool(inside), (str(domain), name)

        def more(words: list[int]) -> bool:
            return any(fmt.is_nan(word) or fmt.is_infinite(word) or fmt.value(word) for word in words)

        assert more(found) == more(inside), (str(domain), name)


UNSIGNED: dict[str, Any] = {"specials": Specials.NAN_ONLY, "signed": False}
IEEE = Format(name="ieee", exponent_bits=2, fraction_bits=2, bias=1)
#: Words of operands and of scales: with and without infinities, NaNs, subnormal numbers, signs and zeros.
WORDS: dict[str, tuple[AnyFormat, ...]] = {
    "a0": (IEEE, IntegerFormat(name="z", bits=3)),
    "b0": (Format(name="n", exponent_bits=2, fraction_bits=2, bias=1, specials=Specials.NAN_ONLY),),
    "c": (IEEE, IntegerFormat(name="u", bits=4, fraction_bits=2, signed=False)),
    "sa0": (
        Format(name="powers", exponent_bits=3, fraction_bits=0, bias=3, **UNSIGNED),
        Format(name="fine", exponent_bits=2, fraction_bits=2, bias=1, **UNSIGNED),
        Format(name="signs", exponent_bits=2, fraction_bits=1, bias=1),
    ),
}  # fmt: skip
#: Each part of a domain in two states, exponents in four: every pair of these is tried.
PARTS = [
    Domain(
        finite=finite, positive=positive, subnormals=subnormals, c_zero=c_zero,
        exponents=exponents, c_free=free, bits=bits,
    )
    for finite, positive, subnormals, c_zero, (exponents, free), bits in product(
        (True, False), (True, False), (True, False), (True, False),
        ((None, False), ((0, 0), False), ((-1, 1), False), ((-1, 1), True)), (None, (1, 2)),
    )
]  # fmt: skip


@cache
def inside(domain: Domain, name: str, fmt: AnyFormat) -> frozenset[int]:
    """The words of an input that lie in a domain: its documentation, read once more, in fractions."""
    found = []
    is_number = isinstance(fmt, IntegerFormat)
    for word in range(1 << fmt.width):
        special = not is_number and (fmt.is_nan(word) or fmt.is_infinite(word))
        size = Fraction(0) if special else abs(fmt.value(word))
        limited = domain.exponents is not None and (name[0] in "ab" or (name == "c" and not domain.c_free))
        few = domain.bits["ab".index(name[0])] if domain.bits is not None and name[0] in "ab" else None
        tiny = not is_number and size and not special and size < Fraction(2) ** float_format(fmt).e_min
        fine = [
            not (special and (domain.finite or limited or few is not None)),
            not (domain.positive and fmt.signed and word >> (fmt.width - 1)),
            not (tiny and (limited or not domain.subnormals)),
            not (name == "c" and domain.c_zero and word),
        ]
        if limited and size and domain.exponents is not None:
            low, high = domain.exponents
            fine.append(Fraction(2) ** low <= size < Fraction(2) ** (high + 1))
        if few is not None and size and not is_number:
            fine.append(few >= float_format(fmt).precision or _few_bits(size, few, float_format(fmt)))
        if all(fine):
            found.append(word)
    return frozenset(found)


def _few_bits(size: Fraction, few: int, fmt: Format) -> bool:
    exponent = max(fmt.e_min, next(e for e in range(-99, 99) if Fraction(2) ** (e + 1) > size))
    return (size / Fraction(2) ** (exponent - few + 1)).denominator == 1


@pytest.mark.parametrize("name", WORDS)
def test_a_domain_that_covers_another_has_its_words(name: str) -> None:
    """Of every pair of domains, by all words of small formats: never without, and nearly always where so."""
    assert {field.name for field in fields(Domain)} == {
        "finite", "positive", "subnormals", "c_zero", "exponents", "c_free", "bits",
    }  # fmt: skip
    for fmt in WORDS[name]:
        domains = [d for d in PARTS if d.bits is None or isinstance(fmt, Format) or name[0] not in "ab"]
        words = [inside(domain, name, fmt) for domain in domains]
        covered = contained = 0
        for wide, of_wide in zip(domains, words, strict=True):
            for narrow, of_narrow in zip(domains, words, strict=True):
                contained += of_narrow <= of_wide
                if covers(wide, narrow, {name: fmt}):
                    covered += 1
                    assert of_narrow <= of_wide, (fmt.name, str(wide), str(narrow))
        assert covered > 0.7 * contained, (fmt.name, covered, contained)


@pytest.mark.slow
def test_domains_of_one_text_have_the_same_words() -> None:
    """What is printed is all: of domains with different words of some input, the texts differ."""
    for name, fmts in WORDS.items():
        for fmt in fmts:
            words_of: dict[str, frozenset[int]] = {}
            whole: dict[str, frozenset[int]] = {}
            for domain in PARTS:
                found = inside(domain, name, fmt)
                assert words_of.setdefault(domain.in_words(("a0", "b0", "c", name)), found) == found
                assert whole.setdefault(str(domain), found) == found
