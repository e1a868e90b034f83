"""Units by name: what one is, and its result on arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

from tcsmt.interface.api.arrays import as_numpy, library_of
from tcsmt.matrix_units.catalogue import Row, rows
from tcsmt.matrix_units.catalogue.citations import Citations, citations
from tcsmt.matrix_units.catalogue.description import description, row_as_json
from tcsmt.matrix_units.files.model_files import model_toml
from tcsmt.matrix_units.models import Model
from tcsmt.matrix_units.models.python_steps import names_used, python_steps
from tcsmt.matrix_units.resolve import ResolvedName, resolve
from tcsmt.programs.kernels.units import ARCHITECTURE, ieee_rows
from tcsmt.programs.steps.model import ProgramModel
from tcsmt.simulate.forms.proved_forms import simulation
from tcsmt.simulate.rows import simulate
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result


@dataclass(frozen=True, repr=False)
class UnitSteps(Result):
    """The steps of a unit, for reading. lines: a Python function, or the text of a program; names: what the
    function's names mean.
    """

    unit: str
    lines: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def _title(self) -> str:
        return f"of {self.unit}: {len(self.lines)} lines"

    def _lines(self) -> Iterator[str]:
        yield f"# {self.unit}{', on finite numbers' if self.names else ''}"
        yield from self.lines
        yield from ["# where"] if self.names else []
        for meaning in self.names:
            yield from wrap(meaning, 110, initial_indent="#   ", subsequent_indent="#     ")

    def _facts(self) -> dict[str, Any]:
        return {"unit": self.unit, "steps": list(self.lines), "names": list(self.names)}


@dataclass(frozen=True, repr=False)
class Unit(Result):
    """A matrix unit: a catalogue row, or a model of one's own. Call it to simulate it.

    row: what is known of it: ``architecture``, ``instruction``, ``source``, ``evidence``, ``status``.

    >>> import tcsmt
    >>> volta = tcsmt.unit("volta")
    >>> volta.name, volta.k, volta.d_format
    ('volta/mma.m8n8k4.f32.f16.f16.f32', 4, 'f32')
    >>> float(volta([1, 2, 3, 4], [1, 1, 1, 1], 0.5))
    10.5
    """

    row: Row

    def __call__(
        self,
        a: Any,
        b: Any,
        c: Any = 0.0,
        *,
        scale_a: Any = None,
        scale_b: Any = None,
        operands: str | None = None,
        further: Mapping[str, Any] | None = None,
    ) -> Any:
        """One dot product and addition, c + Σ a·b, for every row, bit for bit as the model says.

        a, b: shape (..., k); c: shape (...); scale_a, scale_b: shape (..., ``scales``), for units with
        block scales alone; leading dimensions broadcast. Each is an array of its format's dtype (NumPy's or
        ml_dtypes', or another library's: PyTorch's pairs of FP4 numbers lie along K), of words (integers of
        the format's size, signed ones as their bits), or of Python numbers or values of another
        floating-point dtype that the format holds exactly. Scales of ``ue8m0`` are ``float8_e8m0fnu``, those
        of ``ue4m3`` are ``float8_e4m3fn``.

        operands: how values of a, b and c become words that their formats do not hold: ``truncate``,
        ``nearest-even`` or ``nearest-away``. Without it they are refused: cuBLAS rounds FP32 operands of a
        TF32 product to nearest even, and the unit itself truncates what is not rounded. Scales must be exact.

        further: the other inputs of a program in a file, by their names: shape (..., words), or (...) of an
        input of one word; exact.

        >>> import numpy as np, tcsmt
        >>> tf32 = tcsmt.unit("a100/m16n8k4.f32.tf32")
        >>> a, ones = np.full(4, 1 + 3 * 2**-12, np.float32), np.ones(4, np.float32)
        >>> [float(tf32(a, ones, operands=rule)) for rule in ("truncate", "nearest-even")]
        [4.0, 4.00390625]

        Returns an array of shape (...) and the dtype of ``d_format``, of the library of the operands and on
        their device: PyTorch, JAX, CuPy or another one of the array API standard; else NumPy. Raises
        :class:`tcsmt.TcsmtError` for shapes and values that do not fit, arrays of several libraries, and
        tensors that require a gradient.
        """
        inputs = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b, **(further or {})}
        arrays = {name: as_numpy(values, name) for name, values in inputs.items()}
        more = {name: arrays.pop(name) for name in further or {}}
        library = library_of(inputs)
        library.check(self.model.d_format)
        return library.array(simulate(self.model, **arrays, operands=operands, further=more))

    @property
    def model(self) -> Model:
        """Return the model: its parameters are its attributes."""
        return self.row.model

    @property
    def name(self) -> str:
        """``architecture/instruction``."""
        return self.row.name

    @property
    def k(self) -> int:
        """Products in one instruction, for each element of D."""
        return self.model.k

    @property
    def a_format(self) -> str:
        """Return the format of a."""
        return self.model.a_format.name

    @property
    def b_format(self) -> str:
        """Return the format of b."""
        return self.model.b_format.name

    @property
    def c_format(self) -> str:
        """Return the format of c."""
        return self.model.c_format.name

    @property
    def d_format(self) -> str:
        """Return the format of the result."""
        return self.model.d_format.name

    @property
    def scales(self) -> int:
        """Block scales of a row of a, and of b; 0: the unit has none."""
        return self.model.scales

    @property
    def evidence(self) -> str:
        """``measured``, ``published`` or ``conjectured``."""
        return self.row.evidence

    def _facts(self) -> dict[str, Any]:
        return {**row_as_json(self.row), "simulation": simulation(self.model)}

    def citations(self) -> Citations:
        """Return the sources as BibTeX: print them, or read ``entries``.

        >>> import tcsmt
        >>> [entry.key for entry in tcsmt.unit("volta").citations().entries]
        ['xie2025', 'khattak2025', 'mmasim']
        """
        return citations(self.row)

    def steps(self) -> UnitSteps:
        """Return what the unit computes as a short Python function on exact numbers; of a kernel or another
        program, its steps as a text that reads back.

        Raises :class:`tcsmt.TcsmtError` for an implementation (a program, C, RTL), which has no parameters.

        >>> import tcsmt
        >>> tcsmt.unit("volta").steps().lines[-1]
        '    return c'
        """
        if isinstance(self.model, ProgramModel):
            from tcsmt.programs.written.programs import lines_of  # slow to import

            return UnitSteps(self.name, tuple(lines_of(self.model.program)), ())
        lines = python_steps(self.model, self.row.source)
        return UnitSteps(self.name, tuple(lines), tuple(names_used(lines)))

    def as_toml(self) -> str:
        """A model file that reads back as this unit's model."""
        return model_toml(self.row)

    @property
    def _title(self) -> str:
        return self.name

    def _lines(self) -> list[str]:
        return description(self.row, simulation(self.model)).split("\n")


