"""A unit's results by every operation of its graph."""

from __future__ import annotations

import numpy as np

from tcsmt.language.run.arrays import Program
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.rows import Words

__all__ = ["by_graph"]


def by_graph(model: Model, words: Words) -> np.ndarray:
    """Every operation of the unit's graph, on every row."""
    lanes = words.map(lambda part: np.moveaxis(part, -1, 0) if part.ndim > 1 else part).flat()
    found: np.ndarray = Program([model.trace.output]).run(dict(zip(model.input_names, lanes, strict=True)))[0]
    return found
