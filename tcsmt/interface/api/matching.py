"""Which instruction a unit named without one stands for: the most used of those that take the operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.formats import FORMATS, AnyFormat, Format, IntegerFormat, format_named
from tcsmt.matrix_units.arithmetic.words import dtype_of, format_of
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.row import by_use
from tcsmt.programs.kernels.kernel import Kernel, kernel_named
from tcsmt.programs.kernels.model import unit_of_kernel
from tcsmt.programs.names import is_kernel
from tcsmt.simulate.measured.row_files import read_npz
from tcsmt.support.errors import TcsmtError
from tcsmt.support.files import uncompressed

#: Formats by their parameters' first letters, "a" and "b"; None: not known.
Formats = Mapping[str, AnyFormat | None]
#: From so many bits on, numbers are also values for narrower formats that hold them.
_WIDE = 32
#: The dimension of each array of block scales that lies along K.
_SCALE_AXES = {"scale_a": -1, "scale_b": -2}
#: Dtypes that say what format scales have.
_SCALE_DTYPES = tuple(dtype_of(FORMATS[name]) for name in ("ue8m0", "ue4m3"))
#: Formats that an error lists.
_LISTED = 12


@dataclass(frozen=True)
class BlockScales:
    """Facts that arrays of block scales give about the unit that takes them.

    k: products of a row. shapes: of scale_a and scale_b. counts: of the scales of a row and of a column.
    dtypes: of those arrays that have one of a scale's format; other arrays hold words or values of any.
    """

    k: int
    shapes: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]

    @staticmethod
    def of(arrays: Mapping[str, Any]) -> BlockScales | None:
        """Return those of A, (..., M, K), scale_a and scale_b; None where neither is given, or not an
        array.
        """
        given = {name: np.asarray(arrays[name]) for name in _SCALE_AXES if arrays[name] is not None}
        k = np.shape(arrays["a"])[-1:]
        if not given or not k or any(array.ndim < 2 for array in given.values()):
            return None
        return BlockScales(
            k[0],
            tuple(array.shape for array in given.values()),
            tuple(array.shape[_SCALE_AXES[name]] for name, array in given.items()),
            tuple(array.dtype for array in given.values() if array.dtype in _SCALE_DTYPES),
        )

    def fit(self, row: Row) -> bool:
        """Return whether a unit takes such scales."""
        model = row.model
        if model.scale_format is None:
            return False
        count = -(-self.k // (model.k // model.scales))
        dtype_of_unit = dtype_of(model.scale_format)
        return all(n == count for n in self.counts) and all(dtype == dtype_of_unit for dtype in self.dtypes)

    def chosen(self, unit: UnitLike, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that take them. Raises :class:`.TcsmtError` where none does, or where it is open
        which format they have.
        """
        fitting = [row for row in rows if self.fit(row)]
        if len({row.model.scale_format for row in fitting}) == 1:
            return fitting
        kinds: dict[tuple[int, str], Row] = {}
        for row in fitting or rows:
            if row.model.scale_format is not None:
                kinds.setdefault((row.model.k // row.model.scales, row.model.scale_format.name), row)
        listed = "; ".join(f"{row.name} (a {form} scale for {n})" for (n, form), row in kinds.items())
        shapes = " and ".join(map(str, self.shapes))
        of = "" if not self.dtypes else f" of dtype {' and '.join(dict.fromkeys(map(str, self.dtypes)))}"
        if fitting:
            raise TcsmtError(
                f"{unit}: scales of shape {shapes} do not say their format: name one of {listed}"
            )
        raise TcsmtError(
            f"{unit}: no instruction takes scales of shape {shapes}{of} for K = {self.k}: {listed}"
        )


def formats_of(
    arrays: Mapping[str, Any], named: Mapping[str, str | None] | None = None, *, rounded: bool = False
) -> Formats:
    """Return the formats of A and B: those that are named, or those of the arrays' dtypes.

    rounded: whether numbers of Python, which have no dtype, are rounded: then they are those of binary64.
    """
    formats: dict[str, AnyFormat | None] = {}
    for name in "ab":
        text, dtype = (named or {}).get(name), getattr(arrays[name], "dtype", None)
        if text:
            formats[name] = format_named(text)
        elif dtype is not None:
            formats[name] = format_of(dtype)
        else:
            formats[name] = FORMATS["f64"] if rounded else None
    return formats


def formats_in(path: Path) -> Formats:
    """Return those of the arrays a and b of an .npz file; of other files, which do not say them, none."""
    if uncompressed(path).suffix.lower() != ".npz":
        return {}
    arrays = read_npz(path)
    return formats_of({name: arrays.get(name) for name in "ab"})


def rows_for_operands(
    unit: UnitLike,
    formats: Formats,
    *,
    scaled: bool = False,
    scales: BlockScales | None = None,
    values: bool = False,
    operands: str | None = None,
    result: AnyFormat | None = None,
    programs: bool = False,
) -> list[Row]:
    """Return the instruction that is named; else all of a unit's that take A and B in these formats.

    The most used one comes first. scaled: those with block scales, else those without. scales: those that
    take these scales. values: whether
    numbers of wide formats, and integers, which no instruction takes may be values, or words, for another.
    operands: how such values are rounded, where they are: then only instructions are meant whose formats
    have the values' range, the closest first, so that no number becomes infinite or zero unasked.
    result: the format of D, where it is known: those with such results come before the others.
    programs: whether a program with further inputs may be meant.
    Of a kernel, the unit is chosen so.
    Raises :class:`.TcsmtError`, which names the formats given and those that the unit takes.
    """
    if isinstance(unit, str) and is_kernel(unit):
        return [unit_of_kernel(unit, _first_taking(formats, scaled, scales, operands, result))]
    rows = side_of(unit).programs if programs else side_of(unit).units
    if len(rows) == 1:
        return rows
    rows = [row for row in rows if bool(row.model.scales) == scaled] or rows
    known_formats = {name: fmt for name, fmt in formats.items() if fmt is not None}
    narrow = {name: fmt for name, fmt in known_formats.items() if not (values and _may_be_values(fmt))}
    for wanted in (known_formats, narrow):
        fitting = [row for row in rows if _takes(row, wanted)]
        if wanted is narrow and operands is not None:
            wide = {name: fmt for name, fmt in known_formats.items() if name not in narrow}
            fitting = sorted(
                (row for row in fitting if _has_range(row, wide)), key=lambda row: _closeness(row, wide)
            )
        if fitting and scales is not None and any(row.model.scales for row in fitting):
            fitting = scales.chosen(unit, fitting)
        if fitting:
            return sorted(
                by_use(fitting) if wanted else fitting, key=lambda row: row.model.d_format != result
            )
    raise _none_takes(unit, known_formats if operands else narrow, rows, rounded=operands is not None)


def _has_range(row: Row, formats: Mapping[str, AnyFormat]) -> bool:
    """Return whether a row's operands have the exponents of these formats' normal numbers; integers are
    words.
    """
    unit_formats = row.model.operand_formats.named
    for name, fmt in formats.items():
        if isinstance(fmt, Format):
            taken = unit_formats[name]
            if not (isinstance(taken, Format) and taken.e_min <= fmt.e_min and fmt.e_max <= taken.e_max):
                return False
    return True


def _closeness(row: Row, formats: Mapping[str, AnyFormat]) -> list[tuple[int, int]]:
    """A key that is smallest for operands of no larger range than is needed, and then of the most bits."""
    unit_formats = row.model.operand_formats.named
    taken = (unit_formats[name] for name in formats)
    return [(fmt.e_max, -fmt.precision) for fmt in taken if isinstance(fmt, Format)]


def _none_takes(
    unit: UnitLike, formats: Mapping[str, AnyFormat], rows: Sequence[Row], *, rounded: bool
) -> TcsmtError:
    """Return the error where none of a unit's rows takes these formats. rounded: or another one of their
    range.
    """
    asked = " and ".join(f"{name.upper()} in {fmt.name}" for name, fmt in formats.items())
    if rounded and any(_may_be_values(fmt) for fmt in formats.values()):
        first = {f"{row.model.a_format.name} x {row.model.b_format.name}": row for row in reversed(rows)}
        named = [f"{row.name} ({pair})" for pair, row in reversed(first.items())]
        listed = ", ".join(named[:_LISTED]) + (", ..." if len(named) > _LISTED else "")
        return TcsmtError(
            f"{unit}: no instruction takes {asked}, or formats of the same range; to round them to another "
            f"range, name the instruction: {listed}"
        )
    pairs = dict.fromkeys(f"{row.model.a_format.name} x {row.model.b_format.name}" for row in rows)
    listed = ", ".join([*pairs][:_LISTED]) + (", ..." if len(pairs) > _LISTED else "")
    return TcsmtError(f"{unit}: no instruction takes {asked}; it takes A and B in: {listed}")


def kernel_for_operands(
    text: str, formats: Formats, *, operands: str | None = None, result: AnyFormat | None = None
) -> Kernel:
    """Return the kernel of a text ``UNIT[+REDUCTION[+EPILOGUE]]``, whose unit takes A and B in these formats.

    operands, result: as in :func:`rows_for_operands`; a conversion of the epilogue gives another format.
    """
    result = None if "out=" in text else result
    return kernel_named(text, _first_taking(formats, False, None, operands, result))


def _first_taking(
    formats: Formats,
    scaled: bool,
    scales: BlockScales | None,
    operands: str | None,
    result: AnyFormat | None,
) -> Callable[[str], Row]:
    """Return how the unit of a kernel is chosen."""
    return lambda unit: rows_for_operands(
        unit, formats, scaled=scaled, scales=scales, values=True, operands=operands, result=result
    )[0]


def _takes(row: Row, formats: Mapping[str, AnyFormat]) -> bool:
    unit_formats = row.model.operand_formats.named
    return all(unit_formats[name] == fmt for name, fmt in formats.items())


def _may_be_values(fmt: AnyFormat) -> bool:
    return isinstance(fmt, IntegerFormat) or fmt.width >= _WIDE
