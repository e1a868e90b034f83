"""Steps of a text: their options, and what each takes."""

from __future__ import annotations

from typing import Any

import pytest

from tcsmt.programs.written.tokens import Wrong
from tcsmt.support.errors import TcsmtError
from tests.support.program_texts import last_step


@pytest.mark.parametrize(
    ("text", "kind", "how"),
    [
        ("add(x, 1:f32, f32, RTZ, shift=5)", "add", {"shift": 5, "rounding": "RTZ", "fmt": "f32"}),
        ("convert(x, f16, RTP, saturate)", "convert", {"rounding": "RTP", "saturate": True, "target": "f16"}),
        ("convert(x, e4m3, saturate, random=r, bits=8)", "convert_randomly", {"bits": 8, "saturate": True}),
        ("multiply_add(x, x, x, f32)", "multiply_add", {"fmt": "f32"}),
        ("negate(x)", "negate", {"fmt": "f32"}),
        ("-x", "negate", {"fmt": "f32"}),
        ("convert(A, f16)", "convert", {"target": "f16"}),
    ],
)
def test_steps(text: str, kind: str, how: dict[str, Any]) -> None:
    step = last_step(text)
    assert step.kind == kind and step.axes == ("A" if "A" in text else "")
    for name, value in how.items():
        assert getattr(step.how[name], "name", step.how[name]) == value


def test_a_split_has_its_parameters() -> None:
    split = last_step("split(A, bf16, 3, RTZ, residual=RNA, scale=8)").how["split"]
    assert (split.words, split.scale, split.rounding.name, split.residual.name) == (3, 8, "RTZ", "RNA")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("multiply_add(x, x, x, f32, RTZ)", "to nearest even"),
        ("split(x, bf16, 2)", "A or B is split"),
        ("convert(x, f16, f32)", "one format is needed"),
        ("add(x, A, f32)", "numbers of the element"),
        ("add(x, x, f32", "expected"),
    ],
)
def test_what_a_step_does_not_take(text: str, why: str) -> None:
    with pytest.raises((Wrong, TcsmtError), match=why):
        last_step(text)


CUT = "digits(A, maximum(exponent(A), nan=ignored), s8, 2, RTZ, bits=4)"


def test_digits_have_their_parameters() -> None:
    step = last_step(CUT)
    cut = step.how["slicing"]
    assert (cut.bits, cut.count, cut.rounding.name, cut.wide.name, step.axes) == (4, 2, "RTZ", "f32", "A")
    assert (last_step("scale(x, f32, shift=-2)").how["shift"], last_step("exponent(A)").format.name) == (
        -2,
        "s16",
    )
    total = last_step("exact_sum(-3·x, 2·x, modulus=7)")
    assert (total.how["weights"], total.how["modulus"], total.format.width) == ((-3, 2), 7, 3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("digits(x, exponent(x), s8, 2, bits=4)", "numbers of A or B are cut"),
        ("digits(A, exponent(A), s8, 2)", "say how many bits"),
        ("digits(A, exponent(A), s4, 2, RTZ, bits=4)", "digits from -15 to 15: s4 does not have all of them"),
        ("digits(A, A, s8, 2, bits=4)", "an exponent"),
        ("digits(A, exponent(A), s8, 2, RTN, bits=4)", "must be RTZ or RNE"),
        ("residue(x, s8, modulus=7)", "a number's first digit"),
        ("accumulate(x, x, f32, RTZ)", "nearest even"),
        ("accumulate(x, x, f16)", "f32 and f16: convert first"),
        ("scale(x, x, f32)", "exponents are integers, not f32"),
        ("scale(x, f32, shift=x)", "must be an integer"),
        ("exact_sum(x, modulus=7)", "must be an integer"),
        ("exact_sum(2·x, modulus=1)", "must be 2 or more"),
    ],
)
def test_steps_on_digits_that_cannot_be(text: str, why: str) -> None:
    with pytest.raises((TcsmtError, Wrong), match=why):
        last_step(text)
