"""A kernel at one K as a model: what it computes for an element of D can be asked about like a unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tcsmt.matrix_units.arithmetic.conversion import NanWords
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model
from tcsmt.programs.kernels.epilogue import PLAIN, Epilogue
from tcsmt.programs.kernels.kernel import Kernel, kernel_named
from tcsmt.programs.kernels.reduction import CHAINED, Reduction
from tcsmt.programs.kernels.schedule import Schedule
from tcsmt.programs.steps.model import UNKNOWN_NANS, ProgramModel
from tcsmt.programs.steps.program import UnitProgram
from tcsmt.support.errors import TcsmtError


@dataclass(frozen=True, kw_only=True)
class KernelModel(ProgramModel):
    """One element of D by a kernel: k products of a row of A and a column of B, and c.

    unit: the instruction that chains are made of; the last one of a chain is filled up with zeros.
    reduction, epilogue: see :class:`.Reduction` and :class:`.Epilogue`. Where K is cut must not depend on the
    tile of D, and the epilogue takes no numbers but c. has_c: whether there is a C; else the word of c is not
    read, which is not the same as a C of zeros: +0 + (-0) is +0.
    """

    kind: ClassVar[str] = "kernel"
    title: ClassVar[str] = "a kernel on a matrix unit"
    longest: ClassVar[int] = 1 << 16
    a_format: AnyFormat = field(init=False)
    b_format: AnyFormat = field(init=False)
    c_format: AnyFormat = field(init=False)
    d_format: AnyFormat = field(init=False)
    unit: Model
    reduction: Reduction = CHAINED
    epilogue: Epilogue = PLAIN
    has_c: bool = True

    def __post_init__(self) -> None:
        for name in ("a_format", "b_format", "c_format"):
            object.__setattr__(self, name, getattr(self.unit, name))
        object.__setattr__(self, "d_format", self.schedule.d_format)
        super().__post_init__()

    def validate(self) -> None:
        """Refuse what a kernel could not do, or what one element does not say."""
        unit = self.unit
        if unit.scale_format is not None:
            raise TcsmtError("a kernel as a model takes no block scales")
        if self.reduction.tiled:
            raise TcsmtError(f"reduction {self.reduction}: where K is cut depends on the tile; use cuts")
        if self.epilogue.bias or self.epilogue.stochastic:
            raise TcsmtError(f"epilogue {self.epilogue}: a kernel as a model takes no numbers but a, b and c")
        self.schedule.chains(self.k)

    def as_json(self) -> dict[str, Any]:
        """Return the kernel's parts as plain values."""
        return {
            "kind": self.kind,
            "unit": self.unit.as_json(),
            "reduction": str(self.reduction),
            "epilogue": str(self.epilogue),
            "nans_outside": str(self.schedule.nans),
            "has_c": self.has_c,
            "d_format": self.d_format.name,
            "k": self.k,
        }

    @property
    def schedule(self) -> Schedule:
        """Its steps, which are those of matrix products."""
        return Schedule(self.unit, self.reduction, self.epilogue)

    @property
    def nans(self) -> NanWords:
        """Return which words NaN results have outside of the unit."""
        return self.schedule.nans

    @property
    def program(self) -> UnitProgram:
        """Return its steps."""
        return self.schedule.program(self.k, c=self.has_c)


def kernel_row(kernel: Kernel, k: int) -> Row:
    """A kernel at one K as a row: ``UNIT+REDUCTION@K``, with its unit's source and evidence."""
    unit = kernel.unit
    model = KernelModel(unit=unit.model, reduction=kernel.reduction, epilogue=kernel.schedule.epilogue, k=k)
    return Row(
        architecture=unit.architecture, instruction=f"{unit.instruction}+{kernel.scheme}@{k}", model=model,
        source=unit.source, date=unit.date, evidence=unit.evidence, status=unit.status,
        note=f"a kernel on {unit.name}" + ("" if model.knows_nans else f"; {UNKNOWN_NANS}"),
        nans_outside=kernel.schedule.nans,
    )  # fmt: skip


def unit_of_kernel(text: str, unit_named: Callable[[str], Row]) -> Row:
    """Return the row of ``UNIT+REDUCTION[+EPILOGUE]@K``. Raises :class:`.TcsmtError`."""
    name, at, k = text.rpartition("@")
    if not at or not k.isdecimal() or not int(k):
        raise TcsmtError(f"{text!r}: a kernel as a unit needs its K at the end: UNIT+split-k:2@64")
    return kernel_row(kernel_named(name, unit_named), int(k))
