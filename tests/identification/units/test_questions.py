"""Questions as arrays: what their words are, and those that tell rules for NaNs apart."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.questions import (
    SIGNIFICANDS,
    Questions,
    drawn_fractions,
    exponent_field,
    invalid_questions,
    last_place,
    least_exponent,
    nan_of_c,
    nan_questions,
    neither_zero_nor_normal,
    ordinary_rows,
    product_exponents,
    put_zeros,
    rules_of_words,
    zero_words,
)
from tcsmt.matrix_units.arithmetic.boundary_words import FractionKind
from tcsmt.matrix_units.arithmetic.formats import FORMATS, Format
from tcsmt.matrix_units.catalogue import row_named

NAMES = ("e2m1", "e4m3", "e5m2", "f16", "bf16")
FAMILY = Family.of((FORMATS[name] for name in ("e5m2", "e4m3", "f16", "f16")), 2)


def all_words(fmt: Format) -> np.ndarray:
    """Every word; of wide formats the first and last ones of each exponent, and some between."""
    words = np.arange(1 << fmt.width, dtype=np.uint64)
    place = words % (1 << fmt.fraction_bits)
    few = (place < 3) | (place > (1 << fmt.fraction_bits) - 3) | (words % 37 == 0)
    return words if fmt.width <= 8 else words[few]


def kind(fmt: Format, word: int) -> str:
    if fmt.is_nan(word) or fmt.is_infinite(word):
        return "special"
    value = abs(fmt.value(word))
    return "zero" if not value else "normal" if value >= Fraction(2) ** fmt.e_min else "subnormal"


@pytest.mark.parametrize("name", NAMES)
def test_every_word(name: str) -> None:
    fmt = FORMATS[name]
    words = all_words(fmt)
    kinds = [kind(fmt, int(word)) for word in words]
    assert zero_words(fmt, words).tolist() == [one == "zero" for one in kinds]
    special = neither_zero_nor_normal(fmt, words)
    for word, what, found in zip(words.tolist(), kinds, special.tolist(), strict=True):
        if what in ("zero", "subnormal"):
            assert found == (what == "subnormal"), hex(word)
        elif what == "special" and fmt.has_infinity:
            assert found, hex(word)
    fields, lasts = exponent_field(fmt, words), last_place(fmt, words)
    for word, what, field, last in zip(words.tolist(), kinds, fields.tolist(), lasts.tolist(), strict=True):
        if what == "normal":
            value = abs(fmt.value(word))
            assert Fraction(2) ** (field - fmt.bias) <= value < Fraction(2) ** (field - fmt.bias + 1)
            in_units = value / Fraction(2) ** last
            assert in_units.denominator == 1 and in_units % 2 == 1, hex(word)


def questions(*rows: tuple[list[int], list[int], int]) -> Questions:
    a, b, c = zip(*rows, strict=True)
    return Questions(*(np.array(side, np.uint64) for side in (a, b, c)))


def test_rows_are_taken_and_joined() -> None:
    one = questions(([1, 2], [3, 4], 5), ([6, 7], [8, 9], 10))
    assert len(one) == 2 and len(one[[1, 0, 1]]) == 3
    assert one[[1]].a.tolist() == [[6, 7]] and one[1:].c.tolist() == [10]
    joined = Questions.joined([one[[1]], one, one[:0]])
    assert (joined.a.tolist(), joined.c.tolist()) == ([[6, 7], [1, 2], [6, 7]], [10, 5, 10])


def test_exponents_of_products() -> None:
    a, b = FAMILY.a_format, FAMILY.b_format
    x, y = (
        np.array([int(w) for w in all_words(f) if kind(f, int(w)) == "normal"], np.uint64) for f in (a, b)
    )
    rng = np.random.default_rng(0)
    rows = Questions(rng.choice(x, (200, 2)), rng.choice(y, (200, 2)), np.zeros(200, np.uint64))
    for row, found in enumerate(product_exponents(FAMILY, rows).tolist()):
        for lane in range(2):
            product = abs(a.value(int(rows.a[row, lane])) * b.value(int(rows.b[row, lane])))
            assert Fraction(2) ** found[lane] <= product < Fraction(2) ** (found[lane] + 2)


def test_ordinary_questions() -> None:
    """Normal words or lanes of zeros, c normal or zero, and a product as large as any zero may count."""
    a, b, c, _ = FAMILY.formats
    large = a.word(Fraction(2) ** a.e_max), b.word(Fraction(2) ** b.e_max)
    assert a.e_max + b.e_max >= least_exponent(FAMILY)
    one = c.word(Fraction(1))
    cases = {
        ((large[0], 0), (large[1], 0), 0): True,
        ((large[0], 0), (large[1], 0), one): True,
        ((large[0], 1), (large[1], large[1]), one): False,  # a subnormal number
        ((large[0], large[0]), (large[1], 0), one): False,  # a zero beside a number
        ((a.word(Fraction(2) ** a.e_min), 0), (b.word(Fraction(2) ** b.e_min), 0), one): False,  # too small
        ((0, 0), (0, 0), one): False,
        ((large[0], a.infinity_word), (large[1], large[1]), one): False,
        ((large[0], 0), (large[1], 0), 1): False,
        ((large[0], 0), (large[1], 0), c.infinity_word): False,
    }
    rows = questions(*((list(x), list(y), z) for x, y, z in cases))
    assert ordinary_rows(FAMILY, rows).tolist() == list(cases.values())
    exponents = product_exponents(FAMILY, rows)[:, 0]
    assert (exponents[ordinary_rows(FAMILY, rows)] >= least_exponent(FAMILY)).all()


def test_the_exponent_that_no_zero_is_above() -> None:
    assert all(zero is None or zero <= least_exponent(FAMILY) for zero in FAMILY.zero_exponents)
    assert least_exponent(FAMILY) >= max(FAMILY.c_format.e_min, FAMILY.a_format.e_min + FAMILY.b_format.e_min)


FORMATS_OF = [FORMATS[name] for name in ("bf16", "bf16", "f32", "f32")]


def answers(name, questions):
    box = model_box(row_named(name).model)
    rows = zip(questions.a.tolist(), questions.b.tolist(), questions.c.tolist(), strict=True)
    return [box(*row) for row in rows]


def test_rules_of_the_catalogue_are_among_them():
    names = {rule.name for rule in rules_of_words(0x7FC00000, 0xFFC00000)}
    assert row_named("x86/vdpbf16ps").model.parameters.nan.name in names
    assert row_named("arm/fmlal").model.parameters.nan.name in {
        r.name for r in rules_of_words(0x7FC00000, 0x7FC00000)
    }
    assert len(names) == 4 * 15


def test_questions_whose_result_is_a_nan():
    d = FORMATS["f32"]
    assert d.is_nan(answers("x86/vdpbf16ps", nan_of_c(FORMATS_OF, 2))[0])
    for question in invalid_questions(FORMATS_OF, 2):
        assert answers("x86/vdpbf16ps", question) == [0xFFC00000]
    words = answers("x86/vdpbf16ps", nan_questions(FORMATS_OF, 2, np.random.default_rng(0), 100))
    assert sum(map(d.is_nan, words)) > 50
    assert len({word for word in words if d.is_nan(word)}) > 20


def test_formats_without_infinities_have_no_invalid_operation():
    assert invalid_questions([FORMATS[name] for name in ("e4m3", "e4m3", "f32", "f32")], 2) == []


def test_fractions_are_of_their_kinds():
    fmt, kinds = FORMATS["f16"], np.arange(4000).reshape(40, 100) % len(SIGNIFICANDS)
    fractions = drawn_fractions(fmt, np.random.default_rng(0), kinds)
    assert fractions.shape == kinds.shape and fractions.max() == 1023
    of = {kind: fractions[kinds == number] for number, kind in enumerate(SIGNIFICANDS)}
    assert not of[FractionKind.ZERO].any() and (of[FractionKind.ONES] == 1023).all()
    assert set(of[FractionKind.ONE_BIT].tolist()) == {1 << place for place in range(10)}
    assert len(set(of[FractionKind.RANDOM].tolist())) > 500


def test_zeros_have_the_signs_of_their_format():
    places = np.arange(300) % 3 == 0
    for name, zeros in (("f16", {0, 1 << 15}), ("e4m3fnuz", {0})):
        words = np.full(300, 5, np.uint64)
        put_zeros(FORMATS[name], np.random.default_rng(0), words, places)
        assert set(words[places].tolist()) == zeros and (words[~places] == 5).all()