#: Whatever means a unit: a name such as ``h100`` or ``ARCH/INSTRUCTION``, a model file's path, a model.
UnitLike: TypeAlias = "Unit | Row | Model | ResolvedName | str | os.PathLike[str]"


def side_of(unit: UnitLike) -> ResolvedName:
    """Return what is meant: a text by :func:`.resolve`. Raises :class:`.TcsmtError` for an unknown name."""
    if isinstance(unit, ResolvedName):
        return unit
    if isinstance(unit, Unit):
        return ResolvedName.of_row(unit.row)
    if isinstance(unit, Row):
        return ResolvedName.of_row(unit)
    if isinstance(unit, Model):
        return ResolvedName.of_row(
            Row(
                architecture="custom",
                instruction=unit.kind,
                model=unit,
                source="",
                date=0,
                evidence="conjectured",
            )
        )
    return resolve(unit)


def rows_listed(arch: str | None, *, claims: bool) -> list[Row]:
    """Return the rows of an architecture, a GPU, a processor or of IEEE operations; None: of the whole
    catalogue.

    Raises :class:`.TcsmtError` for unknown names.
    """
    if arch == ARCHITECTURE:
        return list(ieee_rows())
    return rows(arch, claims=claims)


@ieee_floats
def unit(name: UnitLike) -> Unit:
    """Return the unit of a name: ``ARCH`` (its most used instruction), a GPU, ``ARCH/INSTRUCTION``, or a
    model file.

    INSTRUCTION is a name of the catalogue, a part that only one has, or as PTX or the ISA manual writes it.
    Raises :class:`tcsmt.TcsmtError`, which names the nearest ones.

    >>> import tcsmt
    >>> tcsmt.unit("h100/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    <Unit hopper/mma.m16n8k16.f32.f16.f16.f32>
    """
    return Unit(side_of(name).program)


@ieee_floats
def read_model(path: str | os.PathLike[str]) -> Unit:
    """Return the unit of a model file (TOML). Raises :class:`tcsmt.TcsmtError` with file, line and key."""
    from tcsmt.matrix_units.files.model_files import read_model as read

    return Unit(read(Path(path)))
