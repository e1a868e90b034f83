"""One or two algorithms on a dot product, step by step: ``tcsmt.accuracy.explain``."""

from __future__ import annotations

from collections.abc import Callable

from tcsmt.compose.recipes.named import algorithm_named
from tcsmt.face.api.effort import check_effort
from tcsmt.face.api.pictures import Explanation, Vector, vector_words
from tcsmt.face.api.units import UnitLike, side_of
from tcsmt.face.pictures.error_walk import TracedAlgorithm, walked_sheet
from tcsmt.support.floats import ieee_floats

__all__ = ["explain"]


@ieee_floats
def explain(
    algorithm: str,
    unit: UnitLike,
    vector: Vector,
    against: str | None = None,
    *,
    k: int | None = None,
    rounded: Callable[[str], None] | None = None,
) -> Explanation:
    """Return what each step of an algorithm gives and loses on one dot product; beside it those of another
    one.

    Args:
        algorithm: A name of :func:`recipes`.
        unit: Architecture, GPU, ARCH/INSTRUCTION or a model file.
        vector: "a0=1.5 b0=0x3fc00000 c=-0x1p-4"; inputs not named are 0.
        against: Another algorithm.
        k: Products in the dot product. [default: the unit's own K]
        rounded: As for :func:`tcsmt.explain`.

    In place of a text, vector may be a mapping of such names to numbers or texts.

    Raises :class:`tcsmt.TcsmtError` for unknown names, values that are not finite, and other lengths.

    >>> import tcsmt
    >>> picture = tcsmt.accuracy.explain("markidis", "volta", "a0=1 b0=1 c=0x1p-30", k=1)
    >>> picture.as_json()["pictures"][0]["results"]["markidis"]
    '1, error -2^-30 = -0.007812 ulp = -0.01562·2^-24 of size'
    """
    check_effort(k)
    where = unit if isinstance(unit, str) else side_of(unit).row
    first, row = algorithm_named(algorithm, where, k)
    values = vector_words(vector, first, rounded)
    walked = [TracedAlgorithm.on(algorithm, row, first, values)]
    if against is not None:
        second, row = algorithm_named(against, where, first.k)
        walked.append(TracedAlgorithm.on(against, row, second, values))
    return Explanation(walked_sheet(walked, values))
