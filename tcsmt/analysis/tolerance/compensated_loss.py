"""The rule of compensated sums in bounds: what one step loses of the total and its error together.

``bounds/compensated.py`` derives it. The bounds are arrays: shares of what a sum is made of, or a bound for
each element.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tcsmt.analysis.tolerance.upward import added, scaled

Array = np.ndarray[Any, np.dtype[Any]]


def compensated_loss(
    scheme: str, u: Fraction, before: Array, x: Array, e: Array, scaling: Array
) -> tuple[Array, Array, Array]:
    """Return what a step loses, how large the error is after it, and what no number on the way exceeds.

    scheme: one of :data:`.COMPENSATIONS`. u: which part of a sum a rounding loses. before: of the exact total
    and x, with how far both are off; x, e: of the summand and of the error before it; scaling: what is lost
    where x is scaled: at most, all of them.
    """
    if scheme == "kahan":  # the error is added to x, and the sum rounded, before t
        part = scaled(added(x, e), u)
        y, at = added(x, e, part, scaling), added(before, part, scaling)
    else:
        part = np.zeros_like(before)
        y, at = added(x, scaling), added(before, e, scaling)
    lost, error = _LOSSES[scheme](u, at, y, e, part)
    return lost, error, 4 * added(at, y, e)


def _after(u: Fraction, at: Array, y: Array) -> Array:
    """|t' - t|, where t' = t + y is rounded."""
    return added(y, scaled(at, u))


def _kahan(u: Fraction, at: Array, y: Array, e: Array, part: Array) -> tuple[Array, Array]:
    step = _after(u, at, y)
    lost = added(part, scaled(at, u**2), scaled(step, (1 + u) * u))
    return lost, added(scaled(at, (1 + u) * u), scaled(step, (1 + u) * u))


def _fast_two_sum(u: Fraction, at: Array, y: Array, e: Array, part: Array) -> tuple[Array, Array]:
    step = _after(u, at, y)
    lower = added(scaled(at, (1 + u) * u), scaled(step, (1 + u) * u))  # what the addition lost, as computed
    lost = added(scaled(at, u**2), scaled(step, (1 + u) * u), scaled(added(e, lower), u))
    return lost, scaled(added(e, lower), 1 + u)


def _two_sum(u: Fraction, at: Array, y: Array, e: Array, part: Array) -> tuple[Array, Array]:
    lower = scaled(at, u)
    return scaled(added(e, lower), u), scaled(added(e, lower), 1 + u)


def _double_word(u: Fraction, at: Array, y: Array, e: Array, part: Array) -> tuple[Array, Array]:
    rest = added(e, scaled(at, u))  # e + l
    v = scaled(rest, 1 + u)
    total = added(scaled(at, 1 + u), v)  # t' + v
    step = added(v, scaled(total, u))
    lost = added(scaled(rest, u), scaled(total, u**2), scaled(step, (1 + u) * u))
    return lost, added(scaled(total, (1 + u) * u), scaled(step, (1 + u) * u))


#: What each loses of the total and its error together, and how large the error is then.
_LOSSES = {
    "kahan": _kahan, "fast-two-sum": _fast_two_sum, "two-sum": _two_sum, "double-word": _double_word,
}  # fmt: skip
