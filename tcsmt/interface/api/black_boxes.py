"""Black boxes, asked one question at a time: functions, units, programs, and the instruction itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tcsmt.identification.units.boxes import Box, Command, row_box
from tcsmt.identification.units.family import Family
from tcsmt.interface.api.implementations import device_identity, of_arrays
from tcsmt.interface.api.units import Unit, UnitLike, side_of
from tcsmt.interop.hardware.run import Device
from tcsmt.matrix_units.arithmetic.formats import AnyFormat, format_named
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.models import Model, Operands
from tcsmt.matrix_units.resolve import NamedSide
from tcsmt.simulate.measured.dataset import DataSet
from tcsmt.simulate.measured.datasets import find_datasets
from tcsmt.simulate.rows import run_words
from tcsmt.support.errors import TcsmtError
from tcsmt.support.fingerprints import fingerprint_of_command, fingerprint_so_far

_SHAPE = "give like=UNIT, or formats=... and k=..."
#: What means a unit, and is not called.
_UNITS = (Unit, Row, Model, NamedSide, str, os.PathLike)


@dataclass(frozen=True)
class BoxShape:
    """The shape of a black box: the formats of A, B, C and D, and K."""

    formats: tuple[AnyFormat, ...]
    k: int

    @classmethod
    def of(
        cls, unit: UnitLike | None, formats: Sequence[str] | None, k: int | None, data: DataSet | None = None
    ) -> BoxShape:
        """That of formats by name and K, of a unit, or of recorded answers. Raises :class:`.TcsmtError`."""
        if formats is not None and k is not None:
            if len(formats) != 4:
                raise TcsmtError(f"formats = {formats}: must be four formats, those of a, b, c and d")
            return cls(tuple(map(format_named, formats)), k)
        if unit is not None:
            side = side_of(unit)
            if side.row.model.scale_format is not None:
                raise TcsmtError(f"{side.text} has block scales; identify supports only units without them")
            return cls.of_model(side.row.model)
        if data is not None:
            return cls(tuple(data.formats), data.k)
        raise TcsmtError(_SHAPE)

    @classmethod
    def of_model(cls, model: Model) -> BoxShape:
        """That of a model without block scales."""
        return cls((model.a_format, model.b_format, model.c_format, model.d_format), model.k)

    def fused(self, what: str) -> Family:
        """Return the fused dot-adds, for what supports nothing else. Raises :class:`.TcsmtError`."""
        try:
            return Family.of(self.formats, self.k)
        except TcsmtError as error:
            raise TcsmtError(f"{what} supports only fused dot-adds: {error}") from None


@dataclass(frozen=True)
class AskedBox:
    """A box that answers, and what tells it from another one: a transcript's answers are of one identity."""

    ask: Box
    identity: str

    def __call__(self, a: Sequence[int], b: Sequence[int], c: int) -> int:
        """Return the answer to one question."""
        return self.ask(a, b, c)


@contextmanager
def box_asked(
    box: Callable[..., Any] | UnitLike | None,
    *,
    like: UnitLike | None,
    formats: Sequence[str] | None,
    k: int | None,
    command: str | None,
    device: UnitLike | None,
    timeout: float,
    data: DataSet | None = None,
) -> Iterator[tuple[BoxShape, AskedBox | None]]:
    """What is known of a black box, and the box, whose program ends with the block.

    None where neither a box nor a command or device is given, but recorded answers (data).
    Raises :class:`.TcsmtError`.
    """
    sources = sum(source is not None for source in (box, command, device))
    if sources > 1 or (not sources and data is None):
        raise TcsmtError("give one of box, command=... and device=UNIT")
    if (formats is None) != (k is None) or (formats is not None and like is not None):
        raise TcsmtError(_SHAPE)
    own, function = (box, None) if isinstance(box, _UNITS) else (device, box)
    shape = BoxShape.of(like if like is not None else own, formats, k, data)
    with ExitStack() as opened:
        asked: AskedBox | None = None
        if command is not None:
            box = opened.enter_context(closing(Command(command, shape.formats, timeout=timeout)))
            asked = AskedBox(box, fingerprint_of_command(command))
        elif own is not None:
            side = side_of(own)
            row = side.row
            if BoxShape.of_model(row.model) != shape or row.model.scale_format is not None:
                raise TcsmtError(f"the formats, K or scales of {side.text} are not those of formats or like")
            if device is None:
                asked = AskedBox(row_box(partial(run_words, row.model), shape.formats[:3]), row.model.digest)
            else:
                opened_device = opened.enter_context(Device(row))
                identity = device_identity(row, opened_device.provenance)
                asked = AskedBox(row_box(opened_device.run, shape.formats[:3]), identity)
        elif function is not None:
            *operands, result = shape.formats
            run = of_arrays(Operands(*operands), result, function, "the box's answer")
            asked = AskedBox(row_box(run, operands), fingerprint_so_far(function))
        yield shape, asked


def one_dataset(path: Path) -> DataSet:
    """Return the only data set of a file. Raises :class:`.TcsmtError` for several."""
    datasets = list(find_datasets([path]))
    if len(datasets) != 1:
        raise TcsmtError(f"{path} holds {len(datasets)} data sets; give a single one")
    return datasets[0]
