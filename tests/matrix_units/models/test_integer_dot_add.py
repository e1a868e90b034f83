"""Dot products of integers against Python's integers: all words of tiny formats, the ends of wide ones."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.arrays import Program
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.arithmetic.formats import INTEGERS, IntegerFormat
from tcsmt.matrix_units.models import IntegerDotAdd, Kind
from tcsmt.prove.statements.explain import steps
from tcsmt.support.errors import TcsmtError
from tests.oracles import integers
from tests.support.sampling import mostly_long


def tiny(letter: str, bits: int, fraction_bits: int = 0) -> IntegerFormat:
    name = f"{letter}{bits}" + (f"f{fraction_bits}" if fraction_bits else "")
    return IntegerFormat(name=name, bits=bits, signed=letter == "s", fraction_bits=fraction_bits)


def model(
    a: IntegerFormat, b: IntegerFormat, c: IntegerFormat, d: IntegerFormat, **more: Any
) -> IntegerDotAdd:
    return IntegerDotAdd(a_format=a, b_format=b, c_format=c, d_format=d, **more)


def named(a: str, b: str, d: str = "s32", **more: Any) -> IntegerDotAdd:
    return model(INTEGERS[a], INTEGERS[b], INTEGERS[d], INTEGERS[d], **more)


def check(unit: IntegerDotAdd, rows: list[tuple[int, ...]]) -> None:
    """The model on rows of words, by the evaluator for arrays, is what the oracle says of each."""
    columns = {
        name: words.astype(np.uint64)
        for name, words in zip(unit.input_names, np.array(rows, object).T, strict=True)
    }
    found = Program([unit.trace.output]).run(columns)[0]
    for row, word in zip(rows, found, strict=True):
        values = dict(zip(unit.input_names, row, strict=True))
        assert int(word) == integers.result(unit, values), (unit, values)


S2, S3, S4, U1, U2, U3 = tiny("s", 2), tiny("s", 3), tiny("s", 4), tiny("u", 1), tiny("u", 2), tiny("u", 3)
TINY = [
    (S2, S2, S4, S4), (S3, S3, S4, S4), (S4, S4, S4, S4), (U2, S2, S3, S3), (U3, S2, S4, S4),
    (S2, U3, S2, S4),
    (U2, U2, U3, U3), (U2, U2, U2, S4), (S3, U1, U3, U2), (U3, U3, tiny("u", 5), tiny("u", 5)),
    (S4, S4, tiny("s", 12), tiny("s", 12)),
    (tiny("s", 3, 1), tiny("s", 2, 1), tiny("s", 4, 1), tiny("s", 5, 2)),
    (tiny("u", 2, 2), S2, tiny("s", 3), tiny("s", 6, 3)),
]  # fmt: skip


@pytest.mark.parametrize("overflow", ["wrap", "saturate"])
@pytest.mark.parametrize(
    "formats", mostly_long(TINY, TINY[1::2]), ids=lambda formats: "-".join(fmt.name for fmt in formats)
)
def test_every_input_of_tiny_formats(formats: tuple[IntegerFormat, ...], overflow: str) -> None:
    """One product: all inputs. Two, in one sum and in a chain of two: all inputs, or some thousands."""
    for k, n_fma in ((1, None), (2, None), (2, 1)):
        unit = model(*formats, k=k, n_fma=n_fma, overflow=overflow)
        every = [integers.words(fmt) for fmt in unit.input_formats.values()]
        count = int(np.prod([len(words) for words in every]))
        if count <= 1 << 13:
            rows = list(itertools.product(*every))
        else:
            rng = Random(count)
            rows = [tuple(rng.choice(words) for words in every) for _ in range(4000)]
        check(unit, rows)


REAL = [
    *(named("u8", "s8", k=4, overflow=overflow) for overflow in ("wrap", "saturate")),
    *(named("s16", "s16", k=2, overflow=overflow) for overflow in ("wrap", "saturate")),
    named("s8", "s8", k=4, n_fma=2, overflow="saturate"),
    named("s4", "u4", k=4),
    named("s8", "s8", "s16", k=2, overflow="saturate"),
    named("u8", "u8", "u32", k=2, overflow="saturate"),
    named("s32", "s32", "s64", k=2, overflow="saturate"),
    named("s64", "u64", "s64", k=1, overflow="wrap"),
]  # fmt: skip


def ends(fmt: IntegerFormat) -> list[int]:
    """The words at and beside the ends of a format, and zero."""
    top, half = 2**fmt.bits, 2 ** (fmt.bits - 1)
    return sorted({0, 1, 2, half - 2, half - 1, half, half + 1, top - 2, top - 1})


@pytest.mark.parametrize(
    "unit", REAL, ids=lambda unit: f"{unit.a_format.name}-{unit.d_format.name}-{unit.overflow}"
)
def test_the_ends_of_real_formats_agree_with_python_integers(unit: IntegerDotAdd) -> None:
    """All ends of two factors and c, with every other lane alike or zero."""
    rows = []
    for x, y, c in itertools.product(ends(unit.a_format), ends(unit.b_format), ends(unit.c_format)):
        rows.append((x,) * unit.k + (y,) * unit.k + (c,))
        rows.append((x,) + (0,) * (unit.k - 1) + (y,) * unit.k + (c,))
    check(unit, rows)


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_words_of_real_formats(data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(REAL))
    row = tuple(data.draw(st.integers(0, 2**fmt.width - 1)) for fmt in unit.input_formats.values())
    check(unit, [row])


def test_a_chain_that_wraps_is_one_long_sum() -> None:
    """The same graph, whatever the blocks; not so where sums saturate."""
    whole, halves = named("s8", "s8", k=8), named("s8", "s8", k=8, n_fma=2)
    assert whole.trace.output is halves.trace.output
    whole, halves = (one.replace(overflow="saturate") for one in (whole, halves))
    assert whole.trace.output is not halves.trace.output


def test_a_sum_that_cannot_overflow_is_not_limited() -> None:
    wrap = model(S4, S4, tiny("s", 6), tiny("s", 12), k=2)
    assert wrap.replace(overflow="saturate").trace.output is wrap.trace.output


def test_stages_hold_exact_numbers() -> None:
    """Products, their sum, the sum with c, and the result, which alone is in range."""
    unit = named("u8", "s8", k=4, overflow="saturate")
    values = dict.fromkeys(unit.input_names, 0) | {
        "a0": 255,
        "b0": 0x80,
        "a2": 3,
        "b2": 0xFF,
        "c": 0x80000000,
    }
    found = steps(unit.trace, values)
    numbers = [step.value for step in found]
    assert [step.stage.kind for step in found][4:] == [Kind.SUM_OF_PRODUCTS, Kind.EXACT_SUM, Kind.RESULT]
    assert numbers == [-32640, 0, -3, 0, -32643, -(2**31) - 32643, -(2**31)]


def test_fixed_point_numbers_are_exact() -> None:
    q = tiny("s", 16, 8)
    unit = model(tiny("s", 8, 4), tiny("s", 8, 4), q, q, k=1)
    a, b, c = (
        unit.a_format.word(Fraction(3, 2)),
        unit.b_format.word(Fraction(-9, 4)),
        q.word(Fraction(1, 256)),
    )
    (word,) = evaluate([unit.trace.output], {"a0": a, "b0": b, "c": c})
    assert q.value(word) == Fraction(-27, 8) + Fraction(1, 256)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_fma": 3}, "n_fma = 3: must be None or a divisor of k = 4"),
        ({"overflow": "clamp"}, "unknown overflow 'clamp'"),
        ({"a_format": "f16"}, "a_format = f16: must be an integer or fixed-point format or its name"),
        ({"c_format": tiny("s", 32, 8)}, "d_format = s32: must be a format with at least 8 fraction bits"),
        ({"a_format": tiny("s", 8, 1)}, "d_format = s32: must be a format with at least 1 fraction bits"),
    ],
)
def test_contradictory_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        named("u8", "s8", k=4).replace(**change)
