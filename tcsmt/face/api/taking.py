"""Which instruction a unit named without one stands for: the most used of those that take the operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcsmt.compose.kernels.kernel import Kernel, kernel_named
from tcsmt.compose.kernels.model import unit_of_kernel
from tcsmt.compose.names import is_kernel
from tcsmt.face.api.units import UnitLike, side_of
from tcsmt.matrix_units.arithmetic.any_format import AnyFormat
from tcsmt.matrix_units.arithmetic.formats import Format, format_named
from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat
from tcsmt.matrix_units.arithmetic.words import format_of
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.preferred import by_use
from tcsmt.simulate.measured.row_files import read_npz
from tcsmt.support.errors import TcsmtError
from tcsmt.support.reading import uncompressed

__all__ = ["formats_in", "formats_of", "kernel_taking", "rows_taking"]

#: Formats by their parameters' first letters, "a" and "b"; None: not known.
Formats = Mapping[str, AnyFormat | None]
#: From so many bits on, numbers are also values for narrower formats that hold them.
_WIDE = 32
#: Formats that an error lists.
_LISTED = 12


def formats_of(arrays: Mapping[str, Any], named: Mapping[str, str | None] | None = None) -> Formats:
    """Return the formats of A and B: those that are named, or those of the arrays' dtypes."""
    formats: dict[str, AnyFormat | None] = {}
    for name in "ab":
        text, dtype = (named or {}).get(name), getattr(arrays[name], "dtype", None)
        formats[name] = format_named(text) if text else None if dtype is None else format_of(dtype)
    return formats


def formats_in(path: Path) -> Formats:
    """Those of the arrays a and b of an .npz file; of other files, which do not say them, none."""
    if uncompressed(path).suffix.lower() != ".npz":
        return {}
    arrays = read_npz(path)
    return formats_of({name: arrays.get(name) for name in "ab"})


def rows_taking(
    unit: UnitLike,
    formats: Formats,
    *,
    scaled: bool = False,
    values: bool = False,
    operands: str | None = None,
    result: AnyFormat | None = None,
) -> list[Row]:
    """The instruction that is named; else all of a unit's that take A and B in these formats.

    The most used one comes first. scaled: those with block scales, else those without. values: whether
    numbers of wide formats, and integers, which no instruction takes may be values, or words, for another.
    operands: how such values are rounded, where they are: then only instructions are meant whose formats
    have the values' range, the closest first, so that no number becomes infinite or zero unasked.
    result: the format of D, where it is known: those with such results come before the others.
    Of a kernel, the unit is chosen so.
    Raises :class:`.TcsmtError`, which names the formats given and those that the unit takes.
    """
    if isinstance(unit, str) and is_kernel(unit):
        return [unit_of_kernel(unit, _first_taking(formats, scaled, operands, result))]
    rows = side_of(unit).units
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
        if fitting:
            return sorted(
                by_use(fitting) if wanted else fitting, key=lambda row: row.model.d_format != result
            )
    raise _none_takes(unit, known_formats if operands else narrow, rows, rounded=operands is not None)


def _has_range(row: Row, formats: Mapping[str, AnyFormat]) -> bool:
    """Whether a row's operands have the exponents of these formats' normal numbers; integers are words."""
    own = row.model.operand_formats.named
    for name, fmt in formats.items():
        if isinstance(fmt, Format):
            taken = own[name]
            if not (isinstance(taken, Format) and taken.e_min <= fmt.e_min and fmt.e_max <= taken.e_max):
                return False
    return True


def _closeness(row: Row, formats: Mapping[str, AnyFormat]) -> list[tuple[int, int]]:
    """A key that is smallest for operands of no larger range than is needed, and then of the most bits."""
    own = row.model.operand_formats.named
    taken = (own[name] for name in formats)
    return [(fmt.e_max, -fmt.precision) for fmt in taken if isinstance(fmt, Format)]


def _none_takes(
    unit: UnitLike, formats: Mapping[str, AnyFormat], rows: Sequence[Row], *, rounded: bool
) -> TcsmtError:
    """The error where none of a unit's rows takes these formats. rounded: or another one of their range."""
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


def kernel_taking(
    text: str, formats: Formats, *, operands: str | None = None, result: AnyFormat | None = None
) -> Kernel:
    """The kernel of a text ``UNIT[+REDUCTION[+EPILOGUE]]``, whose unit takes A and B in these formats.

    operands, result: as in :func:`rows_taking`; a conversion of the epilogue gives another format.
    """
    result = None if "out=" in text else result
    return kernel_named(text, _first_taking(formats, False, operands, result))


def _first_taking(
    formats: Formats, scaled: bool, operands: str | None, result: AnyFormat | None
) -> Callable[[str], Row]:
    """How the unit of a kernel is chosen."""
    return lambda unit: rows_taking(
        unit, formats, scaled=scaled, values=True, operands=operands, result=result
    )[0]


def _takes(row: Row, formats: Mapping[str, AnyFormat]) -> bool:
    own = row.model.operand_formats.named
    return all(own[name] == fmt for name, fmt in formats.items())


def _may_be_values(fmt: AnyFormat) -> bool:
    return isinstance(fmt, IntegerFormat) or fmt.width >= _WIDE
