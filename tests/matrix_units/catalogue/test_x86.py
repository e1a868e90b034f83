"""The units of x86 CPUs: against an oracle written from the manuals, and integers' words by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import IntegerDotAdd
from tests.oracles import cpus
from tests.support.catalogue_words import word_of
from tests.support.cpu_rows import agree, drawn, some_rows, told_apart

NAMES = [row.name for row in rows() if row.architecture == "x86" and row.name in cpus.UNITS]


def test_every_unit_has_an_oracle() -> None:
    """Integers have one of their own."""
    floats = {r.name for r in rows() if r.architecture == "x86" and r.model.kind == "ieee-dot-add"}
    assert floats == {name for name in cpus.UNITS if name.startswith("x86/")} == set(NAMES)


@pytest.mark.parametrize("count", [100, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_every_kind(name: str, count: int) -> None:
    agree(name, *some_rows(row_named(name).model, 1, count))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(data=st.data())
def test_drawn_words(data: st.DataObject) -> None:
    agree("x86/vdpbf16ps", *data.draw(drawn("x86/vdpbf16ps")))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param("x86/tdpbf16ps", "x86/tdpbf16ps@guide", marks=pytest.mark.long),  # 32 lanes
        ("x86/vdpbf16ps", "arm/bfdot.ebf1"),
    ],
)
def test_a_witness_tells_two_units_apart(one: str, two: str) -> None:
    told_apart(one, two)


def test_one_vector_decides_between_intels_documents() -> None:
    """a = b = (1, 1), c = 2^24: the manual gives 2^24 + 2, the Intrinsics Guide 2^24."""
    ones, c = [0x3F80] * 2 + [0] * 30, 0x4B800000
    words = np.array([ones])
    for name, expected in (("x86/tdpbf16ps", 0x4B800001), ("x86/tdpbf16ps@guide", 0x4B800000)):
        agree(name, words, words, np.array([c]))
        assert cpus.UNITS[name](ones, ones, c) == expected


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        # u8 times s8: 255 * -128 = -32640
        ("x86/vpdpbusd", {"a0": 0xFF, "b0": 0x80}, 0xFFFF8080),
        ("x86/vpdpbusd", {"a0": 1, "b0": 1, "c": 0x7FFFFFFF}, 0x80000000),
        ("x86/vpdpbusds", {"a0": 1, "b0": 1, "c": 0x7FFFFFFF}, 0x7FFFFFFF),
        # the exact sum is saturated once: what is too large on the way does not matter
        ("x86/vpdpbusds", {"a0": 1, "b0": 1, "a1": 1, "b1": 0xFF, "c": 0x7FFFFFFF}, 0x7FFFFFFF),
        ("x86/vpdpbusds", {"a0": 1, "b0": 2, "a1": 1, "b1": 0xFF, "c": 0x7FFFFFFE}, 0x7FFFFFFF),
        ("x86/vpdpbusds", {"a0": 2, "b0": 0x80, "c": 0x80000000}, 0x80000000),
        # (-2^15)^2 twice is 2^31
        ("x86/vpdpwssd", {"a0": 0x8000, "b0": 0x8000, "a1": 0x8000, "b1": 0x8000}, 0x80000000),
        ("x86/vpdpwssds", {"a0": 0x8000, "b0": 0x8000, "a1": 0x8000, "b1": 0x8000}, 0x7FFFFFFF),
        # tiles of bytes: signs by the letters s and u, a first
        ("x86/tdpbssd", {"a63": 0xFF, "b63": 0xFF}, 1),
        ("x86/tdpbsud", {"a63": 0xFF, "b63": 0xFE}, 0xFFFFFF02),
        ("x86/tdpbusd", {"a63": 0xFF, "b63": 0xFE}, 0xFFFFFE02),
        ("x86/tdpbuud", {"a63": 0xFF, "b63": 0xFF}, 0xFE01),
    ],
)
def test_words_of_integers(name: str, given: dict[str, int], word: int) -> None:
    assert word_of(name, **given) == word


def test_names_of_integer_instructions_say_whether_they_saturate() -> None:
    models = {row.instruction: row.model for row in rows() if row.architecture == "x86"}
    integers = {name: model for name, model in models.items() if isinstance(model, IntegerDotAdd)}
    assert len(integers) == 8
    for name, model in integers.items():
        assert (model.overflow == "saturate") == name.endswith("s")
