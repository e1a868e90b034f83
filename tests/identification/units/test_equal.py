"""Hypotheses that are called equal by their ranges are equal."""

import numpy as np
import pytest

from tcsmt.identification.units.equal import canonical
from tcsmt.identification.units.evaluate import predictions
from tcsmt.identification.units.family import Family
from tcsmt.identification.units.vectors import mixed
from tcsmt.matrix_units.arithmetic.formats import format_named
from tcsmt.matrix_units.models import FusedDotAdd
from tcsmt.prove.engine.engine import compare_models, decide
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.prove.statements.question import difference
from tcsmt.prove.statements.verdict import Distinguished
from tcsmt.support.invariants import not_none
from tests.support.families import family_like, random_row
from tests.support.sampling import mostly_long


@pytest.mark.parametrize(
    ("formats", "count"),
    [
        ("e2m1 e2m1 f16 f16", 200),
        *(
            pytest.param(formats, 600, marks=pytest.mark.long)
            for formats in ("e2m1 e2m1 f16 f16", "e4m3 e4m3 f16 f16", "f16 f16 f32 f32")
        ),
    ],
)
def test_equal_by_range_is_equal(formats, count):
    """No question of a large pool tells a hypothesis from the one that stands for it."""
    family = Family.of(map(format_named, formats.split()), 2)
    random = np.random.default_rng(7)
    rows = np.array([random_row(family, random) for _ in range(count)])
    changed = canonical(family, rows)
    differ = (rows != changed).any(axis=1)
    assert differ.any()
    questions = mixed(family, random, count)
    one, other = (predictions(family, t[differ], questions) for t in (rows, changed))
    assert (one == other).all()


def test_equal_by_range_is_proved_by_a_solver():
    family = Family.of(map(format_named, ("e2m1", "e2m1", "f32", "f32")), 1)
    base = {
        "a_format": "e2m1", "b_format": "e2m1", "c_format": "f32", "d_format": "f32", "k": 1, "n_fma": 1,
        "fraction_bits": 6, "zero_exponent": -140, "rounding": "RTZ",
    }  # fmt: skip
    one = FusedDotAdd.of(**base)
    for change in ({"zero_exponent": -130}, {"overflow": "saturate"}):
        other = one.replace(**change)
        pair = np.array([family.row(one), family.row(other)])
        assert (canonical(family, pair)[0] == canonical(family, pair)[1]).all()
        question = difference("same?", ("one", one), ("other", other), Domain(finite=False))
        verdict = decide(question, Solving()).verdict
        assert not isinstance(verdict, Distinguished)
        assert verdict.__class__.__name__ == "Equivalent"


#: One pair for each rule of tcsmt.identification.units.equal, at the widths in use.
SMALL = {"k": 4, "n_fma": 4, "fraction_bits": 25, "zero_exponent": -30, "rounding": "RNE"}
LAST = {**SMALL, "n_fma": 2, "c_position": "last"}
WIDE = {"rounding": "RTZ", "zero_exponent": -133}
RULES = {
    "enough carry bits": ("e2m1", "f16", SMALL, {"carry_bits": 2}),
    "no smaller exponent": ("f16", "f32", {**SMALL, "zero_exponent": -131}, {"zero_exponent": -126}),
    "no bit lost": ("e2m1", "f16", {**LAST, "k": 1, "n_fma": 1}, {"zero_exponent": -6}),
    "no bit lost, fields": ("e2m1", "f16", {**LAST, "k": 1, "n_fma": 1}, {"zero_exponent": None}),
    "exact products": ("e2m1", "f16", {**SMALL, "k": 1, "n_fma": 1}, {"c_position": "summed"}),
    "no overflow before c": ("e4m3", "f32", {**LAST, **WIDE}, {"overflow": "saturate"}),
    "no overflow": ("e4m3", "f32", {**SMALL, **WIDE}, {"overflow": "saturate"}),
    "no negative zero": ("e4m3", "f16", LAST, {"negative_zero": True}),
}  # fmt: skip


@pytest.mark.parametrize("rule", mostly_long(RULES, ["no smaller exponent", "exact products"]))
def test_rules_are_proved_by_the_engine(rule):
    a, d, base, change = RULES[rule]
    one = FusedDotAdd.of(a_format=a, b_format=a, c_format=d, d_format=d, **base)
    other = one.replace(**change)
    family = family_like(one)
    pair = canonical(family, np.array([family.row(one), family.row(other)]))
    assert (not_none(family.row(one)) != not_none(family.row(other))).any()
    assert (pair[0] == pair[1]).all()
    found = compare_models(("one", one), ("other", other), Domain(finite=False), Solving())
    assert type(found.verdict).__name__ == "Equivalent"
