"""The kinds of hypotheses that units of given formats can have."""

from __future__ import annotations

from collections.abc import Iterable

from tcsmt.identification.units.family import Family
from tcsmt.identification.units.fused_hypotheses import FusedHypotheses
from tcsmt.identification.units.hypotheses import Hypotheses
from tcsmt.identification.units.ieee_hypotheses import IeeeHypotheses
from tcsmt.identification.units.integer_hypotheses import IntegerHypotheses
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.support.errors import TcsmtError

__all__ = ["hypotheses_of"]


def hypotheses_of(formats: Iterable[AnyFormat], k: int) -> tuple[Hypotheses, ...]:
    """Sums of integers; or fused dot-adds and IEEE operations, both where the formats allow both.

    Raises :class:`.TcsmtError` where they allow none.
    """
    a, b, c, d = formats
    if (
        isinstance(a, IntegerFormat)
        and isinstance(b, IntegerFormat)
        and isinstance(c, IntegerFormat)
        and isinstance(d, IntegerFormat)
    ):
        return (IntegerHypotheses(a, b, c, d, k),)
    chains = IeeeHypotheses.of((a, b, c, d), k)
    try:
        fused = FusedHypotheses(Family.of((a, b, c, d), k))
    except TcsmtError:
        if chains is None:
            raise
        return (chains,)
    return (fused, chains) if chains is not None else (fused,)
