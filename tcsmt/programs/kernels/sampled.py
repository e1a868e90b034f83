"""Some elements of a product under many reductions at once: all chains of a unit side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tcsmt.matrix_units.arithmetic.words import unsigned
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.programs.kernels.reduction import Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.programs.steps.on_arrays import ArrayRules
from tcsmt.programs.steps.program import ProductRun, read
from tcsmt.simulate.rows import prepare, run_words

Array = np.ndarray[Any, np.dtype[Any]]
#: Rows that are given to a unit at once: fewer than are worth compiling it, or, of so many in all, more.
_FEW, _MANY, _ALL = 8192, 1 << 17, 400_000
#: So many calls, one after the other, are worth compiling the unit even for few rows each.
_CALLS = 500


def sums(
    wanted: Sequence[tuple[Schedule, Reduction]],
    a: Array,
    b: Array,
    c: Array | None = None,
    seen: Callable[[int, int], None] = lambda done, count: None,
) -> list[Array]:
    """Return the sum of each element by each schedule, before the epilogue. All of them are on one unit.

    wanted: with how these elements are reduced, which must not depend on the tile of D.
    a, b: words of shape (elements, K), rows of A and columns of B. c: words (elements,), or None.
    """
    length = a.shape[1]
    programs = [schedule.sums(length, reduction, c=c is not None) for schedule, reduction in wanted]
    chains = {
        (from_c, part.tobytes()): part
        for (schedule, _), program in zip(wanted, programs, strict=True)
        for part, from_c in schedule.chains_of(program)
    }
    results = _chains(wanted[0][0].unit, a, b, chains, c, seen)

    def chain(
        unit: Model, operands: Sequence[Array], runs: Sequence[ProductRun], start: Array | None
    ) -> Array:
        return results[start is not None, runs[0].indices.tobytes()]

    given = {"A": a, "B": b, "c": c}
    return [
        read(program, ArrayRules((len(a),), chain, schedule.nans), given)
        for (schedule, _), program in zip(wanted, programs, strict=True)
    ]


def _chains(
    model: Model,
    a: Array,
    b: Array,
    wanted: dict[tuple[bool, bytes], Array],
    c: Array | None,
    seen: Callable[[int, int], None],
) -> dict[tuple[bool, bytes], Array]:
    """Return the words of every chain, for each element: the longest chains first, so that short ones end
    early.
    """
    order = sorted(wanted, key=lambda key: -len(wanted[key]))
    elements, length = a.shape
    # a column of zeros behind K stands for what is missing in the last instruction
    left, right = (np.pad(side, ((0, 0), (0, 1))) for side in (a, b))
    lengths = [len(wanted[key]) for key in order]
    steps = -(-lengths[0] // model.k)
    places = np.full((len(order), steps * model.k), length)
    for number, key in enumerate(order):
        places[number, : lengths[number]] = wanted[key]
    words = np.zeros((len(order), elements), unsigned(model.c_format))
    for number, (start, _) in enumerate(order):
        if start and c is not None:
            words[number] = c
    result = np.zeros((len(order), elements), unsigned(model.d_format))
    rows = sum(-(-size // model.k) for size in lengths) * elements
    portion = max(1, (_FEW if rows < _ALL else _MANY) // elements)
    if steps * -(-len(order) // portion) > _CALLS:
        prepare(model)
    for step in range(steps):
        active = sum(size > step * model.k for size in lengths)
        for first in range(0, active, portion):
            some = slice(first, min(active, first + portion))
            at = places[some, step * model.k : (step + 1) * model.k]
            x, y = (side[:, at].transpose(1, 0, 2).reshape(-1, model.k) for side in (left, right))
            results = run_words(model, Operands(x, y, words[some].reshape(-1))).reshape(-1, elements)
            result[some] = results
            if step + 1 < steps:
                words[some] = results
        seen(step + 1, steps)
    return dict(zip(order, result, strict=True))
