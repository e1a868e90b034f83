"""Families of hypotheses, some of their members, and what these answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcsmt.identification.units.family import Family
from tcsmt.identification.units.hypotheses import Hypotheses
from tcsmt.identification.units.kinds import hypotheses_of
from tcsmt.identification.units.questions import Questions
from tcsmt.identification.units.search import Outcome
from tcsmt.matrix_units.arithmetic.formats import float_format
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.simulate.rows import run_words

Array = np.ndarray[Any, Any]

__all__ = ["family_like", "fused_rows", "kinds_like", "random_row", "simulated"]


def family_like(model: Model) -> Family:
    """The family with a model's formats and K."""
    a, b, c, d = map(float_format, (model.a_format, model.b_format, model.c_format, model.d_format))
    return Family(a, b, c, d, model.k)


def kinds_like(model: Model) -> tuple[Hypotheses, ...]:
    """The kinds of hypotheses with a model's formats and K."""
    return hypotheses_of((model.a_format, model.b_format, model.c_format, model.d_format), model.k)


def fused_rows(found: Outcome) -> Array:
    """The fused dot-adds that a search leaves."""
    return found.left.of(found.asked[0])


def random_row(family: Family, random: np.random.Generator) -> Array:
    """A hypothesis: a random structure first, then the rest of it."""
    number = int(random.integers(len(family.structures)))
    first = family.first(number)
    row = first[[int(random.integers(len(first)))]]
    whole = family.grown(family.with_last_rounding(row))[0]
    return whole[int(random.integers(len(whole)))]


def simulated(family: Family, model: Model, questions: Questions) -> Array:
    """A model's answers; every NaN is the format's own."""
    words = run_words(model, Operands(questions.a, questions.b, questions.c)).astype(np.uint64)
    nan = family.d_format.nan_word
    return np.array([nan if family.d_format.is_nan(int(w)) else w for w in words], np.uint64)
