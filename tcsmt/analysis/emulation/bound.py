"""The largest error of an emulation: the largest found, and the bound proved."""

from __future__ import annotations

import time

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.proof import StepwiseProof
from tcsmt.analysis.emulation.budget import budget
from tcsmt.analysis.emulation.search import largest
from tcsmt.analysis.error import require_normal
from tcsmt.analysis.search.bound import Bound
from tcsmt.programs.recipes.emulation.schemes import Emulation
from tcsmt.prove.engine.solving import Solving
from tcsmt.prove.statements.domain import Domain
from tcsmt.support.errors import Contradiction
from tcsmt.support.invariants import not_none

#: Why a bound may lie above every error.
_APART = "the largest losses of the steps may not occur on the same input"


def bound(emulation: Emulation, domain: Domain, k: int, solving: Solving, *, seconds: float = 20.0) -> Bound:
    """Return the largest errors found in about so many seconds, and the bound proved.

    Raises :class:`.Contradiction` where a larger error is found than is proved.
    """
    start, wide = time.monotonic(), emulation.wide
    require_normal(domain, wide)
    emulation.slicing(k)  # an emulation that cannot be so long is refused before anything is searched
    relative, ulps = largest(emulation, domain, k, seconds)
    chain = StepwiseProof(solving)
    try:
        spent = budget(chain, emulation.program(k), domain, k)
    except Unbounded as why:
        return Bound(relative, ulps, None, None, None, {}, str(why), time.monotonic() - start)
    unit = 1 << wide.precision
    proved = spent.total * unit
    shares = {name: loss * unit for name, loss in spent.shares.items()}
    worst = relative.relative if relative is not None else 0
    if worst is None or worst > proved:
        relative = not_none(relative)
        inputs = ", ".join(f"{name} = {wide.hex(word)}" for name, word in relative.values.items() if word)
        size = "an infinite error" if worst is None else f"an error of {float(worst):.9g}"
        raise Contradiction(
            f"no error is over {float(proved):.9g}·2^-{wide.precision} of |c| + Σ|a·b| (K = {k}, {domain})",
            f"{size} at {inputs}",
        )
    return Bound(
        relative, ulps, proved, None, chain.verdict(time.monotonic() - start), shares,
        _APART if proved != worst else "", time.monotonic() - start, spent.of_largest * unit,
    )  # fmt: skip
