"""Test vectors of a unit: inputs with the expected results, the fewest that decide first."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interop.hardware.vectors import as_dataset
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.resolve import reference
from tcsmt.simulate.measured.row_files import rows_as
from tcsmt.support.checkpoint import GOES_ON
from tcsmt.support.errors import TcsmtError, choose
from tcsmt.support.files import replace_bytes
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress
from tcsmt.support.results import Result
from tcsmt.support.text import counted
from tcsmt.support.version import __version__
from tcsmt.surveys.units.vectors import VectorSet, vectors_of

Kind = Literal["deciding", "edge", "random", "all"]

Array = np.ndarray[Any, np.dtype[Any]]
#: How vectors are written, and the suffix of such a file.
FILE_FORMATS = {"json": ".json", "csv": ".csv", "hex": ".hex", "readmemh": ".mem", "npz": ".npz"}


def file_format(path: Path) -> str:
    """Return the format of a file by its suffix. Raises :class:`tcsmt.TcsmtError`."""
    suffix = choose("suffix of a file of vectors", path.suffix, FILE_FORMATS.values())
    return next(name for name, own in FILE_FORMATS.items() if own == suffix)


@dataclass(frozen=True, repr=False)
class TestVectors(Result):
    """Inputs of a unit with the expected results.

    made: the rows. unit: how files name the unit.
    """

    made: VectorSet
    unit: str
    __test__ = False  # not a test of pytest's

    @property
    def row(self) -> Row:
        """Return the unit."""
        return self.made.row

    @property
    def asks(self) -> tuple[str, ...]:
        """Return what each row is for."""
        return self.made.vectors.names

    @property
    def a(self) -> Array:
        """Words of a, shape (rows, k)."""
        return np.asarray(self.made.vectors.inputs.a)

    @property
    def b(self) -> Array:
        """Words of b, shape (rows, k)."""
        return np.asarray(self.made.vectors.inputs.b)

    @property
    def c(self) -> Array:
        """Words of c, shape (rows,)."""
        return np.asarray(self.made.vectors.inputs.c)

    @property
    def d(self) -> Array:
        """Return the expected words of D, shape (rows,)."""
        return self.made.d

    @property
    def scale_a(self) -> Array | None:
        """Block scales of a, shape (rows, scales)."""
        return self.made.vectors.inputs.scale_a

    @property
    def scale_b(self) -> Array | None:
        """Block scales of b, shape (rows, scales)."""
        return self.made.vectors.inputs.scale_b

    def __len__(self) -> int:
        return len(self.made)

    @property
    def summary(self) -> str:
        """One line."""
        text = f"{len(self):,} vectors of {self.row.name}"
        if self.made.hypotheses is None:
            return text
        others = f"{self.made.hypotheses} other units and changes of one parameter"
        return f"{text}, which exclude {self.made.excluded} of {others}"

    def as_bytes(self, written: str) -> bytes:
        """Return the content of a file in one of the formats: json, csv, hex, readmemh or npz.

        Raises :class:`tcsmt.TcsmtError` for other formats.
        """
        name = choose("format of vectors", written, FILE_FORMATS)
        inputs, d = self.made.vectors.inputs, self.d
        if name == "json":
            return as_dataset(
                self.row, {"model": self.unit, "tcsmt": __version__}, inputs, d, self.asks
            ).encode()
        return rows_as(FILE_FORMATS[name], self.row.model, inputs, d, name=self.unit)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, by its suffix: .json, .csv, .hex, .mem (Verilog's ``$readmemh``) or .npz.

        :func:`tcsmt.validate` and :func:`tcsmt.check` read it. Raises :class:`tcsmt.TcsmtError`.
        """
        replace_bytes(Path(path), self.as_bytes(file_format(Path(path))))

    def _facts(self) -> dict[str, Any]:
        counts = {"hypotheses": self.made.hypotheses, "excluded": self.made.excluded}
        return {"model": self.row.name, "vectors": len(self), **counts}

    def _lines(self) -> list[str]:
        return [self.summary]

    @property
    def _title(self) -> str:
        return self.summary


@ieee_floats
def vectors(
    unit: UnitLike,
    kind: Kind = "all",
    *,
    rows: int | None = None,
    seed: int = 1,
    output: str | os.PathLike[str] | None = None,
    progress: ProgressCallback = no_progress,
) -> TestVectors:
    """Inputs of a unit with the expected results.

    Kinds: ``deciding``: the fewest of some thousand inputs that exclude as many other units and changes of
    one parameter as all of them do, what excludes most first; ``edge``: special values and inputs near the
    boundaries of the arithmetic; ``random``: half of these, half random words; ``all``: the three, in order.
    A new file has those that decide before the others are made.

    Args:
        unit: The unit.
        kind: Which inputs.
        rows: Write at most this many rows. [default: all that decide, up to 1000]
        seed: Seed of the rows.
        output: Write them here, in the format of the suffix. [default: they are not written]
        progress: Called with how far it is.

    Raises :class:`tcsmt.TcsmtError` for another kind or suffix, or rows below 1.

    >>> import tcsmt
    >>> found = tcsmt.vectors("volta", "edge", rows=10)
    >>> found.a.shape, found.d.shape
    ((10, 4), (10,))
    """
    if rows is not None and rows < 1:
        raise TcsmtError(f"rows = {rows}: must be at least 1")
    side, path = side_of(unit), None if output is None else Path(output)
    name, written = reference(side.text, side.program), "" if path is None else file_format(path)

    def first(deciding: VectorSet) -> None:
        """No older file gives way to them."""
        if path is not None and not path.exists():
            holds = f"{counted(len(deciding), 'vector')}, those that decide; {GOES_ON}"
            replace_bytes(path, TestVectors(deciding, name).as_bytes(written), holds)

    made = TestVectors(vectors_of(side.program, kind, rows, seed, progress, first), name)
    if path is not None:
        made.save(path)
    return made
