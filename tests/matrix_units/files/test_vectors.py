"""One input of a unit as text: numbers and words of every format, and what is wrong with others."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.files.vectors import neutral, vector_of
from tcsmt.support.errors import TcsmtError

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model
SCALED = row_named("rtx-blackwell/mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0").model


@given(words=st.dictionaries(st.sampled_from(["a0", "a3", "b1", "c"]), st.integers(0, 0x7BFF), min_size=1))
def test_words_and_exact_numbers_mean_the_same(words: dict[str, int]) -> None:
    formats = VOLTA.input_formats
    as_words = " ".join(f"{name}={formats[name].hex(word)}" for name, word in words.items())
    exact = {name: float(formats[name].value(word)) for name, word in words.items()}
    as_numbers = ",".join(f"{name}={number.hex()}" for name, number in exact.items())
    expected = dict.fromkeys(VOLTA.input_names, 0) | words
    assert vector_of(as_words, VOLTA) == vector_of(as_numbers, VOLTA) == expected


def test_block_scales_that_are_not_named_are_one() -> None:
    """1 in UE8M0 is 127."""
    found = vector_of("a0=1", SCALED)
    scales = {name for name in found if name.startswith("s")}
    assert scales and {found[name] for name in scales} == {127}
    assert found["c"] == neutral("c", SCALED.c_format) == 0
    assert list(found) == list(SCALED.input_names)


def test_rounded_numbers_are_reported() -> None:
    """0.1 lies between two numbers of binary16; 0x2e66 is the nearer one."""
    told: list[str] = []
    assert vector_of("a0=0.1 b0=0.25", VOLTA, told.append)["a0"] == 0x2E66
    assert len(told) == 1 and told[0].startswith("a0: 0.1 is not an exact f16 value")
    near = [VOLTA.a_format.value(word) for word in (0x2E65, 0x2E66, 0x2E67)]
    assert min(near, key=lambda x: abs(x - Fraction(1, 10))) == near[1]
    with pytest.raises(TcsmtError, match=r"a0: .*0\.1"):
        vector_of("a0=0.1", VOLTA)


@pytest.mark.parametrize(("text", "said"), [
    ("", r"the vector names no input; give at least one, such as a0=1\.5"), (" , ", "names no input"),
    ("a0", "'a0' does not have the form NAME=VALUE"), ("a0=1 a0=2", "a0 is given twice"),
    ("a4=1", "unknown input 'a4'"),
    ("a0=65520", "a0: '65520' is not representable in f16"),
    ("a0=one", "a0: .*one"),
    ("a0=0x12345", "a0: .*0x12345"),
])  # fmt: skip
def test_bad_text(text: str, said: str) -> None:
    with pytest.raises(TcsmtError, match=said):
        vector_of(text, VOLTA)
