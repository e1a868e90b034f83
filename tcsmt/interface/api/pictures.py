"""A computation bit by bit, as a picture of one unit or of two beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcsmt.interface.api.units import UnitLike, side_of
from tcsmt.interface.api.views import WitnessView, anchor
from tcsmt.interface.pictures.build import draw
from tcsmt.interface.pictures.drawing import Sheet, compared
from tcsmt.interface.pictures.html import as_html
from tcsmt.interface.pictures.svg import as_svg
from tcsmt.interface.pictures.text import as_text
from tcsmt.language.run.exact import evaluate
from tcsmt.matrix_units.catalogue import Row
from tcsmt.matrix_units.files.word_files import neutral, vector_of
from tcsmt.matrix_units.models import Model
from tcsmt.prove.statements.explain import first_difference, steps
from tcsmt.prove.statements.finding import cause_text
from tcsmt.prove.statements.question import ComparedModel
from tcsmt.prove.statements.verdict import Distinguished, Verdict, exit_of, reason_of
from tcsmt.simulate.measured.row_files import read_rows
from tcsmt.simulate.rows import words_of_row
from tcsmt.support.errors import Exit, TcsmtError
from tcsmt.support.floats import ieee_floats
from tcsmt.support.results import Result

#: One input of a unit: a text, or numbers and texts by the inputs' names.
Vector = Mapping[str, int | float | str] | str


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """A picture: text by ``str``, SVG in notebooks, plain data by :meth:`as_json`.

    view: what a page shows of it; None where no unit of the picture is on its own.
    """

    sheet: Sheet
    view: WitnessView | None = None

    def _facts(self) -> dict[str, Any]:
        return self.sheet.as_json()

    def as_text(self, width: int = 110, *, colour: bool = False) -> str:
        """Lines of at most so many characters, with a terminal's colours where wanted."""
        return as_text(self.sheet, width, colour=colour)

    def as_svg(self) -> str:
        """An SVG document."""
        return as_svg(self.sheet)

    def as_html(self) -> str:
        """A page of HTML."""
        return as_html(self.sheet)

    def _lines(self) -> list[str]:
        return self.as_text().split("\n")

    @property
    def _title(self) -> str:
        return f"of {self.sheet.name}"

    def _repr_html_(self) -> str:
        return self.as_svg() + anchor(self)


class JudgedResult(Result):
    """The answer to whether some input exists; notebooks draw it, the witness, below the text."""

    @property
    def verdict(self) -> Verdict:
        """``Distinguished``: there is such an input; ``Equivalent``: there is none; ``Unknown``."""
        raise NotImplementedError

    @property
    def reason(self) -> str:
        """Why the verdict is ``Unknown``; empty where it is not."""
        return reason_of(self.verdict)

    @property
    def witness(self) -> Mapping[str, int] | None:
        """Return the words of such an input, by name (``a0``, ..., ``b0``, ..., ``c``); None where there is
        none.
        """
        return self.verdict.values if isinstance(self.verdict, Distinguished) else None

    @property
    def exit_code(self) -> Exit:
        """0: proved that there is no such input; 1: there is a witness; 3: unknown."""
        return exit_of(self.verdict)

    def sheet(self) -> Sheet | None:
        """Return what is drawn of the witness; None where there is none."""
        raise NotImplementedError

    @property
    def view(self) -> WitnessView | None:
        """Return what a page shows of the witness; None where there is none, or no unit takes it as it is."""
        return None

    def picture(self) -> Explanation | None:
        """Return the picture of the witness; None where there is none."""
        sheet = self.sheet()
        return None if sheet is None else Explanation(sheet, self.view)

    def _repr_html_(self) -> str:
        picture = self.picture()
        return super()._repr_html_() + (anchor(self) if picture is None else picture._repr_html_())


class VectorError(TcsmtError):
    """A vector that is not an input of the unit."""


