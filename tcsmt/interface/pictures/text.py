"""A sheet as text for a terminal: one character for each bit, colour where it is wanted.

Lost bits are subscript digits, so that they differ without colour too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise

import click

from tcsmt.interface.pictures.drawing import (
    BitFate,
    BitGrid,
    BitRow,
    Blank,
    Cell,
    Listing,
    Note,
    Picture,
    Sheet,
    Table,
)

_STYLES: dict[BitFate, dict[str, object]] = {
    BitFate.KEPT: {"fg": "green"},
    BitFate.CHANGED: {"fg": "magenta", "bold": True},
    BitFate.CUT: {"fg": "red"},
    BitFate.SUM: {},
    BitFate.CARRY: {"fg": "yellow", "bold": True},
    BitFate.LEADING: {"bold": True, "underline": True},
    BitFate.ROUNDED: {"fg": "cyan"},
    BitFate.DROPPED: {"fg": "red"},
}
_LOST = {BitFate.CUT: "₀₁", BitFate.DROPPED: "₀₁"}
_RULER_STEP = 4
_PARTS = "◄ first difference"
_PARTS_HERE = "◄ they first differ here"


def as_text(sheet: Sheet, width: int = 110, *, colour: bool = False) -> str:
    """The sheet in lines of ``width`` characters (a value after a row may be longer)."""
    lines: list[str] = []
    for picture in sheet.pictures:
        lines += [*_Text(sheet, picture, width).lines(), ""]
    if sheet.difference:
        lines += textwrap.wrap(sheet.difference, width, subsequent_indent="  ")
    text = "\n".join(line.rstrip() for line in lines).rstrip("\n")
    return text if colour else click.unstyle(text)


class _Text:
    def __init__(self, sheet: Sheet, picture: Picture, width: int) -> None:
        self.sheet, self.picture, self.width = sheet, picture, width

    def lines(self) -> Iterator[str]:
        """Yield the picture, from its name to its results."""
        yield click.style(self.picture.model, bold=True)
        if self.picture is self.sheet.pictures[0] or self.picture.given != self.sheet.pictures[0].given:
            yield from self._notes([Note(self.picture.given)])
        for place, panel in enumerate(self.picture.panels):
            yield ""
            if panel.title:
                yield click.style(panel.title, bold=True)
            match panel:
                case Listing():
                    yield from self._notes(panel.notes)
                case Table():
                    yield from self._table(panel)
                case BitGrid():
                    yield from self._grid(panel, place)
        yield ""
        yield from self._notes(self.picture.results)

    def _notes(self, notes: Sequence[Note]) -> Iterator[str]:
        widest = max((len(note.label) for note in notes), default=0)
        for note in notes:
            head = f"  {note.label:<{widest}}  " if note.label else "  "
            text = note.text + (f"  {_PARTS}" if note.parts else "")
            indent = " " * (len(head) + 4)
            yield from textwrap.wrap(text, self.width, initial_indent=head, subsequent_indent=indent)

    def _table(self, table: Table) -> Iterator[str]:
        """One side after the other: both beside each other would be too wide for a terminal."""
        for number, side in enumerate(table.sides):
            rows = [(line, cells) for line in table.lines if (cells := line.sides[number]) is not None]
            columns = zip(
                ("step", *table.heads), *((line.label, *cells) for line, cells in rows), strict=True
            )
            widths = [max(map(len, column)) for column in columns]
            if number:
                yield ""
            yield click.style(side, bold=True)
            yield click.style(_spaced(("", *table.heads), widths), dim=True)
            for line, cells in rows:
                yield _spaced((line.label, *cells), widths) + (f"  {_PARTS_HERE}" if line.parts else "")
        if table.notes:
            yield ""
        yield from self._notes(table.notes)

    def _grid(self, grid: BitGrid, place: int) -> Iterator[str]:
        labels = ["power of two", *(row.label for row in grid.rows)]
        label = max(map(len, labels))
        notes = max((len(row.note) for row in grid.rows), default=0)
        columns = self.sheet.columns(self.picture.group, place, max(24, self.width - label - notes - 10))
        bars = {
            c
            for g in self.sheet.beside(self.picture.group, place)
            for c in (g.top + 1, g.top - 1, g.unit - 1)
        }
        layout = _Layout(grid, columns, bars)
        for name, text in layout.ruler():
            yield click.style(f"  {name:<{label}}   {text}", dim=True)
        for row in grid.rows:
            if row is grid.sums[0] and grid.terms:
                yield click.style("  " + "─" * (label + 3 + layout.width), dim=True)
            sign = "-" if row.negative else "+"
            note = row.note + (f"  {_PARTS}" if row.parts else "")
            yield f"  {row.label:<{label}} {sign} {layout.bits(row)}  {note}"
            if row.marks:
                yield " " * (label + 5) + layout.marks(row)
        yield from self._notes(grid.notes)


class _Layout:
    """The place of each column of a grid in a line."""

    def __init__(self, grid: BitGrid, columns: Sequence[int | Blank], bars: set[int]) -> None:
        self.grid, self.columns = grid, columns
        self.at: list[int] = []
        place = 0
        self.bars: dict[int, int] = {}
        for column in columns:
            high = column.high if isinstance(column, Blank) else column
            if high in bars:
                self.bars[high] = place
                place += 1
            self.at.append(place)
            place += 3 if isinstance(column, Blank) else 1
        self.width = place

    def ruler(self) -> Iterator[tuple[str, str]]:
        """Zones, exponents counted from the largest one, and powers of two."""
        grid = self.grid
        zones = {grid.high: "carry" if grid.carry_bits else "", grid.top - 1: f"F = {grid.top - grid.unit}"}
        if self.columns and _low(self.columns[-1]) < grid.unit:
            zones[grid.unit - 1] = "cut off"
        yield "", self._line({self._place(weight): text for weight, text in zones.items()})
        marked = [
            (at, column)
            for at, column in zip(self.at, self.columns, strict=True)
            if not isinstance(column, Blank) and (grid.top - column) % _RULER_STEP == 0
        ]
        yield "relative", self._line({at: f"{w - grid.top:+d}" if w != grid.top else "0" for at, w in marked})
        powers = {at: f"╷2^{w}" for at, w in marked}
        if any(q - p <= len(powers[p]) for p, q in pairwise(powers)):
            powers = {at: f"╷2^{w}" for at, w in marked if (grid.top - w) % (2 * _RULER_STEP) == 0}
        yield "power of two", self._line(powers)

    def bits(self, row: BitRow) -> str:
        """A row's bits, with bars and the binary point between them."""
        cells = {cell.weight: cell for cell in row.cells}
        parts = []
        for column in self.columns:
            high = column.high if isinstance(column, Blank) else column
            if high in self.bars:
                parts.append(self._bar(high))
            if isinstance(column, Blank):
                inside = any(w in cells for w in range(column.low, column.high + 1))
                parts.append(" ⋯ " if inside else "   ")
            else:
                parts.append(self._bit(cells.get(column), column))
        return "".join(parts)

    def marks(self, row: BitRow) -> str:
        """Carets under the bits that another model has otherwise."""
        line = [" "] * self.width
        for at, column in zip(self.at, self.columns, strict=True):
            if not isinstance(column, Blank) and column in row.marks:
                line[at] = "^"
        return "".join(line)

    def _bit(self, cell: Cell | None, weight: int) -> str:
        if cell is None:
            inside = self.grid.unit <= weight <= self.grid.high
            return click.style("·", dim=True) if inside else " "
        digits = _LOST.get(cell.fate, "01")
        return click.style(digits[cell.bit], **_STYLES[cell.fate])  # type: ignore[arg-type]

    def _bar(self, weight: int) -> str:
        grid = self.grid
        if weight == grid.top - 1:
            return "."
        return click.style("│", dim=True) if weight in (grid.top + 1, grid.unit - 1) else " "

    def _place(self, weight: int) -> int:
        for at, column in zip(self.at, self.columns, strict=True):
            if _low(column) <= weight:
                return at
        return self.width

    def _line(self, texts: dict[int, str]) -> str:
        """Texts at their places; one that would touch the text before it is left out."""
        line = ""
        for place, text in sorted(texts.items()):
            if text and (not line or len(line) < place):
                line = line.ljust(place) + text
        return line


def _spaced(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _low(column: int | Blank) -> int:
    return column.low if isinstance(column, Blank) else column
