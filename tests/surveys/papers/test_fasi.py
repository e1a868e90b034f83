"""Fasi et al.'s tests: their expressions, what they are on units, and what their paper saw."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.support.errors import TcsmtError
from tcsmt.surveys.papers.fasi import run_tests, value, vectors
from tests.support.references import reference


@pytest.mark.parametrize(
    ("text", "u", "expected"),
    [
        ("1", 0, Fraction(1)), ("-0.5", 3, Fraction(-1, 2)), ("2^-3", 5, Fraction(1, 8)),
        ("2^4", 0, Fraction(16)),
        ("2^(-23-u)", 1, Fraction(1, 1 << 24)), ("1.5*2^-2", 0, Fraction(3, 8)),
        ("2^-1 + 2^(-1-u)", 2, Fraction(5, 8)),
        ("1 - 2^-11 - 3*2^(0-u)", 1, Fraction(-1, 2) - Fraction(1, 2048)),
        ("", 0, Fraction(0)),
    ],
)  # fmt: skip
def test_expressions(text: str, u: int, expected: Fraction) -> None:
    assert value(text, u) == expected


@pytest.mark.parametrize("text", ["x", "1..5", "2^(x-u)", "1 * 2"])
def test_texts_that_are_not_expressions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no expression"):
        value(text, 0)


def test_the_papers_observations_are_reproduced() -> None:
    found = list(run_tests())
    assert len(found) >= 20
    assert {result["observed"] for test in found for result in test["results"].values()} == {True, False}
    wrong = [test["title"] for test in found if not test["reproduces"]]
    assert wrong == []
    for test in found:
        for result in test["results"].values():
            row = row_named(result["unit"])
            assert row.model.d_format.value(int(result["word"], 16)) is not None
            assert result["means"]


@pytest.mark.parametrize("unit", ["volta/mma.m8n8k4.f32.f16.f16.f32", "turing/mma.m16n8k8.f16.f16.f16.f16"])
def test_vectors_are_the_tests_inputs(unit: str) -> None:
    """A word for each input, whose result is the oracle's, too."""
    model = row_named(unit).model
    found = vectors(model)
    assert len(found) >= 5 and len({title for title, _ in found}) >= 5
    for _, words in found:
        values = dict(zip(model.input_names, words, strict=True))
        a, b = ([values[f"{side}{lane}"] for lane in range(model.k)] for side in "ab")
        assert not any(a[4:]) and not any(b[4:])
        assert evaluate([model.trace.output], values)[0] == reference(model, a, b, values["c"])


def test_units_that_no_test_is_for() -> None:
    for unit in ("hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/wgmma.m64nNk32.f32.e4m3.e4m3"):
        with pytest.raises(TcsmtError, match=r"Fasi et al.'s tests are for f16 operands"):
            vectors(row_named(unit).model)
