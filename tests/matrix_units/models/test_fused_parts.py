"""Parts of a fused sum: the lanes of blocks, and that parts and declared parameters are the same ones."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args, get_type_hints

import pytest

from tcsmt.matrix_units.models import FusedDotAdd, FusedParameters, IeeeDotAdd, IeeeParameters
from tcsmt.matrix_units.models.base import Parameters
from tcsmt.matrix_units.models.composition import GIVEN
from tcsmt.matrix_units.models.fused_parts import Contiguous, Interleaved, Lanes, Ordered


@pytest.mark.parametrize(
    ("lanes", "blocks"),
    [
        (Contiguous(n_fma=4), [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (Interleaved(n_fma=4, interleave=1), [[0, 2, 4, 6], [1, 3, 5, 7]]),
        (Interleaved(n_fma=4, interleave=2), [[0, 1, 4, 5], [2, 3, 6, 7]]),
        (Ordered(n_fma=4, order=(7, 6, 5, 4, 3, 2, 1, 0)), [[7, 6, 5, 4], [3, 2, 1, 0]]),
    ],
)
def test_lanes_are_dealt_to_blocks(lanes: Lanes, blocks: list[list[int]]) -> None:
    assert lanes.blocks(8) == blocks


def held(kind: Any) -> tuple[set[str], set[str]]:
    """The parameters in the fields of a kind and of its parts, and those that choose parts."""
    hints, leaves, choosers = get_type_hints(kind), set(), set()
    for field in (f.name for f in fields(kind)):
        alternatives = get_args(hints[field]) or (hints[field],)
        if not all(hasattr(each, "when") for each in alternatives):
            leaves.add(field)
            continue
        for each in alternatives:
            inner, more = held(each)
            leaves |= inner
            choosers |= more | each.when.keys()
    return leaves, choosers


@pytest.mark.parametrize(("kind", "table"), [(FusedDotAdd, FusedParameters), (IeeeDotAdd, IeeeParameters)])
def test_every_parameter_has_a_place(kind: type[Any], table: type[Parameters]) -> None:
    leaves, choosers = held(kind)
    assert leaves | choosers == {f.name for f in fields(table)}


@pytest.mark.parametrize("kind", [FusedDotAdd, IeeeDotAdd])
def test_a_value_that_chooses_a_part_is_in_it_or_constant(kind: type[Any]) -> None:
    """Else it would be lost: a part that any value but the default chooses holds that value."""
    parts, seen = [kind], set()
    while parts:
        part = parts.pop()
        hints = get_type_hints(part)
        for field in fields(part):
            inner = get_args(hints[field.name]) or (hints[field.name],)
            if all(hasattr(each, "when") for each in inner):
                parts += inner
        for name, value in getattr(part, "when", {}).items():
            if value is GIVEN:
                seen.add(part.__name__)
                assert name in held(part)[0] | held(part)[1], (part, name)
    assert len(seen) >= 2
