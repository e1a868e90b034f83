"""The search for sums that are not exact: what it finds is wrong by the oracle, and replays on the unit."""

from __future__ import annotations

import numpy as np

from tcsmt.analysis.exactness.search import UnitSubject, chained, counterexample, in_instructions
from tcsmt.analysis.exactness.units import ExactUnit
from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import FusedDotAdd
from tests.support.sums_of_integers import NARROW, RESULTS, chain, wrong

D = RESULTS[1]
TINY = FusedDotAdd.of(a_format=NARROW, b_format=NARROW, c_format=D, d_format=D, k=2, n_fma=2, fraction_bits=3,
                   zero_exponent=None, carry_bits=None, rounding="RTZ")  # fmt: skip


def test_inputs_are_found_only_where_sums_are_inexact() -> None:
    subject = UnitSubject(ExactUnit(chain(), TINY))
    for limit in (1, 2, 3):
        for k in (1, 2, 3):
            found = counterexample(subject, limit, k)
            assert found is None or wrong(TINY, limit, k), (limit, k)
    found = counterexample(subject, 2, 5)
    assert found is not None
    assert found.k == 5
    assert found.exact == sum(count * a * b for count, a, b in found.runs)


def test_rows_replay_as_the_simulator_has_them() -> None:
    """Of few instructions by the evaluator, of many all at once."""
    model = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    subject = UnitSubject(ExactUnit(chain(), model))
    rng = np.random.default_rng(1)
    for k in (40, 5000):
        words = rng.integers(0, 0x70, (2, k)).astype(unsigned(model.a_format))
        assert int(subject.results(words[:1], words[1:])[0, 0]) == subject.replayed(*words)


def test_the_last_instruction_is_padded_with_zeros() -> None:
    row = np.arange(1, 6).astype(unsigned(NARROW))
    parts = in_instructions(TINY, row, NARROW)
    assert parts.tolist() == [[1, 2], [3, 4], [5, 0]]
    assert chained(TINY, parts, parts) == UnitSubject(ExactUnit(chain(), TINY)).replayed(row, row)
