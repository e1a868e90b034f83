"""Decimal numbers on the command line: what was rounded is said, the first few in full."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tcsmt.face.api.pictures import vector_words
from tcsmt.face.cli.rounded import RoundedInputs, vector_option
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.support.errors import TcsmtError

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


@pytest.mark.parametrize(("count", "last"), [
    (0, []), (5, []), (6, ["and 1 more value rounded to nearest"]),
    (9, ["and 4 more values rounded to nearest"]),
])  # fmt: skip
def test_the_first_five_are_said(count: int, last: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rounded = RoundedInputs()
    for number in range(count):
        rounded(f"number {number}")
    rounded.finish()
    said = [f"number {number}" for number in range(min(count, 5))] + last
    assert capsys.readouterr().err.splitlines() == said
    assert len(rounded.said) == count


def test_words_of_a_vector_and_what_was_rounded(capsys: pytest.CaptureFixture[str]) -> None:
    """0.1 is 0x2e66 in binary16; 0.5 and words are exact."""
    with vector_option() as rounded:
        words = vector_words("a0=0.1 b0=0.5 c=0x3f800000", VOLTA, rounded)
    assert (words["a0"], words["b0"], words["c"], words["a1"]) == (0x2E66, 0x3800, 0x3F800000, 0)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("--vector: a0: 0.1 is not an exact f16 value") and said.err.count("\n") == 1


def test_errors_name_the_option() -> None:
    with pytest.raises(TcsmtError, match=r"^--vector: .*z0"), vector_option() as rounded:
        vector_words("z0=1", VOLTA, rounded)


def test_errors_of_other_arguments_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    """They end the list of what was rounded before them."""

    def call(rounded: Callable[[str], None]) -> None:
        for number in range(7):
            rounded(f"number {number}")
        raise TcsmtError("no such unit")

    with pytest.raises(TcsmtError, match=r"^no such unit$"), vector_option() as rounded:
        call(rounded)
    assert capsys.readouterr().err.splitlines()[5:] == ["and 2 more values rounded to nearest"]
