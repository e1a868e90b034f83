"""Terms of exact sums: a fault in what is computed of one of them is refused."""

from __future__ import annotations

import pytest

from tcsmt.language.terms import Term, umax
from tcsmt.support.invariants import not_none
from tests.support.exact_forms import FIRST, LAST, Fault, refused, with_fault
from tests.support.term_fields import with_node


def largest(whole: Term) -> Term:
    """The largest word of products."""
    return whole.args[0]


def other_grid(aligned: Term, places: Term) -> Term:
    """A term, added to the unit of another grid."""
    changed: Term = with_node(aligned, places, places - 1)
    return changed


#: A fault in each stage.
FAULTS: dict[str, Fault] = {
    "a factor is another number": lambda step: (
        step.lanes[0].factors[0], step.lanes[0].factors[0] ^ 1 << 20
    ),
    "one lane's factor has the other sign": lambda step: (
        step.lanes[1].factors[1], step.lanes[1].factors[1] ^ 1 << 31
    ),
    "a product is not exact": lambda step: (step.lanes[0].product, step.lanes[0].product | 1),
    "a word of size is one less": lambda step: (step.lanes[0].size, step.lanes[0].size - 1),
    "a word of place is one less": lambda step: (step.lanes[1].place, step.lanes[1].place - 1),
    "a lane is not in the largest word of place": lambda step: (
        largest(step.places), umax(step.lanes[0].place)
    ),
    "the grid is twice as coarse": lambda step: (step.aligned[0], other_grid(step.aligned[0], step.places)),
    "an aligned term is one more": lambda step: (step.aligned[1], step.aligned[1] + 1),
}  # fmt: skip
#: The same of c.
OF_C: dict[str, Fault] = {
    "c's word of size is one less": lambda step: (not_none(step.c).size, not_none(step.c).size - 1),
    "c's word of place is one less": lambda step: (not_none(step.c).place, not_none(step.c).place - 1),
    "c is not in the largest word of place": lambda step: (
        step.places, umax(*(lane.place for lane in step.lanes)).zext(step.places.width)
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "fault"), [*((LAST, fault) for fault in FAULTS), *((FIRST, fault) for fault in OF_C)]
)
@pytest.mark.slow_cases(
    "arm/fmopa.f32.f16.f16-a word of place is one less",
    "arm/fmopa.f32.f16.f16-a word of size is one less",
    "arm/fmopa.f32.f16.f16-one lane's factor has the other sign",
)
def test_a_fault_is_refused(name: str, fault: str) -> None:
    assert refused(name, with_fault(name, (FAULTS | OF_C)[fault]))
