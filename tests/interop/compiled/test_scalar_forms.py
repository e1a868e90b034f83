"""NumberStep on single numbers: each form's step is a step of the language, and has the oracle's words."""

from __future__ import annotations

import numpy as np
import pytest

from tcsmt.interop.compiled.scalar_forms import SCALAR_FORMS
from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.programs.steps.on_arrays import ArrayRules, no_chain
from tcsmt.programs.steps.program import read
from tcsmt.programs.written.grammar import program_of
from tests.oracles.ptx import floating
from tests.support.compiled import random_words

_NAMES = "xyz"
_COUNT = 400


@pytest.mark.parametrize("name", [name for name, form in SCALAR_FORMS.items() if not form.approximate])
def test_forms_have_the_oracles_words(name: str) -> None:
    form = SCALAR_FORMS[name]
    inputs = dict(zip(_NAMES, map(format_named, form.takes), strict=False))
    program = program_of(f"d = {form.step.format(*inputs)}", 1, inputs, lambda _: pytest.fail("no unit"))
    rng = np.random.default_rng(3)
    words = {
        key: random_words(fmt, _COUNT, rng, any_word=True)
        for key, fmt in zip(_NAMES, form.takes, strict=False)
    }
    for key, column in words.items():  # numbers that are alike, and zeros of both signs
        column[: _COUNT // 4] = words["x"][: _COUNT // 4]
        column[::7] &= column.dtype.type(1 << (inputs[key].width - 1))
    rules = ArrayRules((_COUNT,), no_chain, NanWords.named("ones:f16:bf16:f32"))
    found = read(program, rules, words).astype(np.int64)
    target = format_named(form.gives)
    width = target.width
    for lane in range(_COUNT):
        given = [int(column[lane]) for column in words.values()]
        if form.swapped:
            given = [given[0], given[0]]
        elif form.lanes == 2:
            given = [word | word << inputs["x"].width for word in given]
        expected = floating(name, given)
        if form.lanes == 2:
            assert expected >> width == expected & ((1 << width) - 1)
        assert found[lane] == expected & ((1 << width) - 1), (name, lane, list(map(hex, given)))


def test_only_forms_without_a_rounding_may_be_joined() -> None:
    assert sorted(name for name, form in SCALAR_FORMS.items() if form.joins) == [
        "add.f32",
        "add.f32x2",
        "mul.f32",
        "mul.f32x2",
        "sub.f32",
        "sub.f32x2",
    ]
    assert not any("ftz" in name or ".sat" in name for name in SCALAR_FORMS)
