"""A hardware design, or a function in C, as a unit: SystemVerilog, Verilog, BTOR2 or C."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tcsmt.interface.api.units import Unit, UnitLike, side_of
from tcsmt.interop.implementations.designs import DesignFiles, design_side, named_values, read_design
from tcsmt.interop.implementations.sides import is_design
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.catalogue.description import ports_as_json, ports_lines
from tcsmt.support.errors import TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.progress import ProgressCallback, no_progress

__all__ = ["DesignFiles", "design", "named_values", "ports_as_json", "ports_lines", "read", "rows_compared"]


@ieee_floats
def design(
    *files: str | os.PathLike[str],
    top: str = "",
    function: str = "",
    ports: Mapping[str, str] | None = None,
    constants: Mapping[str, int] | None = None,
    cycles: int = 0,
    cut: Sequence[str] = (),
    hold: bool = False,
    like: UnitLike | None = None,
    formats: Mapping[str, str] | None = None,
    k: int | None = None,
    parameters: Mapping[str, object] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    define: Sequence[str] = (),
    timeout: float = 300.0,
    query_timeout: float = 60.0,
    progress: ProgressCallback = no_progress,
) -> Unit:
    """A design as a unit: what everything else takes, until the process ends or as a model file.

    Lanes are the elements of an array, or the bits of a vector, by ascending index; of BTOR2, the first lane
    is lowest. Registers hold anything at first.

    Args:
        files: SystemVerilog or Verilog in the order in which it is compiled (by Yosys, the extra ``rtl``), or
            one BTOR2 file, or one file of C (by clang).
        top: The design's module. [default: the only one]
        function: The function of a file of C. [default: the only one]
        ports: Port of a, b, c, d, scale_a or scale_b, or of a lane such as a0: NAME, NAME[HIGH:LOW],
            NAME.MEMBER[INDEX]. [default: of its name]
        constants: An input with a constant value.
        cycles: Clock edges from inputs to the result.
        cut: A register to treat as two ports: its value is an input, its next value is an output.
        hold: Hold the inputs for all cycles.
        like: The design has this unit's formats and k.
        formats: Format of a, b, c, d or scale (block scales).
        k: Products.
        parameters: A parameter of the module.
        include: A folder of included files.
        define: A macro.
        timeout: Time limit for reading the design, in all, in seconds.
        query_timeout: Seconds for each question to a solver.
        progress: Called with the step that the reading has reached.

    Raises :class:`tcsmt.TcsmtError`, with file and line where they are known, for ports that do not fit, for
    latches, combinational loops, several clocks, black boxes and memories, for what terms cannot say, and for
    a result that depends on undriven bits, don't-cares, other inputs or what registers hold at first; of C,
    where something that C leaves undefined can happen, with the input at which it does.

    >>> import pathlib, tempfile, tcsmt
    >>> lines = ["1 sort bitvec 8", "2 input 1 a", "3 input 1 b", "4 input 1 c"]
    >>> lines += ["5 mul 1 2 3", "6 add 1 5 4", "7 output 6 d"]
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mac.btor2")
    >>> _ = file.write_text("\\n".join(lines))
    >>> mac = tcsmt.design(file, formats=dict.fromkeys("abcd", "u8"))
    >>> int(mac([3], [5], 7))
    22
    """
    design_files = DesignFiles(
        files=[Path(file) for file in files],
        top=top,
        function=function,
        ports=[f"{operand}={name}" for operand, name in (ports or {}).items()],
        constants=[f"{name}={value}" for name, value in (constants or {}).items()],
        cycles=cycles,
        cut=cut,
        hold=hold,
        formats=dict(formats or {}),
        k=k,
        parameters={name: str(value) for name, value in (parameters or {}).items()},
        include=[Path(folder) for folder in include],
        define=define,
        timeout=timeout,
        query=query_timeout,
        progress=progress,
    )
    return read(design_files, like)


def read(files: DesignFiles, like: UnitLike | None = None) -> Unit:
    """Return a design as a unit.

    Args:
        files: The design, and what its ports are.
        like: The design has this unit's formats and k.
    """
    return Unit(read_design(files if like is None else files.like(side_of(like).row.model)))


def rows_compared(left: UnitLike, right: UnitLike, options: DesignFiles | None = None) -> tuple[Row, Row]:
    """Two units, a design read with the formats and k of the other one where it states none.

    options: of the designs, beside those of their texts. Raises :class:`tcsmt.TcsmtError`, also for options
    without a design.
    """
    units = (left, right)
    paths = [os.fspath(unit) if isinstance(unit, (str, os.PathLike)) else "" for unit in units]
    designs = [is_design(path) for path in paths]
    plain = DesignFiles(files=()) if options is None else options
    if not any(designs) and plain != DesignFiles(files=(), query=plain.query, progress=plain.progress):
        raise TcsmtError(
            f"{left} and {right}: the options of a design need a file of one: .sv, .v, .btor2 or .c"
        )
    rows = [None if design else side_of(unit).program for unit, design in zip(units, designs, strict=True)]
    like = next((row.model for row in rows if row is not None), None)
    left_row, right_row = (
        design_side(path, options, like).row if row is None else row
        for path, row in zip(paths, rows, strict=True)
    )
    return left_row, right_row
