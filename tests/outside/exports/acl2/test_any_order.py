"""A unit on its inputs in another order: each event is true of random words."""

from __future__ import annotations

from random import Random

import pytest

from tcsmt.language.write.acl2 import variables_of
from tcsmt.matrix_units.catalogue import row_named
from tcsmt.matrix_units.models import Model
from tcsmt.outside.exports.acl2.any_order import any_order
from tcsmt.outside.exports.acl2.derivation import BookEvent
from tcsmt.outside.exports.acl2.units import UnitBook, unit_book
from tests.support.acl2_text import Session
from tests.support.certificates import two_products

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


def reordered(model: Model, lanes: list[int]) -> tuple[UnitBook, dict[str, int], list[BookEvent] | None]:
    unit = unit_book(model, "0123456789abcdef.toml")
    names = variables_of(model.input_names).values()
    order = {name: f"{name[0]}{lanes[int(name[1:])]}" if name != "c" else "c" for name in names}
    widths = {name: fmt.width for name, fmt in model.input_formats.items()}
    return unit, widths, any_order(unit, order, widths)


@pytest.mark.parametrize("lanes", [[3, 2, 1, 0], [1, 0, 2, 3], [2, 0, 3, 1]])
def test_every_event_is_true_of_random_words(lanes: list[int]) -> None:
    unit, widths, events = reordered(VOLTA, lanes)
    assert events is not None
    session, rng = Session(), Random(4)
    for text in (unit.text, *(event.text for event in events)):
        session.read(text)
    sizes = " ".join(f"(unsigned-byte-p {width} {name})" for name, width in widths.items())
    session.read(f"(defun words-p ({' '.join(widths)}) (and {sizes}))")
    labels = widths | {call.label: call.width for call in unit.calls}
    assert {"any-order", "any-order-of-sum", "any-order-of-largest-exponent"} <= set(session.theorems)
    for _ in range(20):
        words = {name: rng.getrandbits(width) for name, width in labels.items()}
        for says in session.theorems.values():
            assert session.value(says, words)
        for hyp, concl in session.simulated.values():
            assert session.value(hyp, words)
            assert session.value(concl, words)


def test_inputs_that_are_no_permutation_of_lanes() -> None:
    """Only a's in another order: the products are others, so that there is nothing to prove by stages."""
    unit, widths, _ = reordered(two_products(), [1, 0])
    assert any_order(unit, {"a0": "a1", "a1": "a0", "b0": "b0", "b1": "b1", "c": "c"}, widths) is None
