"""One thing that may have been done in place of what a kernel does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcsmt.compose.kernels.kernel import Kernel
from tcsmt.identification.diagnosis.recorded import KernelInputs, RecordedResult

__all__ = ["Change", "Way", "unchanged"]

Array = np.ndarray[Any, np.dtype[Any]]


def unchanged(inputs: KernelInputs) -> KernelInputs:
    """Return the same inputs."""
    return inputs


def _same(kernel: Kernel) -> list[Kernel]:
    return [kernel]


@dataclass(frozen=True)
class Way:
    """How a change is computed: the inputs that kernels get then, and the kernels in place of one."""

    inputs: Callable[[KernelInputs], KernelInputs] = unchanged
    kernels: Callable[[Kernel], list[Kernel]] = _same


@dataclass(frozen=True)
class Change:
    """What may have been done.

    kind: a word for programs. what: a phrase for people, which names it whole.
    cost: the smaller, the less there is to choose: of changes that explain D alike the cheapest comes first.
    expected: the exact results of the elements of a sample, with the change; None: it has none of its own, as
        it is about rounding. size: the sums of the magnitudes there, where they are others.
    count: how many changes of the kind there are to choose from.
    ways: how kernels compute it, each tried. others: tried where none of these gives D.
    recorded: what D is to be compared with in place of the result at hand; None: that.
    """

    kind: str
    what: str
    cost: float
    expected: Array | None = None
    size: Array | None = None
    count: int = 1
    ways: tuple[Way, ...] = field(default=(Way(),), compare=False)
    others: tuple[Way, ...] = field(default=(), compare=False)
    recorded: RecordedResult | None = field(default=None, compare=False)