@ieee_floats
def explain(
    unit: UnitLike,
    vector: Vector | os.PathLike[str],
    against: UnitLike | None = None,
    *,
    row: int | None = None,
    rounded: Callable[[str], None] | None = None,
) -> Explanation:
    """One dot-add of the unit, bit by bit; beside it that of another unit, and where they first differ.

    Args:
        unit: The unit.
        vector: ``"a0=1.5 b0=0x3e00 c=-0x1p-4"``, or a mapping of such names to numbers or texts; an input
            that is not named is 0 (a block scale: 1). Or a ``Path``: a file of rows, as :func:`tcsmt.run`
            reads it.
        against: Draw this unit below the other one, and mark where they first differ.
        row: Which row of the file, counted from 0. [default: 0]
        rounded: Takes decimal numbers that a format does not hold as its nearest value, and is told so of
            each; None: they are refused.

    Raises :class:`tcsmt.TcsmtError` for unknown names and values, and for a row that a file does not have.

    >>> import tcsmt
    >>> print(tcsmt.explain("volta", "a0=1 b0=1 c=0x1p-30"))  # doctest: +ELLIPSIS
    volta/mma.m8n8k4.f32.f16.f16.f32
    ...
    """
    left = side_of(unit).program
    if isinstance(vector, os.PathLike):
        values = _row_of_file(Path(vector), row or 0, left.model, rounded)
    elif row is None:
        values = vector_words(vector, left.model, rounded)
    else:
        raise TcsmtError("row chooses a row of a file, and the vector is none; give a Path")
    right = None if against is None else side_of(against).program
    return Explanation(sheet_of(left, right, values), view_of(left, right, values))


def _row_of_file(
    path: Path, number: int, model: Model, rounded: Callable[[str], None] | None
) -> dict[str, int]:
    """Return the words of one row, by the inputs' names. Raises :class:`.TcsmtError`."""
    inputs = read_rows(path, model, rounded)
    if not 0 <= number < len(inputs.c):
        raise TcsmtError(f"row {number}: {path} has rows 0 to {len(inputs.c) - 1}")
    return dict(zip(model.input_names, words_of_row(inputs, number), strict=True))


def vector_words(
    vector: Vector, model: Model, rounded: Callable[[str], None] | None = None
) -> dict[str, int]:
    """Return the words of a model's inputs, by name; rounded: as for :func:`explain`.

    Raises :class:`VectorError`.
    """
    if not isinstance(vector, str):
        vector = " ".join(f"{name}={value}" for name, value in vector.items())
    try:
        return vector_of(vector, model, rounded)
    except TcsmtError as error:
        raise VectorError(str(error)) from None


def sheet_of(left: Row, right: Row | None, values: Mapping[str, int]) -> Sheet:
    """Return the pictures of one row on an input, by the inputs' names, or of two rows beside each other.

    Raises :class:`.TcsmtError` where the second unit cannot take the input.
    """
    left_picture = draw(left.name, left.model, values)
    if right is None:
        return Sheet((left_picture,))
    right_values = _given_to(left, right, values)
    right_picture = draw(right.name, right.model, right_values)
    return compared(left_picture, right_picture, *_difference(left, right, values, right_values))


def view_of(left: Row, right: Row | None, values: Mapping[str, int]) -> WitnessView:
    """Return what a page shows of the same."""
    if right is None:
        return WitnessView((left,), (values,))
    return WitnessView((left, right), (values, _given_to(left, right, values)))


def _difference(
    left: Row, right: Row, values: Mapping[str, int], right_values: Mapping[str, int]
) -> tuple[str, str]:
    """Return the stage at which two units first hold different values, and what is said of it."""
    pair = first_difference(steps(left.model.trace, values), steps(right.model.trace, right_values))
    if pair is None:
        (word,) = evaluate([left.model.trace.output], values)
        fmt = left.model.d_format
        both = f"both give {fmt.hex(word)}  {fmt.describe(word)}"
        return "", f"no stage that both units have holds different values; {both}"
    stage = pair[0].name
    text = f"they first differ at '{stage}': {pair[0].text}  |  {pair[1].text}"
    left_side, right_side = (ComparedModel(row.name, row.model, row.model.trace) for row in (left, right))
    cause = cause_text(left_side, right_side, values) if values.keys() == right_values.keys() else ""
    return stage, f"{text}; {cause}" if cause else text


def _given_to(left: Row, right: Row, values: Mapping[str, int]) -> dict[str, int]:
    """Return the same input for another model: its further lanes are zero, lanes it lacks must be."""
    formats, others = left.model.input_formats, right.model.input_formats
    for name, fmt in formats.items():
        other = others.get(name)
        if other is None and values[name] != neutral(name, fmt):
            raise TcsmtError(
                f"--against {right.name} has no input {name}, which is {fmt.describe(values[name])}"
            )
        if other is not None and other is not fmt:
            raise TcsmtError(
                f"--against {right.name} takes {name} as {other.name}, {left.name} as {fmt.name}: "
                "they cannot take the same input"
            )
    return {name: values.get(name, neutral(name, fmt)) for name, fmt in others.items()}
