"""How a number becomes words: against the definitions in fractions, and the oracle on tiny formats."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.language.run.exact import evaluate
from tcsmt.language.terms import var
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.models import Kind
from tcsmt.matrix_units.models.stages import OperandPlace
from tcsmt.programs.recipes import algorithm_named
from tcsmt.programs.steps.split import Split, power
from tcsmt.support.errors import TcsmtError
from tests.oracles import recipes, terms
from tests.oracles.papers import words_of
from tests.oracles.tiny_recipes import Drawn
from tests.support.sampling import mostly_long

F32 = FORMATS["f32"]


def value(word: int) -> Fraction:
    return F32.value(word)


MODERATE = st.builds(
    lambda sign, exponent, fraction: sign << 31 | (exponent + 127) << 23 | fraction,
    st.integers(0, 1), st.integers(-15, 14), st.integers(0, (1 << 23) - 1),
)  # fmt: skip


@given(word=MODERATE)
@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize(
    "name",
    mostly_long(
        ["markidis", "ootomo-halfhalf", "cutlass-3xtf32", "fasi-bf16x3", "markidis,split=RTZ"],
        ["markidis,split=RTZ"],
    ),
)
def test_split_follows_its_definition(name: str, word: int) -> None:
    algorithm, _ = algorithm_named(name, "hopper", 1)
    trace = algorithm.trace
    stages = [s.term for s in trace.of(Kind.WORD) if s.block == OperandPlace("a", 0)]
    found = evaluate(stages, {"a0": word, "b0": 0, "c": 0})
    fmt = algorithm.split.format
    assert [fmt.value(w) for w in found] == words_of(value(word), algorithm)


@pytest.mark.parametrize("seed", range(12))
def test_tiny_formats_by_the_oracle(seed: int) -> None:
    """Every number of a domain of a wide format of few bits."""
    drawn = Drawn.of(f"split {seed}", 1 << 12)
    (columns,) = drawn.everything
    one, words = drawn.algorithm.split, np.unique(columns["a0"])
    found = terms.values(one.apply(var("x", one.wide.width)), {"x": words})
    for place, (got, expected) in enumerate(zip(found, recipes.split(one, words), strict=True)):
        assert np.broadcast_to(got, len(words)).astype(np.int64).tolist() == expected.tolist(), (one, place)


def test_the_wide_format_itself_needs_no_split() -> None:
    x = var("x", 32)
    first, second = Split(format=F32, words=2).apply(x)
    assert first is x and second.value == 0


@pytest.mark.parametrize("exponent", [-20, 0, 11])
def test_powers_of_two(exponent: int) -> None:
    word = power(exponent).value
    assert word is not None and value(word) == Fraction(2) ** exponent


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": 0}, "words = 0: must be from 1 to 8"), ({"words": 9}, "words = 9"),
        ({"scale": -1}, "scale = -1: must be from 0 to 60"), ({"scale": 61}, "scale = 61"),
        ({"format": FORMATS["f64"]}, "format = f64: f32 cannot hold all of its values"),
    ],
)  # fmt: skip
def test_splits_out_of_range_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(TcsmtError, match=message):
        Split(**{"format": FORMATS["f16"]} | change)
    assert Split(format=FORMATS["f64"], wide=FORMATS["f64"], words=1).words == 1
