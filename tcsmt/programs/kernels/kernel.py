"""A kernel as data: a unit, a reduction and an epilogue; its text is its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.resolve import file_of
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue, epilogue_named, is_epilogue
from tcsmt.programs.kernels.gemm import gemm
from tcsmt.programs.kernels.reduction import CHAINED, Reduction, reduction_named
from tcsmt.programs.kernels.schedule import Schedule

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Kernel:
    """A matrix product on a unit: its instructions, how partial sums are added up, what comes last.

    Where the epilogue does not say which words NaNs have outside of the unit, the unit's row does.

    Its name is ``UNIT+REDUCTION``, and ``UNIT+REDUCTION+EPILOGUE`` where it has an epilogue:
    ``hopper/mma.m16n8k16.f32.f16.f16.f32+split-k:2+out=f16``.
    """

    unit: Row
    reduction: Reduction = CHAINED
    epilogue: Epilogue = PLAIN

    @property
    def schedule(self) -> Schedule:
        """Its steps. Raises :class:`.TcsmtError` for what a kernel cannot do to the unit's results."""
        return Schedule(self.unit.model, self.reduction, self.epilogue.on(self.unit))

    @property
    def name(self) -> str:
        """Return the text that reads back as the kernel."""
        return f"{self.unit.name}+{self.scheme}"

    @property
    def scheme(self) -> str:
        """Return the reduction, and the epilogue if it has one."""
        last = f"+{self.epilogue}" if str(self.epilogue) else ""
        return f"{self.reduction}{last}"

    def multiply(
        self,
        a: Any,
        b: Any,
        c: Any = None,
        *,
        bias: Any = None,
        random: Any = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Array:
        """D (M, N) of A (M, K) and B (K, N), as for :func:`tcsmt.programs.kernels.gemm.gemm`."""
        return gemm(
            a, b, c, model=self.unit.model, reduction=self.reduction, epilogue=self.schedule.epilogue,
            bias=bias, random=random, progress=progress,
        )  # fmt: skip


def kernel_named(text: str, unit_named: Callable[[str], Row]) -> Kernel:
    """Return the kernel ``UNIT[+REDUCTION][+EPILOGUE]``; without a reduction (``h100+out=bf16``) it is
    chained.

    Raises :class:`.TcsmtError`.
    """
    file = file_of(text)  # a plus in its path is not one of a kernel
    unit, *rest = text[len(file) :].split("+", 2)
    if len(rest) == 1 and is_epilogue(rest[0]):
        rest.insert(0, str(CHAINED))
    reduction = reduction_named(rest[0]) if rest else CHAINED
    return Kernel(unit_named(file + unit), reduction, epilogue_named(rest[1]) if len(rest) > 1 else PLAIN)
