"""The bound of an emulation beside the errors found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcsmt.analysis.emulation import bound as module
from tcsmt.analysis.emulation.bound import bound
from tcsmt.analysis.emulation.budget import budget
from tcsmt.programs.recipes.emulation.named import emulation_named
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Contradiction

NARROW = Domain(exponents=(0, 0), c_zero=True)
SOLVING = Solving()


@pytest.mark.slow
def test_found_and_proved() -> None:
    emulation, _ = emulation_named("ozaki1-int8,slices=2", "turing")
    found = bound(emulation, NARROW, 4, SOLVING, seconds=0.2)
    assert found.relative is not None
    assert found.relative.relative is not None
    assert found.proved is not None
    assert found.of_largest is not None
    assert found.proved / 64 < found.relative.relative <= found.proved
    assert found.proved == sum(found.shares.values())
    assert found.proof is not None


def test_a_condition_that_fails_has_a_witness() -> None:
    emulation, _ = emulation_named("ozaki2-int8,moduli=2,bits=9", "turing")
    found = bound(emulation, NARROW, 2, SOLVING, seconds=0.2)
    assert found.proved is None
    assert "the condition does not hold" in found.open
    assert found.relative is not None
    assert found.relative.relative is not None
    # the error is as large as the sum
    assert found.relative.relative > 2**51


def test_an_error_above_the_bound_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    emulation, _ = emulation_named("ozaki1-int8,slices=2", "turing")

    def smaller(*given: object) -> object:
        spent = budget(*given)
        return replace(spent, shares={name: loss / 2**20 for name, loss in spent.shares.items()})

    monkeypatch.setattr(module, "budget", smaller)
    with pytest.raises(Contradiction, match="no error is over"):
        bound(emulation, NARROW, 4, SOLVING, seconds=0.2)
