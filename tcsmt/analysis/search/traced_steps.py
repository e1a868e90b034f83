"""Every step of a program on one input, and where two programs first lose different amounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcsmt.matrix_units.arithmetic.conversion import QUIET
from tcsmt.matrix_units.models import Stage
from tcsmt.matrix_units.models.stages import OperandPlace
from tcsmt.programs.recipes.algorithm import Algorithm
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.programs.steps.on_traced import trace
from tcsmt.programs.steps.traced import TracedStep
from tcsmt.support.invariants import not_none


def trace_steps(model: Algorithm | ProgramModel, values: Mapping[str, int]) -> list[TracedStep]:
    """Return every step on one input (words by name).

    The words of a lane stand beside each other. What is zero and loses nothing is left out.
    """
    given: Any = model.operands([values[name] for name in model.input_names])
    if isinstance(model, ProgramModel):
        steps = trace(model.program, model.words(given), model.nans)
    else:
        steps = trace(model.program(model.k), {"A": given.a, "B": given.b, "c": given.c}, QUIET)
    return sorted((step for step in steps if step.shown), key=_lane)


def _lane(step: TracedStep) -> float:
    place = step.stage.block
    return place.lane if isinstance(place, OperandPlace) else float("inf")


def first_divergence(left: Sequence[TracedStep], right: Sequence[TracedStep]) -> Stage | None:
    """Return the first step after the split that loses another amount in one than in the other.

    A step that only one of them has loses, in the other, all that it would have added.
    """
    of_left, of_right = ({m.stage.place: m for m in steps if m.kind != "split"} for steps in (left, right))
    for place in dict.fromkeys([*of_right, *of_left]):
        there, here = of_left.get(place), of_right.get(place)
        if there is None or here is None:
            only = not_none(there or here)
            if only.kind == "unit":
                return only.stage
        elif there.lost != here.lost:
            return there.stage
    return None
