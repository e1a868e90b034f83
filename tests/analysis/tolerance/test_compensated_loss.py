"""The rule of a compensated step against fractions: no step of random sums loses more."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tcsmt.analysis.tolerance.compensated_loss import compensated_loss
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.programs.steps.builder import Builder
from tcsmt.programs.steps.running_sum import COMPENSATIONS, Outside
from tests.oracles import program_fractions as fractions
from tests.oracles import tiny

F = Fraction
FORMAT = tiny.described(exponent_bits=5, fraction_bits=3, bias=15)
U = F(1, 16)


@pytest.mark.parametrize("scheme", COMPENSATIONS)
def test_no_step_loses_more(scheme: str) -> None:
    """Of a total, its error and a summand: what total and error together lose, and how large the error is."""
    build = Builder()
    total, error, x = (build.input(name, FORMAT) for name in ("t", "e", "x"))
    after = Outside(build, FORMAT, ROUNDINGS["RNE"]).compensated(scheme, total, error, x, 0)
    programs = [build.program(value) for value in after]
    rng, lossy = Random(scheme), 0
    finite = [v for v in fractions.numbers(FORMAT) if v is not None and abs(v) <= 64]
    for _ in range(600):
        t, y = rng.choice(finite), rng.choice(finite)
        e = fractions.rounded(FORMAT, t / 16 * F(rng.randint(-8, 8), 8))
        assert e is not None
        t2, e2 = (fractions.result(one, {"t": t, "e": e, "x": y}, exactly=False) for one in programs)
        assert t2 is not None and e2 is not None
        before, own, held = (np.array([float(abs(v))]) for v in (t + e + y, y, e))
        lost, held, reach = compensated_loss(scheme, U, before, own, held, np.zeros(1))
        assert abs(t2 + e2 - (t + e + y)) <= F(float(lost[0]))
        assert abs(e2) <= F(float(held[0])) and abs(t2) <= F(float(reach[0]))
        lossy += t2 + e2 != t + e + y
    assert lossy > 10
