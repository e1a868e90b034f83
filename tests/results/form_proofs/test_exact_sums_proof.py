"""Sums of exact sums: a fault in them is refused."""

from __future__ import annotations

import pytest

from tcsmt.language.terms import total
from tests.support.exact_forms import FIRST, LAST, Fault, refused, with_fault

FAULTS: dict[str, Fault] = {
    "a lane is not in the sum": lambda step: (step.whole, total(*step.aligned[1:])),
    "the last term is not in the sum": lambda step: (step.whole, total(*step.aligned[:-1])),
    "a term is there twice": lambda step: (step.whole, total(*step.aligned, step.aligned[0])),
    "the sum is one less": lambda step: (step.whole, step.whole - 1),
}


@pytest.mark.parametrize("fault", list(FAULTS))
@pytest.mark.parametrize("name", [LAST, FIRST])
def test_a_fault_is_refused(name: str, fault: str) -> None:
    assert refused(name, with_fault(name, FAULTS[fault]))
